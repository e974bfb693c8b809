"""`events/unsubscribe`: nothing of that subscription comes after the reply."""

from tests.end_to_end.client import Client
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import start


async def test_nothing_of_it_follows_the_reply_and_the_others_go_on(client: Client, workspace: str) -> None:
    second = await client.subscribe(workspace)
    talk = await start(client, workspace, "[[stream 100 size=20 delay=2]]")
    await client.event("message_delta", subscriptionId=second)
    sent = await client.send("events/unsubscribe", subscriptionId=second)
    assert (await sent.result()).keys() == {"commitSeq"}
    await client.settled(talk.turn)
    after = client.received[sent.place :]
    assert [frame for frame in after if frame.get("subscriptionId") == second] == []
    assert [frame for frame in after if frame.get("subscriptionId") == 1]


async def test_an_unknown_one_is_gone_already(client: Client, workspace: str) -> None:
    first = await client.subscribe(workspace)
    for number in (first, first, 4711):
        await client.request("events/unsubscribe", subscriptionId=number)
    assert await client.subscribe(workspace) > first, "numbers are not used again"


async def test_a_subscription_belongs_to_its_connection(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect() as other:
        await other.request("events/unsubscribe", subscriptionId=1)
    talk = await start(client, workspace, "[[say x]]")
    await client.settled(talk.turn)


async def test_what_is_wrong_with_it_is_named(client: Client) -> None:
    for value in (None, "1", -1, 1.5, True):
        refused = await client.refused("events/unsubscribe", subscriptionId=value)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.subscriptionId")
