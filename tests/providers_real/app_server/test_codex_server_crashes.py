"""The worst moments with a real app-server: it is killed in a turn, or the daemon is."""

from pathlib import Path

import pytest

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.app_server.codex_server import ASKING, FREE, SHELL_TOOL, TARGET, codex_server
from tests.providers_real.codex_acp import agents, commands, eventually, holding, kill_agent

pytestmark = pytest.mark.real_agent


@pytest.fixture
def daemon(make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path) -> Daemon:
    """One to be killed."""
    target = codex_server(codex, tmp_path / "codex", model)
    return make_daemon({"targets": [target], "limits": {"writeBehindMs": 100}})


@pytest.mark.case("FC-10", "FC-25")
async def test_a_killed_app_server_fails_the_turns_on_it_and_every_conversation_is_found_again(
    daemon: Daemon, codex: str, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talks = {}
        for name in ("Ada", "Bob"):
            talks[name] = await start(
                client, "w", f"I am {name}. " + script([f"Hello {name}."]), target=TARGET
            )
            await client.settled(talks[name].turn)
        lost = await talks["Ada"].send(script(["So far, ", hold("codex lost")]))
        await holding(model, "codex lost")
        message = await client.row("message", turnId=lost["turnId"], role="assistant")
        await client.wait(lambda: streamed(client, message["messageId"]) == "So far, ", "the text")
        asking = await start(
            client, "w", script([call(SHELL_TOOL, cmd="touch never")]), target=TARGET, settings=ASKING
        )
        asked = await asking.pending()
        (agent,) = agents(daemon, codex)
        kill_agent(agent)
        for turn in (lost, asking.turn):
            settled = await client.settled(turn)
            assert (settled["outcome"], settled["error"]["code"]) == ("failed", "provider.lost")
        superseded = await client.row("interaction", requestId=asked["requestId"], status="superseded")
        assert superseded["answer"] is None
        (kept,) = [
            each for each in await talks["Ada"].messages() if each["messageId"] == message["messageId"]
        ]
        assert (kept["status"], text_of(kept)) == ("interrupted", "So far, ")

        for name, talk in talks.items():
            assert (await talk.say(f"Who is {name}? " + script(["You."])))["outcome"] == "completed"
            (request,) = model.asked(f"Who is {name}?")
            assert request.knows("user", f"I am {name}.")
            assert request.knows("assistant", f"Hello {name}.")
        (successor,) = agents(daemon, codex)
        assert successor != agent


@pytest.mark.case("FC-06")
async def test_after_a_killed_daemon_codex_is_gone_too_and_remembers_after_the_restart(
    daemon: Daemon, codex: str, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Eve. " + script(["Hello Eve."]), target=TARGET, settings=FREE)
        await client.settled(talk.turn)
        session = (await client.request("session/get", **talk.key))["session"]
        slow = call(SHELL_TOOL, cmd="setsid sleep 600 & sleep 600", yield_time_ms=30000)
        killed = await talk.send("Work. " + script(["I work. ", slow]))
        await eventually(lambda: len(commands(daemon, "sleep")) == 2, "both commands to run")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=killed["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        assert (await talk.say("Who was Eve? " + script(["You."])))["outcome"] == "completed"
        (request,) = model.asked("Who was Eve?")
        assert request.knows("user", "I am Eve.")
        assert request.knows("assistant", "Hello Eve.")
        resumed = (await client.request("session/get", **talk.key))["session"]
        assert resumed["providerSessionId"] == session["providerSessionId"]
        assert resumed["resumability"] == "resumable"
    assert len(model.asked("Work.")) == 1, "nothing is sent again by itself"


async def test_a_clean_stop_in_a_turn_leaves_no_process_and_an_interrupted_turn(
    daemon: Daemon, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Half a ", hold("codex clean stop")]), target=TARGET)
        request = await holding(model, "codex clean stop")
    assert daemon.stop() == 0, daemon.log_tail()
    assert daemon.providers() == []
    await eventually(lambda: request.ending == "client_left", "the model to be left")
    daemon.start()
    async with connected(daemon) as client:
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")


@pytest.mark.rule("RT-118")
@pytest.mark.case("FC-37")
async def test_a_killed_app_server_expires_its_sides_and_no_side_is_ever_found_again(
    daemon: Daemon, codex: str, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        await client.request("events/subscribe", workspaceId="w", topics=["agent.side.updated"])
        talk = await start(client, "w", "I am Eve. " + script(["Hello Eve."]), target=TARGET, settings=FREE)
        await client.settled(talk.turn)
        side = {"workspaceId": "w", "sideAgentSessionId": "side"}
        await client.request("side/open", **side, agentSessionId=talk.session_id, surfaceId="pane")
        words = "Beside. " + script(["So far, ", hold("side lost")])
        sent = {"clientSubmitId": "s", "content": [{"type": "text", "text": words}]}
        await client.request("side/send", **side, **sent)
        await holding(model, "side lost")
        (agent,) = agents(daemon, codex)
        kill_agent(agent)
        told = await client.wait(
            lambda: [one for one in client.events("side") if one["payload"]["type"] == "expired"], "the end"
        )
        assert told[0]["payload"]["reason"] == "provider_lost"
        assert (await client.refused("side/get", **side))["code"] == "side.expired"
        assert (await talk.say("Who is Eve? " + script(["You."])))["outcome"] == "completed"
        (request,) = model.asked("Who is Eve?")
        assert request.knows("user", "I am Eve.")
        assert not request.knows("user", "Beside.")
