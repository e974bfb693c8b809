"""`session/list`: the roots of one workspace, in order, page by page, with what they are up to."""

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start
from tests.end_to_end.trees import seed_tree


async def listed(client: Client, workspace: str, **params: object) -> list[str]:
    reply = await client.request("session/list", workspaceId=workspace, **params)
    return [item["agentSessionId"] for item in reply["items"]]


async def three(client: Client, workspace: str) -> list[Talk]:
    """Three sessions, made in this order."""
    return [
        await start(client, workspace, agentSessionId=name, clientSubmitId=name) for name in ("a", "b", "c")
    ]


async def test_an_unused_workspace_is_empty(client: Client, workspace: str) -> None:
    reply = await client.request("session/list", workspaceId=workspace)
    assert (reply["items"], reply["nextCursor"]) == ([], None)


@pytest.mark.rule("AP-020")
async def test_it_shows_one_workspace_alone(client: Client, workspace: str) -> None:
    await three(client, workspace)
    await start(client, f"{workspace}-other", agentSessionId="elsewhere")
    assert sorted(await listed(client, workspace)) == ["a", "b", "c"]


async def test_newest_first_and_a_new_turn_moves_its_session_to_the_front(
    client: Client, workspace: str
) -> None:
    talks = await three(client, workspace)
    assert await listed(client, workspace) == ["c", "b", "a"]
    await talks[0].say("[[say hello]]")
    assert await listed(client, workspace) == ["a", "c", "b"]
    assert await listed(client, workspace, order="created") == ["c", "b", "a"]


async def test_pages_hold_each_session_once(client: Client, workspace: str) -> None:
    await three(client, workspace)
    seen, cursor = [], None
    for _ in range(3):
        page = await client.request("session/list", workspaceId=workspace, limit=1, cursor=cursor)
        seen += [item["agentSessionId"] for item in page["items"]]
        cursor = page["nextCursor"]
    assert (seen, cursor) == (["c", "b", "a"], None)


async def test_a_session_that_moves_while_paging_is_not_repeated(client: Client, workspace: str) -> None:
    talks = await three(client, workspace)
    page = await client.request("session/list", workspaceId=workspace, limit=1)
    await talks[0].say("[[say hello]]")
    rest = await listed(client, workspace, cursor=page["nextCursor"])
    assert rest == ["b"], "c was shown, a moved to the front, behind the page's beginning"


async def test_an_item_is_its_row_with_its_activity(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    await talk.pending()
    item = await only_item(client, workspace)
    assert item.pop("activity") == {
        "turnId": talk.turn["turnId"],
        "phase": "waiting",
        "pendingInteractions": 1,
    }
    assert item == (await client.request("session/get", **talk.key))["session"]
    await talk.answer(await talk.pending())
    await client.settled(talk.turn)
    assert (await only_item(client, workspace))["activity"] == {
        "turnId": None,
        "phase": None,
        "pendingInteractions": 0,
    }


async def only_item(client: Client, workspace: str) -> Json:
    [item] = (await client.request("session/list", workspaceId=workspace))["items"]
    return dict(item)


@pytest.mark.rule("AP-023")
async def test_only_roots_are_listed_and_a_root_names_all_below_it(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    seed_tree(daemon.data_dir, "w", "root", "child", "grandchild")
    daemon.start()
    async with connected(daemon) as client:
        assert await listed(client, "w") == ["root"]
        assert await listed(client, "w", order="created", active=False) == ["root"]
        detail = await client.request("session/get", workspaceId="w", agentSessionId="root")
        below = {row["agentSessionId"]: row["parent"] for row in detail["children"]}
        assert sorted(below) == ["child", "grandchild"]
        assert below["grandchild"]["rootAgentSessionId"] == "root"
        assert below["grandchild"]["parentAgentSessionId"] == "child"
        [workspace] = (await client.request("workspace/list"))["items"]
        assert workspace["workspaceId"] == "w"


async def test_filters_narrow_it(client: Client, workspace: str) -> None:
    await three(client, workspace)
    busy = await start(client, workspace, "[[hang]]", target="logged", agentSessionId="busy")
    assert await listed(client, workspace, active=True) == ["busy"]
    assert await listed(client, workspace, active=False) == ["c", "b", "a"]
    assert await listed(client, workspace, agentTargetId="logged") == ["busy"]
    assert await listed(client, workspace, agentTargetId="demo", active=True) == []
    assert await listed(client, workspace, pinned=True) == []
    assert await listed(client, workspace, pinned=False) == ["busy", "c", "b", "a"]
    await client.request("turn/cancel", **busy.key, turnId=busy.turn["turnId"])
    await client.settled(busy.turn)
    assert await listed(client, workspace, active=True) == []


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"limit": 0}, "params.limit"),
        ({"limit": -1}, "params.limit"),
        ({"limit": "5"}, "params.limit"),
        ({"order": "oldest"}, "params.order"),
        ({"active": 1}, "params.active"),
        ({"cursor": ""}, "params.cursor"),
        ({"cursor": "not a cursor"}, "params.cursor"),
        ({"cursor": "bm90IGEgY3Vyc29y"}, "params.cursor"),
        ({"parent": "x"}, "params.parent"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, params: Json, path: str
) -> None:
    refused = await client.refused("session/list", workspaceId=workspace, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)


async def test_a_cursor_of_another_list_is_refused(client: Client, workspace: str) -> None:
    await three(client, workspace)
    page = await client.request("session/list", workspaceId=workspace, limit=1)
    refused = await client.refused(
        "session/list", workspaceId=workspace, order="created", cursor=page["nextCursor"]
    )
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.cursor")


async def test_a_large_limit_is_taken_as_two_hundred(client: Client, workspace: str) -> None:
    sent = [
        await client.send(
            "session/create", workspaceId=workspace, agentTargetId="demo", clientSubmitId=f"{number}"
        )
        for number in range(201)
    ]
    for one in sent:
        await one.result()
    page = await client.request("session/list", workspaceId=workspace, limit=1_000_000)
    assert len(page["items"]) == 200
    rest = await client.request("session/list", workspaceId=workspace, cursor=page["nextCursor"])
    assert (len(rest["items"]), rest["nextCursor"]) == (1, None)
    default = await client.request("session/list", workspaceId=workspace)
    assert len(default["items"]) == 50
