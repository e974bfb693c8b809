"""The transcript of a real Claude Code decides what a turn came to that nobody saw the end of: added once, never repeated."""

import os
import signal
from pathlib import Path

import pytest
import trio

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Json, connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start, text_of
from tests.providers_real.claude_code.real_claude import SHELL_TOOL, TARGET, claude_target
from tests.providers_real.codex_acp import LOOK_SECONDS, WAIT_SECONDS, agents, eventually, holding

pytestmark = pytest.mark.real_agent


@pytest.fixture
def daemon(make_daemon: MakeDaemon, claude: str, model: ModelServer, tmp_path: Path) -> Daemon:
    """One to be killed."""
    target = claude_target([claude], tmp_path / "home", model)
    return make_daemon({"targets": [target], "limits": {"writeBehindMs": 100}})


async def of_turn(talk: Talk, turn: Json) -> list[tuple[str, str, str]]:
    """What the agent said and did in a turn: kind, status and text."""
    rows = [each for each in await talk.messages() if each["turnId"] == turn["turnId"]]
    return [(each["kind"], each["status"], text_of(each)) for each in rows if each["role"] == "assistant"]


@pytest.mark.case("FC-06", "FC-26", "FC-52")
async def test_what_claude_did_while_the_daemon_was_dying_is_added_once_from_its_own_record(
    daemon: Daemon, claude: str, model: ModelServer, tmp_path: Path
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Ada. " + script(["Hello Ada."]), target=TARGET)
        await client.settled(talk.turn)
        session = (await client.request("session/get", **talk.key))["session"]
        look = call(SHELL_TOOL, command="echo unseen", description="look")
        steps = script(["I look.", look], [hold("unseen"), "Again.", look], ["The end."])
        killed = await talk.send("Tell. " + steps)
        await holding(model, "unseen")
        await client.row("message", turnId=killed["turnId"], kind="tool_call", status="completed")
        record = next((tmp_path / "home").glob(f"**/{session['providerSessionId']}.jsonl"))
        os.kill(daemon.ready["pid"], signal.SIGSTOP)
        model.release("unseen")
        await eventually(lambda: '"text":"The end."' in record.read_text(), "the end in the record")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []

    told = [
        ("text", "completed", "I look."),
        ("tool_call", "completed", "unseen"),
        ("text", "completed", "Again."),
        ("tool_call", "completed", "unseen"),
        ("text", "completed", "The end."),
    ]
    for life in ("second", "third"):
        daemon.start()
        async with connected(daemon) as client:
            await client.subscribe("w")
            talk.client = client
            turn = (await client.request("turn/get", **talk.key, turnId=killed["turnId"]))["turn"]
            assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
            after = await talk.say(f"In its {life} life? " + script([f"The {life}."]))
            assert after["outcome"] == "completed"
            await client.wait(lambda: len(agents(daemon, claude)) == 1, "one process")
            with trio.move_on_after(WAIT_SECONDS):  # it is read beside the next prompt
                while await of_turn(talk, killed) != told:
                    await trio.sleep(LOOK_SECONDS)
            assert await of_turn(talk, killed) == told
            assert await of_turn(talk, after) == [("text", "completed", f"The {life}.")]
            (asked,) = model.asked(f"In its {life} life?")
            assert asked.knows("assistant", "The end.")
            daemon.kill()
    assert len(model.asked("Tell.")) == 3, "nothing is sent again by itself"


@pytest.mark.case("FC-10")
async def test_a_turn_of_a_killed_claude_gains_nothing_it_was_told_already(
    daemon: Daemon, claude: str, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        look = call(SHELL_TOOL, command="echo seen", description="look")
        prompt = "Look. " + script(["I look.", look], ["And ", hold("never"), "more."])
        talk = await start(client, "w", prompt, target=TARGET)
        await holding(model, "never")
        await client.row("message", kind="tool_call", status="completed")
        (agent,) = agents(daemon, claude)
        os.kill(agent, signal.SIGKILL)
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
        before = await of_turn(talk, turn)
        assert [kind for kind, _, _ in before] == ["text", "tool_call", "text"]
        assert (await talk.say("Go on. " + script(["On."])))["outcome"] == "completed"
        assert await of_turn(talk, turn) == before
