"""`side/close`, `side/list`, `surface/dispose` and `surface/attach` across connections: whose a Side is, and its end."""

import pytest

from tests.end_to_end.fixtures import Connect
from tests.providers_codex.hosted.side_stage import SideStage
from tests.providers_codex.hosted.stage import Stage


@pytest.mark.rule("RT-126")
async def test_any_connection_uses_a_side_and_its_owner_alone_disposes_of_it(
    sides: SideStage, connect: Connect
) -> None:
    talk, _ = await sides.stage.settled("[[say done]]")
    side = await sides.open(talk)
    async with connect() as client:
        other = SideStage(Stage(client, sides.stage.workspace, sides.stage.home))
        gone = await other.request("surface/dispose", surfaceId="pane")
        assert gone["closed"] == [], "another client's place of that name is its own"
        turn = await other.send(side, "[[say from elsewhere]]")
        assert (await sides.settled(side, turn))["outcome"] == "completed"
        attached = await other.request("surface/attach", surfaceId="pane")
        assert [row["sideAgentSessionId"] for row in attached["sides"]] == [side]
        assert (await sides.request("surface/dispose", surfaceId="pane"))["closed"] == []
        gone = await other.request("surface/dispose", surfaceId="pane")
        assert [row["sideAgentSessionId"] for row in gone["closed"]] == [side]
    assert (await sides.wait(side, "closed"))["reason"] == "surface_disposed"
    assert (await sides.refused("side/get", sideAgentSessionId=side))["code"] == "side.expired"


@pytest.mark.rule("RT-117", "RT-119")
async def test_a_close_is_answered_once_and_another_one_finds_nothing(sides: SideStage) -> None:
    talk, _ = await sides.stage.settled("[[say done]]")
    kept, side = await sides.open(talk), await sides.open(talk)
    params = {"workspaceId": sides.stage.workspace, "sideAgentSessionId": side}
    closed = await sides.request("side/close", sideAgentSessionId=side)
    assert closed["side"]["state"] == "closed"
    refused = await sides.client.refused("side/close", **params)
    assert refused["code"] == "side.expired"
    assert len(sides.told(side, "closed")) == 1
    elsewhere = await sides.client.refused(
        "side/close", workspaceId=f"{sides.stage.workspace}-x", sideAgentSessionId=kept
    )
    assert elsewhere["code"] == "side.not_found", "a Side is of its workspace"
    listed = await sides.request("side/list", agentSessionId=talk.session_id)
    assert [row["sideAgentSessionId"] for row in listed["items"]] == [kept]
