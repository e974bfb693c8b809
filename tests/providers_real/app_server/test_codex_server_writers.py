"""One writer for a conversation: another process that holds it is waited out, one of a dead daemon is ended first."""

import json
import os
import signal
from pathlib import Path

import pytest
import trio
from trio_websocket import open_websocket

from supervisor.process_guard.process_table import read_rows
from tests.doubles.model_script import hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start
from tests.process_guard.support import alive, kill_now
from tests.providers_real.app_server.codex_server import TARGET, codex_server
from tests.providers_real.app_server.running_server import running_server
from tests.providers_real.codex_acp import agents, eventually, holding
from tests.trouble.agents import command_name, parent_of

pytestmark = pytest.mark.real_agent


async def hold_thread(port: int, thread_id: str, held: trio.Event, done: trio.Event) -> None:
    """Load a thread in the app-server on this port, as another program of the same person would."""
    async with open_websocket("127.0.0.1", port, "/", use_ssl=False) as socket:
        calls = (
            {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "other", "version": "1"}}},
            {"id": 2, "method": "thread/resume", "params": {"threadId": thread_id}},
        )
        for call in calls:
            await socket.send_message(json.dumps(call))
            while (answer := json.loads(await socket.get_message())).get("id") != call["id"]:
                pass
            assert "result" in answer, answer
        held.set()
        await done.wait()


@pytest.mark.case("FC-07", "FC-52")
@pytest.mark.rule("RT-042")
async def test_a_conversation_that_another_program_holds_is_not_gone_and_is_had_again_after_it(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    home = tmp_path / "codex"
    daemon = make_daemon({"targets": [codex_server(codex, home, model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Zoe. " + script(["Hello Zoe."]), target=TARGET)
        await client.settled(talk.turn)
        before = (await client.request("session/get", **talk.key))["session"]
        await client.request("session/close", **talk.key)
        await eventually(lambda: not agents(daemon, codex), "Codex to end")
        held, done = trio.Event(), trio.Event()
        with running_server(codex, home, model) as other:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hold_thread, other.port, before["providerSessionId"], held, done)
                with trio.fail_after(20):
                    await held.wait()
                turn = await talk.say("Too early. " + script(["Never said."]))
                assert (turn["outcome"], turn["delivery"]) == ("failed", "not_dispatched")
                assert (turn["error"]["code"], turn["error"]["retryable"]) == ("provider.unavailable", True)
                session = (await client.request("session/get", **talk.key))["session"]
                assert session["resumability"] != "not_resumable"
                assert session["providerSessionId"] == before["providerSessionId"]
                done.set()
        assert (await talk.say("Who is Zoe? " + script(["You."])))["outcome"] == "completed"
        (request,) = model.asked("Who is Zoe?")
        assert request.knows("assistant", "Hello Zoe.")
    assert model.asked("Too early.") == []


@pytest.mark.case("FC-06")
async def test_a_codex_that_outlived_daemon_and_guard_is_ended_before_its_conversation_is_resumed(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Ivo. " + script(["Hello Ivo."]), target=TARGET)
        await client.settled(talk.turn)
        running = await talk.send("Dig a pond. " + script(["Half ", hold("codex leftover")]))
        await holding(model, "codex leftover")
        (agent,) = agents(daemon, codex)
        # Stopped, it sees no end of its input and keeps the lock on its thread; its guards do not end it either.
        guards = (spawner_of(daemon), parent_of(agent))
        for pid in (*guards, agent):
            os.kill(pid, signal.SIGSTOP)
        daemon.kill()
    assert alive(agent), "nothing is left to be swept"
    daemon.start()
    assert not alive(agent), "the sweep comes before the listening"
    kill_now(*(pid for pid in guards if alive(pid)))
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=running["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        assert (await talk.say("Who is Ivo? " + script(["You."])))["outcome"] == "completed"
        (request,) = model.asked("Who is Ivo?")
        assert request.knows("assistant", "Hello Ivo.")
    assert len(model.asked("Dig a pond.")) == 1, "nothing is sent again by itself"


async def test_what_codex_says_holds_is_in_the_session_with_where_it_comes_from(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        chosen = {"sandbox": "read-only", "reasoningEffort": "low"}
        talk = await start(client, "w", script(["Hello."]), target=TARGET, settings=chosen)
        await client.settled(talk.turn)
        session = (await client.request("session/get", **talk.key))["session"]
        assert session["settings"] == {**chosen, "approvalPolicy": "on-request", "model": "gpt-5.5"}
        assert session["settingsSource"] == {
            "sandbox": "explicit",
            "reasoningEffort": "explicit",
            "approvalPolicy": "default",
            "model": "provider",
        }


def spawner_of(daemon: Daemon) -> int:
    """The process that starts all others of this daemon."""
    (spawner,) = [
        pid for pid in read_rows() if parent_of(pid) == daemon.pid and command_name(pid) == "greenroom-spawn"
    ]
    return spawner
