"""The pool: who shares a process with whom, and what a start that fails means for all who wait for it."""

import pytest
import trio
import trio.testing

from runtime.providers.limits import PoolLimits
from runtime.providers.normalized import TurnEnded
from runtime.providers.tenancy import AcquireFailed
from supervisor.process_guard.port import ProgramNotFound, WorkingDirectoryMissing
from tests.doubles.line_provider import (
    LineProvider,
    launch,
    line_agent,
)
from tests.doubles.pool_bench import pooled
from tests.doubles.scripted_process import Agent, Died


async def test_scopes_of_one_launch_share_a_process_that_is_started_once(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        tenants = await bench.acquire_all("abcdefgh")
        assert bench.launcher.attempts == 1
        assert len({tenant.pid for tenant in tenants}) == 1
        for tenant in tenants:
            tenant.open()
            tenant.prompt("t", f"say {tenant.name};end")
        for tenant in tenants:
            await tenant.sink.wait_for(TurnEnded)
            assert tenant.sink.text == tenant.name


async def test_a_full_process_is_followed_by_another_and_filled_again_when_somebody_leaves(autojump_clock):
    async with pooled(sessions_per_connection=2) as bench:
        first, second, third = [await bench.acquire(name) for name in "abc"]
        assert first.pid == second.pid != third.pid
        await first.leave()
        assert (await bench.acquire("d")).pid == second.pid
        assert bench.launcher.attempts == 2


@pytest.mark.parametrize(
    ("specifications", "processes"),
    [
        ([launch(), launch()], 1),
        ([launch(), launch(shared_key="other target")], 2),
        ([launch(), launch(X="1")], 2),
        ([launch(dedicated=True), launch(dedicated=True)], 2),
        ([launch(), launch(dedicated=True)], 2),
        ([launch(dedicated=True), launch()], 2),
    ],
)
async def test_who_shares_with_whom(specifications, processes, autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        for number, specification in enumerate(specifications):
            await bench.acquire(str(number), specification)
        assert bench.launcher.attempts == processes


async def test_a_family_that_does_not_share_has_a_process_for_each_scope(autojump_clock):
    async with pooled(sessions_per_connection=1) as bench:
        assert len({tenant.pid for tenant in await bench.acquire_all("abc")}) == 3


async def test_the_configuration_decides_how_many_share(autojump_clock):
    limits = PoolLimits(sessions_per_connection={"lines": 3})
    async with pooled(limits=limits, sessions_per_connection=1) as bench:
        await bench.acquire_all("abcd")
        assert bench.launcher.attempts == 2


@pytest.mark.rule("PR-001")
async def test_an_unknown_provider_is_a_typed_failure(autojump_clock):
    async with pooled(provider=LineProvider(key="other")) as bench:
        with pytest.raises(AcquireFailed, match="'lines' is not supported") as failure:
            await bench.acquire("a")
        assert failure.value.error.code == "capability.unsupported"


@pytest.mark.case("FC-50")
async def test_all_who_share_a_start_that_fails_get_its_error_and_the_end_of_stderr(autojump_clock):
    async def failing(agent: Agent):
        await agent.read_line()
        await agent.stderr.write(b"no such config")
        return 2

    async with pooled(failing, sessions_per_connection=16) as bench:
        failures = []

        async def one(name):
            with pytest.raises(AcquireFailed) as failure:
                await bench.acquire(name)
            failures.append(failure.value)

        async with trio.open_nursery() as nursery:
            for name in "abc":
                nursery.start_soon(one, name)
        assert bench.launcher.attempts == 1
        assert {failure.error.code for failure in failures} == {"provider.unavailable"}
        assert {failure.connection.stderr_tail for failure in failures} == {"no such config"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [(ProgramNotFound("/x"), "provider.unavailable"), (WorkingDirectoryMissing("/x"), "session.cwd_missing")],
)
async def test_a_launch_that_fails_is_typed(fault, code, autojump_clock):
    async with pooled() as bench:
        bench.launcher.fault = fault
        assert await bench.try_acquire("a") == code
        bench.launcher.fault = None
        assert await bench.try_acquire("a") == ""


@pytest.mark.rule("RT-142")
async def test_a_start_that_hangs_delays_nobody_else(autojump_clock):
    async def silent(agent: Agent):
        await trio.sleep_forever()

    async with pooled() as bench, trio.open_nursery() as nursery:
        bench.launcher.scripts = [silent]
        nursery.start_soon(bench.try_acquire, "hanging")
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        await bench.acquire_all("abcdefghijklmnopqrst")
        assert trio.current_time() == began
        nursery.cancel_scope.cancel()


@pytest.mark.case("FC-30")
async def test_a_program_that_dies_at_every_start_is_soon_not_started_any_more(autojump_clock):
    async def dying(agent: Agent):
        raise Died(11)

    async with pooled(dying) as bench:
        for _ in range(50):
            with pytest.raises(AcquireFailed) as failure:
                await bench.acquire("a")
        assert bench.launcher.attempts == 5
        assert failure.value.error.code == "provider.unavailable"
        assert failure.value.error.retry_after_ms == 10_000
        assert await bench.try_acquire("b", launch(dedicated=True)) == "provider.unavailable"
        assert bench.launcher.attempts == 5
        assert await bench.try_acquire("other", launch(X="another launch")) == "provider.unavailable"
        assert bench.launcher.attempts == 6

        bench.launcher.script = line_agent
        await trio.sleep(10)
        assert await bench.try_acquire("a") == ""


@pytest.mark.case("FC-30")
async def test_while_a_launch_is_closed_a_process_that_lives_can_still_be_shared(autojump_clock):
    async def dying(agent: Agent):
        raise Died(11)

    async with pooled(sessions_per_connection=2) as bench:
        await bench.acquire("a")
        bench.launcher.script = dying
        for number in range(6):
            await bench.try_acquire(f"alone {number}", launch(dedicated=True))
        assert await bench.try_acquire("b") == ""
        assert await bench.try_acquire("c") == "provider.unavailable"


async def test_a_missing_working_directory_is_no_crash_loop(autojump_clock):
    async with pooled() as bench:
        bench.launcher.fault = WorkingDirectoryMissing("/x")
        for _ in range(10):
            assert await bench.try_acquire("a") == "session.cwd_missing"


@pytest.mark.case("FC-07", "FC-30")
async def test_a_conversation_that_a_program_does_not_find_is_no_crash_loop(autojump_clock):
    async def forgetful(agent: Agent):
        await agent.say("gone")
        return 1

    async with pooled(forgetful) as bench:
        for _ in range(10):
            assert await bench.try_acquire("a") == "session.not_resumable"
        bench.launcher.script = line_agent
        assert await bench.try_acquire("b") == "", "nothing is wrong with the program"


async def test_starts_given_up_by_their_callers_are_no_crash_loop(autojump_clock):
    async def silent(agent: Agent):
        await trio.sleep_forever()

    async with pooled(silent) as bench:
        for _ in range(10):
            with trio.move_on_after(1):
                await bench.acquire("a")
        bench.launcher.script = line_agent
        assert await bench.try_acquire("a") == ""


@pytest.mark.case("FC-30")
async def test_a_connection_given_up_in_the_step_of_its_start_is_not_handed_to_the_next(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        pids = []

        async def first_forces(name):
            tenant = await bench.acquire(name)
            pids.append(tenant.pid)
            if len(pids) == 1:
                tenant.reference.force("in the same step")
            else:
                assert tenant.open()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(first_forces, "a")
            nursery.start_soon(first_forces, "b")
        assert len(set(pids)) == 2
        assert [process.pid for process in bench.launcher.living] == [pids[1]]
