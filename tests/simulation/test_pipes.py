"""The pipes of the simulated world keep the rules of real ones: order, bounds, and no loss but by a cut."""

import random

import pytest
import trio

from runtime.simulation.network import ConnectionRefused, Network
from runtime.simulation.pipes import TICK_SECONDS, Pipe, Weather, on_tick


def a_pipe(seed: int = 0, **weather: object) -> Pipe:
    return Pipe(Weather(**weather), random.Random(seed))


async def all_that_arrives(pipe: Pipe) -> bytes:
    """Of a cut pipe."""
    got = b""
    try:
        while True:
            got += await pipe.receive(100)
    except trio.BrokenResourceError:
        return got


async def everything(pipe: Pipe) -> bytes:
    got = bytearray()
    while data := await pipe.receive(1000):
        got += data
    return bytes(got)


@pytest.mark.parametrize("seed", range(5))
async def test_what_was_sent_arrives_in_order_whatever_the_weather(seed: int, autojump_clock: object) -> None:
    pipe = a_pipe(seed, delay_seconds_max=0.3, piece_bytes_max=7, capacity_bytes=50)
    sent = bytes(range(256)) * 3
    async with trio.open_nursery() as nursery:

        async def send() -> None:
            for start in range(0, len(sent), 37):
                await pipe.send_all(sent[start : start + 37])
            pipe.end()

        nursery.start_soon(send)
        assert await everything(pipe) == sent


async def test_a_full_pipe_takes_nothing_until_somebody_reads(autojump_clock: object) -> None:
    pipe = a_pipe(capacity_bytes=10)
    assert pipe.try_send(b"123456789012345") == 10
    assert pipe.try_send(b"x") == 0
    with trio.move_on_after(1) as waiting:
        await pipe.wait_sendable()
    assert waiting.cancelled_caught
    assert await pipe.receive(4) == b"1234"
    await pipe.wait_sendable()
    assert pipe.try_send(b"abcdefgh") == 4


async def test_of_a_cut_pipe_a_part_arrives_and_then_an_error(autojump_clock: object) -> None:
    arrived = set()
    for seed in range(20):
        pipe = a_pipe(seed, delay_seconds_max=0.1, piece_bytes_max=0)
        for byte in b"abc":
            pipe.try_send(bytes([byte]))
        pipe.cut()
        arrived.add(await all_that_arrives(pipe))
        with pytest.raises(trio.BrokenResourceError):
            pipe.try_send(b"more")
    assert arrived == {b"", b"a", b"ab", b"abc"}


async def test_a_writer_learns_that_its_reader_has_gone(autojump_clock: object) -> None:
    pipe = a_pipe()
    pipe.close_reader()
    with pytest.raises(trio.BrokenResourceError):
        await pipe.send_all(b"x")
    with pytest.raises(trio.ClosedResourceError):
        await pipe.receive(1)


async def test_only_a_listening_daemon_is_reached_and_its_end_cuts_everybody_off(
    autojump_clock: object,
) -> None:
    network = Network(Weather(), random.Random(0))
    with pytest.raises(ConnectionRefused):
        await network.connect()
    listener = network.bind()
    with pytest.raises(ConnectionRefused):
        await network.connect()
    listener.listen()
    connection = await network.connect()
    listener.cut_all()
    with pytest.raises(trio.BrokenResourceError):
        await connection.client.receive_some(1)
    with pytest.raises(ConnectionRefused):
        await network.connect()


def test_moments_are_moved_to_the_next_tick() -> None:
    assert on_tick(3 * TICK_SECONDS) == 3 * TICK_SECONDS
    assert on_tick(3.2 * TICK_SECONDS) == 4 * TICK_SECONDS
    assert on_tick(0.0) == 0.0
