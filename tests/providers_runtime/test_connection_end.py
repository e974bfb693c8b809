"""Giving a connection up: politely, at once, after a drain, against resistance, from outside."""

import pytest
import trio
import trio.testing

from runtime.providers.connection import ProviderConnection
from runtime.providers.limits import ConnectionLimits
from runtime.providers.normalized import TurnEnded
from runtime.providers.port import CancelTurn, CloseThread
from runtime.providers.transport import ProcessTransport, ProcessTransports
from runtime.providers.transport_end import CLOSE_MARGIN_SECONDS, EndNotSeen, end_transport
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from supervisor.process_guard.port import CloseFailed, LadderTimes
from tests.doubles.connection_bench import connected
from tests.doubles.line_provider import (
    LineAdapter,
    RecordingSink,
    launch,
    prompt,
    scope,
    shake_hands,
)
from tests.doubles.scripted_process import PIPE_BYTES, Agent, Pipe, ScriptedProcess


async def test_leaving_lets_the_last_words_out_and_then_closes_stdin(autojump_clock):
    heard = []

    async def polite(agent: Agent):
        await shake_hands(agent)
        while (line := await agent.read_line()) is not None:
            heard.append(line)

    async with connected(polite) as bench:
        await bench.attach("a")
        bench.connection.detach(scope("a"))
        bench.connection.leave()
        bench.connection.leave()
        assert bench.connection.state == "draining"
        await bench.connection.gone.wait()
        assert heard == ["open a", "close a"]
        assert str(bench.process.exited) == "exit code 0"
        assert bench.process.signals == []


async def test_a_thread_that_the_scope_closed_itself_is_not_closed_again(autojump_clock):
    async with connected() as bench:
        await bench.attach("a")
        assert bench.connection.tell(CloseThread(scope("a")))
        written = bench.connection.info().unwritten_bytes
        bench.connection.detach(scope("a"))
        assert bench.connection.info().unwritten_bytes == written


@pytest.mark.case("FC-03")
async def test_a_process_that_ignores_everything_is_killed_within_its_bound(autojump_clock):
    async def stubborn(agent: Agent):
        agent.ignores_term = True
        await shake_hands(agent)
        await trio.sleep_forever()

    async with connected(stubborn) as bench:
        await bench.attach("a")
        began = trio.current_time()
        bench.connection.leave()
        await bench.connection.gone.wait()
        assert trio.current_time() - began <= 10
        assert bench.process.signals == [15, 9]


async def test_a_process_full_of_last_words_can_still_leave_by_itself(autojump_clock):
    async def wordy(agent: Agent):
        await shake_hands(agent)
        while await agent.read_line() is not None:
            pass
        await agent.stdout.write(b"x" * (10 * PIPE_BYTES))
        await agent.stderr.write(b"x" * (10 * PIPE_BYTES))
        return 7

    async with connected(wordy) as bench:
        await bench.connection.started.wait()
        bench.connection.stop()
        await bench.connection.gone.wait()
        assert str(bench.process.exited) == "exit code 7"


@pytest.mark.rule("RT-121")
async def test_a_process_that_cannot_be_ended_is_handed_over_and_holds_up_nothing(autojump_clock):
    async def immortal(agent: Agent):
        agent.ignores_term = agent.cannot_be_killed = True
        await shake_hands(agent)
        await trio.sleep_forever()

    async with connected(immortal) as bench:
        await bench.connection.started.wait()
        began = trio.current_time()
        bench.connection.stop()
        await bench.connection.gone.wait()
        assert trio.current_time() - began < 12
        ((_, close_again),) = bench.owner.failed_closes
        with pytest.raises(CloseFailed):
            await close_again()
        bench.process.agent.cannot_be_killed = False
        await close_again()
        assert bench.launcher.living == []


@pytest.mark.rule("RT-144")
async def test_a_cancelled_connection_still_ends_its_process_and_tells_its_scopes(autojump_clock):
    async def stubborn(agent: Agent):
        agent.ignores_term = True
        await shake_hands(agent)
        await trio.sleep_forever()

    async with connected(stubborn) as bench, trio.open_nursery() as outside:
        specification, launcher, owner = bench.connection.launch, bench.launcher, bench.owner
        connection = ProviderConnection(
            specification, LineAdapter, ProcessTransports(launcher), ConnectionLimits(), owner
        )
        outside.start_soon(connection.run)
        await connection.started.wait()
        sink = RecordingSink()
        connection.attach(scope("a"), sink)
        began = trio.current_time()
        outside.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await connection.gone.wait()
        assert sink.losses == ["shutdown.in_progress"]
        (process,) = [one for one in bench.launcher.processes if one.pid == connection.info().pid]
        assert process.signals == [15, 9]
        assert trio.current_time() - began < 5


async def test_draining_lets_open_turns_end_and_sends_idle_scopes_away_at_once(autojump_clock):
    error = TurnError("provider.lost", "replaced", "runtime")
    async with connected() as bench:
        busy, idle = await bench.attach("busy"), await bench.attach("idle")
        bench.connection.tell(prompt("busy", "t", "sleep 20;say done;end"))
        bench.connection.drain(60, error)
        assert idle.losses == ["provider.lost"]
        assert busy.losses == []
        assert not bench.connection.takes_scopes
        assert not bench.connection.tell(prompt("busy", "t2", "one more"))
        await bench.connection.gone.wait()
        assert 20 <= trio.current_time() < 30
        assert busy.text == "done"
        assert busy.losses == ["provider.lost"]
        assert isinstance(busy.events[-2], TurnEnded)


async def test_draining_has_an_end(autojump_clock):
    async with connected() as bench:
        busy = await bench.attach("busy")
        bench.connection.tell(prompt("busy", "t", "sleep 1000"))
        began = trio.current_time()
        bench.connection.drain(60, TurnError("provider.lost", "replaced", "runtime"))
        bench.connection.tell(CancelTurn(scope("busy"), TurnId("t")))
        await bench.connection.gone.wait()
        assert 60 <= trio.current_time() - began < 70
        assert busy.losses == ["provider.lost"]


@pytest.mark.case("FC-09")
async def test_a_turn_that_is_silent_for_hours_is_left_alone(autojump_clock):
    async with connected() as bench:
        sink = await bench.attach("a")
        bench.connection.tell(prompt("a", "t", f"sleep {3 * 3600};say done;end"))
        await sink.wait_for(TurnEnded)
        assert sink.text == "done"
        assert sink.losses == []


async def test_an_end_that_takes_longer_than_its_own_bound_counts_as_failed(autojump_clock):
    class Hanging(ScriptedProcess):
        async def close(self, times, protocol_close=None):
            await trio.sleep_forever()

    request = launch().request()
    process = Hanging(1, request, Agent(request, Pipe(), Pipe(), Pipe()))
    process.agent.stderr.end()
    fault = await end_transport(ProcessTransport(process), LadderTimes.at_once(), 1024, lambda data: None)
    assert isinstance(fault, EndNotSeen)
    assert trio.current_time() <= LadderTimes.at_once().total_seconds + CLOSE_MARGIN_SECONDS
