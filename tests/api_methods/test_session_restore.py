"""`session/restore`: what was deleted is there again, as it was; nothing is started."""

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start
from tests.end_to_end.trees import seed_tree


@pytest.mark.rule("ST-025", "ST-026", "AP-019")
async def test_it_brings_back_exactly_what_was_deleted_and_starts_nothing(
    client: Client, connect: Connect, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace, "[[say hello]]", title="Mine")
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    named = {"workspaceId": workspace, "agentSessionIds": [talk.session_id]}
    before = await client.request("session/get", **talk.key)
    messages = await talk.messages()
    processes = set(daemon.providers())
    await client.request("session/delete", **named)
    async with connect() as other:
        await other.subscribe(workspace)
        sent = await client.send("session/restore", **named)
        [row] = (await sent.result())["sessions"]
        assert row == before["session"]
        assert await other.row("session_restored", agentSessionId=talk.session_id) == row
        reset = await other.event("session_reset", agentSessionId=talk.session_id)
    assert reset["messageVersion"] == row["messageVersion"]
    await client.event("session_reset", agentSessionId=talk.session_id)
    [restored] = [
        event
        for event in client.events("commit")
        if any(change["type"] == "session_restored" for change in event["changes"])
    ]
    assert restored["commitSeq"] < reset["commitSeq"]
    assert sent.place < client.received.index(restored)
    after = await client.request("session/get", **talk.key)
    assert {**after, "commitSeq": 0} == {**before, "commitSeq": 0}
    assert await talk.messages() == messages
    assert set(daemon.providers()) == processes
    assert (await talk.say("[[recall]]"))["outcome"] == "completed"
    assert (await talk.texts())[-1] == "I remember 1: [[say hello]]"


async def test_restoring_what_is_not_deleted_changes_nothing(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    await talk.pending()
    named = {"workspaceId": workspace, "agentSessionIds": [talk.session_id]}
    [row] = (await client.request("session/restore", **named))["sessions"]
    assert (row["deletedAt"], row["activeTurnId"]) == (None, talk.turn["turnId"])
    assert client.rows("session_restored") == []


async def test_restore_and_prompt_in_one_breath_take_effect_in_that_order(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace)
    named = {"workspaceId": workspace, "agentSessionIds": [talk.session_id]}
    deleting = await client.send("session/delete", **named)
    restoring = await client.send("session/restore", **named)
    turn = await talk.send("[[say back]]")
    await deleting.result()
    await restoring.result()
    assert (await client.settled(turn))["outcome"] == "completed"


@pytest.mark.rule("ST-025")
async def test_a_tree_comes_back_whole_or_not_at_all(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxSessions": 3}}, start=False)
    seed_tree(daemon.data_dir, "w", "root", "child")
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        await client.request("session/delete", workspaceId="w", agentSessionIds=["root"])
        talks = [await start(client, "w") for _ in range(2)]
        refused = await client.refused("session/restore", workspaceId="w", agentSessionIds=["child"])
        assert refused["code"] == "capability.unsupported"
        refused = await client.refused("session/restore", workspaceId="w", agentSessionIds=["root"])
        assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "maxSessions"})
        await client.request("session/delete", workspaceId="w", agentSessionIds=[talks[0].session_id])
        reply = await client.request("session/restore", workspaceId="w", agentSessionIds=["root"])
        assert [row["agentSessionId"] for row in reply["sessions"]] == ["root", "child"]
        detail = await client.request("session/get", workspaceId="w", agentSessionId="root")
        assert [row["agentSessionId"] for row in detail["children"]] == ["child"]


async def test_what_cannot_be_restored_is_refused(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    for names in (["unknown"], [talk.session_id, "unknown"]):
        refused = await client.refused("session/restore", workspaceId=workspace, agentSessionIds=names)
        assert (refused["code"], refused["details"]) == (
            "session.not_found",
            {"agentSessionIds": ["unknown"]},
        )
    refused = await client.refused(
        "session/restore", workspaceId=f"{workspace}-x", agentSessionIds=[talk.session_id]
    )
    assert refused["code"] == "session.not_found"
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("session/restore", workspaceId=workspace, agentSessionIds=["a"])
        assert refused["code"] == "auth.forbidden"
