"""The three streams of a child: floods, closed ends, torn writes."""

import os

import pytest
import trio

from supervisor.process_guard import ChildInputClosed, LadderTimes, ProcessGuard
from supervisor.process_guard.pipes import PipeSink, PipeSource
from tests.process_guard.support import WAIT_SECONDS, python, read_all, request

AT_ONCE = LadderTimes.at_once()
MIB = 1024 * 1024


async def test_large_input_comes_back_whole(guard: ProcessGuard) -> None:
    data = os.urandom(3 * MIB)
    process = await guard.launch(request("cat"))

    async def feed() -> None:
        await process.stdin.write(data)
        process.stdin.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(feed)
        assert await read_all(process.stdout) == data
    await process.close(AT_ONCE)


@pytest.mark.case("FC-18")
async def test_a_flood_on_stderr_holds_up_nothing_when_it_is_drained(guard: ProcessGuard) -> None:
    flood = 20 * MIB
    code = f"import os; [os.write(2, b'\\xff' * 65536) for _ in range({flood // 65536})]; os.write(1, b'end of turn')"
    process = await guard.launch(python(code))
    drained = 0

    async def drain() -> None:
        nonlocal drained
        while piece := await process.stderr.read(65536):
            drained += len(piece)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drain)
        assert await read_all(process.stdout) == b"end of turn"
    assert drained == flood
    await process.close(AT_ONCE)


@pytest.mark.case("FC-25")
async def test_writing_to_a_child_that_closed_its_input_is_a_typed_error_of_that_child_alone(
    guard: ProcessGuard,
) -> None:
    deaf = await guard.launch(python("import os, time; os.close(0); os.write(1, b'deaf'); time.sleep(60)"))
    other = await guard.launch(request("cat"))
    assert await deaf.stdout.read(100) == b"deaf"
    with pytest.raises(ChildInputClosed):
        await deaf.stdin.write(b"x" * 100_000)
    with pytest.raises(trio.BrokenResourceError):
        await deaf.stdin.write(b"more")
    assert deaf.exited is None
    await other.stdin.write(b"still here")
    assert await other.stdout.read(100) == b"still here"
    await deaf.close(AT_ONCE)
    await other.close(AT_ONCE)


@pytest.mark.case("FC-25")
async def test_writing_to_an_ended_child_is_a_typed_error(guard: ProcessGuard) -> None:
    process = await guard.launch(request("true"))
    await process.wait()
    with pytest.raises(ChildInputClosed):
        await process.stdin.write(b"x")
    await process.close(AT_ONCE)


@pytest.fixture
def pipe_ends() -> tuple[int, int]:
    return os.pipe()


@pytest.mark.case("FC-25")
async def test_a_cancelled_write_breaks_the_sink(pipe_ends: tuple[int, int]) -> None:
    source, sink = PipeSource(pipe_ends[0]), PipeSink(pipe_ends[1])
    with trio.move_on_after(0.01) as scope:
        await sink.write(b"x" * MIB)
    assert scope.cancelled_caught
    with pytest.raises(trio.BrokenResourceError):
        await sink.write(b"this would follow half a line")
    sink.close()
    assert await read_all(source) == b"x" * 65536
    source.close()


async def test_a_write_cancelled_before_it_began_leaves_the_sink_whole(pipe_ends: tuple[int, int]) -> None:
    source, sink = PipeSource(pipe_ends[0]), PipeSink(pipe_ends[1])
    with trio.CancelScope() as scope:
        scope.cancel()
        await sink.write(b"never")
    await sink.write(b"whole")
    assert await source.read() == b"whole"
    sink.close()
    source.close()


async def test_one_reader_and_one_writer_at_a_time(pipe_ends: tuple[int, int]) -> None:
    source, sink = PipeSource(pipe_ends[0]), PipeSink(pipe_ends[1])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sink.write, b"x" * MIB)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await sink.write(b"second")
        nursery.cancel_scope.cancel()
    sink.close()
    await read_all(source)
    source.close()


async def test_closing_wakes_who_waits_and_is_idempotent(pipe_ends: tuple[int, int]) -> None:
    source, sink = PipeSource(pipe_ends[0]), PipeSink(pipe_ends[1])

    async def expect_closed() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await source.read()

    with trio.fail_after(WAIT_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(expect_closed)
            await trio.testing.wait_all_tasks_blocked()
            source.close()
    source.close()
    with pytest.raises(trio.ClosedResourceError):
        await source.read()
    sink.close()
    with pytest.raises(trio.ClosedResourceError):
        await sink.write(b"x")
