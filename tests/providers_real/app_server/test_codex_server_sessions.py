"""Several sessions on one app-server, their settings, and conversations found again or gone."""

from pathlib import Path

import pytest

from tests.doubles.model_script import hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.app_server.codex_server import TARGET, codex_server, sandbox_told
from tests.providers_real.codex_acp import agents, eventually, holding

pytestmark = pytest.mark.real_agent

SETTINGS = {
    "oak": {"sandbox": "read-only", "approvalPolicy": "never"},
    "elm": {"sandbox": "workspace-write", "approvalPolicy": "untrusted"},
}


@pytest.mark.case("FC-24")
async def test_two_sessions_on_one_process_mix_neither_words_nor_settings(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talks = {}
        for name, settings in SETTINGS.items():
            cwd = tmp_path / name
            cwd.mkdir()
            prompt = f"Plant the {name}. " + script([f"{name} one ", hold(f"codex {name}"), f"{name} two"])
            talks[name] = await start(client, "w", prompt, target=TARGET, cwd=str(cwd), settings=settings)
            await holding(model, f"codex {name}")
        assert len(agents(daemon, codex)) == 1
        for name in ("elm", "oak"):
            model.release(f"codex {name}")
        for (name, talk), other in zip(talks.items(), ("elm", "oak"), strict=True):
            assert (await client.settled(talk.turn))["outcome"] == "completed"
            assert await talk.texts() == [f"{name} one {name} two"]
            for message in await talk.messages():
                assert message["role"] == "user" or streamed(client, message["messageId"]) == text_of(message)
            (request,) = model.asked(f"Plant the {name}.")
            assert sandbox_told(request) == SETTINGS[name]["sandbox"]
            told = str(request.conversation)
            assert str(tmp_path / name) in told
            assert str(tmp_path / other) not in told


async def test_an_idle_session_lets_codex_go_and_is_resumed_with_its_own_settings(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    target = codex_server(codex, tmp_path / "codex", model)
    daemon = make_daemon({"targets": [target], "limits": {"idleReleaseSeconds": 0.2}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "My name is Ada. " + script(["Hello Ada."]), target=TARGET)
        await client.settled(talk.turn)
        await client.event("runtime_activity", runtimeState="hibernated")
        await eventually(lambda: not agents(daemon, codex), "Codex to end")

        assert (await talk.say("What is my name? " + script(["Ada."])))["outcome"] == "completed"
        (request,) = model.asked("What is my name?")
        assert request.knows("user", "My name is Ada.")
        assert request.knows("assistant", "Hello Ada.")
        assert sandbox_told(request) == "workspace-write", "a resume would come back with danger-full-access"
        assert await talk.texts() == ["Hello Ada.", "Ada."]


@pytest.mark.case("FC-07")
async def test_a_conversation_whose_rollout_is_gone_says_so_once_and_begins_anew_when_told_to(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    home = tmp_path / "codex"
    daemon = make_daemon({"targets": [codex_server(codex, home, model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Remember me."]), target=TARGET)
        await client.settled(talk.turn)
        await client.request("session/close", **talk.key)
        await eventually(lambda: not agents(daemon, codex), "Codex to end")
        for file in (*home.glob("sessions/**/*.jsonl"), *home.glob("*.sqlite*")):
            file.unlink()
        turn = await talk.say(script(["Never said."]))
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "session.not_resumable")
        refusal = await client.refused(
            "session/send", **talk.key, clientSubmitId="again", content=[{"type": "text", "text": "x"}]
        )
        assert refusal["code"] == "session.not_resumable"
        await client.request("session/resume", **talk.key, mode="fresh")
        assert (await talk.say(script(["Hello again."])))["outcome"] == "completed"
        assert await talk.texts() == ["Remember me.", "Hello again."]


@pytest.mark.parametrize("broken", ['model = "x\n', "no_such_key = 1\n"], ids=["unreadable", "unknown key"])
async def test_a_configuration_codex_cannot_read_fails_the_turn_and_never_means_defaults(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path, broken: str
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model, broken)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Never said."]), target=TARGET)
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.unavailable")
        assert turn["delivery"] == "not_dispatched"


async def test_a_working_directory_that_is_gone_fails_the_turn_before_codex_is_asked(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    gone = tmp_path / "gone"
    gone.mkdir()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", target=TARGET, cwd=str(gone))
        gone.rmdir()
        turn = await talk.say(script(["Never said."]))
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "session.cwd_missing")
        assert not agents(daemon, codex)
