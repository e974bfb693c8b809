"""What an agent keeps of a turn decides where its own words are missing: a turn is never ended for being quiet."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from tests.doubles.guided_agent import TARGET, guided_target
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import start, text_of

RECONCILE_SECONDS = 0.5


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """One that asks soon."""
    limits = {"turnReconcileSeconds": RECONCILE_SECONDS, "sessionsPerConnection": {"codex": 1}}
    one = Daemon(tmp_path, {"targets": [guided_target(tmp_path)], "limits": limits})
    one.start()
    try:
        yield one
    finally:
        one.end()


def told(daemon: Daemon, method: str) -> int:
    """How often the agent was told this."""
    lines = (daemon.folder / "told.jsonl").read_text().splitlines()
    return sum(f'"method":"{method}"' in line.replace(" ", "") for line in lines)


@pytest.mark.case("FC-01")
async def test_an_end_that_never_came_is_found_in_the_record_and_nothing_is_sent_again(
    daemon: Daemon,
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "mute", target=TARGET)
        settled = await client.settled(talk.turn)
        assert (settled["outcome"], settled["delivery"]) == ("completed", "accepted")
        assert await talk.texts() == ["begun", "done"]
        assert told(daemon, "turn/start") == 1
        second = await talk.send("go")
        assert (await client.row("turn", turnId=second["turnId"], phase="running"))["outcome"] is None


@pytest.mark.rule("RT-003")
@pytest.mark.case("FC-10")
async def test_a_turn_that_was_cut_off_gains_what_the_record_has_more_of_it(daemon: Daemon) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "perish", target=TARGET)
        lost = await client.settled(talk.turn)
        assert (lost["outcome"], lost["delivery"], lost["error"]["code"]) == (
            "failed",
            "accepted",
            "provider.lost",
        )
        assert await talk.texts() == ["begun"]
        daemon.restart()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        second = await talk.send("go")
        await client.row("turn", turnId=second["turnId"], phase="running")
        await client.row("message", turnId=second["turnId"], role="assistant")
        rows = [row for row in await talk.messages() if row["turnId"] == lost["turnId"]]
        assert [(row["status"], text_of(row)) for row in rows] == [
            ("completed", "perish"),
            ("completed", "begun"),
            ("completed", "done"),
        ]
        assert (await client.request("turn/get", **talk.key, turnId=lost["turnId"]))["turn"] == lost
        await client.request("session/close", **talk.key)
        await client.request("session/resume", **talk.key)
        assert (await talk.messages())[: len(rows)], "read again, and nothing is added twice"
        assert len([row for row in await talk.messages() if row["turnId"] == lost["turnId"]]) == 3


@pytest.mark.case("FC-01")
async def test_a_quiet_turn_is_asked_for_and_runs_on(daemon: Daemon) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "go", target=TARGET)
        await client.row("turn", turnId=talk.turn["turnId"], phase="running")
        with trio.fail_after(30):
            while told(daemon, "thread/turns/list") < 2:
                await trio.lowlevel.checkpoint()
                await client.request("health/read")
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("running", None)
        await client.request("turn/cancel", **talk.key, turnId=turn["turnId"])
        assert (await client.settled(turn))["outcome"] == "canceled"


@pytest.mark.rule("RT-042")
@pytest.mark.case("FC-07")
async def test_a_conversation_that_is_gone_is_said_once_and_not_tried_again(daemon: Daemon) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "mute", target=TARGET)
        await client.settled(talk.turn)
        await client.request("session/close", **talk.key)
        (daemon.folder / "told.jsonl.gone").touch()
        lost = await talk.say("go on")
        assert (lost["outcome"], lost["delivery"], lost["error"]["code"]) == (
            "failed",
            "not_dispatched",
            "session.not_resumable",
        )
        notices = [row for row in await talk.messages() if row["kind"] == "notice"]
        assert [(row["turnId"], row["content"][0]["code"]) for row in notices] == [
            (lost["turnId"], "session.not_resumable")
        ]
    daemon.restart()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        assert (await client.request("session/get", **talk.key))["session"]["resumability"] == "not_resumable"
        for _ in range(2):
            refused = await client.refused(
                "session/send", **talk.key, clientSubmitId="x", content=[{"type": "text", "text": "hello?"}]
            )
            assert refused["code"] == "session.not_resumable"
        assert told(daemon, "thread/resume") == 1, "tried once"
        assert len((await client.request("session/list", workspaceId="w"))["items"]) == 1, "no shadow"
        assert [text_of(row) for row in await talk.messages()][:2] == ["mute", "begun"]
