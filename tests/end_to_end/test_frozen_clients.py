"""A client that takes nothing costs its bound, and nobody else anything: not memory, not a byte, not the order.

What it costs is read from the kernel's figures of the daemon. The same with 200 MB is part of the benchmark.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start, streamed, text_of

MIB = 1024 * 1024
RECEIVE_BUFFER_BYTES = 8 * 1024
FLOOD_QUEUE_BYTES = 4 * MIB
MESSAGES, PIECES, PIECE_BYTES = 160, 4, 32 * 1024
FLOOD = f"[[stream {PIECES} size={PIECE_BYTES} delay=6]] [[tool next output=ok]] " * MESSAGES
"""20 MiB of text at a pace that whoever reads can keep; it comes as deltas, and again whole in the rows that end it."""
SLACK_BYTES = 12 * MIB
"""For what two runs of the same differ by; unbounded, a frozen client would cost all of what it was not sent: 40 MiB."""


def small_queues(make_daemon: MakeDaemon, **limits: Any) -> Daemon:
    bounds = {"clientQueueBytes": MIB, "clientSendDeadlineSeconds": 60, "pingSeconds": 60, **limits}
    return make_daemon({"limits": bounds})


def hasty(daemon: Daemon) -> Any:
    """A client that can be stopped, and whose kernel holds little for it."""
    return connected(daemon, check_shapes=False, receive_buffer_bytes=RECEIVE_BUFFER_BYTES)


def peak_bytes(daemon: Daemon) -> int:
    """The most memory the daemon ever had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{daemon.pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


async def whole(talk: Talk, client: Client, turn: Json) -> None:
    """This client was sent every text of the turn, in order and without a hole, and the rows say the same."""
    rows = {row["messageId"]: row for row in client.rows("message", turnId=turn["turnId"])}
    said = [row for row in rows.values() if row["role"] == "assistant" and row["kind"] == "text"]
    assert [len(text_of(row)) for row in said] == [PIECES * PIECE_BYTES] * MESSAGES
    for row in said:
        assert streamed(client, row["messageId"]) == text_of(row)
    assert client.events("stream_gap", agentSessionId=talk.session_id) == []
    numbers = [event["commitSeq"] for event in client.events("commit")]
    assert numbers == sorted(set(numbers))


@pytest.mark.case("FC-16")
@pytest.mark.rule("AP-021")
async def test_a_frozen_client_costs_its_queue_and_the_others_nothing(make_daemon: MakeDaemon) -> None:
    daemon = small_queues(make_daemon, clientQueueBytes=FLOOD_QUEUE_BYTES)
    async with connected(daemon, check_shapes=False) as quick:
        await quick.subscribe("w")
        alone = await start(quick, "w", FLOOD, clientSubmitId="alone")
        await whole(alone, quick, await quick.settled(alone.turn, 60))
        before = peak_bytes(daemon)
        async with hasty(daemon) as frozen:
            await frozen.subscribe("w")
            frozen.stop_reading()
            beside = await start(quick, "w", FLOOD, clientSubmitId="beside")
            await whole(beside, quick, await quick.settled(beside.turn, 60))
            assert len(frozen.events("commit")) <= 1, "it may have had one in its hands"
            assert peak_bytes(daemon) - before < FLOOD_QUEUE_BYTES + SLACK_BYTES
            frozen.read_again()
            await frozen.settled(beside.turn, 60)
            facts = [e for e in quick.events("commit") if e["commitSeq"] >= beside.created["commitSeq"]]
            assert [e["changes"] for e in frozen.events("commit")] == [e["changes"] for e in facts]
            again = await beside.say("[[stream 5 size=100]]")
            await frozen.settled(again)
            last = quick.rows("message", turnId=again["turnId"], role="assistant")[-1]
            assert streamed(frozen, last["messageId"]) == text_of(last), "live again, text and all"


async def fill(client: Client, talk: Talk, commits: int = 15) -> Json:
    """Facts enough to fill the queue of whoever does not read; the last turn."""
    turn = {}
    for _ in range(commits):
        turn = await talk.send(f"[[tool one output={'x' * 200_000}]]")
        await client.settled(turn)
    return turn


async def test_nothing_is_read_from_a_client_whose_queue_is_half_full(make_daemon: MakeDaemon) -> None:
    daemon = small_queues(make_daemon)
    async with connected(daemon, check_shapes=False) as quick, hasty(daemon) as frozen:
        await quick.subscribe("w")
        await frozen.subscribe("w")
        talk = await start(quick, "w")
        frozen.stop_reading()
        await fill(quick, talk)
        params = {"workspaceId": "v", "agentTargetId": "demo", "clientSubmitId": "held"}
        creating = await frozen.send("session/create", **params)
        assert (await talk.say("[[say the others go on]]"))["outcome"] == "completed"
        assert (await quick.request("session/list", workspaceId="v"))["items"] == []
        frozen.read_again()
        created = await creating.result()
        listed = await quick.request("session/list", workspaceId="v")
        assert [item["agentSessionId"] for item in listed["items"]] == [created["session"]["agentSessionId"]]


async def test_who_comes_back_behind_the_log_is_told_to_read_and_goes_on_live(
    make_daemon: MakeDaemon,
) -> None:
    daemon = small_queues(make_daemon, commitLogMaxCount=5)
    async with connected(daemon, check_shapes=False) as quick, hasty(daemon) as frozen:
        await quick.subscribe("w")
        await frozen.subscribe("w")
        talk = await start(quick, "w")
        frozen.stop_reading()
        last = await fill(quick, talk)
        frozen.read_again()
        resync = await frozen.event("resync", 30)
        seen = [event["commitSeq"] for event in frozen.events("commit")]
        assert seen == sorted(set(seen))
        assert all(number < resync["commitSeq"] for number in seen[: frozen_before(frozen, resync)])
        detail = await frozen.request("session/get", **talk.key)
        assert detail["commitSeq"] >= resync["commitSeq"]
        assert detail["turns"][0]["turnId"] == last["turnId"]
        turn = await talk.say("[[say live]]")
        await frozen.settled(turn)
        numbers = [event["commitSeq"] for event in frozen.received if event.get("type") == "commit"]
        assert numbers == sorted(set(numbers))


def frozen_before(client: Client, resync: Json) -> int:
    """How many commits came before the word to read."""
    place = client.received.index(resync)
    return sum(frame.get("type") == "commit" for frame in client.received[:place])
