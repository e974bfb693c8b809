"""Sides of a real Claude Code: what its model saw, that its source goes on, and that nothing of them stays on the disk."""

from pathlib import Path

import pytest

from runtime.providers.side_words import BOUNDARY, RULES
from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelRequest, ModelServer
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.side_talk import Sides
from tests.end_to_end.talk import start, text
from tests.providers_real.claude_code.real_claude import (
    AGENT_TOOL,
    SHELL_TOOL,
    TARGET,
    claude_target,
    configuration_files,
    written_below,
)
from tests.providers_real.codex_acp import agents, commands, eventually, holding, kill_agent

pytestmark = pytest.mark.real_agent

FULL = {"nativeFork", "activeTurnSnapshot", "ephemeral", "hiddenHistory", "boundary", "tools", "multiTurn"}
LESS = FULL - {"tools", "multiTurn"}


@pytest.fixture
async def sides(client: Client, workspace: str) -> Sides:
    await client.request("events/subscribe", workspaceId=workspace, topics=["agent.side.updated"])
    return Sides(client, workspace)


async def shown(sides: Sides, session_id: str) -> set[str]:
    """The facts that hold for Sides of this session."""
    reply = await sides.request("side/capabilities", agentSessionId=session_id)
    assert reply["supported"], reply
    return {fact for fact, holds in reply["facts"].items() if holds}


async def allow(sides: Sides, side: str) -> None:
    """Answer what is asked in a Side."""
    asked = (await sides.wait(side, "interaction", status="pending"))["interaction"]
    names = ("turnId", "requestId")
    answer = {**{name: asked[name] for name in names}, "answer": {"optionId": "allow"}}
    await sides.request("side/respond", sideAgentSessionId=side, **answer)


def system_prompt(request: ModelRequest) -> str:
    """What the model was told above the conversation."""
    return "\n".join(block["text"] for block in request.body["system"])


@pytest.mark.rule("RT-106", "RT-107", "RT-119", "RT-120", "RT-128", "RT-129")
@pytest.mark.case("FC-38")
async def test_a_claude_side_of_a_running_turn_knows_it_is_bounded_and_leaves_nothing_when_it_is_closed(
    client: Client, workspace: str, model: ModelServer, sides: Sides, daemon: Daemon, claude: str
) -> None:
    talk = await start(client, workspace, f"Plant elms in {workspace}. " + script(["Elms."]), target=TARGET)
    await client.settled(talk.turn)
    long = await talk.send(f"Water them in {workspace}. " + script(["Watering, ", hold("water"), "watered."]))
    await holding(model, "water")
    assert await shown(sides, talk.session_id) == FULL
    before = configuration_files(daemon.home)
    running = len(agents(daemon, claude))

    side = await sides.open(talk, instructions="Answer in verse.")
    assert len(agents(daemon, claude)) == running + 1, "a process of its own"
    one = await sides.send(side, f"Which trees, {workspace}? " + script(["Elms it was."]))
    assert (await sides.settled(side, one))["outcome"] == "completed"
    two = await sides.send(side, f"And who waters, {workspace}? " + script(["Somebody."]))
    assert (await sides.settled(side, two))["outcome"] == "completed"
    assert sides.said(side) == "Elms it was.Somebody."

    for words in (f"Which trees, {workspace}?", f"And who waters, {workspace}?"):
        (asked,) = model.asked(words)
        assert asked.knows("user", f"Plant elms in {workspace}.")
        assert asked.knows("assistant", "Elms.")
        assert asked.knows("user", f"Water them in {workspace}.")
        assert f"{RULES}\n\nAnswer in verse." in system_prompt(asked)
        told = "\n".join(line for _, line in asked.conversation)
        assert told.count(BOUNDARY) == 1
        assert told.index(f"Water them in {workspace}.") < told.index(BOUNDARY)
        assert told.index(BOUNDARY) < told.index(f"Which trees, {workspace}?")
    await sides.request("side/close", sideAgentSessionId=side)
    await eventually(lambda: len(agents(daemon, claude)) == running, "its process to end")

    model.release("water")
    settled = await client.settled(long)
    assert (settled["outcome"], settled["cancelRequestedAt"]) == ("completed", None)
    (water,) = model.asked(f"Water them in {workspace}.")
    assert RULES not in system_prompt(water)
    assert configuration_files(daemon.home) == before, "no file more than its source has"
    assert written_below(daemon.home, f"Which trees, {workspace}?") == []
    assert [each["content"] for each in await talk.messages() if each["role"] == "user"][1:] == [
        text(f"Water them in {workspace}. " + script(["Watering, ", hold("water"), "watered."]))
    ]


@pytest.mark.rule("RT-114", "RT-115", "RT-127")
async def test_a_claude_side_asks_and_stops_by_itself_and_starts_nothing_that_would_stay(
    client: Client,
    workspace: str,
    model: ModelServer,
    sides: Sides,
    daemon: Daemon,
    claude: str,
    tmp_path: Path,
) -> None:
    others = set(agents(daemon, claude))
    talk = await start(client, workspace, script(["Begun."]), target=TARGET, cwd=str(tmp_path))
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    await eventually(lambda: set(agents(daemon, claude)) == others, "the source's process to be gone")
    before = configuration_files(daemon.home)
    side = await sides.open(talk)
    read = await sides.request("side/get", sideAgentSessionId=side)
    assert read["side"]["settings"]["permissionMode"] == "default"
    touch = call(SHELL_TOOL, command="touch made.txt && seq 20000", description="make")
    turn = await sides.send(side, f"Make it, {workspace}. " + script([touch], ["Made."]))
    await sides.wait(side, "interaction", status="pending")
    assert not (tmp_path / "made.txt").exists()
    await allow(sides, side)
    assert (await sides.settled(side, turn))["outcome"] == "completed"
    assert (tmp_path / "made.txt").exists()

    helped = call(AGENT_TOOL, description="a job", prompt="Look.", subagent_type="general-purpose")
    listed = call("TaskCreate", subject="Later", description="much later")
    turn = await sides.send(side, f"Get help, {workspace}. " + script([helped], [listed], ["Alone."]))
    assert (await sides.settled(side, turn))["outcome"] == "completed"
    outputs = model.asked(f"Get help, {workspace}.")[-1].tool_outputs
    assert ["disabled" in output for output in outputs[-2:]] == [True, True]

    stopped = await sides.send(side, f"Wait, {workspace}. " + script(["Waiting, ", hold("side waits")]))
    request = await holding(model, "side waits")
    await sides.request("side/cancel", sideAgentSessionId=side, turnId=stopped["turnId"])
    assert (await sides.settled(side, stopped))["outcome"] == "canceled"
    await eventually(lambda: request.ending == "client_left", "the model to be left")
    assert (await talk.say(script(["On beside it."])))["outcome"] == "completed"
    await sides.request("side/close", sideAgentSessionId=side)
    await client.request("session/close", **talk.key)
    await eventually(lambda: set(agents(daemon, claude)) == others, "both processes to end")
    assert configuration_files(daemon.home) == before


@pytest.mark.rule("RT-118")
@pytest.mark.case("FC-37")
async def test_a_killed_claude_side_expires_and_its_source_remembers_itself_alone(
    client: Client, workspace: str, model: ModelServer, sides: Sides, daemon: Daemon, claude: str
) -> None:
    talk = await start(client, workspace, f"I am Ada, {workspace}. " + script(["Hello."]), target=TARGET)
    await client.settled(talk.turn)
    sources = set(agents(daemon, claude))
    side = await sides.open(talk)
    (process,) = set(agents(daemon, claude)) - sources
    waiting = call(SHELL_TOOL, command="tail -f /dev/null", description="wait")
    turn = await sides.send(side, f"A secret of {workspace}. " + script([waiting], ["Waited."]))
    await allow(sides, side)
    await eventually(lambda: commands(daemon, "tail"), "the command")
    kill_agent(process)
    settled = await sides.settled(side, turn)
    assert (settled["outcome"], settled["error"]["code"]) == ("failed", "provider.lost")
    await client.wait(lambda: sides.told(side, "expired"), "the end of the Side")
    refusal = await sides.refused(
        "side/send", sideAgentSessionId=side, clientSubmitId="late", content=text("Still there?")
    )
    assert refusal["code"] == "side.expired"
    await eventually(lambda: not commands(daemon, "tail"), "the command to end")
    assert written_below(daemon.home, f"A secret of {workspace}.") == []
    assert (await talk.say(f"Who, {workspace}? " + script(["Ada."])))["outcome"] == "completed"
    (asked,) = model.asked(f"Who, {workspace}?")
    assert asked.knows("user", f"I am Ada, {workspace}.")
    assert not asked.knows("user", f"A secret of {workspace}.")


@pytest.mark.rule("RT-109", "RT-110")
async def test_a_conversation_that_claude_does_not_keep_answers_one_question_beside_its_turn(
    make_daemon: MakeDaemon, claude: str, model: ModelServer, tmp_path: Path
) -> None:
    command = [claude, "--no-session-persistence"]
    daemon = make_daemon({"targets": [claude_target(command, tmp_path / "home", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        await client.request("events/subscribe", workspaceId="w", topics=["agent.side.updated"])
        sides = Sides(client, "w")
        talk = await start(client, "w", "Plant oaks. " + script(["Oaks."]), target=TARGET)
        await client.settled(talk.turn)
        long = await talk.send("Water oaks. " + script(["Watering, ", hold("oaks"), "watered."]))
        await holding(model, "oaks")
        assert await shown(sides, talk.session_id) == LESS
        (process,) = agents(daemon, claude)
        side = await sides.open(talk, instructions="Answer in verse.")
        assert agents(daemon, claude) == [process], "in its source's own process"
        turn = await sides.send(side, "Which oaks? " + script(["The old ones."]))
        assert (await sides.settled(side, turn))["outcome"] == "completed"
        assert sides.said(side) == "The old ones."
        (asked,) = model.asked("Which oaks?")
        assert asked.knows("user", "Plant oaks.")
        assert asked.knows("user", "Water oaks.")
        assert asked.knows("user", "Answer in verse.")
        refusal = await sides.refused(
            "side/send", sideAgentSessionId=side, clientSubmitId="more", content=text("More?")
        )
        assert (refusal["code"], refusal["details"]["limit"]) == ("limit.exceeded", "maxSideTurns")
        await sides.request("side/close", sideAgentSessionId=side)

        other = await sides.open(talk)
        stopped = await sides.send(other, "Why oaks? " + script(["Since ", hold("never")]))
        request = await holding(model, "never")
        await sides.request("side/cancel", sideAgentSessionId=other, turnId=stopped["turnId"])
        assert (await sides.settled(other, stopped))["outcome"] == "canceled"
        await eventually(lambda: request.ending == "client_left", "the model to be left")

        model.release("oaks")
        assert (await client.settled(long))["outcome"] == "completed"
        assert (await talk.say("And then? " + script(["Acorns."])))["outcome"] == "completed"
        (after,) = model.asked("And then?")
        assert not after.knows("user", "Which oaks?")


@pytest.mark.rule("RT-107")
async def test_a_side_opens_beside_the_very_first_turn_of_a_claude_conversation(
    client: Client, workspace: str, model: ModelServer, sides: Sides
) -> None:
    first = await start(
        client, workspace, f"Begin, {workspace}. " + script(["Begin", hold("begin"), "ning."]), target=TARGET
    )
    await holding(model, "begin")
    assert await shown(sides, first.session_id) == LESS, "that it is kept was not shown yet"
    side = await sides.open(first)
    turn = await sides.send(side, f"What is it, {workspace}? " + script(["A beginning."]))
    assert (await sides.settled(side, turn))["outcome"] == "completed"
    (asked,) = model.asked(f"What is it, {workspace}?")
    assert asked.knows("user", f"Begin, {workspace}.")
    await sides.request("side/close", sideAgentSessionId=side)
    model.release("begin")
    assert (await client.settled(first.turn))["outcome"] == "completed"


@pytest.mark.rule("RT-108")
async def test_a_killed_daemon_leaves_neither_a_claude_side_nor_words_of_it(
    make_daemon: MakeDaemon, claude: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [claude_target([claude], tmp_path / "home", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        await client.request("events/subscribe", workspaceId="w", topics=["agent.side.updated"])
        sides = Sides(client, "w")
        talk = await start(client, "w", "I am Ada. " + script(["Hello."]), target=TARGET)
        await client.settled(talk.turn)
        side = await sides.open(talk)
        await sides.send(side, "A secret. " + script(["Hush, ", hold("daemon dies")]))
        request = await holding(model, "daemon dies")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []
    await eventually(lambda: request.ending == "client_left", "the model to be left")
    assert written_below(tmp_path / "home", "A secret.") == []

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        assert (await talk.say("Who? " + script(["Ada."])))["outcome"] == "completed"
        (asked,) = model.asked("Who?")
        assert asked.knows("user", "I am Ada.")
        assert not asked.knows("user", "A secret.")
