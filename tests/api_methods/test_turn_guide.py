"""`turn/guide`: more said within one exact running turn; never sent twice, and no id stuck where nothing took effect."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.guided_agent import TARGET, guided_target
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, running, token_of
from tests.end_to_end.talk import Talk, start, text, text_of

GUIDE_TIMEOUT_SECONDS = 1.0


@pytest.fixture(scope="module")
def guided_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon whose agent takes guidance."""
    folder = tmp_path_factory.mktemp("guided")
    limits = {"guideTimeoutSeconds": GUIDE_TIMEOUT_SECONDS, "sessionsPerConnection": {"codex": 1}}
    yield from running(Daemon(folder, {"targets": [guided_target(folder)], "limits": limits}))


@pytest.fixture
async def guided(guided_daemon: Daemon, workspace: str) -> AsyncIterator[Client]:
    """A client of it."""
    async with connected(guided_daemon) as client:
        await client.subscribe(workspace)
        yield client


async def run_turn(client: Client, workspace: str, prompt: str) -> Talk:
    """A session whose turn runs until it is guided to its end or stopped."""
    talk = await start(client, workspace, prompt, target=TARGET)
    await client.row("turn", turnId=talk.turn["turnId"], phase="running")
    return talk


def params(talk: Talk, words: str, submit_id: str = "g1", turn: Json | None = None) -> dict[str, Any]:
    turn_id = (turn or talk.turn)["turnId"]
    return {**talk.key, "turnId": turn_id, "clientSubmitId": submit_id, "content": text(words)}


async def guide(talk: Talk, words: str, submit_id: str = "g1") -> Json:
    """The turn, once the agent has it."""
    turn: Json = (await talk.client.request("turn/guide", **params(talk, words, submit_id)))["turn"]
    return turn


def steers_told(daemon: Daemon, words: str) -> int:
    """How often the agent was told these words."""
    lines = (daemon.folder / "told.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines if "turn/steer" in line]
    return sum(frame["params"]["input"][0]["text"] == words for frame in told)


async def stop(talk: Talk) -> None:
    await talk.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await talk.client.settled(talk.turn))["outcome"] == "canceled"


# --- taken --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-078", "RT-080")
async def test_what_is_said_becomes_a_message_of_the_same_turn(guided: Client, workspace: str) -> None:
    talk = await run_turn(guided, workspace, "go")
    sent = await guided.send("turn/guide", **params(talk, "rather oaks", "g1"))
    turn = (await sent.result())["turn"]
    assert (turn["turnId"], turn["phase"]) == (talk.turn["turnId"], "running")
    message = await guided.row("message", clientSubmitId="g1")
    shown = next(
        place
        for place, frame in enumerate(guided.received)
        if any(change["row"] == message for change in frame.get("changes", ()))
    )
    assert sent.place < shown, "the reply comes before the event that shows it"
    await guide(talk, "end of it", "g2")
    settled = await guided.settled(talk.turn)
    assert settled["outcome"] == "completed"
    rows = await talk.messages()
    assert {row["turnId"] for row in rows} == {talk.turn["turnId"]}
    assert [(row["role"], text_of(row)) for row in rows] == [
        ("user", "go"),
        ("assistant", "begun"),
        ("user", "rather oaks"),
        ("assistant", "heard rather oaks"),
        ("user", "end of it"),
        ("assistant", "heard end of it"),
    ]
    assert [row.get("clientSubmitId") for row in rows if row["role"] == "user"][1:] == ["g1", "g2"]
    assert (await guided.request("session/get", **talk.key))["session"]["lifecycleCapabilities"]["guidance"]


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
async def test_the_same_again_is_sent_once_across_a_restart_and_something_else_conflicts(
    guided: Client, guided_daemon: Daemon, workspace: str
) -> None:
    words = f"once in {workspace}"
    talk = await run_turn(guided, workspace, "go")
    replies = [await guided.send("turn/guide", **params(talk, words)) for _ in range(3)]
    assert {(await one.result())["turn"]["turnId"] for one in replies} == {talk.turn["turnId"]}
    other = await guided.refused("turn/guide", **params(talk, "something else"))
    assert (other["code"], other["delivery"]) == ("submit.conflict", "not_dispatched")
    prompt = await guided.refused("session/send", **talk.key, clientSubmitId="g1", content=text(words))
    assert prompt["code"] == "submit.conflict"
    await stop(talk)
    assert (await guide(talk, words))["outcome"] == "canceled", "the present state of the same turn"
    assert steers_told(guided_daemon, words) == 1
    assert sum(row.get("clientSubmitId") == "g1" for row in await talk.messages()) == 1


async def test_reads_and_a_stop_do_not_wait_for_guidance(guided: Client, workspace: str) -> None:
    talk = await run_turn(guided, workspace, "go")
    waiting = await guided.send("turn/guide", **params(talk, "silence"))
    read = await guided.send("turn/get", **talk.key, turnId=talk.turn["turnId"])
    stopped = await guided.send("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await read.result())["turn"]["phase"] == "running"
    assert (await stopped.result())["turn"]["cancelRequestedAt"] is not None
    assert (await waiting.refusal())["code"] == "submit.delivery_unknown"
    assert read.place < waiting.place
    assert stopped.place < waiting.place
    assert (await guided.settled(talk.turn))["outcome"] == "canceled"


# --- refused without a call -----------------------------------------------------------------------------------------


@pytest.mark.rule("RT-079")
async def test_a_turn_that_is_over_or_unknown_is_not_guided_and_the_id_stays_free(
    guided: Client, guided_daemon: Daemon, workspace: str
) -> None:
    words = f"late in {workspace}"
    talk = await run_turn(guided, workspace, "go")
    await stop(talk)
    second = await talk.send("go on")
    await guided.row("turn", turnId=second["turnId"], phase="running")
    cases = [
        (params(talk, words), "turn.settled"),
        (params(talk, words, turn={"turnId": "unknown"}), "turn.not_found"),
        (params(talk, words) | {"agentSessionId": "unknown"}, "session.not_found"),
        (params(talk, words) | {"workspaceId": f"{workspace}-x"}, "session.not_found"),
    ]
    for asked, code in cases:
        refused = await guided.refused("turn/guide", **asked)
        assert (refused["code"], refused["delivery"]) == (code, "not_dispatched")
    assert steers_told(guided_daemon, words) == 0
    turn = (await guided.request("turn/guide", **params(talk, words, turn=second)))["turn"]
    assert turn["turnId"] == second["turnId"], "the same id serves the turn that runs"
    assert steers_told(guided_daemon, words) == 1


@pytest.mark.rule("RT-078")
async def test_without_its_turn_it_is_no_request(guided: Client, workspace: str) -> None:
    talk = await run_turn(guided, workspace, "go")
    for missing in ("turnId", "clientSubmitId", "content", "agentSessionId", "workspaceId"):
        asked = {name: value for name, value in params(talk, "x").items() if name != missing}
        assert (await guided.refused("turn/guide", **asked))["code"] == "request.invalid"
    for content in ([], text("")):
        refused = await guided.refused("turn/guide", **params(talk, "x") | {"content": content})
        assert refused["code"] == "request.invalid"
    assert (await guide(talk, "end", "g1"))["turnId"] == talk.turn["turnId"], "nothing was bound"


async def test_a_target_without_guidance_says_so_and_one_not_yet_known_cannot_take_it_now(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[hang]]")
    await client.row("turn", turnId=talk.turn["turnId"], phase="running")
    refused = await client.refused("turn/guide", **params(talk, "more"))
    assert (refused["code"], refused["delivery"]) == ("capability.unsupported", "not_dispatched")
    slow = await start(client, workspace, "[[say x]]", target="slow")
    refused = await client.refused("turn/guide", **params(slow, "more"))
    assert (refused["code"], refused["delivery"], refused["retryable"]) == (
        "turn.mismatch",
        "not_dispatched",
        True,
    )
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await client.settled(talk.turn))["outcome"] == "canceled"


async def test_what_cannot_be_taken_whole_is_refused(guided: Client, workspace: str) -> None:
    talk = await run_turn(guided, workspace, "go")
    picture = {"type": "image", "mediaType": "image/png", "bytes": 3, "attachmentId": "a"}
    content = [*text("x"), picture]
    refused = await guided.refused("turn/guide", **params(talk, "x") | {"content": content})
    assert (refused["code"], refused["details"]) == ("attachment.not_found", {"attachmentId": "a"})
    refused = await guided.refused("turn/guide", **params(talk, "x" * (4 * 1024 * 1024 + 1)))
    assert (refused["code"], refused["details"]) == ("request.too_large", {"limit": "maxMessageBytes"})
    await guide(talk, "end", "g1")


async def test_a_token_for_reading_guides_nothing(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    asked = await talk.pending()
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.refused("turn/guide", **params(talk, "x")))["code"] == "auth.forbidden"
    await talk.answer(asked)
    assert (await client.settled(talk.turn))["outcome"] == "completed"


# --- refused by the agent -------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-079")
@pytest.mark.case("FC-27")
@pytest.mark.parametrize(("words", "code"), [("mismatch", "turn.mismatch"), ("reject", "provider.rejected")])
async def test_what_the_agent_refuses_is_typed_changes_nothing_and_frees_the_id(
    guided: Client, workspace: str, words: str, code: str
) -> None:
    talk = await run_turn(guided, workspace, "go")
    refused = await guided.refused("turn/guide", **params(talk, words))
    assert (refused["code"], refused["delivery"]) == (code, "rejected")
    assert (await guide(talk, "end"))["turnId"] == talk.turn["turnId"]
    assert (await guided.settled(talk.turn))["outcome"] == "completed"
    assert [text_of(row) for row in await talk.messages()] == ["go", "begun", "end", "heard end"]


# --- silence and loss -----------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-034")
async def test_a_silent_agent_leaves_the_delivery_unknown_and_the_id_bound(
    guided: Client, guided_daemon: Daemon, workspace: str
) -> None:
    words = f"silence in {workspace}"
    talk = await run_turn(guided, workspace, "go")
    refused = await guided.refused("turn/guide", **params(talk, words))
    assert (refused["code"], refused["delivery"], refused["retryable"]) == (
        "submit.delivery_unknown",
        "unknown",
        False,
    )
    again = await guided.refused("turn/guide", **params(talk, words))
    assert (again["code"], again["details"]["turn"]["turnId"]) == (refused["code"], talk.turn["turnId"])
    assert (await guided.refused("turn/guide", **params(talk, "other")))["code"] == "submit.conflict"
    assert steers_told(guided_daemon, words) == 1
    await guide(talk, "end", "g2")
    assert (await guided.settled(talk.turn))["outcome"] == "completed"


@pytest.mark.rule("RT-034")
@pytest.mark.case("FC-10")
async def test_an_agent_that_dies_over_it_leaves_it_unknown_and_the_next_prompt_works(
    guided: Client, guided_daemon: Daemon, workspace: str
) -> None:
    words = f"die in {workspace}"
    talk = await run_turn(guided, workspace, "go")
    assert (await guided.refused("turn/guide", **params(talk, words)))["code"] == "submit.delivery_unknown"
    settled = await guided.settled(talk.turn)
    assert (settled["outcome"], settled["error"]["code"]) == ("failed", "provider.lost")
    assert (await guided.refused("turn/guide", **params(talk, words)))["code"] == "submit.delivery_unknown"
    second = await talk.send("go on")
    await guided.row("turn", turnId=second["turnId"], phase="running")
    await guided.request("turn/guide", **params(talk, "end", "g2", second))
    assert (await guided.settled(second))["outcome"] == "completed"
    assert steers_told(guided_daemon, words) == 1


@pytest.mark.rule("RT-034", "RT-037")
@pytest.mark.case("FC-06")
async def test_after_a_killed_daemon_open_guidance_stays_bound_and_is_not_sent_again(
    make_guided: Daemon,
) -> None:
    async with connected(make_guided) as client:
        await client.subscribe("w")
        talk = await run_turn(client, "w", "go")
        await client.send("turn/guide", **params(talk, "silence"))
        await guide(talk, "heard well", "g2")
        make_guided.kill()
    make_guided.start()
    async with connected(make_guided) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        refused = await client.refused("turn/guide", **params(talk, "silence"))
        assert (refused["code"], refused["details"]["turn"]["outcome"]) == (
            "submit.delivery_unknown",
            "interrupted",
        )
        assert (await guide(talk, "heard well", "g2"))["outcome"] == "interrupted"
        assert (await client.refused("turn/guide", **params(talk, "silence", "g3")))["code"] == "turn.settled"
    assert steers_told(make_guided, "silence") == 1


@pytest.fixture
def make_guided(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon to be killed."""
    daemon = Daemon(tmp_path, {"targets": [guided_target(tmp_path)]})
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.end()
