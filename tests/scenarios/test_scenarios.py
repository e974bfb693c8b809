"""What any agent has to do, said once: every target plays the same scenarios, and what it showed is written down."""

import os
import signal
from pathlib import Path

import pytest

from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.side_talk import Sides
from tests.end_to_end.talk import Talk, answer_params, start, streamed, text_of
from tests.scenarios.kinds import PATIENT_KINDS, Kind, Words
from tests.scenarios.results import shows

LIMITS = {"writeBehindMs": 50}


async def begun(client: Client, workspace: str, kind: Kind, prompt: str, **params: object) -> Talk:
    """A session of this target with its first prompt."""
    settings = {"settings": kind.settings} if kind.settings else {}
    return await start(client, workspace, prompt, target=kind.target_id, **settings, **params)


def option(asked: Json, sort: str) -> str:
    """The first option of a kind."""
    return next(str(one["optionId"]) for one in asked["options"] if one["kind"] == sort)


async def streaming(client: Client, turn: Json, text: str) -> Json:
    """The message of a turn once so much of it has come."""
    row = await client.row("message", 30.0, turnId=turn["turnId"], role="assistant", kind="text")
    await client.wait(lambda: text in streamed(client, row["messageId"]), f"the text {text!r}", 30.0)
    return row


async def test_a_turn_streams_its_text_and_ends(
    client: Client, workspace: str, kind: Kind, words: Words
) -> None:
    talk = await begun(client, workspace, kind, words.says("Greetings."))
    turn = await client.settled(talk.turn, 30.0)
    assert turn["outcome"] == "completed"
    assert await talk.texts() == ["Greetings."]
    message = await client.row("message", turnId=turn["turnId"], role="assistant", kind="text")
    assert streamed(client, message["messageId"]) == "Greetings."
    session = (await client.request("session/get", **talk.key))["session"]
    listed = (await client.request("target/list"))["items"]
    version = next(one["program"]["version"] for one in listed if one["agentTargetId"] == kind.target_id)
    if kind.tool is not None:  # a scripted one is of the version of this program
        shows(kind.name, "version", version)
    shows(kind.name, "capabilities", sorted(name for name, can in session["capabilities"].items() if can))
    shows(kind.name, "streams", "yes")


@pytest.mark.case("FC-04")
async def test_what_is_allowed_is_done_and_what_is_refused_is_not(
    client: Client, workspace: str, kind: Kind, words: Words, tmp_path: Path
) -> None:
    made, refused = tmp_path / "allowed.txt", tmp_path / "refused.txt"
    talk = await begun(client, workspace, kind, words.asks(made), cwd=str(tmp_path))
    asked = await talk.pending()
    assert not made.exists()
    await talk.answer(asked, option(asked, "allow_once"))
    assert (await client.settled(talk.turn, 30.0))["outcome"] == "completed"
    assert made.exists() == (kind.tool is not None), "scripted agents make nothing"
    shows(kind.name, "allow", "it is done")

    turn = await talk.send(words.asks(refused))
    asked = await client.row("interaction", turnId=turn["turnId"], status="pending")
    await talk.answer(asked, option(asked, "reject_once"))
    settled = await client.settled(turn, 30.0)
    assert settled["outcome"] in ("completed", "canceled")
    assert settled["cancelRequestedAt"] is None
    assert not refused.exists()
    assert (await talk.say(words.says("Still here.")))["outcome"] == "completed"
    said = [text_of(row) for row in await talk.messages() if row["turnId"] == turn["turnId"]]
    went_on = "Done." in said
    shows(kind.name, "reject", "the turn goes on" if went_on else "the turn ends")


@pytest.mark.rule("RT-006")
async def test_a_stop_in_the_middle_of_a_text_is_confirmed_and_the_next_prompt_works(
    client: Client, workspace: str, kind: Kind, words: Words
) -> None:
    talk = await begun(client, workspace, kind, words.says_and_waits("Once upon"))
    message = await streaming(client, talk.turn, "Once upon")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await client.settled(talk.turn, 30.0)
    assert turn["outcome"] == "canceled"
    assert turn["cancelConfirmedAt"] is not None
    (kept,) = [each for each in await talk.messages() if each["messageId"] == message["messageId"]]
    assert text_of(kept).startswith("Once upon")
    assert (await talk.say(words.says("Again.")))["outcome"] == "completed"
    assert (await talk.texts())[-1] == "Again."
    shows(kind.name, "stop", "confirmed")


@pytest.mark.case("FC-04")
async def test_a_stop_with_an_ask_open_takes_it_back_and_refuses_a_late_answer(
    client: Client, workspace: str, kind: Kind, words: Words, tmp_path: Path
) -> None:
    made = tmp_path / "never.txt"
    talk = await begun(client, workspace, kind, words.asks(made), cwd=str(tmp_path))
    asked = await talk.pending()
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.row("interaction", requestId=asked["requestId"], status="superseded")
    turn = await client.settled(talk.turn, 30.0)
    assert turn["outcome"] == "canceled"
    refusal = await client.refused("interaction/respond", **answer_params(asked, option(asked, "allow_once")))
    assert refusal["code"] == "interaction.not_pending"
    assert (await talk.say(words.says("Still here.")))["outcome"] == "completed"
    assert not made.exists()
    shows(kind.name, "stop while it asks", "confirmed")


async def test_two_sessions_at_once_keep_to_themselves(
    client: Client, workspace: str, kind: Kind, words: Words
) -> None:
    one = await begun(client, workspace, kind, f"I am Ada of {workspace}. " + words.says("Hello Ada."))
    two = await begun(client, workspace, kind, f"I am Bob of {workspace}. " + words.says("Hello Bob."))
    for talk, text in ((one, "Hello Ada."), (two, "Hello Bob.")):
        assert (await client.settled(talk.turn, 30.0))["outcome"] == "completed"
        assert await talk.texts() == [text]
    assert await words.remembers(one, f"I am Ada of {workspace}.")
    assert not await words.remembers(two, f"I am Ada of {workspace}.")
    shows(kind.name, "two sessions", "apart")


@pytest.mark.case("FC-10")
async def test_a_killed_agent_fails_its_turn_and_the_next_prompt_finds_the_conversation(
    client: Client, workspace: str, kind: Kind, words: Words
) -> None:
    talk = await begun(client, workspace, kind, f"I am Ada of {workspace}. " + words.says("Hello."))
    await client.settled(talk.turn, 30.0)
    lost = await talk.send(words.says_and_waits("Once upon"))
    await streaming(client, lost, "Once upon")
    inspected = await client.request("debug/session", **talk.key)
    os.kill(inspected["inspection"]["connections"][0]["pid"], signal.SIGKILL)
    turn = await client.settled(lost, 30.0)
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
    remembers = await words.remembers(talk, f"I am Ada of {workspace}.")
    shows(kind.name, "killed agent", "the conversation is found" if remembers else "it is forgotten")


@pytest.mark.rule("RT-109")
async def test_a_side_is_what_is_said_of_it_beforehand(
    client: Client, workspace: str, kind: Kind, words: Words
) -> None:
    talk = await begun(client, workspace, kind, f"I am Ada of {workspace}. " + words.says("Hello."))
    await client.settled(talk.turn, 30.0)
    await client.request("events/subscribe", workspaceId=workspace, topics=["agent.side.updated"])
    sides = Sides(client, workspace)
    told = await sides.request("side/capabilities", agentSessionId=talk.session_id)
    if not told["supported"]:
        params = {"agentSessionId": talk.session_id, "sideAgentSessionId": "s", "surfaceId": "pane"}
        assert (await sides.refused("side/open", **params))["code"] == "capability.unsupported"
        shows(kind.name, "side", "none")
        return
    side = await sides.open(talk)
    turn = await sides.settled(side, await sides.send(side, words.says("Beside.")))
    assert turn["outcome"] == "completed"
    assert sides.said(side) == "Beside."
    await sides.request("side/close", sideAgentSessionId=side)
    assert await talk.texts() == ["Hello."]
    shows(kind.name, "side", "a fork" if told["facts"]["tools"] else "one question")


@pytest.mark.case("FC-06", "FC-03")
@pytest.mark.parametrize("kind", PATIENT_KINDS, indirect=True)
async def test_a_restart_and_a_killed_daemon_leave_no_agent_and_lose_no_conversation(
    make_daemon: MakeDaemon, kind: Kind, words: Words, model: ModelServer, tmp_path: Path
) -> None:
    daemon: Daemon = make_daemon({"targets": kind.configure(tmp_path / "own", model), "limits": LIMITS})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await begun(client, "w", kind, f"I am Ada of {tmp_path}. " + words.says("Hello."))
        await client.settled(talk.turn, 30.0)
    daemon.restart()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        remembers = await words.remembers(talk, f"I am Ada of {tmp_path}.")
        shows(kind.name, "restart", "the conversation is found" if remembers else "it is forgotten")
        killed = await talk.send(words.says_and_waits("Once upon"))
        await streaming(client, killed, "Once upon")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=killed["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        remembers = await words.remembers(talk, f"I am Ada of {tmp_path}.")
        shows(kind.name, "killed daemon", "the conversation is found" if remembers else "it is forgotten")
