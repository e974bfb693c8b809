"""Clients that do not keep up with a real socket: they lose deltas and nothing else, and nobody waits for them."""

from typing import Any

import pytest
import trio

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start, streamed, text_of

QUEUE_BYTES = 1024 * 1024
RECEIVE_BUFFER_BYTES = 8 * 1024
PIECES, PIECE_BYTES = 450, 5000
FLOOD = f"[[stream {PIECES} size={PIECE_BYTES} batch=10 delay=15]]"
"""Far more than the queue and both kernels' buffers hold, at a pace that whoever reads can keep."""


def small_queues(make_daemon: MakeDaemon, **limits: Any) -> Daemon:
    return make_daemon({"limits": {"clientQueueBytes": QUEUE_BYTES, "cancelGraceSeconds": 1, **limits}})


def hasty(daemon: Daemon) -> Any:
    """A client that can be stopped; its shapes are not checked, so that it keeps up with a flood."""
    return connected(daemon, check_shapes=False, receive_buffer_bytes=RECEIVE_BUFFER_BYTES)


def untold_losses(client: Client) -> list[str]:
    """Messages that ended with more text than this client was sent, without a word that some was lost."""
    held: dict[str, str] = {}
    lost: set[str] = set()
    untold = []
    for event in client.events():
        match event["type"]:
            case "message_delta":
                held[event["messageId"]] = held.get(event["messageId"], "") + event["text"]
            case "message_snapshot":
                held[event["message"]["messageId"]] = text_of(event["message"])
            case "stream_gap":
                lost.add(event["messageId"])
            case "commit":
                for change in event["changes"]:
                    row = change["row"]
                    if change["type"] != "message" or row["status"] == "streaming" or row["kind"] != "text":
                        continue
                    whole = row["role"] == "user" or held.get(row["messageId"]) == text_of(row)
                    if not whole and row["messageId"] not in lost:
                        untold.append(row["messageId"])
    return untold


async def all_said(talk: Talk) -> None:
    """The agent has said all of a flood: a read holds it, whoever was sent what."""
    with trio.fail_after(30):
        while len(text_of((await talk.messages())[-1])) < PIECES * PIECE_BYTES:
            await trio.sleep(0.05)


def text_length(client: Client) -> int:
    return sum(len(event["text"]) for event in client.events("message_delta"))


@pytest.mark.case("FC-16")
@pytest.mark.rule("AP-021", "AP-010")
async def test_who_stalls_in_mid_stream_gets_a_gap_and_a_snapshot_and_converges(
    make_daemon: MakeDaemon,
) -> None:
    daemon = small_queues(make_daemon)
    async with hasty(daemon) as slow, connected(daemon, check_shapes=False) as quick:
        await quick.subscribe("w")
        await slow.subscribe("w")
        talk = await start(quick, "w")
        slow.stop_reading()
        turn = await talk.send(f"{FLOOD} [[hang]]")
        await all_said(talk)
        slow.read_again()
        gap = await slow.event("stream_gap", 30)
        snapshot = (await slow.event("message_snapshot", 30))["message"]
        assert snapshot["messageId"] == gap["messageId"]
        assert slow.received.index(gap) < [f.get("type") for f in slow.received].index("message_snapshot")
        await quick.request("turn/cancel", **talk.key, turnId=turn["turnId"])
        await quick.settled(turn)
        await slow.settled(turn)
        [message] = [m for m in await talk.messages() if m["role"] == "assistant"]
        assert len(text_of(message)) == PIECES * PIECE_BYTES
        assert streamed(quick, message["messageId"]) == text_of(message)
        assert text_length(slow) < text_length(quick), "it did lose deltas"
        assert slow.rows("message", messageId=message["messageId"])[-1] == message


@pytest.mark.case("FC-16")
@pytest.mark.rule("AP-021")
async def test_facts_are_never_lost_they_come_from_the_log(make_daemon: MakeDaemon) -> None:
    daemon = small_queues(make_daemon)
    async with hasty(daemon) as slow, connected(daemon, check_shapes=False) as quick:
        await quick.subscribe("w")
        await slow.subscribe("w")
        talk = await start(quick, "w")
        slow.stop_reading()
        for number in range(2):
            turn = await talk.send(f"[[tool one output={'x' * 200_000}]] [[say {number}]] {FLOOD}")
            await quick.settled(turn, 30)
        slow.read_again()
        await slow.settled(turn, 30)
        assert [e["commitSeq"] for e in slow.events("commit")] == [
            e["commitSeq"] for e in quick.events("commit")
        ]
        assert [e["changes"] for e in slow.events("commit")] == [
            e["changes"] for e in quick.events("commit")
        ], "every fact, once, in order, though most were not sent when they came"
        for one in (slow, quick):
            assert untold_losses(one) == []
        again = await talk.say("[[say live again]]")
        await slow.settled(again)
        held = {row["messageId"]: row for row in slow.rows("message")}
        messages = await talk.messages()
        assert [held[message["messageId"]] for message in messages] == messages


@pytest.mark.case("FC-16")
@pytest.mark.rule("AP-021")
async def test_who_never_reads_is_closed_and_the_agent_is_not_held_up(make_daemon: MakeDaemon) -> None:
    daemon = small_queues(make_daemon, clientSendDeadlineSeconds=0.5)
    async with hasty(daemon) as frozen, connected(daemon, check_shapes=False) as quick:
        await quick.subscribe("w")
        await frozen.subscribe("w")
        talk = await start(quick, "w")
        frozen.stop_reading()
        settled = await talk.say(f"{FLOOD} [[tool a output=b]] {FLOOD}")
        assert settled["outcome"] == "completed"
        assert await trio.to_thread.run_sync(poll_until, lambda: 4001 in codes(daemon), 10)
        frozen.read_again()
        code, reason = await frozen.end(30)
        assert (code, reason) in ((4001, "too slow"), (1006, "")), "the socket may have been torn"
        assert untold_losses(quick) == []
        assert (await talk.say("[[say after]]"))["outcome"] == "completed"
        async with connected(daemon) as back:
            numbers = [event["commitSeq"] for event in frozen.events("commit")]
            await back.subscribe("w", afterCommitSeq=max(numbers, default=0))
            await back.row("turn", phase="settled")


def codes(daemon: Daemon) -> list[int | None]:
    """The close codes of clients that left, as logged."""
    return [line.get("code") for line in daemon.log_lines() if line.get("event") == "a client is gone"]


async def test_requests_of_a_slow_reader_are_answered_once_it_reads(make_daemon: MakeDaemon) -> None:
    daemon = small_queues(make_daemon)
    async with hasty(daemon) as slow, connected(daemon, check_shapes=False) as quick:
        await quick.subscribe("w")
        await slow.subscribe("w")
        talk = await start(quick, "w")
        slow.stop_reading()
        turn = await talk.send(f"{FLOOD} [[hang]]")
        await all_said(talk)
        stopping = await slow.send("turn/cancel", **talk.key, turnId=turn["turnId"])
        settled = await quick.settled(turn)
        assert settled["outcome"] == "canceled", "a flood of text keeps no Stop from being read"
        slow.read_again()
        assert (await stopping.result())["turn"]["cancelRequestedAt"] is not None
