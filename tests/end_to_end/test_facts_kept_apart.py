"""Facts that belong to different owners stay apart and whole: where a setting came from, a session and its target, rows."""

from typing import Any

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start

CHOSEN = {"model": "demo-large"}


async def everywhere(client: Client, talk: Talk) -> list[Json]:
    """The session as each read shows it."""
    workspace = talk.key["workspaceId"]
    found = await client.request("session/search", workspaceId=workspace, query="provenance")
    listed = await client.request("session/list", workspaceId=workspace)
    return [
        (await client.request("session/get", **talk.key))["session"],
        (await client.request("session/get", **talk.key, projection="summary"))["session"],
        *(row for row in listed["items"] if row["agentSessionId"] == talk.session_id),
        *(row for row in found["items"] if row["agentSessionId"] == talk.session_id),
    ]


def sources(row: Json) -> Any:
    return row["settingsSource"], row["titleSource"]


@pytest.mark.rule("AP-006", "RT-054")
async def test_where_a_setting_and_a_title_came_from_is_the_same_in_every_read_and_after_a_restart(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[mode auto]] [[say hello]]", settings=CHOSEN, title="Provenance")
        await client.settled(talk.turn)
        assert sources(talk.created["session"]) == ({"model": "explicit"}, "user")
        known = sources((await client.request("session/get", **talk.key))["session"])
        assert known == ({"model": "explicit", "mode": "provider"}, "user")
        rows = await everywhere(client, talk)
        assert len(rows) == 4
        assert [sources(row) for row in rows] == [known] * 4
        assert sources(client.rows("session", agentSessionId=talk.session_id)[-1]) == known
    daemon.restart()
    async with connected(daemon) as client:
        assert [sources(row) for row in await everywhere(client, talk)] == [known] * 4
        named = {"workspaceId": "w", "agentSessionIds": [talk.session_id]}
        await client.request("session/delete", **named)
        [row] = (await client.request("session/listDeleted", workspaceId="w"))["items"]
        assert sources(row) == known
        await client.request("session/restore", **named)
        assert [sources(row) for row in await everywhere(client, talk)] == [known] * 4


@pytest.mark.rule("ST-022")
async def test_settings_change_by_set_and_unset_alone_and_leave_all_others_as_they_are(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, settings={"model": "demo-large", "mode": "auto"})
    changed = await client.request("session/updateSettings", **talk.key, settings={"model": "demo-small"})
    assert changed["session"]["settings"] == {"model": "demo-small", "mode": "auto"}, "not named, not touched"
    unset = await client.request("session/updateSettings", **talk.key, settings={"model": None})
    assert unset["session"]["settings"] == {"mode": "auto"}
    assert unset["session"]["settingsSource"] == {"mode": "explicit"}
    for whole in ({"snapshot": {"model": "demo-large"}}, {"set": {}, "unset": ["mode"]}):
        refused = await client.refused("session/updateSettings", **talk.key, settings={}, **whole)
        assert refused["code"] == "request.invalid", "there is one form: a patch"
    assert (await client.request("session/get", **talk.key))["session"]["settings"] == {"mode": "auto"}


@pytest.mark.rule("AP-015")
@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [("[[say hello]] [[tool build output=ok]]", "completed"), ("[[say hello]] [[error -32603]]", "failed")],
)
async def test_the_commit_that_settles_a_turn_has_its_state_and_how_far_its_messages_are(
    client: Client, workspace: str, prompt: str, outcome: str
) -> None:
    talk = await start(client, workspace, prompt)
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == outcome
    await state_and_messages_are_told(client, talk, settled)


@pytest.mark.rule("AP-015")
async def test_a_canceled_turn_tells_the_same_of_itself(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]] [[hang]]")
    await client.row("message", agentSessionId=talk.session_id, role="assistant")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await state_and_messages_are_told(client, talk, await client.settled(talk.turn))


async def state_and_messages_are_told(client: Client, talk: Talk, settled: Json) -> None:
    """Whoever holds the events up to this commit holds all rows, or sees by the version that some are missing."""
    commits = client.events("commit")
    [ending] = [
        event
        for event in commits
        if any(
            change["type"] == "turn" and change["row"]["phase"] == "settled" and change["row"] == settled
            for change in event["changes"]
        )
    ][:1]
    [session] = [change["row"] for change in ending["changes"] if change["type"] == "session"]
    assert session["activeTurnId"] is None
    upto = [event for event in commits if event["commitSeq"] <= ending["commitSeq"]]
    told = {
        change["row"]["messageId"]: change["row"]
        for event in upto
        for change in event["changes"]
        if change["type"] == "message" and change["row"]["agentSessionId"] == talk.session_id
    }
    assert session["messageVersion"] == max(row["version"] for row in told.values())
    assert {row["status"] for row in told.values()} <= {"completed", "failed", "interrupted"}
    window = await client.request("session/messages", **talk.key, afterVersion=0)
    assert {row["messageId"]: row for row in window["messages"]} == told


@pytest.mark.rule("AP-037")
async def test_a_sessions_runtime_and_its_targets_state_are_told_apart(
    client: Client, workspace: str
) -> None:
    async def targets() -> dict[str, Json]:
        return {one["agentTargetId"]: one for one in (await client.request("target/list"))["items"]}

    async def runtime(talk: Talk) -> str:
        session = (await client.request("session/get", **talk.key))["session"]
        assert "enabled" not in session
        assert "program" not in session
        state: str = session["runtime"]["state"]
        return state

    before = await targets()
    live = await start(client, workspace, "[[say hello]]", target="logged")
    await client.settled(live.turn)
    lost = await start(client, workspace, "please", target="missing")
    assert (await client.settled(lost.turn))["error"]["code"] == "provider.unavailable"
    assert (await runtime(live), await runtime(lost)) == ("live", "absent")
    await client.request("session/close", **live.key)
    assert await runtime(live) == "absent"
    after = await targets()
    assert all("runtime" not in one for one in after.values())
    for name in ("logged", "missing", "disabled"):
        kept = [(one[name]["enabled"], one[name]["program"]["found"]) for one in (before, after)]
        assert kept[0] == kept[1], "a session's end says nothing of its target"
    assert (after["missing"]["program"]["found"], after["logged"]["program"]["found"]) == (False, True)
    assert (after["disabled"]["enabled"], after["logged"]["enabled"]) == (False, True)
