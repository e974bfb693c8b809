"""The pool: lost processes, isolation of their neighbours, and the end of everything."""

import pytest
import trio
import trio.testing

from runtime.providers.limits import PoolLimits
from runtime.providers.normalized import ThreadOpened, TurnEnded
from tests.doubles.line_provider import (
    LineAdapter,
    LineProvider,
    launch,
    scope,
    shake_hands,
)
from tests.doubles.pool_bench import pooled
from tests.doubles.scripted_process import Agent, Died


@pytest.mark.case("FC-30")
async def test_a_connection_that_died_is_handed_to_nobody(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        old = await bench.acquire("a")
        old.prompt("t", "die 15")
        while not old.sink.losses:
            await trio.sleep(0.01)
        assert not old.reference.is_live
        new, same = await bench.acquire_all("ba")
        assert new.pid == same.pid != old.pid
        assert bench.launcher.attempts == 2
        old.reference.release()
        old.reference.force("late")
        assert new.open()
        assert same.open()


@pytest.mark.case("FC-30")
async def test_a_process_that_dies_as_soon_as_it_is_ready_is_not_started_for_ever(autojump_clock):
    async def hasty(agent: Agent):
        await shake_hands(agent)
        raise Died(9)

    async with pooled(hasty, sessions_per_connection=16) as bench:
        for _ in range(3):
            tenant = await bench.try_acquire("a")
            assert tenant in ("", "provider.lost")
            await trio.sleep(5)
        assert bench.launcher.attempts <= 6


@pytest.mark.case("FC-25")
async def test_the_end_of_one_process_is_no_news_for_the_others(autojump_clock):
    async def deaf(agent: Agent):
        await shake_hands(agent)
        agent.stdin.close_reader()
        await trio.sleep_forever()

    async with pooled() as bench:
        tenants = await bench.acquire_all([f"s{number}" for number in range(20)])
        bench.launcher.scripts = [deaf]
        broken = await bench.acquire("broken")
        bug = await bench.acquire("bug")
        dying = await bench.acquire("dying")
        for tenant in tenants:
            tenant.open()
            tenant.prompt("t", "say one;sleep 5;say two;end")
        await trio.sleep(1)
        broken.prompt("t", "y" * 100_000)
        bug.prompt("t", "bug")
        dying.prompt("t", "die 9")
        for tenant in tenants:
            await tenant.sink.wait_for(TurnEnded)
            assert tenant.sink.text == "onetwo"
            assert tenant.sink.losses == []
        assert broken.sink.losses == ["provider.lost"]
        assert bug.sink.losses == ["internal"]
        assert dying.sink.losses == ["provider.lost"]


async def test_a_scope_whose_sink_raises_loses_its_connection_alone(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        broken, other = [await bench.acquire(name) for name in "ab"]
        broken.sink.fault = LookupError("a bug")
        broken.open()
        other.open()
        await other.sink.wait_for(ThreadOpened)
        assert not broken.reference.is_live
        assert other.reference.is_live


@pytest.mark.rule("RT-121")
async def test_a_process_that_cannot_be_ended_goes_to_the_sweeper_and_frees_its_place(autojump_clock):
    async def immortal(agent: Agent):
        agent.ignores_term = agent.cannot_be_killed = True
        await shake_hands(agent)
        await trio.sleep_forever()

    async with pooled(limits=PoolLimits(max_live_connections=1)) as bench:
        bench.launcher.scripts = [immortal]
        tenant = await bench.acquire("a")
        await tenant.leave()
        assert len(bench.sweeper.pending()) == 1
        again = await bench.acquire("a")
        assert again.open()
        bench.launcher.processes[0].agent.cannot_be_killed = False
        while bench.sweeper.pending():
            await trio.sleep(1)
        assert bench.sweeper.swept == 1


@pytest.mark.rule("RT-144")
async def test_closing_ends_everything_side_by_side_within_the_grace(autojump_clock):
    async def stubborn(agent: Agent):
        agent.ignores_term = True
        await shake_hands(agent)
        await trio.sleep_forever()

    async def starting(agent: Agent):
        await trio.sleep_forever()

    limits = PoolLimits(max_live_connections=11, max_concurrent_starts=20)
    async with pooled(stubborn, limits) as bench, trio.open_nursery() as nursery:
        tenants = await bench.acquire_all([f"s{number}" for number in range(10)])
        bench.launcher.script = starting
        codes = []

        async def wait_in_vain(name):
            codes.append(await bench.try_acquire(name))

        nursery.start_soon(wait_in_vain, "starting")
        nursery.start_soon(wait_in_vain, "in line")
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        await bench.pool.close(5)
        assert trio.current_time() - began <= 5
        assert bench.launcher.living == []
        assert {code for tenant in tenants for code in tenant.sink.losses} == {"shutdown.in_progress"}
        await trio.testing.wait_all_tasks_blocked()
        assert codes == ["shutdown.in_progress"] * 2
        assert await bench.try_acquire("late") == "shutdown.in_progress"


async def test_closing_an_empty_pool_takes_no_time(autojump_clock):
    async with pooled() as bench:
        await bench.pool.close(10)
        assert trio.current_time() == 0


async def test_a_pool_that_does_not_run_gives_nothing(autojump_clock):
    async with pooled() as bench:
        pass
    assert await bench.try_acquire("a") == "shutdown.in_progress"


async def test_a_pool_that_is_run_again_gives_connections_again(autojump_clock):
    async with pooled() as bench:
        old = await bench.acquire("a")
    async with trio.open_nursery() as system, trio.open_nursery() as nursery:
        bench.launcher.nursery = system
        await nursery.start(bench.pool.run)
        new = await bench.acquire("a")
        assert new.pid != old.pid
        await new.leave()
        nursery.cancel_scope.cancel()


async def test_statistics_count_what_is_there(autojump_clock):
    async def silent(agent: Agent):
        await trio.sleep_forever()

    limits = PoolLimits(max_live_connections=2)
    async with pooled(limits=limits, sessions_per_connection=2) as bench, trio.open_nursery() as nursery:
        await bench.acquire_all("ab")
        bench.launcher.script = silent
        nursery.start_soon(bench.try_acquire, "c")
        nursery.start_soon(bench.try_acquire, "d", launch(dedicated=True))
        await trio.testing.wait_all_tasks_blocked()
        statistics = bench.pool.statistics()
        assert dict(statistics.connections) == {"ready": 1, "starting": 1}
        assert (statistics.scopes, statistics.waiting, statistics.starts_in_flight) == (2, 1, 1)
        await trio.sleep(11)
        assert bench.pool.statistics().starts_in_flight == 0, "a start that takes long is waiting, not work"
        nursery.cancel_scope.cancel()


async def test_a_reference_shows_its_connection_also_after_the_end(autojump_clock):
    async with pooled() as bench:
        tenant = await bench.acquire("a")
        assert tenant.reference.connection.agent_name == "line-agent"
        assert tenant.reference.scope == scope("a")
        await tenant.leave()
        assert tenant.reference.connection.state == "ended"
        assert tenant.reference.connection.exit_status == "exit code 0"


async def test_every_connection_has_an_adapter_of_its_own(autojump_clock):
    provider = LineProvider()
    async with pooled(provider=provider) as bench:
        await bench.acquire_all("ab")
    assert len(provider.adapters) == 2
    assert all(type(adapter) is LineAdapter for adapter in provider.adapters)
