"""`side/*` and `surface/*` where there is no Side: each says so by its code, and nothing is started for it.

What a Side does is shown with an agent that can be forked, in `tests/providers_codex/hosted`.
"""

from typing import Any

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import start

OF_A_SIDE: dict[str, dict[str, Any]] = {
    "side/send": {"clientSubmitId": "s", "content": [{"type": "text", "text": "x"}]},
    "side/cancel": {"turnId": "t"},
    "side/respond": {"turnId": "t", "requestId": "r", "answer": {"optionId": "o"}},
    "side/close": {},
    "side/get": {},
}
OPEN = {"sideAgentSessionId": "side", "surfaceId": "pane"}


@pytest.mark.rule("AP-040")
@pytest.mark.parametrize("method", OF_A_SIDE)
async def test_what_is_not_there_is_not_found(client: Client, workspace: str, method: str) -> None:
    refused = await client.refused(
        method, workspaceId=workspace, sideAgentSessionId="nobody", **OF_A_SIDE[method]
    )
    assert refused["code"] == "side.not_found"
    assert refused["delivery"] == "not_dispatched"


@pytest.mark.parametrize(
    ("method", "params"), [("side/capabilities", {}), ("side/open", OPEN)], ids=["capabilities", "open"]
)
async def test_an_unknown_or_deleted_source_is_named(
    client: Client, workspace: str, method: str, params: dict[str, Any]
) -> None:
    refused = await client.refused(method, workspaceId=workspace, agentSessionId="nobody", **params)
    assert refused["code"] == "session.not_found"
    talk = await start(client, workspace, None)
    await client.request("session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id])
    refused = await client.refused(method, workspaceId=workspace, agentSessionId=talk.session_id, **params)
    assert refused["code"] == "session.deleted"


@pytest.mark.rule("RT-109")
async def test_an_agent_that_cannot_be_forked_says_so_and_leaves_no_side(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, None)
    known = await client.request("side/capabilities", workspaceId=workspace, agentSessionId=talk.session_id)
    assert known["supported"] is False
    assert known["reason"] == "provider"
    assert not any(known["facts"].values())
    refused = await client.refused("side/open", workspaceId=workspace, agentSessionId=talk.session_id, **OPEN)
    assert refused["code"] == "capability.unsupported"
    assert refused["details"] == {"reason": "provider"}
    refused = await client.refused("side/get", workspaceId=workspace, sideAgentSessionId="side")
    assert refused["code"] == "side.not_found"
    health = await client.request("health/read")
    assert health["live"]["sides"] == 0


async def test_a_side_may_not_have_the_name_of_a_session(client: Client, workspace: str) -> None:
    source, other = await start(client, workspace, None), await start(client, workspace, None)
    refused = await client.refused(
        "side/open",
        workspaceId=workspace,
        agentSessionId=source.session_id,
        sideAgentSessionId=other.session_id,
        surfaceId="pane",
    )
    assert refused["code"] == "side.exists"


@pytest.mark.rule("RT-123")
async def test_a_side_takes_text_alone(client: Client, workspace: str) -> None:
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    refused = await client.refused(
        "side/send", workspaceId=workspace, sideAgentSessionId="side", clientSubmitId="s", content=[link]
    )
    assert refused["code"] == "attachment.unsupported"


async def test_a_prompt_longer_than_a_message_may_be_is_too_large(client: Client, workspace: str) -> None:
    content = [{"type": "text", "text": "x" * (4 * 1024 * 1024 + 1)}]
    refused = await client.refused(
        "side/send", workspaceId=workspace, sideAgentSessionId="side", clientSubmitId="s", content=content
    )
    assert refused["code"] == "request.too_large"


async def test_places_without_sides_have_none(client: Client, workspace: str) -> None:
    gone = await client.request("surface/dispose", workspaceId=workspace, surfaceId="pane")
    assert gone["closed"] == []
    mine = await client.request("surface/attach", workspaceId=workspace, surfaceId="pane")
    assert mine["sides"] == []
    page = await client.request("side/list", workspaceId=workspace)
    assert (page["items"], page["nextCursor"]) == ([], None)
    refused = await client.refused("side/list", workspaceId=workspace, cursor="nonsense")
    assert refused["code"] == "request.invalid"


@pytest.mark.parametrize(
    "method", [*sorted(OF_A_SIDE.keys() - {"side/get"}), "side/open", "surface/dispose", "surface/attach"]
)
async def test_only_reading_is_open_to_a_token_for_reading(
    connect: Connect, workspace: str, method: str
) -> None:
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused(method, workspaceId=workspace)
        assert refused["code"] == "auth.forbidden"
