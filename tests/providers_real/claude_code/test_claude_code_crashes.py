"""The worst moments with a real Claude Code: the daemon killed in a turn, the agent killed, its record gone."""

import shutil
from pathlib import Path

import pytest

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import answer_params, start, streamed, text_of
from tests.providers_real.claude_code.real_claude import SHELL_TOOL, TARGET, claude_target
from tests.providers_real.codex_acp import agents, commands, eventually, holding, kill_agent

pytestmark = pytest.mark.real_agent


@pytest.fixture
def daemon(make_daemon: MakeDaemon, claude: str, model: ModelServer, tmp_path: Path) -> Daemon:
    """One to be killed."""
    target = claude_target([claude], tmp_path / "home", model)
    return make_daemon({"targets": [target], "limits": {"writeBehindMs": 100}})


@pytest.mark.case("FC-06", "FC-07")
async def test_a_killed_daemon_leaves_no_claude_behind_and_finds_the_conversation_again(
    daemon: Daemon, model: ModelServer, tmp_path: Path
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Ada. " + script(["Hello Ada."]), target=TARGET)
        await client.settled(talk.turn)
        session = (await client.request("session/get", **talk.key))["session"]
        killed = await talk.send("Tell a tale. " + script(["Once, ", hold("daemon killed")]))
        request = await holding(model, "daemon killed")
        message = await client.row("message", turnId=killed["turnId"], role="assistant")
        await client.wait(lambda: streamed(client, message["messageId"]) == "Once, ", "the text")
        record = f"**/{session['providerSessionId']}.jsonl"
        (file,) = (tmp_path / "home" / "configuration" / "projects").glob(record)
        await eventually(lambda: "Tell a tale." in file.read_text(), "the prompt in the record")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []
    await eventually(lambda: request.ending == "client_left", "the model to be left")

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=killed["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        assert (await talk.say("Who was Ada? " + script(["You."])))["outcome"] == "completed"
        (after,) = model.asked("Who was Ada?")
        assert after.knows("user", "I am Ada.")
        assert after.knows("user", "Tell a tale."), after.conversation
        resumed = (await client.request("session/get", **talk.key))["session"]
        assert resumed["providerSessionId"] == session["providerSessionId"]
    assert len(model.asked("Tell a tale.")) == 1, "nothing is sent again by itself"


@pytest.mark.case("FC-06")
async def test_an_ask_that_was_open_when_the_daemon_died_is_superseded_and_never_carried_out_by_claude(
    daemon: Daemon, tmp_path: Path
) -> None:
    made = tmp_path / "never.txt"
    async with connected(daemon) as client:
        await client.subscribe("w")
        prompt = script([call(SHELL_TOOL, command=f"touch {made.name}", description="make")], ["Done."])
        talk = await start(client, "w", prompt, target=TARGET, cwd=str(tmp_path))
        asked = await talk.pending()
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        refusal = await client.refused("interaction/respond", **answer_params(asked, "allow"))
        assert refusal["code"] == "interaction.not_pending"
        assert (await talk.say(script(["Here again."])))["outcome"] == "completed"
    assert not made.exists()


@pytest.mark.case("FC-10")
async def test_a_killed_claude_fails_its_turn_and_its_commands_go_with_it(
    daemon: Daemon, claude: str, model: ModelServer, tmp_path: Path
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(
            client, "w", "I am Bob. " + script(["Hello Bob."]), target=TARGET, cwd=str(tmp_path)
        )
        await client.settled(talk.turn)
        waiting = call(SHELL_TOOL, command="touch waiting && tail -f /dev/null", description="wait")
        lost = await talk.send(script([waiting], ["Waited."]))
        await talk.answer(await talk.pending(), "allow")
        await eventually(lambda: commands(daemon, "tail"), "the command")
        (agent,) = agents(daemon, claude)
        kill_agent(agent)
        turn = await client.settled(lost)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
        await eventually(lambda: not commands(daemon, "tail"), "the command to end")

        assert (await talk.say("Who was Bob? " + script(["You."])))["outcome"] == "completed"
        (request,) = model.asked("Who was Bob?")
        assert request.knows("user", "I am Bob.")
        assert len(agents(daemon, claude)) == 1


@pytest.mark.case("FC-07", "FC-58")
async def test_a_conversation_whose_record_is_gone_is_said_to_be_gone_and_begins_anew_when_asked(
    daemon: Daemon, tmp_path: Path, claude: str
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Eve. " + script(["Hello Eve."]), target=TARGET)
        await client.settled(talk.turn)
        await client.request("session/close", **talk.key)
        await eventually(lambda: not agents(daemon, claude), "Claude Code to be gone")
        shutil.rmtree(tmp_path / "home" / "configuration" / "projects")
        turn = await talk.say(script(["Not reached."]))
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "session.not_resumable")
        session = (await client.request("session/get", **talk.key))["session"]
        assert session["resumability"] == "not_resumable"
        await client.request("session/resume", **talk.key, mode="fresh")
        assert (await talk.say(script(["Anew."])))["outcome"] == "completed"
        assert [text_of(row) for row in await talk.messages()][-1] == "Anew."


async def test_a_conversation_that_was_never_kept_begins_anew_by_itself(daemon: Daemon, claude: str) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", target=TARGET)
        await client.request("session/resume", **talk.key)
        await client.request("session/close", **talk.key)
        await eventually(lambda: not agents(daemon, claude), "Claude Code to be gone")
        assert (await talk.say(script(["Hello."])))["outcome"] == "completed"
