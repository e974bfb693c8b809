"""`session/purge`: what was deleted goes for good, and its ids are free again."""

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start
from tests.end_to_end.trees import seed_tree


@pytest.mark.rule("ST-029")
async def test_nothing_of_it_is_left_and_its_ids_are_free(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]]", agentSessionId="mine", clientSubmitId="once")
    await client.settled(talk.turn)
    named = {"workspaceId": workspace, "agentSessionIds": ["mine"]}
    await client.request("session/delete", **named)
    [row] = (await client.request("session/purge", **named))["sessions"]
    assert row["agentSessionId"] == "mine"
    assert (await client.refused("session/get", **talk.key))["code"] == "session.not_found"
    assert (await client.refused("session/close", **talk.key))["code"] == "session.not_found"
    assert (await client.request("session/listDeleted", workspaceId=workspace))["items"] == []
    again = await start(client, workspace, agentSessionId="mine", clientSubmitId="once")
    assert again.created["session"]["messageVersion"] == 0
    assert await again.messages() == []
    assert (await again.say("[[recall]]"))["outcome"] == "completed"


async def deleted_in_the_end(client: Client, expected: list[str]) -> list[str]:
    """The deleted sessions as they are listed, once these are left or after many looks."""
    names: list[str] = []
    for _ in range(200):
        listed = await client.request("session/listDeleted", workspaceId="w")
        names = [row["agentSessionId"] for row in listed["items"]]
        if names == expected:
            break
    return names


async def test_what_is_purged_already_is_nothing_to_do(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    named = {"workspaceId": workspace, "agentSessionIds": [talk.session_id, "never-there"]}
    await client.request("session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id])
    assert len((await client.request("session/purge", **named))["sessions"]) == 1
    assert (await client.request("session/purge", **named))["sessions"] == []


@pytest.mark.rule("ST-024")
async def test_a_session_that_is_not_deleted_keeps_the_whole_batch(client: Client, workspace: str) -> None:
    gone, alive = await start(client, workspace), await start(client, workspace)
    await client.request("session/delete", workspaceId=workspace, agentSessionIds=[gone.session_id])
    refused = await client.refused(
        "session/purge", workspaceId=workspace, agentSessionIds=[gone.session_id, alive.session_id]
    )
    assert (refused["code"], refused["details"]) == (
        "session.exists",
        {"agentSessionIds": [alive.session_id]},
    )
    listed = await client.request("session/listDeleted", workspaceId=workspace)
    assert [row["agentSessionId"] for row in listed["items"]] == [gone.session_id]
    assert (await client.request("session/get", **alive.key))["session"]["deletedAt"] is None


async def test_purging_is_for_administrators(client: Client, connect: Connect, workspace: str) -> None:
    for name in ("reader", "worker"):
        async with connect(token=token_of(name)) as other:
            refused = await other.refused("session/purge", workspaceId=workspace, agentSessionIds=["a"])
            assert refused["code"] == "auth.forbidden"


async def test_a_child_goes_with_its_root_alone(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    seed_tree(daemon.data_dir, "w", "root", "child")
    daemon.start()
    async with connected(daemon) as client:
        await client.request("session/delete", workspaceId="w", agentSessionIds=["root"])
        refused = await client.refused("session/purge", workspaceId="w", agentSessionIds=["child"])
        assert refused["code"] == "capability.unsupported"
        reply = await client.request("session/purge", workspaceId="w", agentSessionIds=["root"])
        assert [row["agentSessionId"] for row in reply["sessions"]] == ["root", "child"]
        refused = await client.refused("session/get", workspaceId="w", agentSessionId="child")
        assert refused["code"] == "session.not_found"


@pytest.mark.rule("ST-030")
async def test_what_was_deleted_long_ago_or_is_too_much_goes_by_itself(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talks = [await start(client, "w", "[[say something]]", agentSessionId=f"s{n}") for n in range(3)]
        for talk in talks:
            await client.settled(talk.turn)
            await client.request("session/delete", workspaceId="w", agentSessionIds=[talk.session_id])
    daemon.stop()
    # The prompt and the answer of one session fit, those of two do not.
    daemon.settings = {"limits": {"deletedRetentionBytes": 120}}
    daemon.start()
    async with connected(daemon) as client:
        assert await deleted_in_the_end(client, ["s2"]) == ["s2"]
    daemon.stop()
    daemon.settings = {"limits": {"deletedRetentionSeconds": 0.001}}
    daemon.start()
    async with connected(daemon) as client:
        assert await deleted_in_the_end(client, []) == []
        refused = await client.refused("session/restore", workspaceId="w", agentSessionIds=["s2"])
        assert refused["code"] == "session.not_found"
