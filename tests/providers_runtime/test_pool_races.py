"""Scopes that come, prompt, leave, are forced and are cancelled at any moment, while processes die at any moment.

Each seed is one schedule. What must hold in all of them: the loss is said at most once and last, nothing is heard
after leaving, two processes never hold one conversation, bounds are kept, and at the end nothing is left.
"""

import random
from collections.abc import Iterator

import attrs
import pytest
import trio
from structlog.testing import capture_logs

from runtime.providers.limits import ConnectionLimits, PoolLimits
from runtime.providers.normalized import ConnectionLost
from runtime.providers.port import AdapterLimits
from runtime.providers.tenancy import AcquireFailed
from supervisor.process_guard.port import ProgramNotFound
from tests.doubles.line_provider import LineProvider, launch, line_agent
from tests.doubles.pool_bench import PoolBench, Tenant, pooled
from tests.doubles.scripted_process import Agent, Died
from tests.doubles.seeded_schedules import jitter, run_seeded
from tests.doubles.virtual_time import pass_time

MAX_LIVE, MAX_STARTS = 4, 2
SCOPES, ROUNDS = 7, 6
EXPECTED_FAILURES = {
    "provider.unavailable",
    "provider.lost",
    "provider.timeout",
    "limit.exceeded",
    "internal",
}
LIMITS = PoolLimits(
    connection=ConnectionLimits(adapter=AdapterLimits(initialize_timeout_seconds=3)),
    max_live_connections=MAX_LIVE,
    max_concurrent_starts=MAX_STARTS,
    admission_wait_seconds=20,
    connection_drain_seconds=2,
    start_failures_max=30,
)
PROMPTS = (
    "say x;end",
    "sleep 0.01;say x;end",
    "sleep 5;end",
    "die 9",
    "line bug",
    "line giveup",
    "bug",
    "say x",
)
ENDINGS = ("release", "release", "force", "wait", "nothing")


@attrs.define
class Life:
    """What one scope did, and what its last process may still be doing."""

    name: str
    pid: int | None = None
    may_live_on: bool = False
    """It was left while others may have shared it."""


def scripts(chance: random.Random) -> Iterator[object]:
    async def dies_at_start(agent: Agent):
        await pass_time(chance.random() * 0.05)
        raise Died(11)

    async def hangs(agent: Agent):
        await trio.sleep_forever()

    async def stubborn(agent: Agent):
        agent.ignores_term = True
        await line_agent(agent)
        await trio.sleep_forever()

    async def slow(agent: Agent):
        await pass_time(chance.random())
        return await line_agent(agent)

    while True:
        yield chance.choices([line_agent, slow, stubborn, dies_at_start, hangs], [6, 3, 1, 1, 0.3])[0]


async def one_scope(bench: PoolBench, life: Life, chance: random.Random) -> None:
    for _ in range(ROUNDS):
        await jitter(chance, 0.1)
        tenant: Tenant | None = None
        specification = launch(dedicated=chance.random() < 0.2, shared_key=chance.choice("pq"))
        impatience = chance.choice([0.0, 0.02, 1.0, 1000.0])
        try:
            with trio.move_on_after(impatience):
                tenant = await bench.acquire(life.name, specification)
        except AcquireFailed as failure:
            if failure.error.code not in EXPECTED_FAILURES:
                raise
        if tenant is not None:
            check_nobody_else_holds_it(bench, life)
            life.pid = tenant.pid
            shares = bench.provider.sessions_per_connection > 1 and not specification.dedicated
            life.may_live_on = await use(tenant, chance) and shares


def check_nobody_else_holds_it(bench: PoolBench, life: Life) -> None:
    """A process that was lost, forced, or left by its last scope is gone before the scope is held again."""
    before = [process for process in bench.launcher.living if process.pid == life.pid]
    assert not before or life.may_live_on, (life, before)


async def use(tenant: Tenant, chance: random.Random) -> bool:
    """A turn and an end; whether it was the ordinary end."""
    tenant.open()
    await jitter(chance)
    tenant.prompt("t", chance.choice(PROMPTS))
    await jitter(chance, 0.5)
    ending = chance.choice(ENDINGS)
    if ending == "wait":
        with trio.move_on_after(1):
            await tenant.sink.wait_for(ConnectionLost)
    was_live, heard = tenant.reference.is_live, len(tenant.sink.events)
    if ending == "force":
        tenant.reference.force("chance")
    else:
        tenant.reference.release()
    assert not tenant.reference.is_live
    assert not tenant.prompt("late", "say ghost")
    if chance.random() < 0.5:
        with trio.fail_after(30):
            await tenant.reference.wait_gone()
    await jitter(chance)
    assert len(tenant.sink.events) == heard, "nothing is heard after leaving"
    assert len(tenant.sink.losses) == (0 if was_live else 1)
    assert was_live or isinstance(tenant.sink.events[-1], ConnectionLost)
    return was_live and ending != "force"


def broken_bounds(bench: PoolBench) -> list[str]:
    """Asked when one more process is about to be launched."""
    statistics = bench.pool.statistics()
    counts = {
        "living": (len(bench.launcher.living) + 1, MAX_LIVE),
        "connections": (sum(statistics.connections.values()), MAX_LIVE),
        "starts": (statistics.starts_in_flight, MAX_STARTS),
    }
    return [f"{count} {what}" for what, (count, most) in counts.items() if count > most]


async def program(chance: random.Random) -> None:
    provider = LineProvider(sessions_per_connection=chance.choice([1, 2, 3]))
    async with pooled(limits=LIMITS, provider=provider) as bench:
        choices = scripts(chance)
        bench.launcher.scripts = [next(choices) for _ in range(300)]
        bench.launcher.launch_seconds = chance.choice([0, 0, 0.01])
        broken: list[str] = []
        bench.launcher.on_launch = lambda: broken.extend(broken_bounds(bench))
        with trio.fail_after(2000):
            async with trio.open_nursery() as nursery:
                for number in range(SCOPES):
                    nursery.start_soon(one_scope, bench, Life(str(number)), chance)
                if chance.random() < 0.3:
                    await pass_time(chance.random())
                    bench.launcher.fault = ProgramNotFound("/x")
                    await pass_time(chance.random())
                    bench.launcher.fault = None
        assert broken == []
        # Nobody holds anything any more, so all of it goes by itself, without the pool being stopped.
        await pass_time(30)
        assert bench.launcher.living == []
        assert dict(bench.pool.statistics().connections) == {}
        bench.launcher.scripts = []
        assert await bench.try_acquire("fresh") == "", "nothing that could refuse is left behind"


@pytest.mark.case("FC-25", "FC-30", "FC-52")
@pytest.mark.parametrize("block", range(4))
def test_every_schedule_keeps_the_promises(block):
    for seed in range(block * 15, (block + 1) * 15):
        with capture_logs() as logs:
            try:
                run_seeded(program, seed)
            except BaseException as fault:
                fault.add_note(f"seed {seed}")
                raise
        crashes = [entry for entry in logs if entry["event"] == "provider connection crashed"]
        assert crashes == [], f"seed {seed}: a fault outside of the adapters"


def test_a_seed_is_one_schedule():
    async def trace(chance: random.Random):
        steps = []

        async def walk(name):
            for _ in range(5):
                await jitter(chance)
                steps.append((name, trio.current_time()))

        async with trio.open_nursery() as nursery:
            for name in "abcd":
                nursery.start_soon(walk, name)
        return tuple(steps)

    assert run_seeded(trace, 1) == run_seeded(trace, 1)
    assert len({run_seeded(trace, seed) for seed in range(20)}) == 20
