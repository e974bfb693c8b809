"""Starts that go wrong: each is typed, within a bound, and leaves the session as it was."""

import sys
from pathlib import Path

import pytest

from tests.doubles.model_script import script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start
from tests.providers_real.claude_code.real_claude import TARGET, claude_target

pytestmark = pytest.mark.real_agent

ANOTHER_VERSION = """\
import json, sys
for line in sys.stdin:
    frame = json.loads(line)
    told = {"claude_code_version": "1.0.1", "current_permission_mode": "default"}
    answer = {"subtype": "success", "request_id": frame["request_id"], "response": told}
    print(json.dumps({"type": "control_response", "response": answer}), flush=True)
"""
ANSWERS_NOTHING = """\
import json, sys
for line in sys.stdin:
    frame = json.loads(line)
    if frame.get("request", {}).get("subtype") == "initialize":
        told = {"claude_code_version": "2.1.332", "current_permission_mode": "default"}
        answer = {"subtype": "success", "request_id": frame["request_id"], "response": told}
        print(json.dumps({"type": "control_response", "response": answer}), flush=True)
"""
SILENT = "import sys; sys.stdin.read()"
BROKEN = "import sys; sys.exit('this program is broken')"


@pytest.mark.case("FC-50")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["/nowhere/claude"], "provider.unavailable"),
        ([sys.executable, "-c", ANOTHER_VERSION], "provider.unavailable"),
        ([sys.executable, "-c", SILENT], "provider.timeout"),
        ([sys.executable, "-c", BROKEN], "provider.unavailable"),
    ],
    ids=["missing", "another version", "silent", "broken"],
)
async def test_a_claude_that_does_not_start_fails_the_turn_and_leaves_the_session(
    make_daemon: MakeDaemon, model: ModelServer, tmp_path: Path, command: list[str], code: str
) -> None:
    target = claude_target(command, tmp_path / "home", model)
    daemon = make_daemon({"targets": [target], "limits": {"initializeTimeoutSeconds": 2}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Never."]), target=TARGET)
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]["code"], turn["delivery"]) == (
            "failed",
            code,
            "not_dispatched",
        )
        session = (await client.request("session/get", **talk.key))["session"]
        assert (session["deletedAt"], session["activeTurnId"]) == (None, None)
        assert daemon.providers_left(5.0) == []


@pytest.mark.case("FC-01", "FC-12")
async def test_a_claude_that_answers_nothing_is_given_up_when_it_is_stopped_and_the_session_stays(
    make_daemon: MakeDaemon, model: ModelServer, tmp_path: Path
) -> None:
    target = claude_target([sys.executable, "-c", ANSWERS_NOTHING], tmp_path / "home", model)
    limits = {"cancelGraceSeconds": 1, "turnReconcileSeconds": 1}
    daemon = make_daemon({"targets": [target], "limits": limits})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Never."]), target=TARGET)
        await client.row("turn", turnId=talk.turn["turnId"], delivery="dispatching")
        await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        turn = await client.settled(talk.turn, 30.0)
        assert turn["outcome"] == "canceled"
        assert turn["delivery"] in ("dispatching", "unknown"), "nobody said that it arrived"
        session = (await client.request("session/get", **talk.key))["session"]
        assert (session["deletedAt"], session["activeTurnId"]) == (None, None)
        again = await talk.send(script(["Never either."]))
        await client.row("turn", turnId=again["turnId"], delivery="dispatching")


async def test_a_mode_that_claude_refuses_to_start_in_fails_typed(
    make_daemon: MakeDaemon, claude: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [claude_target([claude], tmp_path / "home", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Hello."]), target=TARGET)
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        mode = {"permissionMode": "bypassPermissions"}
        refusal = await client.refused("session/updateSettings", **talk.key, settings=mode)
        assert refusal["code"] == "settings.invalid"
        session = (await client.request("session/get", **talk.key))["session"]
        assert session["settings"]["permissionMode"] == "default"
        assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
