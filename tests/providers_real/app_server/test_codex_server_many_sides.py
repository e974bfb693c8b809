"""Many Sides of a real Codex at once on one connection, and what a killed app-server does to them."""

from pathlib import Path

import pytest
import trio

from tests.doubles.model_script import hold, pace, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.side_talk import Sides
from tests.end_to_end.talk import start, text_of
from tests.providers_real.app_server.codex_server import FREE, TARGET, codex_server
from tests.providers_real.codex_acp import agents, holding, kill_agent

pytestmark = pytest.mark.real_agent

SIDES = 20


async def sides_of(client: Client, workspace: str) -> Sides:
    await client.request("events/subscribe", workspaceId=workspace, topics=["agent.side.updated"])
    return Sides(client, workspace)


@pytest.mark.rule("RT-107", "RT-117")
async def test_a_side_and_its_source_stream_at_once_each_on_its_own_lane(
    client: Client, workspace: str, model: ModelServer
) -> None:
    sides = await sides_of(client, workspace)
    name = f"both {workspace}"
    source_pieces = [f"source {number} " for number in range(40)]
    side_pieces = [f"side {number} " for number in range(20)]
    talk = await start(
        client, workspace, script([hold(name), pace(0.02), *source_pieces]), target=TARGET, settings=FREE
    )
    await holding(model, name)
    side = await sides.open(talk)
    turn = await sides.send(side, script([hold(f"side {name}"), pace(0.02), *side_pieces]))
    await holding(model, f"side {name}")
    model.release(name)
    model.release(f"side {name}")
    assert (await sides.settled(side, turn))["outcome"] == "completed"
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert sides.said(side) == "".join(side_pieces)
    [answer] = [text_of(row) for row in await talk.messages() if row["role"] == "assistant"]
    assert answer == "".join(source_pieces)
    lanes = [lane for frame in client.received if (lane := lane_of(frame)) is not None]
    assert lanes.index("side") < len(lanes) - 1 - lanes[::-1].index("source"), "the source goes on meanwhile"
    assert lanes.index("source") < len(lanes) - 1 - lanes[::-1].index("side"), "and so does the Side"


def lane_of(frame: Json) -> str | None:
    """Whose text a frame carries."""
    if frame.get("type") == "message_delta":
        return "source"
    return "side" if frame.get("payload", {}).get("type") == "message_delta" else None


@pytest.mark.rule("RT-112", "RT-117")
async def test_twenty_sides_at_once_hear_their_own_words_and_leave_the_source_to_finish(
    client: Client, daemon: Daemon, codex: str, workspace: str, model: ModelServer
) -> None:
    sides = await sides_of(client, workspace)
    name = f"many {workspace}"
    talk = await start(
        client, workspace, script(["Working, ", hold(name), "worked."]), target=TARGET, settings=FREE
    )
    await holding(model, name)
    before = agents(daemon, codex)
    opened: list[str] = []

    async def ask(number: int) -> None:
        side = await sides.open(talk)
        turn = await sides.send(side, f"Side {number} of {workspace}. " + script([f"I am {number}."]))
        assert (await sides.settled(side, turn))["outcome"] == "completed"
        assert sides.said(side) == f"I am {number}."
        opened.append(side)

    async with trio.open_nursery() as nursery:
        for number in range(SIDES):
            nursery.start_soon(ask, number)
    assert len(set(opened)) == SIDES
    assert agents(daemon, codex) == before, "all on the process of their source"
    for side in opened:
        sequences = [event["sequence"] for event in client.events("side", sideAgentSessionId=side)]
        assert sequences == list(range(1, len(sequences) + 1))
        await sides.request("side/close", sideAgentSessionId=side)
    model.release(name)
    assert (await client.settled(talk.turn))["outcome"] == "completed"


@pytest.mark.rule("RT-118")
async def test_a_killed_app_server_expires_a_side_once_and_the_source_goes_on_without_it(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        sides = await sides_of(client, "w")
        talk = await start(client, "w", script(["Begun."]), target=TARGET, settings=FREE)
        await client.settled(talk.turn)
        side = await sides.open(talk)
        await sides.send(side, script(["On the side, ", hold("side lost")]))
        await holding(model, "side lost")
        (agent,) = agents(daemon, codex)
        kill_agent(agent)
        expired = await sides.wait(side, "expired")
        assert expired["reason"] == "provider_lost"
        refused = await client.refused("side/get", workspaceId="w", sideAgentSessionId=side)
        assert refused["code"] == "side.expired"
        assert (await talk.say(script(["And on."])))["outcome"] == "completed"
        events = client.events("side", sideAgentSessionId=side)
        assert [event["payload"]["type"] for event in events].count("expired") == 1
        assert events[-1]["payload"]["type"] == "expired", "and nothing comes after it"
