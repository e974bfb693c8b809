"""`events/update`: another scope for a subscription that goes on, with nothing lost of what stays and no text missing
of what is new."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import Talk, start, streamed, text_of

STREAM = "[[stream 150 size=40 delay=2]]"


async def quiet_session(client: Client, workspace: str, name: str) -> Talk:
    return await start(client, workspace, agentSessionId=name, clientSubmitId=name)


def sessions_of(client: Client, subscription: int, after: int = 0) -> set[str]:
    """Whose rows came on a subscription."""
    return {
        change["row"]["agentSessionId"]
        for event in client.received[after:]
        if event.get("subscriptionId") == subscription and event["type"] == "commit"
        for change in event["changes"]
    }


@pytest.mark.rule("AP-020")
async def test_the_scope_changes_with_the_reply_and_what_stays_in_it_misses_nothing(
    client: Client, connect: Connect, workspace: str
) -> None:
    first, second, third = [await quiet_session(client, workspace, name) for name in ("a", "b", "c")]
    async with connect() as other:
        number = await other.subscribe(workspace, agentSessionIds=["a", "b"])
        stays = await first.send(STREAM)
        await other.event("message_delta")
        sent = await other.send("events/update", subscriptionId=number, agentSessionIds=["a", "c"])
        assert (await sent.result()).keys() == {"commitSeq"}
        for talk in (second, third):
            await talk.say("[[say x]]")
        await client.settled(stays)
        await other.settled(stays)
        await other.wait(lambda: "c" in sessions_of(other, number, sent.place), "the new one")
        assert sessions_of(other, number, sent.place) == {"a", "c"}
        of_first = [e for e in client.events("commit") if e["changes"][0]["row"]["agentSessionId"] == "a"]
        seen = [e for e in other.events("commit") if e["changes"][0]["row"]["agentSessionId"] == "a"]
        expected = [e["commitSeq"] for e in of_first if e["commitSeq"] >= seen[0]["commitSeq"]]
        assert [e["commitSeq"] for e in seen] == expected
        [message] = [m for m in await first.messages() if m["role"] == "assistant"]
        assert streamed(other, message["messageId"]) == text_of(message)


async def test_what_streams_and_is_new_in_scope_begins_with_a_snapshot_after_the_reply(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, STREAM)
    await client.event("message_delta")
    async with connect() as other:
        number = await other.subscribe(workspace, deltas="none")
        sent = await other.send("events/update", subscriptionId=number, deltas=[talk.session_id])
        await sent.result()
        snapshot = await other.event("message_snapshot")
        assert other.received.index(snapshot) > sent.place
        again = await other.send("events/update", subscriptionId=number, deltas="all")
        await again.result()
        await other.settled(talk.turn)
        assert len(other.events("message_snapshot")) == 1, "it was in scope already"
        [message] = [m for m in await talk.messages() if m["role"] == "assistant"]
        deltas = other.events("message_delta")
        assert [delta["deltaSeq"] for delta in deltas] == list(
            range(snapshot["message"]["deltaSeq"], snapshot["message"]["deltaSeq"] + len(deltas))
        )
        assert text_of(snapshot["message"]) + "".join(d["text"] for d in deltas) == text_of(message)


async def test_text_can_be_turned_off_while_facts_go_on(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, STREAM)
    await client.event("message_delta")
    sent = await client.send("events/update", subscriptionId=1, deltas="none")
    await sent.result()
    await client.settled(talk.turn)
    after = [frame.get("type") for frame in client.received[sent.place + 1 :]]
    assert "message_delta" not in after
    assert "commit" in after


async def test_left_out_members_stay_and_all_follows_the_workspace_again(
    client: Client, workspace: str
) -> None:
    await quiet_session(client, workspace, "a")
    other = await quiet_session(client, workspace, "b")
    number = await client.subscribe(workspace, agentSessionIds=["a"], deltas="none")
    await client.request("events/update", subscriptionId=number)
    await other.say("[[say x]]")
    assert sessions_of(client, number) == set()
    await client.request("events/update", subscriptionId=number, agentSessionIds="all")
    await other.say("[[say y]]")
    await client.wait(lambda: sessions_of(client, number) == {"b"}, "what was out of scope")
    assert client.events("message_delta", subscriptionId=number) == [], "deltas stayed off"


async def test_one_of_the_host_alone_gets_nothing_of_the_activity(client: Client, workspace: str) -> None:
    reply = await client.request("events/subscribe", workspaceId=workspace, topics=["host.updated"])
    talk = await start(client, workspace, STREAM)
    await client.event("message_delta")
    await client.request("events/update", subscriptionId=reply["subscriptionId"], deltas="all")
    await client.settled(talk.turn)
    mine = client.events(subscriptionId=reply["subscriptionId"])
    assert {event["topic"] for event in mine} <= {"host.updated"}


async def test_a_token_for_reading_is_enough_and_numbers_belong_to_their_connection(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("events/update", subscriptionId=1, deltas="none")
        assert refused["code"] == "request.invalid"
        assert refused["details"] == {
            "path": "params.subscriptionId",
            "problem": "is no subscription of this connection",
        }
        number = await reader.subscribe(workspace)
        await reader.request("events/update", subscriptionId=number, deltas="none")


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"subscriptionId": "1"}, "params.subscriptionId"),
        ({"subscriptionId": 99}, "params.subscriptionId"),
        ({"deltas": "some"}, "params.deltas"),
        ({"deltas": [1]}, "params.deltas[0]"),
        ({"agentSessionIds": "none"}, "params.agentSessionIds"),
        ({"agentSessionIds": ["x y"]}, "params.agentSessionIds[0]"),
        ({"topics": []}, "params.topics"),
    ],
)
async def test_what_is_wrong_with_it_is_named(client: Client, params: Json, path: str) -> None:
    refused = await client.refused("events/update", **{"subscriptionId": 1, **params})
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
