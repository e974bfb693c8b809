"""`health/read`: how the service is, derived from its parts each time."""

from tests.end_to_end.client import Client, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start


async def test_all_is_well(client: Client, connect: Connect) -> None:
    health = await client.request("health/read")
    assert (health["status"], health["problems"], health["quarantined"]) == ("ok", [], [])
    assert health["sweeper"] == {"pending": 0}
    store = health["store"]
    assert store["state"] == "ok"
    assert store["bytes"] > 0
    assert store["freeBytes"] > 0
    assert store["headCommitSeq"] == health["commitSeq"]
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.request("health/read"))["status"] == "ok"


async def test_it_counts_what_is_alive(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        idle = {"connections": 0, "sessions": 0, "sides": 0, "turns": 0}
        assert (await client.request("health/read"))["live"] == idle
        talk = await start(client, "w", "[[ask]]")
        asked = await talk.pending()
        busy = {"connections": 1, "sessions": 1, "sides": 0, "turns": 1}
        assert (await client.request("health/read"))["live"] == busy
        await talk.answer(asked)
        await client.settled(talk.turn)
        assert (await client.request("health/read"))["live"] == {**busy, "turns": 0}
        await client.request("session/close", **talk.key)
        health = await client.request("health/read")
        assert health["live"]["connections"] == 0
        assert health["live"]["turns"] == 0
        assert health["store"]["headCommitSeq"] > 0
        assert health["store"]["oldestCommitSeq"] <= health["store"]["headCommitSeq"]


async def test_it_takes_no_params(client: Client, workspace: str) -> None:
    refused = await client.refused("health/read", workspaceId=workspace)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.workspaceId")
