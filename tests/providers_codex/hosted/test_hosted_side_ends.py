"""How Sides end with their daemon, and what a limited token may do in one."""

from pathlib import Path

import pytest

from tests.doubles.scripted_codex import calls, scripted_target
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon, token_of
from tests.end_to_end.talk import start, text

SIDES = ["agent.side.updated"]
OPEN = {"workspaceId": "w", "sideAgentSessionId": "side", "surfaceId": "pane"}


@pytest.mark.rule("RT-106", "RT-108")
async def test_a_stop_says_so_to_each_side_and_a_restart_knows_none(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [scripted_target(tmp_path / "home")]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        await client.request("events/subscribe", workspaceId="w", topics=SIDES)
        talk = await start(client, "w", "[[say done]]", target="codex")
        await client.settled(talk.turn)
        await client.request("side/open", agentSessionId=talk.session_id, **OPEN)
        sent = await client.request(
            "side/send",
            workspaceId="w",
            sideAgentSessionId="side",
            clientSubmitId="s",
            content=text("[[say begun]] [[sleep 600000]]"),
        )
        assert (await client.request("health/read"))["live"]["sides"] == 1
        daemon.signal(15)
        closed = await client.wait(
            lambda: [one for one in client.events("side") if one["payload"]["type"] == "closed"], "the end"
        )
        assert closed[0]["payload"]["reason"] == "shutdown"
        turns = [one["payload"]["turn"] for one in client.events("side") if one["payload"]["type"] == "turn"]
        assert turns[-1]["turnId"] == sent["turn"]["turnId"]
        assert turns[-1]["phase"] == "settled"
    assert daemon.reap() == 0
    daemon.start()
    async with connected(daemon) as client:
        refused = await client.refused("side/get", workspaceId="w", sideAgentSessionId="side")
        assert refused["code"] == "side.not_found"
        listed = await client.request("side/list", workspaceId="w")
        assert listed["items"] == []


async def test_a_limited_token_goes_no_further_in_a_side_than_in_its_source(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    token_file = tmp_path / "api.token"
    token_file.write_text(token_of("api"))
    token_file.chmod(0o600)
    token = {"name": "api", "tokenFile": str(token_file), "scope": "control", "maxEffect": "edits"}
    daemon = make_daemon({"targets": [scripted_target(tmp_path / "home")], "tokens": [token]})
    wide = {"sandbox": "danger-full-access"}
    async with connected(daemon) as admin, connected(daemon, token=token_of("api")) as api:
        await admin.subscribe("w")
        talk = await start(admin, "w", "[[say done]]", target="codex", settings=wide)
        await admin.settled(talk.turn)
        refused = await api.refused("side/open", agentSessionId=talk.session_id, **OPEN)
        assert refused["code"] == "auth.forbidden"
        assert not calls(tmp_path / "home", "thread/fork")
        await admin.request("side/open", agentSessionId=talk.session_id, **OPEN)
        sent = {
            "workspaceId": "w",
            "sideAgentSessionId": "side",
            "clientSubmitId": "s",
            "content": text("[[say x]]"),
        }
        refused = await api.refused("side/send", **sent)
        assert refused["code"] == "auth.forbidden"
        assert refused["details"]["limit"] == "maxEffect"
        await admin.request("side/send", **sent)
