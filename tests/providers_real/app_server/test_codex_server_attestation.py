"""A real Codex says what it is before any conversation, and is used for what that attests."""

import json
import os
from pathlib import Path

import pytest
import trio

from tests.doubles.model_script import script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start
from tests.providers_real.app_server.codex_server import TARGET, codex_server
from tests.providers_real.codex_acp import agents

EXAMINED_SECONDS = 20

pytestmark = pytest.mark.real_agent


async def examined(client: Client) -> Json:
    """The one target, once its program has said what it is."""
    with trio.fail_after(EXAMINED_SECONDS):
        while True:
            (target,) = (await client.request("target/list"))["items"]
            if target["program"]["version"] is not None:
                return target
            await trio.sleep(0.05)


@pytest.mark.rule("RT-041")
async def test_version_and_capabilities_are_known_without_a_conversation_and_kept(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)], "demo": False})
    async with connected(daemon) as client:
        target = await examined(client)
        assert target["program"] == {"found": True, "version": "0.171.0"}
        assert target["capabilities"]["guidance"]
        assert target["capabilities"]["interrupt"]
        effects = {
            value["value"]: value["effect"]
            for setting in target["settings"]
            if setting["key"] == "sandbox"
            for value in setting["values"]
        }
        assert effects == {
            "read-only": "read_only",
            "workspace-write": "edits",
            "danger-full-access": "unrestricted",
        }
        assert agents(daemon, codex) == []
    assert not list((tmp_path / "codex").glob("sessions/**/*.jsonl")), "no conversation was begun"
    kept = json.loads((daemon.data_dir / "programs.json").read_text())
    ((key, report),) = kept["programs"].items()
    assert report["version"] == "0.171.0"
    assert "thread/fork.ephemeral" in report["facts"]

    assert daemon.stop() == 0
    report["version"] = "0.170.9"
    (daemon.data_dir / "programs.json").write_text(json.dumps({**kept, "programs": {key: report}}))
    daemon.start()
    async with connected(daemon) as client:
        (target,) = (await client.request("target/list"))["items"]
        assert target["program"]["version"] == "0.170.9", "a file that did not change is not asked again"
        await client.subscribe("w")
        talk = await start(client, "w", script(["Hello."]), target=TARGET)
        await client.settled(talk.turn)
        assert await talk.texts() == ["Hello."]


async def test_a_program_around_codex_is_attested_by_its_handshake_alone(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    wrapper = tmp_path / "my-codex"
    wrapper.write_text(f'#!/bin/sh\nexec "{codex}" app-server "$@"\n')
    wrapper.chmod(0o755)
    target = {**codex_server(codex, tmp_path / "codex", model), "command": [str(wrapper)]}
    daemon = make_daemon({"targets": [target], "demo": False})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Hello."]), target=TARGET)
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        session = (await client.request("session/get", **talk.key))["session"]
        assert session["lifecycleCapabilities"]["guidance"]
        (shown,) = (await client.request("target/list"))["items"]
        assert shown["program"]["version"] == "0.171.0"


async def test_a_codex_that_says_of_itself_what_nobody_attests_fails_the_turn_and_nothing_else(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    impostor = tmp_path / "codex-program"
    answer = json.dumps({"id": 1, "result": {"userAgent": "greenroom/9.9.9 (x)"}})
    refusal = json.dumps({"id": 2, "error": {"code": -32600, "message": "unknown variant"}})
    impostor.write_text(
        f"#!/bin/sh\ncase \"$*\" in *--version*) echo 'codex-cli 9.9.9'; exit 0;; *generate*) exit 1;; esac\n"
        f"read line; echo '{answer}'; read line; read line; echo '{refusal}'; cat >/dev/null\n"
    )
    impostor.chmod(0o755)
    target = {**codex_server(codex, tmp_path / "codex", model), "command": [str(impostor), "app-server"]}
    daemon = make_daemon({"targets": [target], "demo": False})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Never."]), target=TARGET)
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.unavailable")
        assert (turn["delivery"], turn["error"]["retryable"]) == ("not_dispatched", False)
        session = (await client.request("session/get", **talk.key))["session"]
        assert session["deletedAt"] is None
        (shown,) = (await client.request("target/list"))["items"]
        assert shown["program"]["version"] == "9.9.9"
        assert shown["capabilities"] is None
    assert os.access(impostor, os.X_OK)
