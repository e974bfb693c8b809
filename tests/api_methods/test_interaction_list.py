"""`interaction/list`: everything a workspace waits for, or waited for, in one list."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import start


async def test_an_unused_workspace_is_empty(client: Client, workspace: str) -> None:
    reply = await client.request("interaction/list", workspaceId=workspace)
    assert (reply["items"], reply["nextCursor"]) == ([], None)


@pytest.mark.rule("RT-012", "AP-020")
async def test_it_covers_all_sessions_of_the_workspace_and_no_other(client: Client, workspace: str) -> None:
    other = f"{workspace}-other"
    await client.subscribe(other)
    talks = [await start(client, workspace, "[[ask]]", clientSubmitId=f"{n}") for n in range(3)]
    asked = [await talk.pending() for talk in talks]
    elsewhere = await start(client, other, "[[ask]]")
    await elsewhere.pending()
    listed = (await client.request("interaction/list", workspaceId=workspace))["items"]
    assert sorted(row["agentSessionId"] for row in listed) == sorted(row["agentSessionId"] for row in asked)
    answered = await talks[0].answer(asked[0])
    assert await of(client, workspace, status="answered") == [answered]
    assert len(await of(client, workspace, status="pending")) == 2
    await client.request("turn/cancel", **talks[1].key, turnId=talks[1].turn["turnId"])
    await client.settled(talks[1].turn)
    [superseded] = await of(client, workspace, status="superseded")
    assert superseded["turnId"] == talks[1].turn["turnId"]
    assert await of(client, workspace, status="pending") == [asked[2]]
    assert len(await of(client, workspace)) == 3


@pytest.mark.rule("RT-012", "RT-013")
async def test_a_call_that_waits_without_an_interaction_asks_nobody(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[tool build status=pending]] [[hang]]")
    await client.row("message", agentSessionId=talk.session_id, kind="tool_call")
    assert await of(client, workspace, status="pending") == []
    [session] = (await client.request("session/list", workspaceId=workspace))["items"]
    assert (session["activity"]["phase"], session["activity"]["pendingInteractions"]) == ("running", 0)
    [own] = [row for row in await all_workspaces(client) if row["workspaceId"] == workspace]
    assert (own["activeTurns"], own["pendingInteractions"]) == (1, 0)
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.settled(talk.turn)


async def all_workspaces(client: Client) -> list[Json]:
    """Page by page: the daemon is shared, and other tests have theirs."""
    page = await client.request("workspace/list")
    rows: list[Json] = page["items"]
    while page["nextCursor"] is not None:
        page = await client.request("workspace/list", cursor=page["nextCursor"])
        rows += page["items"]
    return rows


async def of(client: Client, workspace: str, **params: str) -> list[Json]:
    items: list[Json] = (await client.request("interaction/list", workspaceId=workspace, **params))["items"]
    return items


async def test_pages_hold_each_once_newest_first(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]] [[ask]] [[ask]]")
    seen: set[str] = set()
    for count in range(1, 4):
        rows = await client.wait(
            lambda count=count: (r := client.rows("interaction", status="pending"))[count - 1 :] and r,
            f"question {count}",
        )
        seen.add(rows[-1]["requestId"])
        await talk.answer(rows[-1])
    await client.settled(talk.turn)
    listed, cursor = [], None
    for _ in range(3):
        page = await client.request("interaction/list", workspaceId=workspace, limit=1, cursor=cursor)
        listed += [item["requestId"] for item in page["items"]]
        cursor = page["nextCursor"]
    assert cursor is None
    order = [row["requestId"] for row in client.rows("interaction", status="pending")]
    assert listed == order[::-1]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"status": "open"}, "params.status"),
        ({"limit": 0}, "params.limit"),
        ({"cursor": "x"}, "params.cursor"),
        ({"agentSessionId": "x"}, "params.agentSessionId"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, params: Json, path: str
) -> None:
    refused = await client.refused("interaction/list", workspaceId=workspace, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
