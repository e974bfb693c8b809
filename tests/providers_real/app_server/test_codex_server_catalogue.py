"""A real Codex tells of itself: its account, models and skills, in a process of its own or beside a session, and starts no thread."""

import json
from pathlib import Path

import pytest

from tests.doubles.model_script import script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import poll_until
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start
from tests.providers_real.app_server.codex_server import TARGET, codex_server

pytestmark = pytest.mark.real_agent


@pytest.mark.rule("PR-035", "PR-037", "PR-046", "PR-048")
async def test_it_is_read_without_a_session_and_shares_the_process_of_one(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    home = tmp_path / "codex"
    daemon = make_daemon({"targets": [codex_server(codex, home, model)], "demo": False})
    async with connected(daemon) as client:
        told = {
            what: await client.request(f"provider/{what}", agentTargetId=TARGET)
            for what in ("status", "models", "skills", "usage")
        }
        assert told["status"]["account"] == "not_needed", "the model of its configuration wants no sign-in"
        assert told["status"]["auth"] == "configured"
        assert told["usage"]["state"] == "not_applicable"
        shown = [one for one in told["models"]["models"] if not one["hidden"]]
        assert sum(one["isDefault"] for one in shown) == 1
        assert all(one["reasoningEfforts"] for one in shown)
        assert told["skills"]["trigger"] == "$"
        assert [skill["source"] for skill in told["skills"]["skills"]]
        assert str(tmp_path) not in json.dumps(told)
        assert not list(home.rglob("rollout-*")), "no thread was started"
        assert poll_until(lambda: daemon.providers() == [], 10)
        await client.subscribe("w")
        talk = await start(client, "w", script(["Hello."]), target=TARGET)
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        held = daemon.providers()
        again = await client.request("provider/models", agentTargetId=TARGET, refresh=True)
        assert again["models"] == told["models"]["models"]
        assert daemon.providers() == held, "a warm process was asked, and lives on"
        assert (await client.request("provider/status", agentTargetId=TARGET))["auth"] == "authenticated"
