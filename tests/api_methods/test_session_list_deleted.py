"""`session/listDeleted`: what can be brought back, page by page."""

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.talk import start


@pytest.mark.rule("ST-027")
async def test_pages_go_from_the_newest_deletion_to_the_oldest(client: Client, workspace: str) -> None:
    names = [(await start(client, workspace, title=f"Number {n}")).session_id for n in range(5)]
    await start(client, workspace)
    for name in names:
        await client.request("session/delete", workspaceId=workspace, agentSessionIds=[name])
    listed, cursor = [], None
    for _ in range(3):
        page = await client.request("session/listDeleted", workspaceId=workspace, limit=2, cursor=cursor)
        listed += page["items"]
        cursor = page["nextCursor"]
        # What goes from what was shown already moves nothing behind the cursor.
        await client.request("session/purge", workspaceId=workspace, agentSessionIds=[names[-1]])
    assert cursor is None
    assert [row["agentSessionId"] for row in listed] == names[::-1]
    assert [row["title"] for row in listed] == [f"Number {n}" for n in range(4, -1, -1)]
    assert all(row["deletedAt"] is not None for row in listed)


async def test_a_workspace_without_deleted_sessions_has_an_empty_list(client: Client, workspace: str) -> None:
    await start(client, workspace)
    page = await client.request("session/listDeleted", workspaceId=workspace)
    assert (page["items"], page["nextCursor"]) == ([], None)


async def test_a_cursor_of_another_list_is_refused(client: Client, workspace: str) -> None:
    for _ in range(2):
        await start(client, workspace)
    other = await client.request("session/list", workspaceId=workspace, limit=1)
    for cursor in (other["nextCursor"], "nonsense"):
        refused = await client.refused("session/listDeleted", workspaceId=workspace, cursor=cursor)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.cursor")


async def test_only_those_named_are_listed(client: Client, workspace: str) -> None:
    names = [(await start(client, workspace)).session_id for _ in range(3)]
    for name in names[:2]:
        await client.request("session/delete", workspaceId=workspace, agentSessionIds=[name])
    page = await client.request(
        "session/listDeleted", workspaceId=workspace, agentSessionIds=[names[0], names[2], "unknown"]
    )
    assert [row["agentSessionId"] for row in page["items"]] == names[:1]
    assert page["sessions"] == page["items"]
    refused = await client.refused("session/listDeleted", workspaceId=workspace, agentSessionIds=[])
    assert refused["details"]["path"] == "params.agentSessionIds"


async def listed(client: Client, workspace: str, **which: Any) -> list[str | None]:
    """The titles on all pages of one item."""
    titles: list[str | None] = []
    cursor = None
    while True:
        page = await client.request(
            "session/listDeleted", workspaceId=workspace, limit=1, cursor=cursor, **which
        )
        titles += [row["title"] for row in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            return titles


@pytest.mark.rule("AP-029")
async def test_a_part_of_the_title_and_the_project_narrow_the_list(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    shop, gone = tmp_path / "shop", tmp_path / "gone"
    shop.mkdir()
    gone.mkdir()
    made = [("Größe ändern", shop), ("100% done_", gone), ("größer", None), (None, shop)]
    names = []
    for title, project in made:
        placement = None if project is None else {"type": "project", "version": 1, "path": str(project)}
        talk = await start(client, workspace, title=title, railPlacement=placement)
        names.append(talk.session_id)
    gone.rmdir()
    await client.request("session/delete", workspaceId=workspace, agentSessionIds=names)
    projects = {path: {"type": "project", "version": 1, "path": f"{path}/"} for path in (shop, gone)}
    conversations = {"type": "conversations", "version": 1}
    assert await listed(client, workspace, title="GRÖSSE") == ["größer", "Größe ändern"]
    assert await listed(client, workspace, title="0% d") == ["100% done_"]
    assert await listed(client, workspace, title="e_x") == []
    assert await listed(client, workspace, railPlacement=projects[shop]) == [None, "Größe ändern"]
    assert await listed(client, workspace, railPlacement=projects[gone]) == ["100% done_"]
    assert await listed(client, workspace, railPlacement=conversations) == ["größer"]
    assert await listed(client, workspace, railPlacement=projects[shop], title="ändern") == ["Größe ändern"]
    one = await listed(client, workspace, agentSessionIds=names[:2], railPlacement=projects[gone])
    assert one == ["100% done_"]
    refused = await client.refused("session/listDeleted", workspaceId=workspace, title="")
    assert refused["details"]["path"] == "params.title"
