"""A real app-server that runs already, over its WebSocket: it is used, lost and found again, and never ours to end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.app_server.codex_server import ASKING, FREE, SHELL_TOOL, TARGET
from tests.providers_real.app_server.running_server import RunningServer, running_server
from tests.providers_real.codex_acp import eventually, holding

pytestmark = pytest.mark.real_agent

TOKEN = "cmlnaHQtdG9rZW4tb2YtdGhlLXNlcnZlcg"


@pytest.fixture
def server(codex: str, model: ModelServer, tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(codex, tmp_path / "codex", model) as server:
        yield server


@pytest.mark.case("FC-24")
async def test_sessions_share_one_connection_and_no_process_is_started(
    make_daemon: MakeDaemon, server: RunningServer, model: ModelServer
) -> None:
    daemon = make_daemon({"targets": [server.target], "demo": False})
    async with connected(daemon) as client:
        await client.subscribe("w")
        (target,) = (await client.request("target/list"))["items"]
        assert target["program"] == {"found": True, "version": None}
        talks = {}
        for name in ("oak", "elm"):
            talks[name] = await start(
                client,
                "w",
                f"Plant the {name}. " + script([f"{name} one ", hold(f"ws {name}"), f"{name} two"]),
                target=TARGET,
            )
            await holding(model, f"ws {name}")
        assert daemon.providers() == []
        assert (await client.request("health/read"))["live"]["connections"] == 1
        for name, talk in talks.items():
            model.release(f"ws {name}")
            assert (await client.settled(talk.turn))["outcome"] == "completed"
            assert await talk.texts() == [f"{name} one {name} two"]
        (target,) = (await client.request("target/list"))["items"]
        assert target["program"] == {"found": True, "version": "0.171.0"}
        assert target["capabilities"]["guidance"] is True


async def test_approvals_and_stops_work_as_on_a_process(
    make_daemon: MakeDaemon, server: RunningServer, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [server.target]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        made = tmp_path / "made"
        asking = script([call(SHELL_TOOL, cmd=f"touch {made}")], ["Done."])
        talk = await start(client, "w", asking, target=TARGET, settings=ASKING)
        asked = await talk.pending()
        option = next(each["optionId"] for each in asked["options"] if each["kind"] == "allow_once")
        await client.request(
            "interaction/respond",
            **talk.key,
            turnId=asked["turnId"],
            requestId=asked["requestId"],
            answer={"optionId": option},
        )
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        assert made.exists()
        held = await talk.send(script(["Half ", hold("ws stop")]))
        request = await holding(model, "ws stop")
        await client.request("turn/cancel", **talk.key, turnId=held["turnId"])
        settled = await client.settled(held)
        assert settled["outcome"] == "canceled"
        assert settled["cancelConfirmedAt"] is not None
        await eventually(lambda: request.ending == "client_left", "the model to be left")


@pytest.mark.case("FC-10", "FC-01")
async def test_a_server_that_dies_in_a_turn_is_dialled_again_when_a_session_needs_it(
    make_daemon: MakeDaemon, server: RunningServer, model: ModelServer
) -> None:
    daemon = make_daemon({"targets": [server.target]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Ada. " + script(["Hello Ada."]), target=TARGET)
        await client.settled(talk.turn)
        lost = await talk.send("Rake the leaves. " + script(["So far, ", hold("ws lost")]))
        await holding(model, "ws lost")
        message = await client.row("message", turnId=lost["turnId"], role="assistant")
        await client.wait(lambda: streamed(client, message["messageId"]) == "So far, ", "the text")
        server.kill()
        settled = await client.settled(lost)
        assert (settled["outcome"], settled["error"]["code"]) == ("failed", "provider.lost")
        kept = next(each for each in await talk.messages() if each["messageId"] == message["messageId"])
        assert (kept["status"], text_of(kept)) == ("interrupted", "So far, ")

        nobody = await talk.say("Anybody? " + script(["Never said."]))
        assert (nobody["outcome"], nobody["error"]["code"]) == ("failed", "provider.unavailable")
        assert nobody["delivery"] == "not_dispatched"
        server.start()
        assert (await talk.say("Who am I? " + script(["Ada."])))["outcome"] == "completed"
        (request,) = model.asked("Who am I?")
        assert request.knows("assistant", "Hello Ada.")
    assert len(model.asked("Rake the leaves.")) == 1, "nothing is sent again by itself"
    assert model.asked("Anybody?") == []


@pytest.mark.parametrize("how", ["close", "stop"])
async def test_a_turn_is_stopped_by_words_and_the_server_goes_on(
    make_daemon: MakeDaemon, server: RunningServer, model: ModelServer, how: str
) -> None:
    daemon = make_daemon({"targets": [server.target]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Half ", hold(f"ws {how}")]), target=TARGET)
        request = await holding(model, f"ws {how}")
        if how == "close":
            await client.request("session/close", **talk.key)
    if how == "stop":
        assert daemon.stop() == 0, daemon.log_tail()
    await eventually(lambda: request.ending == "client_left", "the model to be left")
    assert server.is_running


async def test_a_killed_daemon_leaves_the_turn_to_the_server_and_the_next_prompt_works(
    make_daemon: MakeDaemon, server: RunningServer, model: ModelServer
) -> None:
    daemon = make_daemon({"targets": [server.target]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "I am Eve. " + script(["Hello Eve."]), target=TARGET, settings=FREE)
        await client.settled(talk.turn)
        running = await talk.send("Mow the lawn. " + script(["Half ", hold("ws killed")]))
        request = await holding(model, "ws killed")
        daemon.kill()
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk.client = client
        turn = (await client.request("turn/get", **talk.key, turnId=running["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")
        sent = await talk.send("Who am I? " + script(["Eve."]))
        model.release("ws killed")
        assert (await client.settled(sent))["outcome"] == "completed"
        assert (await talk.texts())[-1] == "Eve."
        await eventually(lambda: request.ending is not None, "the old request to end")
    assert len(model.asked("Mow the lawn.")) == 1, "nothing is sent again by itself"


@pytest.mark.rule("PR-024", "PR-025")
async def test_the_server_is_shown_the_token_of_its_target_and_refuses_another(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    for file, text in ((right, TOKEN), (wrong, TOKEN[::-1])):
        file.write_text(text)
        file.chmod(0o600)
    arguments = ("--ws-auth", "capability-token", "--ws-token-file", str(right))
    with running_server(codex, tmp_path / "codex", model, *arguments) as server:
        targets = [
            {**server.target, "tokenFile": str(right)},
            {**server.target, "id": "wrong", "tokenFile": str(wrong)},
        ]
        daemon = make_daemon({"targets": targets})
        async with connected(daemon) as client:
            await client.subscribe("w")
            refused = await start(client, "w", script(["Never."]), target="wrong")
            turn = await client.settled(refused.turn)
            assert (turn["error"]["code"], turn["error"]["httpStatus"]) == ("provider.unavailable", 401)
            targets = (await client.request("target/list"))["items"]
            assert {each["auth"] for each in targets} == {"unknown"}
            talk = await start(client, "w", script(["Welcome."]), target=TARGET)
            assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert TOKEN not in daemon.log_tail()
    assert TOKEN[::-1] not in daemon.log_tail()
