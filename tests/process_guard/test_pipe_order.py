"""A writer learns that its bytes are out before any other task can have read an answer to them."""

import os

import pytest
import trio

from supervisor.process_guard.pipes import PipeSink, PipeSource

ROUNDS = 40


@pytest.mark.rule("RT-019")
async def test_a_write_returns_before_what_it_causes_is_read() -> None:
    reading, writing = os.pipe()
    sink, source = PipeSink(writing), PipeSource(reading)
    seen: list[str] = []

    async def read() -> None:
        for _ in range(ROUNDS):
            assert await source.read() == b"answer me"
            seen.append("read")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        for number in range(1, ROUNDS + 1):
            await sink.write(b"answer me")
            seen.append("written")
            while seen.count("read") < number:
                await trio.lowlevel.checkpoint()
    assert seen == ["written", "read"] * ROUNDS
    sink.close()
    source.close()


async def test_a_write_that_had_to_wait_returns_with_its_last_byte() -> None:
    reading, writing = os.pipe()
    sink, source = PipeSink(writing), PipeSource(reading)
    size, seen = 300_000, 0
    done = trio.Event()

    async def read() -> None:
        nonlocal seen
        while seen < size:
            seen += len(await source.read())
            # All but what the pipe itself can hold is read only after it was written.
            assert done.is_set() or seen < size

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await sink.write(b"x" * size)
        done.set()
    sink.close()
    source.close()
