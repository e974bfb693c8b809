"""`session/create` repeated: one submit id makes one session, whatever else is asked with it."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import create_params, start, text


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
async def test_repeating_it_shows_the_same_session_as_it_stands(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    params = create_params(workspace, agentTargetId="logged", initialContent=text("[[say once only]]"))
    created = await client.request("session/create", **params)
    settled = await client.settled(created["turn"])
    repeated = await client.request("session/create", **params)
    assert repeated["turn"] == settled
    assert repeated["session"]["agentSessionId"] == created["session"]["agentSessionId"]
    assert repeated["session"]["activeTurnId"] is None
    assert repeated["session"]["runtime"]["state"] == "live"
    assert (daemon.folder / "logged.jsonl").read_text().count("once only") == 1


@pytest.mark.case("FC-23")
async def test_the_same_create_on_two_connections_at_once_makes_one_session(
    client: Client, connect: Connect, workspace: str
) -> None:
    params = create_params(workspace, initialContent=text("[[say hello]]"))
    async with connect() as other:
        sent = [await one.send("session/create", **params) for one in (client, other, client, other)]
        replies = [await one.result() for one in sent]
    assert len({reply["session"]["agentSessionId"] for reply in replies}) == 1
    assert len({reply["turn"]["turnId"] for reply in replies}) == 1
    listed = await client.request("session/list", workspaceId=workspace)
    assert len(listed["items"]) == 1
    await client.settled(replies[0]["turn"])


@pytest.mark.parametrize(
    "change",
    [
        {"initialContent": text("something else")},
        {"title": "Another"},
        {"agentSessionId": "another-id"},
        {"agentTargetId": "logged"},
        {"settings": {"mode": "auto"}},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.case("FC-23")
async def test_the_same_submit_id_for_something_else_is_a_conflict(
    client: Client, workspace: str, change: Json
) -> None:
    created = await client.request("session/create", **create_params(workspace))
    refused = await client.refused("session/create", **create_params(workspace, **change))
    assert (refused["code"], refused["retryable"]) == ("submit.conflict", False)
    listed = await client.request("session/list", workspaceId=workspace)
    assert [item["agentSessionId"] for item in listed["items"]] == [created["session"]["agentSessionId"]]


async def test_its_submit_id_counts_as_used_in_the_new_session_alone(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, clientSubmitId="mine")
    refused = await client.refused(
        "session/send", **talk.key, clientSubmitId="mine", content=text("[[say hello]]")
    )
    assert refused["code"] == "submit.conflict"
    other = await start(client, workspace, clientSubmitId="other")
    assert (await client.settled(await other.send("[[say hello]]", "mine")))["outcome"] == "completed"


async def test_a_submit_id_belongs_to_its_workspace(client: Client, workspace: str) -> None:
    one = await client.request("session/create", **create_params(workspace))
    other = await client.request("session/create", **create_params(f"{workspace}-2"))
    assert one["session"]["agentSessionId"] != other["session"]["agentSessionId"]


@pytest.mark.rule("RT-038")
@pytest.mark.parametrize("submit_id", ["0", " ", "goal:set", "🚪" * 200, "../../etc/passwd", '"];'])
async def test_a_submit_id_is_opaque(client: Client, workspace: str, submit_id: str) -> None:
    one = await client.request("session/create", **create_params(workspace, clientSubmitId=submit_id))
    same = await client.request("session/create", **create_params(workspace, clientSubmitId=submit_id))
    assert one["session"] == same["session"]


async def test_the_known_submit_id_is_looked_at_before_the_session_id(client: Client, workspace: str) -> None:
    params = create_params(workspace, agentSessionId="taken", clientSubmitId="one")
    await client.request("session/create", **params)
    assert (await client.request("session/create", **params))["session"]["agentSessionId"] == "taken"
    refused = await client.refused("session/create", **{**params, "clientSubmitId": "two"})
    assert (refused["code"], refused["delivery"]) == ("session.exists", "not_dispatched")


@pytest.mark.rule("RT-059")
async def test_a_refused_create_leaves_nothing_and_frees_its_id(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    refused = await client.refused("session/create", **create_params(workspace, agentTargetId="nobody"))
    assert (refused["code"], refused["delivery"]) == ("target.not_found", "not_dispatched")
    refused = await client.refused("session/create", **create_params(workspace, settings={"model": True}))
    assert refused["code"] == "settings.invalid"
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []
    assert not (daemon.home / "greenroom" / workspace).exists()
    await client.request("session/create", **create_params(workspace))
