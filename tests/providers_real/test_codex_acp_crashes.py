"""The worst moments with a real agent: the daemon killed in a turn, and the agent killed in a turn."""

from pathlib import Path

import pytest
import trio

from tests.doubles.model_script import call, hold, pace, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import answer_params, start, streamed, text_of
from tests.providers_real.codex_acp import (
    SHELL_TOOL,
    TARGET,
    agents,
    codex_target,
    commands,
    eventually,
    holding,
    kill_agent,
)

pytestmark = pytest.mark.real_agent

WRITE_BEHIND_MS = 250
PIECES = [f"piece {number}, " for number in range(400)]
PACE_SECONDS = 0.02


@pytest.fixture
def daemon(make_daemon: MakeDaemon, program: str, model: ModelServer, tmp_path: Path) -> Daemon:
    """One to be killed."""
    target = codex_target(program, tmp_path / "codex", model)
    return make_daemon({"targets": [target], "limits": {"writeBehindMs": WRITE_BEHIND_MS}})


@pytest.mark.case("FC-06")
async def test_a_killed_daemon_keeps_what_was_streamed_and_the_agent_remembers_after_the_restart(
    daemon: Daemon, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Ada. " + script(["Hello Ada."]), target=TARGET)
        await client.settled(talk.turn)
        session = (await client.request("session/get", **talk.key))["session"]
        killed = await talk.send("Tell a tale. " + script([pace(PACE_SECONDS), *PIECES]))
        message = await client.row("message", turnId=killed["turnId"], role="assistant")

        def received() -> str:
            return streamed(client, message["messageId"])

        await client.wait(lambda: len(received()) > 100, "a few pieces")
        safe, since = received(), trio.current_time()
        await client.wait(
            lambda: trio.current_time() - since > 2 * WRITE_BEHIND_MS / 1000, "pieces of the time it may lose"
        )
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []
    await eventually(lambda: model.asked("Tell a tale.")[0].ending == "client_left", "the model to be left")
    sent = model.asked("Tell a tale.")[0].text

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=killed["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        (kept,) = [each for each in await talk.messages() if each["messageId"] == message["messageId"]]
        assert kept["status"] == "interrupted"
        assert text_of(kept).startswith(safe)
        assert sent.startswith(text_of(kept))

        after = await talk.say("Who was Ada? " + script(["You."]))
        assert (after["outcome"], after["error"]) == ("completed", None)
        (request,) = model.asked("Who was Ada?")
        assert request.knows("user", "I am Ada.")
        assert request.knows("assistant", "Hello Ada.")
        assert request.knows("user", "Tell a tale.")
        assert (await talk.texts())[-1] == "You."
        resumed = (await client.request("session/get", **talk.key))["session"]
        assert resumed["providerSessionId"] == session["providerSessionId"]
    assert len(model.asked("Tell a tale.")) == 1, "nothing is sent again by itself"


@pytest.mark.case("FC-06")
async def test_an_ask_that_was_open_when_the_daemon_died_is_superseded_and_never_carried_out(
    daemon: Daemon, tmp_path: Path
) -> None:
    made = tmp_path / "never.txt"
    async with connected(daemon) as client:
        await client.subscribe("w")
        prompt = script([call(SHELL_TOOL, cmd=f"echo greenroom > {made.name}")], ["Done."])
        talk = await start(client, "w", prompt, target=TARGET, cwd=str(tmp_path))
        asked = await talk.pending()
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        (left,) = (await client.request("interaction/list", workspaceId="w"))["items"]
        assert (left["requestId"], left["status"]) == (asked["requestId"], "superseded")
        refusal = await client.refused("interaction/respond", **answer_params(asked, "approved"))
        assert refusal["code"] == "interaction.not_pending"
        assert (await talk.say(script(["Here again."])))["outcome"] == "completed"
    assert not made.exists()


@pytest.mark.case("FC-03")
async def test_commands_of_the_agent_do_not_outlive_a_killed_daemon(daemon: Daemon, program: str) -> None:
    stubborn = "trap '' TERM HUP; setsid sleep 600 & sleep 600"
    async with connected(daemon) as client:
        await client.subscribe("w")
        prompt = script([call(SHELL_TOOL, cmd=stubborn, yield_time_ms=30000)], ["Done."])
        talk = await start(client, "w", prompt, target=TARGET)
        await talk.answer(await talk.pending(), "approved")
        (agent,) = agents(daemon, program)
        await eventually(lambda: len(commands(daemon, "sleep")) == 2, "both commands to run")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == [], agent

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        assert (await talk.say(script(["Here again."])))["outcome"] == "completed"


@pytest.mark.case("FC-10")
async def test_a_killed_agent_fails_its_turn_and_the_next_prompt_finds_the_conversation_again(
    daemon: Daemon, program: str, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Bob. " + script(["Hello Bob."]), target=TARGET)
        await client.settled(talk.turn)
        lost = await talk.send(script(["So far, ", hold("lost")]))
        await holding(model, "lost")
        message = await client.row("message", turnId=lost["turnId"], role="assistant")
        await client.wait(lambda: streamed(client, message["messageId"]) == "So far, ", "the text")
        (agent,) = agents(daemon, program)
        kill_agent(agent)
        turn = await client.settled(lost)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
        (kept,) = [each for each in await talk.messages() if each["messageId"] == message["messageId"]]
        assert (kept["status"], text_of(kept)) == ("interrupted", "So far, ")

        assert (await talk.say("Who was Bob? " + script(["You."])))["outcome"] == "completed"
        (request,) = model.asked("Who was Bob?")
        assert request.knows("user", "I am Bob.")
        assert request.knows("assistant", "Hello Bob.")
        assert len(agents(daemon, program)) == 1
