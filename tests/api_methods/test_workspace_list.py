"""`workspace/list`: the workspaces that hold sessions, with what goes on in each."""

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start


async def listed(client: Client) -> dict[str, Json]:
    """All of them, page by page."""
    found, cursor, more = {}, None, True
    while more:
        page = await client.request("workspace/list", limit=200, cursor=cursor)
        found |= {item["workspaceId"]: item for item in page["items"]}
        cursor, more = page["nextCursor"], page["nextCursor"] is not None
    return found


async def test_it_counts_roots_unsettled_turns_and_pending_interactions(
    client: Client, workspace: str
) -> None:
    assert workspace not in await listed(client), "a workspace needs no creation and is none before"
    await start(client, workspace, clientSubmitId="quiet")
    talk = await start(client, workspace, "[[ask]]", clientSubmitId="asks")
    asked = await talk.pending()
    counts = {"workspaceId": workspace, "sessions": 2, "activeTurns": 1, "pendingInteractions": 1}
    assert (await listed(client))[workspace] == counts
    await talk.answer(asked)
    await client.settled(talk.turn)
    assert (await listed(client))[workspace] == {**counts, "activeTurns": 0, "pendingInteractions": 0}


async def test_pages_hold_each_once_in_the_order_of_their_ids(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    names = ["b", "a", "c.1", "Z", "-x"]
    async with connected(daemon) as client:
        assert (await client.request("workspace/list"))["items"] == []
        for name in names:
            await start(client, name, clientSubmitId=name)
        seen: list[str] = []
        cursor = None
        for _ in range(3):
            page = await client.request("workspace/list", limit=2, cursor=cursor)
            seen += [item["workspaceId"] for item in page["items"]]
            cursor = page["nextCursor"]
        assert (seen, cursor) == (sorted(names), None)
        assert page["commitSeq"] == (await client.request("health/read"))["commitSeq"]


async def test_a_limited_token_sees_those_it_may_name(connect: Connect) -> None:
    async with connect() as admin:
        for name in ("tenant-1", "tenant-3"):
            await start(admin, name, clientSubmitId=f"listed-{name}")
    async with connect(token=token_of("tenant")) as tenant, connect(token=token_of("reader")) as reader:
        assert (await listed(tenant)).keys() <= {"tenant-1", "tenant-2"}
        assert {"tenant-1", "tenant-3"} <= (await listed(reader)).keys()


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"cursor": "x"}, "params.cursor"),
        ({"cursor": "WyJ0dXJucyIsMV0"}, "params.cursor"),
        ({"cursor": "WyJ3b3Jrc3BhY2VzIiwxXQ"}, "params.cursor"),
        ({"limit": 0}, "params.limit"),
        ({"workspaceId": "w"}, "params.workspaceId"),
    ],
)
async def test_what_is_wrong_with_it_is_named(client: Client, params: Json, path: str) -> None:
    refused = await client.refused("workspace/list", **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
