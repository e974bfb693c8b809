"""The pool: a scope that joins the very connection of another, and what either one's leaving means for the other."""

import pytest

from runtime.providers.normalized import ConnectionLost
from runtime.providers.port import Scope
from runtime.providers.tenancy import ScopeInUse
from tests.doubles.line_provider import RecordingSink, launch, scope
from tests.doubles.pool_bench import PoolBench, Tenant, pooled

SIDE = Scope("side", "w", "s")


def join(bench: PoolBench, holder: str = "a") -> Tenant:
    sink = RecordingSink()
    reference = bench.pool.join(scope(holder), SIDE, sink)
    assert reference is not None
    return Tenant("s", reference, sink)


@pytest.mark.rule("RT-131")
async def test_it_joins_a_process_that_has_no_room_and_starts_none(autojump_clock):
    async with pooled() as bench:
        holder = await bench.acquire("a", launch(dedicated=True))
        joined = join(bench)
        assert joined.pid == holder.pid
        assert bench.launcher.attempts == 1
        assert bench.pool.statistics().scopes == 2


async def test_there_is_nothing_to_join_where_nothing_is_held(autojump_clock):
    async with pooled() as bench:
        assert bench.pool.join(scope("a"), SIDE, RecordingSink()) is None
        holder = await bench.acquire("a")
        await holder.leave()
        assert bench.pool.join(scope("a"), SIDE, RecordingSink()) is None


async def test_a_scope_joins_once(autojump_clock):
    async with pooled() as bench:
        await bench.acquire("a")
        join(bench)
        with pytest.raises(ScopeInUse):
            join(bench)


@pytest.mark.rule("RT-119", "RT-131")
@pytest.mark.parametrize("first", ["holder", "joined"])
async def test_who_leaves_first_leaves_the_process_to_the_other(autojump_clock, first):
    async with pooled() as bench:
        holder = await bench.acquire("a", launch(dedicated=True))
        joined = join(bench)
        goes, stays = (holder, joined) if first == "holder" else (joined, holder)
        await goes.leave()
        assert len(bench.launcher.living) == 1
        assert stays.reference.is_live
        await stays.leave()
        assert bench.launcher.living == []


@pytest.mark.rule("RT-131")
async def test_the_holder_goes_back_to_the_process_that_was_kept_for_its_fork(autojump_clock):
    async with pooled() as bench:
        holder = await bench.acquire("a", launch(dedicated=True))
        joined = join(bench)
        await holder.leave()
        again = await bench.acquire("a", launch(dedicated=True))
        assert again.pid == joined.pid
        other = await bench.acquire("b", launch(dedicated=True))
        assert other.pid != joined.pid, "it is nobody else's"


@pytest.mark.rule("RT-118")
async def test_both_hear_of_the_loss_they_share(autojump_clock):
    async with pooled() as bench:
        holder = await bench.acquire("a")
        joined = join(bench)
        holder.open()
        holder.prompt("t", "die 9")
        for tenant in (holder, joined):
            await tenant.sink.wait_for(ConnectionLost)
            assert not tenant.reference.is_live
