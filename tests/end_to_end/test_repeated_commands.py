"""A client that lost its connection before the reply says the same again: nothing happens twice, for any command.

Every method that changes something has a case here, and a new one is missed. What the agent was told is read from its
own notes.
"""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from runtime.wire.methods import METHODS
from tests.doubles.guided_agent import guided_target
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import agent, running
from tests.end_to_end.talk import Talk, answer_params, start, text

LOGGED, GUIDED = "logged", "guided"


@attrs.define(eq=False)
class Stage:
    """A session of the test's own, and who watches it."""

    watcher: Client
    workspace: str
    folder: Path

    async def session(self, prompt: str | None = None, target: str = LOGGED) -> Talk:
        return await start(self.watcher, self.workspace, prompt, target=target, clientSubmitId="made")

    def told(self, target: str = LOGGED) -> str:
        """Everything the agents of that target were told."""
        file = self.folder / ("told.jsonl" if target == GUIDED else f"{target}.jsonl")
        return file.read_text() if file.exists() else ""


@attrs.frozen
class Case:
    """A command that is ready to be given."""

    params: Json
    seen: Callable[[], Awaitable[Any]]
    """Waits until its effect is seen by somebody else."""
    once: Callable[[Json], Awaitable[None]]
    """Asserts on the reply to the repeat that the effect is there once."""


Prepare = Callable[[Stage], Awaitable[Case]]


async def turns_of(talk: Talk) -> list[str]:
    page = await talk.client.request("turn/list", **talk.key)
    return [turn["turnId"] for turn in page["items"]]


async def create(stage: Stage) -> Case:
    words = f"[[say created in {stage.workspace}]]"
    params = {
        "workspaceId": stage.workspace,
        "agentTargetId": LOGGED,
        "clientSubmitId": "c",
        "initialContent": text(words),
    }

    async def once(reply: Json) -> None:
        listed = await stage.watcher.request("session/list", workspaceId=stage.workspace)
        assert [item["agentSessionId"] for item in listed["items"]] == [reply["session"]["agentSessionId"]]
        talk = Talk(stage.watcher, listed_key(reply["session"]), reply)
        assert await turns_of(talk) == [reply["turn"]["turnId"]]
        assert stage.told().count(json.dumps(words)) == 1

    return Case(params, lambda: stage.watcher.row("turn", phase="settled"), once)


def listed_key(session: Json) -> dict[str, str]:
    return {name: session[name] for name in ("workspaceId", "agentSessionId")}


async def send(stage: Stage) -> Case:
    talk = await stage.session()
    words = f"[[say sent in {stage.workspace}]]"

    async def once(reply: Json) -> None:
        assert await turns_of(talk) == [reply["turn"]["turnId"]]
        assert stage.told().count(json.dumps(words)) == 1

    params = {**talk.key, "clientSubmitId": "s", "content": text(words)}
    return Case(params, lambda: stage.watcher.row("turn", phase="settled"), once)


async def guide(stage: Stage) -> Case:
    talk = await stage.session("go", GUIDED)
    await stage.watcher.row("turn", turnId=talk.turn["turnId"], phase="running")
    words = f"guided in {stage.workspace}"

    async def once(reply: Json) -> None:
        assert reply["turn"]["turnId"] == talk.turn["turnId"]
        assert [row.get("clientSubmitId") for row in await talk.messages()].count("g") == 1
        assert stage.told(GUIDED).count(words) == 1
        await talk.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])

    params = {**talk.key, "turnId": talk.turn["turnId"], "clientSubmitId": "g", "content": text(words)}
    return Case(params, lambda: stage.watcher.row("message", clientSubmitId="g"), once)


async def cancel(stage: Stage) -> Case:
    talk = await stage.session("[[hang]]")
    await stage.watcher.row("turn", turnId=talk.turn["turnId"], phase="running")

    async def once(reply: Json) -> None:
        assert (reply["turn"]["phase"], reply["turn"]["outcome"]) == ("settled", "canceled")
        assert await turns_of(talk) == [reply["turn"]["turnId"]]

    params = {**talk.key, "turnId": talk.turn["turnId"]}
    return Case(params, lambda: stage.watcher.settled(talk.turn), once)


async def respond(stage: Stage) -> Case:
    talk = await stage.session("[[ask]] [[say asked once]]")
    asked = await talk.pending()

    async def once(reply: Json) -> None:
        assert (reply["interaction"]["status"], reply["interaction"]["answerDelivery"]) == (
            "answered",
            "delivered",
        )
        assert (await stage.watcher.settled(talk.turn))["outcome"] == "completed"
        assert [said for said in await talk.texts() if "asked once" in said] != []

    return Case(
        answer_params(asked), lambda: stage.watcher.row("interaction", answerDelivery="delivered"), once
    )


async def resume(stage: Stage) -> Case:
    talk = await stage.session()

    async def once(reply: Json) -> None:
        assert reply["session"]["runtime"]["state"] == "live"
        states = [event["runtimeState"] for event in stage.watcher.events("runtime_activity")]
        assert states.count("live") == 1, "the process of the first is that of the second"

    return Case(dict(talk.key), lambda: stage.watcher.event("runtime_activity", runtimeState="live"), once)


async def close(stage: Stage) -> Case:
    talk = await stage.session("[[say x]]")
    await stage.watcher.settled(talk.turn)

    async def once(reply: Json) -> None:
        assert reply["session"]["runtime"]["state"] == "absent"
        assert (await talk.say("[[say again]]"))["outcome"] == "completed"

    return Case(dict(talk.key), lambda: stage.watcher.event("runtime_activity", runtimeState="absent"), once)


def edit(member: str, value: Any, **params: Any) -> Prepare:
    """A change of the session's row that is the same however often it is made."""

    async def prepare(stage: Stage) -> Case:
        talk = await stage.session()

        async def once(reply: Json) -> None:
            assert reply["session"][member] == value
            changed = [row for row in stage.watcher.rows("session") if row[member] == value]
            assert len(changed) == 1, "the same again is no change"

        return Case({**talk.key, **params}, lambda: stage.watcher.row("session", **{member: value}), once)

    return prepare


async def delete(stage: Stage) -> Case:
    talk = await stage.session()

    async def once(reply: Json) -> None:
        assert reply["sessions"] == stage.watcher.rows("session_removed")
        assert len(reply["sessions"]) == 1

    return Case(many(talk), lambda: stage.watcher.row("session_removed"), once)


async def restore(stage: Stage) -> Case:
    talk = await stage.session()
    await stage.watcher.request("session/delete", **many(talk))

    async def once(reply: Json) -> None:
        assert len(stage.watcher.rows("session_restored")) == 1
        assert (await stage.watcher.request("session/get", **talk.key))["session"]["deletedAt"] is None
        assert len(reply["sessions"]) <= 1

    return Case(many(talk), lambda: stage.watcher.row("session_restored"), once)


async def purge(stage: Stage) -> Case:
    talk = await stage.session()
    await stage.watcher.request("session/delete", **many(talk))

    async def gone() -> None:
        while (await stage.watcher.refused("session/close", **talk.key))["code"] != "session.not_found":
            pass

    async def once(reply: Json) -> None:
        assert reply["sessions"] == []

    return Case(many(talk), gone, once)


async def put_attachment(stage: Stage) -> Case:
    params = {"workspaceId": stage.workspace, "mediaType": "image/png", "data": "aGFyYm91cg=="}

    async def there() -> None:
        """Its id is its content's: a look from outside would have to store it itself."""

    async def once(reply: Json) -> None:
        again = await stage.watcher.request("attachment/put", **params)
        assert again["attachmentId"] == reply["attachmentId"]

    return Case(params, there, once)


def many(talk: Talk) -> Json:
    return {"workspaceId": talk.key["workspaceId"], "agentSessionIds": [talk.session_id]}


CASES: dict[str, Prepare] = {
    "session/create": create,
    "session/send": send,
    "turn/guide": guide,
    "turn/cancel": cancel,
    "interaction/respond": respond,
    "session/resume": resume,
    "session/close": close,
    "session/rename": edit("title", "Once", title="Once"),
    "session/pin": edit("pinned", True, pinned=True),
    "session/updateSettings": edit("settings", {"model": "demo-large"}, settings={"model": "demo-large"}),
    "session/delete": delete,
    "session/restore": restore,
    "session/purge": purge,
    "attachment/put": put_attachment,
}
OF_AN_ADMINISTRATOR = {"metrics/read", "debug/session", "fault/inject", "fault/list", "fault/clear"}
"""Reads, and what sets a daemon under test up: no command on what is stored."""
OF_SIDES = ("side/", "surface/")
"""Never stored: they end with the connection that is lost here. Said again while it lives they are shown in
tests/providers_codex/hosted/test_hosted_sides.py."""


@pytest.fixture(scope="module")
def logged_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon whose agents keep what they are told."""
    folder = tmp_path_factory.mktemp("repeated")
    yield from running(Daemon(folder, {"targets": [agent(LOGGED, folder), guided_target(folder)]}))


def test_no_command_is_missing_here() -> None:
    changing = {method.name for method in METHODS.values() if method.scope != "read"}
    assert CASES.keys() == {name for name in changing - OF_AN_ADMINISTRATOR if not name.startswith(OF_SIDES)}


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
@pytest.mark.parametrize("method", CASES)
async def test_what_is_said_again_after_a_lost_reply_happens_once(
    logged_daemon: Daemon, workspace: str, method: str
) -> None:
    async with connected(logged_daemon) as watcher:
        await watcher.subscribe(workspace)
        case = await CASES[method](Stage(watcher, workspace, logged_daemon.folder))
        async with connected(logged_daemon) as lost:
            lost.stop_reading()
            await lost.request("health/read")  # the one frame that it still takes
            sent = await lost.send(method, **case.params)
            await case.seen()
            assert sent.answer is None, "its reply was never read"
            await lost.socket._stream.aclose()  # the cable, not the closing handshake
        async with connected(logged_daemon) as back:
            await case.once(await back.request(method, **case.params))
            again = await back.request(method, **case.params)
            assert again.keys() >= {"commitSeq"}, "and a third time, for good measure"
