"""The pool: giving a connection back, by release or by force, and who may have the scope next."""

import pytest
import trio
import trio.testing

from runtime.providers.limits import PoolLimits
from runtime.providers.normalized import ThreadOpened, TurnEnded
from runtime.providers.tenancy import AcquireFailed, ScopeInUse
from tests.doubles.line_provider import (
    RecordingSink,
    line_agent,
    shake_hands,
)
from tests.doubles.pool_bench import pooled
from tests.doubles.scripted_process import Agent, Died


async def test_the_process_ends_when_the_last_scope_has_left(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        first, second = [await bench.acquire(name) for name in "ab"]
        await first.leave()
        assert len(bench.launcher.living) == 1
        first.reference.release()
        assert len(bench.launcher.living) == 1, "a second release takes nothing from the others"
        await second.leave()
        assert bench.launcher.living == []
        assert not second.prompt("t", "hello")
        assert second.sink.events == []


async def test_a_scope_that_leaves_ends_its_conversation_on_the_wire(autojump_clock):
    heard = []

    async def listening(agent: Agent):
        await shake_hands(agent)
        while (line := await agent.read_line()) is not None:
            heard.append(line)

    async with pooled(listening, sessions_per_connection=16) as bench:
        first, second = [await bench.acquire(name) for name in "ab"]
        assert second.close_thread()
        first.reference.release()
        second.reference.release()
        await second.reference.wait_gone()
        assert sorted(heard) == ["close a", "close b"]


async def test_a_command_for_another_scope_is_a_bug_of_the_caller(autojump_clock):
    async with pooled() as bench:
        first = await bench.acquire("a")
        first.name = "b"
        with pytest.raises(ValueError, match="w/b"):
            first.open()


@pytest.mark.case("FC-52")
async def test_a_scope_that_is_still_leaving_is_waited_for(autojump_clock):
    async def stubborn(agent: Agent):
        agent.ignores_term = True
        await shake_hands(agent)
        await trio.sleep_forever()

    async with pooled(stubborn) as bench:
        old = await bench.acquire("a")
        old.reference.release()
        assert len(bench.launcher.living) == 1
        new = await bench.acquire("a")
        assert new.pid != old.pid
        assert [process.pid for process in bench.launcher.living] == [new.pid]


@pytest.mark.case("FC-52")
async def test_two_who_ask_for_one_scope_get_one_result(autojump_clock):
    async with pooled() as bench:
        sink, references = RecordingSink(), []

        async def one():
            references.append((await bench.acquire("a", sink=sink)).reference)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(one)
        assert bench.launcher.attempts == 1
        assert len(set(map(id, references))) == 1
        assert (await bench.acquire("a", sink=sink)).reference is references[0]


@pytest.mark.case("FC-52")
async def test_the_second_goes_on_when_the_first_is_cancelled(autojump_clock):
    async def slow(agent: Agent):
        await trio.sleep(5)
        return await line_agent(agent)

    async with pooled(slow) as bench:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.acquire, "a")
            await trio.testing.wait_all_tasks_blocked()
            got = []

            async def second():
                with trio.CancelScope(shield=True):
                    got.append(await bench.acquire("a"))

            nursery.start_soon(second)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert got[0].open()
        assert [process.pid for process in bench.launcher.living] == [got[0].pid]


@pytest.mark.case("FC-52")
async def test_the_second_gets_the_failure_of_the_first(autojump_clock):
    async def dying(agent: Agent):
        await trio.sleep(1)
        raise Died(9)

    async with pooled(dying) as bench:
        sink, codes = RecordingSink(), []

        async def one():
            with pytest.raises(AcquireFailed) as failure:
                await bench.acquire("a", sink=sink)
            codes.append(failure.value.error.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one)
            nursery.start_soon(one)
        assert codes == ["provider.unavailable"] * 2
        assert bench.launcher.attempts == 1


async def test_a_held_scope_cannot_be_taken_by_another_sink(autojump_clock):
    async with pooled() as bench:
        tenant = await bench.acquire("a")
        with pytest.raises(ScopeInUse):
            await bench.acquire("a")
        assert tenant.open()


async def test_force_ends_a_process_of_one_scope_at_once_and_silently(autojump_clock):
    async with pooled() as bench:
        tenant = await bench.acquire("a")
        tenant.open()
        tenant.prompt("t", "sleep 1000;say ghost;end")
        await tenant.sink.wait_for(ThreadOpened)
        heard = list(tenant.sink.events)
        tenant.reference.force("it does not stop")
        tenant.reference.force("again")
        assert not tenant.reference.is_live
        await tenant.reference.wait_gone()
        assert trio.current_time() < 15
        assert bench.launcher.living == []
        assert tenant.sink.events[: len(heard)] == heard
        assert tenant.sink.losses == []


@pytest.mark.rule("RT-142")
async def test_force_lets_the_turns_of_others_end_and_takes_nobody_new(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        forced, busy, idle = [await bench.acquire(name) for name in ("forced", "busy", "idle")]
        for tenant in (forced, busy, idle):
            tenant.open()
        busy.prompt("t", "sleep 30;say done;end")
        forced.prompt("t", "say ghost")
        forced.reference.force("it does not stop")
        assert idle.sink.losses == ["provider.lost"]
        assert busy.sink.losses == []
        assert not busy.prompt("t2", "not on this one")

        fresh = await bench.acquire("idle-again", sink=RecordingSink())
        assert fresh.pid != forced.pid
        await forced.reference.wait_gone()
        assert busy.sink.text == "done"
        assert isinstance(busy.sink.events[-2], TurnEnded)
        assert busy.sink.losses == ["provider.lost"]
        assert 30 <= trio.current_time() < 45
        assert (forced.sink.text, forced.sink.losses) == ("", [])
        assert [process.pid for process in bench.launcher.living] == [fresh.pid]


async def test_a_turn_that_does_not_end_is_cut_when_the_drain_is_over(autojump_clock):
    async with pooled(limits=PoolLimits(connection_drain_seconds=60), sessions_per_connection=16) as bench:
        forced, busy = [await bench.acquire(name) for name in ("forced", "busy")]
        busy.open()
        busy.prompt("t", "sleep 1000")
        forced.reference.force("it does not stop")
        await forced.reference.wait_gone()
        assert 60 <= trio.current_time() < 75
        assert busy.sink.losses == ["provider.lost"]


@pytest.mark.case("FC-52")
async def test_a_forced_scope_gets_a_new_process_only_when_the_old_one_is_gone(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        forced, busy = [await bench.acquire(name) for name in ("forced", "busy")]
        busy.open()
        busy.prompt("t", "sleep 30;end")
        forced.reference.force("it does not stop")
        again = await bench.acquire("forced")
        assert trio.current_time() >= 30
        assert [process.pid for process in bench.launcher.living] == [again.pid]


async def test_force_after_everybody_else_left_ends_at_once(autojump_clock):
    async with pooled(sessions_per_connection=16) as bench:
        forced, busy = [await bench.acquire(name) for name in ("forced", "busy")]
        busy.open()
        busy.prompt("t", "sleep 1000")
        forced.reference.force("it does not stop")
        busy.reference.release()
        await forced.reference.wait_gone()
        assert trio.current_time() < 15
        assert busy.sink.losses == []
