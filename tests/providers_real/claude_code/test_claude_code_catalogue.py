"""A real Claude Code tells of itself in its handshake, in a process that has no prompt and keeps nothing."""

import json
from pathlib import Path

import pytest

from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import poll_until
from tests.end_to_end.fixtures import MakeDaemon
from tests.providers_real.claude_code.real_claude import TARGET, claude_target

pytestmark = pytest.mark.real_agent


@pytest.mark.rule("PR-035", "PR-037", "PR-047")
async def test_one_process_tells_all_and_leaves_no_conversation(
    make_daemon: MakeDaemon, claude: str, model: ModelServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    daemon = make_daemon({"targets": [claude_target([claude], home, model)], "demo": False})
    async with connected(daemon) as client:
        status = await client.request("provider/status", agentTargetId=TARGET)
        assert (status["auth"], status["account"], status["problem"]) == ("configured", "key", None)
        told = {
            what: await client.request(f"provider/{what}", agentTargetId=TARGET)
            for what in ("models", "skills", "usage")
        }
        assert [one["model"] for one in told["models"]["models"] if one["isDefault"]] == ["default"]
        assert told["skills"]["trigger"] == "/"
        assert told["skills"]["skills"]
        assert (told["usage"]["state"], told["usage"]["reason"]) == ("unavailable", "unsupported")
        assert str(tmp_path) not in json.dumps(told)
        ready = [line for line in daemon.log_lines() if line.get("event") == "provider ready"]
        assert len(ready) == 1, "all of it was in one handshake"
        assert poll_until(lambda: daemon.providers() == [], 10)
        assert not list(home.rglob("*.jsonl")), "no conversation is kept"
