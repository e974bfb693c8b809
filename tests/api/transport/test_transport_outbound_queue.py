"""The queue of one client: what it takes, what it refuses, and whom it tells."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from runtime.api.frames import close_frame, text_header
from runtime.api.outbound_queue import OutboundQueue

BOUND = 1000


def drain(queue: OutboundQueue) -> bytes:
    taken = b""
    while pieces := queue.take(100):
        taken += b"".join(pieces)
        queue.written(sum(map(len, pieces)))
    return taken


def framed(*payloads: bytes) -> bytes:
    return b"".join(text_header(len(payload)) + payload for payload in payloads)


def test_messages_leave_in_the_order_they_were_put_and_share_their_body():
    queue = OutboundQueue(BOUND)
    body = b'"body"}'
    queue.put_reply(b"reply")
    assert queue.put_fact(b'{"subscriptionId":1,', body)
    assert queue.put_delta(b'{"subscriptionId":2,', body)
    pieces = queue.take(BOUND)
    assert sum(piece is body for piece in pieces) == 2
    assert b"".join(pieces) == framed(
        b"reply", b'{"subscriptionId":1,' + body, b'{"subscriptionId":2,' + body
    )


def test_bytes_count_until_the_kernel_has_them():
    queue = OutboundQueue(BOUND)
    queue.put_reply(b"x" * 98)
    assert queue.bytes_queued == 100
    queue.take(BOUND)
    assert queue.bytes_queued == 100
    queue.written(60)
    assert queue.bytes_queued == 40
    queue.written(40)
    assert queue.bytes_queued == 0
    assert queue.statistics().bytes_queued_max == 100
    assert queue.statistics().bytes_written == 100


def test_take_gives_whole_frames_and_stops_near_its_bound():
    queue = OutboundQueue(BOUND)
    for _ in range(5):
        queue.put_reply(b"x" * 48)
    assert sum(map(len, queue.take(100))) == 100
    assert sum(map(len, queue.take(101))) == 150
    assert queue.take(1) == []


@pytest.mark.rule("AP-021")
@pytest.mark.case("FC-16")
def test_a_full_queue_refuses_facts_drops_deltas_and_takes_replies():
    queue = OutboundQueue(BOUND)
    queue.put_reply(b"x" * (BOUND - 50))
    assert not queue.put_fact(b"", b"f" * 100)
    assert not queue.put_delta(b"", b"d")
    assert queue.put_fact(b"", b"f" * 40)
    queue.put_reply(b"r" * BOUND)
    statistics = queue.statistics()
    assert (statistics.facts, statistics.facts_refused, statistics.deltas_dropped) == (1, 1, 1)
    assert drain(queue) == framed(b"x" * (BOUND - 50), b"f" * 40, b"r" * BOUND)


def test_deltas_alone_never_keep_requests_from_being_read():
    queue = OutboundQueue(BOUND)
    while queue.put_delta(b"", b"delta"):
        pass
    assert queue.below_half()
    assert queue.bytes_queued > BOUND // 2 - 20


def test_an_empty_queue_takes_a_fact_larger_than_its_bound():
    queue = OutboundQueue(BOUND)
    assert queue.put_fact(b"", b"f" * BOUND * 2)
    assert not queue.put_fact(b"", b"f")
    assert drain(queue) == framed(b"f" * BOUND * 2)


@pytest.mark.rule("AP-021")
def test_who_fell_behind_is_told_when_the_queue_falls_under_half():
    queue = OutboundQueue(BOUND)
    levels: list[int] = []
    queue.on_drained(lambda: levels.append(queue.bytes_queued))
    for _ in range(20):
        queue.put_fact(b"", b"f" * 48)
    assert not queue.put_fact(b"", b"f" * 48)
    drain(queue)
    assert levels == [400]


def test_a_fact_refused_under_half_is_asked_for_again_and_gets_in_at_the_latest_when_empty():
    queue = OutboundQueue(BOUND)
    delivered = False

    def refill() -> None:
        nonlocal delivered
        delivered = delivered or queue.put_fact(b"", b"F" * BOUND)

    queue.on_drained(refill)
    for _ in range(8):
        queue.put_reply(b"x" * 48)
    assert not queue.put_fact(b"", b"F" * BOUND)
    drained = drain(queue)
    assert delivered
    assert drained.endswith(framed(b"F" * BOUND))


def test_an_unregistered_callback_is_not_called():
    queue = OutboundQueue(BOUND)
    unregister = queue.on_drained(lambda: pytest.fail("called"))
    unregister()
    unregister()
    queue.put_reply(b"x" * BOUND)
    drain(queue)


def test_control_frames_overtake_and_only_the_newest_pong_is_kept():
    queue = OutboundQueue(BOUND)
    queue.put_reply(b"reply")
    for number in range(100):
        queue.put_pong(bytes([0x8A, 1, number]))
    queue.put_ping(b"\x89\x00")
    queue.put_ping(b"\x89\x00")
    assert queue.ping_waiting
    assert drain(queue) == bytes([0x8A, 1, 99]) + b"\x89\x00" + framed(b"reply")
    assert not queue.ping_waiting
    assert queue.bytes_queued == 0


@pytest.mark.parametrize("flush", [True, False])
def test_a_close_frame_is_the_last_frame(flush: bool):
    queue = OutboundQueue(BOUND)
    queue.put_control(b"101")
    queue.put_reply(b"reply")
    queue.close(close_frame(1001), flush=flush)
    queue.close(close_frame(1000), flush=False)
    queue.put_reply(b"late")
    queue.put_pong(b"\x8a\x00")
    assert queue.put_fact(b"", b"late")
    assert queue.put_delta(b"", b"late")
    assert not queue.finished
    expected = b"101" + (framed(b"reply") if flush else b"") + close_frame(1001)
    assert drain(queue) == expected
    assert queue.finished
    assert queue.bytes_queued == 0


def test_a_lost_connection_drops_everything_even_after_a_close():
    queue = OutboundQueue(BOUND)
    queue.put_reply(b"reply")
    queue.close(close_frame(1000), flush=True)
    queue.close(None, flush=False)
    assert queue.finished
    assert queue.take(BOUND) == []
    assert queue.bytes_queued == 0


async def test_waiters_for_room_wake_under_half_and_at_the_end(autojump_clock):
    queue = OutboundQueue(BOUND)
    woken: list[str] = []

    async def wait(name: str) -> None:
        await queue.wait_below_half()
        woken.append(name)

    await wait("empty")
    async with trio.open_nursery() as nursery:
        queue.put_reply(b"x" * 600)
        nursery.start_soon(wait, "drained")
        await trio.testing.wait_all_tasks_blocked()
        assert woken == ["empty"]
        drain(queue)
        await trio.testing.wait_all_tasks_blocked()
        assert woken == ["empty", "drained"]
        queue.put_reply(b"x" * 600)
        nursery.start_soon(wait, "closed")
        await trio.testing.wait_all_tasks_blocked()
        queue.close(None, flush=False)
    assert woken == ["empty", "drained", "closed"]


async def test_the_writer_is_woken_by_each_kind(autojump_clock):
    puts = [
        lambda queue: queue.put_reply(b"r"),
        lambda queue: queue.put_fact(b"", b"f"),
        lambda queue: queue.put_delta(b"", b"d"),
        lambda queue: queue.put_pong(b"\x8a\x00"),
        lambda queue: queue.put_ping(b"\x89\x00"),
        lambda queue: queue.put_control(b"101"),
        lambda queue: queue.close(close_frame(1000), flush=True),
        lambda queue: queue.close(None, flush=False),
    ]
    for put in puts:
        queue = OutboundQueue(BOUND)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(queue.wait_ready)
            await trio.testing.wait_all_tasks_blocked()
            put(queue)


operations = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["reply", "fact", "delta"]), st.integers(0, 400)),
        st.tuples(st.just("take"), st.integers(1, 500)),
        st.tuples(st.just("pong"), st.just(0)),
    ),
    max_size=60,
)


@given(steps=operations)
def test_whatever_is_put_and_taken_the_books_balance(steps: list[tuple[str, int]]):
    queue = OutboundQueue(BOUND)
    accepted: list[bytes] = []
    left = b""
    reply_bytes = 0
    for number, (kind, size) in enumerate(steps):
        payload = f"{number}:".encode() + b"x" * size
        before = queue.bytes_queued
        match kind:
            case "reply":
                queue.put_reply(payload)
                accepted.append(payload)
                reply_bytes += len(framed(payload))
            case "fact":
                taken = queue.put_fact(payload[:2], payload[2:])
                assert taken == (before == 0 or before + len(framed(payload)) <= BOUND)
                if taken:
                    accepted.append(payload)
            case "delta":
                taken = queue.put_delta(payload[:2], payload[2:])
                assert not taken or queue.below_half()
                if taken:
                    accepted.append(payload)
            case "pong":
                queue.put_pong(b"\x8a\x00")
            case _:
                pieces = queue.take(size)
                left += b"".join(pieces)
                queue.written(sum(map(len, pieces)))
        assert queue.bytes_queued <= BOUND + reply_bytes + 2
    left += drain(queue)
    assert left.replace(b"\x8a\x00", b"") == framed(*accepted)
    assert queue.bytes_queued == 0
