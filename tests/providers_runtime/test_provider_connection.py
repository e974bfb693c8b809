"""A connection at work: reading, writing, back-pressure and timers."""

import pytest
import trio
import trio.testing

from runtime.providers.limits import ConnectionLimits
from runtime.providers.normalized import TextChunk, ThreadOpened, TurnAccepted, TurnEnded
from runtime.providers.port import CancelTurn
from store.canonical.identifiers import TurnId
from tests.doubles.connection_bench import connected
from tests.doubles.line_provider import (
    open_first_thread,
    prompt,
    scope,
    shake_hands,
)
from tests.doubles.scripted_process import PIPE_BYTES, Agent

MIB = 1024 * 1024


async def test_a_prompt_goes_out_and_its_answer_comes_back_in_order(autojump_clock):
    async with connected() as bench:
        sink = await bench.attach("a")
        await sink.wait_for(ThreadOpened)
        assert bench.connection.tell(prompt("a", "t", "say one;say two;end"))
        await sink.wait_for(TurnEnded)
        kinds = [type(event) for event in sink.events]
        assert kinds[:2] == [ThreadOpened, TurnAccepted]
        assert kinds[-1] is TurnEnded
        assert sink.text == "onetwo"


@pytest.mark.rule("RT-018")
async def test_chunks_of_one_read_arrive_as_one_event(autojump_clock):
    async def burst(agent: Agent):
        await open_first_thread(agent)
        await agent.say(*(f"text a t {number % 10}" for number in range(1000)), "end a t")
        await trio.sleep_forever()

    async with connected(burst) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(TurnEnded)
        assert sink.text == "0123456789" * 100
        assert sum(isinstance(event, TextChunk) for event in sink.events) == 1


@pytest.mark.case("FC-55")
async def test_a_big_prompt_to_a_slow_reader_that_floods_stdout_locks_nothing(autojump_clock):
    read = 0

    async def slow_reader(agent: Agent):
        nonlocal read
        await open_first_thread(agent)

        async def flood():
            for _ in range(50 * MIB // PIPE_BYTES):
                await agent.stdout.write(b"x" * (PIPE_BYTES - 1) + b"\n")
            await agent.say("end a t")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(flood)
            while data := await agent.stdin.read(1024):
                read += len(data)
                await trio.sleep(1)

    async with connected(slow_reader) as bench:
        sink = await bench.attach("a")
        assert bench.connection.tell(prompt("a", "t", "y" * (10 * MIB)))
        assert bench.connection.tell(CancelTurn(scope("a"), TurnId("t")))
        await sink.wait_for(TurnEnded)
        assert read < 1 * MIB, "the answer did not wait for the prompt to be read"
        assert bench.connection.info().unwritten_bytes > 9 * MIB
        began = trio.current_time()
        bench.connection.stop()
        await bench.connection.gone.wait()
        assert trio.current_time() - began < 10


@pytest.mark.case("FC-55")
async def test_a_provider_that_reads_nothing_is_given_up_at_a_bound(autojump_clock):
    async def deaf(agent: Agent):
        await shake_hands(agent)
        await trio.sleep_forever()

    async with connected(deaf, ConnectionLimits(write_queue_bytes_max=MIB)) as bench:
        sink = await bench.attach("a")
        assert bench.connection.tell(prompt("a", "t", "y" * (MIB // 2)))
        assert bench.connection.tell(prompt("a", "t", "y" * (MIB // 2 + 1)))
        await bench.connection.gone.wait()
        assert sink.losses == ["provider.lost"]
        assert bench.connection.end_error.message == f"line-agent left more than {MIB} bytes unread"


@pytest.mark.case("FC-18")
async def test_a_flood_of_stderr_neither_blocks_the_turn_nor_fills_the_memory(autojump_clock):
    async def noisy(agent: Agent):
        await open_first_thread(agent)
        for _ in range(200 * MIB // PIPE_BYTES):
            await agent.stderr.write(b"\xff" * PIPE_BYTES)
        await agent.stderr.write(b"the end\xc3")
        await agent.say("end a t")
        await trio.sleep_forever()

    async with connected(noisy) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(TurnEnded)
        await trio.testing.wait_all_tasks_blocked()
        info = bench.connection.info()
        assert info.stderr_bytes == 200 * MIB + 8
        assert info.stderr_tail.endswith("\ufffdthe end\ufffd")
        assert len(info.stderr_tail) == 16 * 1024


@pytest.mark.rule("RT-018")
async def test_reading_stops_while_a_scope_has_too_much_and_goes_on_after(autojump_clock):
    async def endless(agent: Agent):
        await open_first_thread(agent)
        for number in range(100):
            await agent.say(f"text a t {number % 10}" + "." * PIPE_BYTES)
        await agent.say("end a t")
        await trio.sleep_forever()

    async with connected(endless) as bench:
        sink, other = await bench.attach("a"), await bench.attach("b")
        sink.hold()
        await trio.testing.wait_all_tasks_blocked()
        written = bench.process.agent.stdout.bytes_written
        assert written < 5 * PIPE_BYTES
        await trio.sleep(1000)
        assert bench.process.agent.stdout.bytes_written == written
        sink.let_go()
        await sink.wait_for(TurnEnded)
        assert len(sink.text) == 100 * (PIPE_BYTES + 1)
        assert other.text == ""


async def test_writing_goes_on_while_reading_is_held_up(autojump_clock):
    async with connected() as bench:
        sink = await bench.attach("a")
        await sink.wait_for(ThreadOpened)
        sink.hold()
        assert bench.connection.tell(prompt("a", "t", "say one;end"))
        await sink.wait_for(TurnAccepted)
        assert sink.text == ""
        sink.let_go()
        await sink.wait_for(TurnEnded)


@pytest.mark.case("FC-24")
async def test_what_belongs_to_nobody_is_dropped_and_counted(autojump_clock):
    async def confused(agent: Agent):
        await open_first_thread(agent)
        await agent.say("text stranger t hello", "end stranger t", "end a t")
        await trio.sleep_forever()

    async with connected(confused) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(TurnEnded)
        assert sink.text == ""
        assert bench.connection.info().diagnostics.counts == {"event_without_route": 2}


async def test_timers_fire_once_unless_stopped_or_set_again(autojump_clock):
    async def timed(agent: Agent):
        await shake_hands(agent)
        await agent.say("timer one 5", "timer two 5", "timer three 5", "notimer two", "timer three 60")
        await trio.sleep_forever()

    async with connected(timed) as bench:
        await bench.connection.started.wait()
        await trio.sleep(30)
        assert [d.detail for d in bench.connection.info().diagnostics.newest] == ["one"]
        await trio.sleep(1000)
        assert [d.detail for d in bench.connection.info().diagnostics.newest] == ["one", "three"]
