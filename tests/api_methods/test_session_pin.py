"""`session/pin`: the top of every list, in the order of pinning."""

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import Talk, start, text
from tests.end_to_end.trees import seed_tree


async def pin(talk: Talk, pinned: bool = True) -> bool:
    reply = await talk.client.request("session/pin", **talk.key, pinned=pinned)
    return bool(reply["session"]["pinned"])


async def listed(client: Client, workspace: str, **which: object) -> list[str]:
    items = (await client.request("session/list", workspaceId=workspace, **which))["items"]
    return [item["agentSessionId"] for item in items]


@pytest.mark.rule("ST-042")
async def test_pinned_ones_come_first_and_keep_their_order(client: Client, workspace: str) -> None:
    talks = [await start(client, workspace, agentSessionId=name) for name in "abcd"]
    assert await listed(client, workspace) == ["d", "c", "b", "a"]
    assert await pin(talks[2])
    assert await pin(talks[0])
    order = await listed(client, workspace)
    assert order == ["a", "c", "d", "b"]
    await talks[2].say("[[say new]]")
    assert await pin(talks[2]), "pinning again moves nothing"
    assert await listed(client, workspace) == order
    assert await listed(client, workspace, order="created") == order
    assert await listed(client, workspace, pinned=True) == ["a", "c"]
    assert not await pin(talks[2], pinned=False)
    assert await listed(client, workspace, pinned=False) == ["c", "d", "b"], "by its newest turn again"


async def test_it_works_while_a_turn_runs_and_survives_its_end(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    asked = await talk.pending()
    assert await pin(talk)
    await talk.answer(asked)
    await client.settled(talk.turn)
    session = (await client.request("session/get", **talk.key))["session"]
    assert session["pinned"]
    rows = client.rows("session", agentSessionId=talk.session_id)
    pinned = [row["pinned"] for row in rows]
    assert pinned == sorted(pinned), "once pinned, never seen unpinned"


async def test_repeating_it_is_no_commit(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    first = await client.request("session/pin", **talk.key, pinned=True)
    second = await client.request("session/pin", **talk.key, pinned=True)
    assert second["session"] == first["session"]
    await client.request("session/rename", **talk.key, title="fence")
    await client.row("session", title="fence")
    assert len(client.rows("session", pinned=True, title=None)) == 1


async def test_what_cannot_be_is_refused(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    for pinned in (None, "yes", 1):
        refused = await client.refused("session/pin", **talk.key, pinned=pinned)
        assert refused["code"] == "request.invalid"
    nowhere = {**talk.key, "agentSessionId": "nowhere"}
    assert (await client.refused("session/pin", **nowhere, pinned=True))["code"] == "session.not_found"
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.refused("session/pin", **talk.key, pinned=True))["code"] == "auth.forbidden"


async def test_a_child_is_read_and_nothing_else(make_daemon: MakeDaemon) -> None:
    daemon: Daemon = make_daemon(start=False)
    seed_tree(daemon.data_dir, "w", "root", "child")
    daemon.start()
    async with connected(daemon) as client:
        child = {"workspaceId": "w", "agentSessionId": "child"}
        before = (await client.request("session/get", **child))["session"]
        for method, params in (
            ("session/pin", {"pinned": True}),
            ("session/rename", {"title": "Mine"}),
            ("session/updateSettings", {"settings": {"mode": "auto"}}),
            ("session/send", {"clientSubmitId": "c", "content": text("[[say hello]]")}),
            ("session/resume", {}),
            ("session/close", {}),
        ):
            assert (await client.refused(method, **child, **params))["code"] == "capability.unsupported"
        assert (await client.request("session/get", **child))["session"] == before
