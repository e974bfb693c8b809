"""Several sessions with a real agent, and sessions that let their agent go and find it again."""

from pathlib import Path

import pytest

from tests.doubles.model_script import hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.codex_acp import TARGET, agents, codex_target, eventually, holding

pytestmark = pytest.mark.real_agent


@pytest.mark.parametrize("shared", [1, 2], ids=["a process each", "one process"])
async def test_two_sessions_at_once_do_not_mix(
    make_daemon: MakeDaemon, program: str, model: ModelServer, shared: int, tmp_path: Path
) -> None:
    target = codex_target(program, tmp_path / "codex", model)
    daemon = make_daemon({"targets": [target], "limits": {"sessionsPerConnection": {"acp": shared}}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talks = {}
        for name in ("oak", "elm"):
            held = f"{name} of {shared}"
            parts = [f"{name} one ", hold(held), f"{name} two"]
            prompt = f"Plant the {held}. " + script(parts)
            talks[name] = await start(client, "w", prompt, target=TARGET, cwd=str(tmp_path))
            await holding(model, held)
        assert len(agents(daemon, program)) == 2 // shared
        for name in ("elm", "oak"):
            model.release(f"{name} of {shared}")
        for (name, talk), other in zip(talks.items(), ("elm", "oak"), strict=True):
            assert (await client.settled(talk.turn))["outcome"] == "completed"
            assert await talk.texts() == [f"{name} one {name} two"]
            for message in await talk.messages():
                assert message["role"] == "user" or streamed(client, message["messageId"]) == text_of(message)
            (request,) = model.asked(f"Plant the {name} of {shared}.")
            assert not request.knows("user", f"Plant the {other}")


async def test_an_idle_session_lets_its_agent_go_and_the_next_prompt_finds_the_conversation_again(
    make_daemon: MakeDaemon, program: str, model: ModelServer, tmp_path: Path
) -> None:
    target = codex_target(program, tmp_path / "codex", model)
    daemon = make_daemon({"targets": [target], "limits": {"idleReleaseSeconds": 0.2}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "My name is Ada. " + script(["Hello Ada."]), target=TARGET)
        await client.settled(talk.turn)
        await client.event("runtime_activity", runtimeState="hibernated")
        await eventually(lambda: not agents(daemon, program), "the agent to end")

        turn = await talk.say("What is my name? " + script(["Ada."]))
        assert turn["outcome"] == "completed"
        (request,) = model.asked("What is my name?")
        assert request.knows("user", "My name is Ada.")
        assert request.knows("assistant", "Hello Ada.")
        assert await talk.texts() == ["Hello Ada.", "Ada."], "a history told again is no new message"


async def test_a_clean_stop_in_a_turn_leaves_no_process_and_an_interrupted_turn(
    make_daemon: MakeDaemon, program: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_target(program, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        idle = await start(client, "w", script(["Ready."]), target=TARGET)
        await client.settled(idle.turn)
        talk = await start(client, "w", script(["Half a ", hold("clean stop")]), target=TARGET)
        request = await holding(model, "clean stop")
    assert daemon.stop() == 0, daemon.log_tail()
    assert daemon.providers() == [], "whoever sees the daemon's end sees no agent any more"
    await eventually(lambda: request.ending == "client_left", "the model to be left")

    daemon.start()
    async with connected(daemon) as client:
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
