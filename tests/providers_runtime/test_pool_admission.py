"""Admission: who waits, in which order, for how long, and that a waiter who goes leaves nothing."""

import pytest
import trio
import trio.testing

from runtime.providers.limits import PoolLimits
from runtime.providers.tenancy import AcquireFailed
from tests.doubles.line_provider import launch, line_agent
from tests.doubles.pool_bench import PoolBench, Tenant, pooled
from tests.doubles.scripted_process import Agent


class Waiters:
    """Callers who wait for a connection, one after the other."""

    def __init__(self, bench: PoolBench, nursery: trio.Nursery) -> None:
        self.bench = bench
        self.nursery = nursery
        self.served: list[Tenant] = []
        self.failed: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        return [tenant.name for tenant in self.served]

    async def add(self, name, specification=None) -> trio.CancelScope:
        scope = trio.CancelScope()

        async def wait():
            with scope:
                try:
                    self.served.append(await self.bench.acquire(name, specification))
                except AcquireFailed as failure:
                    self.failed[name] = failure.error.code

        self.nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        return scope


async def test_places_are_given_in_the_order_of_asking(autojump_clock):
    async with pooled(limits=PoolLimits(max_live_connections=1)) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        for name in "abcd":
            await waiters.add(name)
        assert waiters.names == ["a"]
        for position in range(3):
            await waiters.served[position].leave()
            await trio.testing.wait_all_tasks_blocked()
        assert waiters.names == ["a", "b", "c", "d"]
        assert len(bench.launcher.living) == 1


async def test_a_place_is_free_only_when_the_process_before_is_gone(autojump_clock):
    async def stubborn(agent: Agent):
        agent.ignores_term = True
        await line_agent(agent)
        await trio.sleep_forever()

    async with pooled(stubborn, PoolLimits(max_live_connections=1)) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        await waiters.add("a")
        await waiters.add("b")
        waiters.served[0].reference.release()
        await trio.testing.wait_all_tasks_blocked()
        assert waiters.names == ["a"]
        await trio.sleep(10)
        assert waiters.names == ["a", "b"]
        assert len(bench.launcher.living) == 1


async def test_whoever_waited_too_long_is_told_so(autojump_clock):
    limits = PoolLimits(max_live_connections=1, admission_wait_seconds=60)
    async with pooled(limits=limits) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        await waiters.add("a")
        await waiters.add("b")
        await trio.sleep(59)
        assert waiters.failed == {}
        await trio.sleep(2)
        assert waiters.failed == {"b": "limit.exceeded"}
        assert bench.pool.statistics().waiting == 0
        await waiters.served[0].leave()
        assert await bench.try_acquire("b") == "", "a refusal leaves the scope free"


async def test_a_waiter_who_goes_leaves_his_place_to_the_next(autojump_clock):
    async with pooled(limits=PoolLimits(max_live_connections=1)) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        await waiters.add("a")
        gone = await waiters.add("b")
        await waiters.add("c")
        gone.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert bench.pool.statistics().waiting == 1
        await waiters.served[0].leave()
        await trio.testing.wait_all_tasks_blocked()
        assert waiters.names == ["a", "c"]
        assert bench.launcher.attempts == 2


async def test_a_caller_cancelled_in_the_step_in_which_he_is_placed_gives_the_place_back(autojump_clock):
    async with pooled(limits=PoolLimits(max_live_connections=1)) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        await waiters.add("a")
        placed = await waiters.add("b")
        await waiters.add("c")
        first = waiters.served[0]
        first.reference.release()
        await first.reference.wait_gone()
        placed.cancel()
        await trio.sleep(30)
        assert waiters.names == ["a", "c"]


async def test_starts_are_bounded_and_in_order(autojump_clock):
    async def slow(agent: Agent):
        await trio.sleep(5)
        return await line_agent(agent)

    async with pooled(slow, PoolLimits(max_concurrent_starts=2)) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        for name in "abcde":
            await waiters.add(name)
        statistics = bench.pool.statistics()
        assert (statistics.starts_in_flight, statistics.waiting) == (2, 3)
        assert bench.launcher.attempts == 2
        assert bench.pressure == 0, "no idle process would help"
        await trio.sleep(6)
        assert sorted(waiters.names) == ["a", "b"]
        assert bench.launcher.attempts == 4
        await trio.sleep(10)
        assert sorted(waiters.names) == ["a", "b", "c", "d", "e"]


@pytest.mark.rule("RT-142")
async def test_starts_that_hang_give_their_slot_to_others(autojump_clock):
    async def silent(agent: Agent):
        await trio.sleep_forever()

    limits = PoolLimits(max_concurrent_starts=2, start_slot_seconds=10)
    async with pooled(limits=limits) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        bench.launcher.scripts = [silent, silent]
        for name in "xyz":
            await waiters.add(name)
        assert waiters.names == []
        await trio.sleep(11)
        assert waiters.names == ["z"]
        await trio.sleep(60)
        assert waiters.failed == {"x": "provider.timeout", "y": "provider.timeout"}


async def test_a_waiter_joins_a_process_of_his_launch_as_soon_as_one_has_room(autojump_clock):
    limits = PoolLimits(max_live_connections=2)
    async with pooled(limits=limits, sessions_per_connection=2) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        for name in "ab":
            await waiters.add(name)
        await waiters.add("other", launch(X="1"))
        await waiters.add("first in line", launch(X="2"))
        await waiters.add("c")
        assert bench.pool.statistics().waiting == 2
        waiters.served[0].reference.release()
        await trio.testing.wait_all_tasks_blocked()
        assert waiters.names[-1] == "c", "who needs no new process waits for none"
        assert bench.pool.statistics().waiting == 1
        assert bench.launcher.attempts == 2


async def test_all_waiters_of_a_launch_join_the_process_that_the_first_one_gets(autojump_clock):
    limits = PoolLimits(max_live_connections=1)
    async with pooled(limits=limits, sessions_per_connection=16) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        await waiters.add("other", launch(X="1"))
        for name in "abc":
            await waiters.add(name)
        await waiters.served[0].leave()
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(waiters.names) == ["a", "b", "c", "other"]
        assert bench.launcher.attempts == 2


async def test_pressure_is_felt_while_nobody_is_about_to_leave(autojump_clock):
    async with pooled(limits=PoolLimits(max_live_connections=2)) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        await waiters.add("a")
        await waiters.add("b")
        assert bench.pressure == 0
        idle = list(waiters.served)
        bench.on_pressure = lambda: idle.pop(0).reference.release() if idle else None
        await waiters.add("c")
        assert bench.pressure == 1
        await trio.sleep(5)
        assert "c" in waiters.names
        assert len(idle) == 1, "one process was needed and one was released"


async def test_pressure_is_felt_too_when_the_last_place_goes_while_others_wait_to_start(autojump_clock):
    async def slow(agent: Agent):
        await trio.sleep(1)
        return await line_agent(agent)

    limits = PoolLimits(max_live_connections=2, max_concurrent_starts=1)
    async with pooled(slow, limits) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        for name in "abc":
            await waiters.add(name)
        assert bench.pressure == 0
        await trio.sleep(5)
        assert waiters.names == ["a", "b"]
        assert bench.pressure >= 1


async def test_the_line_itself_is_bounded(autojump_clock):
    limits = PoolLimits(max_live_connections=1, admission_waiting_max=2)
    async with pooled(limits=limits) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        for name in "abcd":
            await waiters.add(name)
        assert waiters.failed == {"d": "limit.exceeded"}
        assert bench.pool.statistics().waiting == 2
        nursery.cancel_scope.cancel()


@pytest.mark.case("FC-30")
async def test_waiters_of_a_launch_that_crashes_are_refused_and_not_started_one_by_one(autojump_clock):
    async def dying(agent: Agent):
        await trio.sleep(1)
        return 1

    limits = PoolLimits(max_concurrent_starts=1, start_failures_max=3)
    async with pooled(dying, limits) as bench, trio.open_nursery() as nursery:
        waiters = Waiters(bench, nursery)
        for number in range(20):
            await waiters.add(str(number))
        await trio.sleep(30)
        assert set(waiters.failed.values()) == {"provider.unavailable"}
        assert len(waiters.failed) == 20
        assert bench.launcher.attempts == 3
