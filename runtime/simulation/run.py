"""One seed from its beginning to its report: lives that end badly, then one that is left in peace and must settle.

Owns the order of a run. It is a function of the seed: everything else comes from the world's ports.
"""

import random
from collections import Counter
from typing import Final

import attrs
import trio

from runtime.simulation.audit import audit
from runtime.simulation.client import SimulatedClient
from runtime.simulation.composition import TOKEN
from runtime.simulation.disk import SimulatedDisk
from runtime.simulation.history import History, Violation
from runtime.simulation.life import Life
from runtime.simulation.logs import collected_logs
from runtime.simulation.operations import CreateSession, Operation
from runtime.simulation.options import RunOptions, options_of
from runtime.simulation.scheduler import Chances, StepDigest, run_in_virtual_time
from runtime.simulation.workload import plans_of
from runtime.simulation.world import WORKSPACE, World
from supervisor.cell import guard

RUN_SECONDS_MAX: Final = 400.0
"""Of virtual time; a run that takes longer does not settle."""
_UNWIND_SECONDS_MAX: Final = 100.0
"""How long such a run may then take to be cancelled; what is shielded and waits for ever would never end."""


class RunStuck(Exception):
    """A cancelled run did not end: something shielded waits without a bound."""


@attrs.frozen(kw_only=True)
class RunReport:
    """What came of one seed."""

    options: RunOptions
    lives: int
    power_cuts: int
    faults: Counter[str]
    digest: str
    steps: int
    violations: tuple[Violation, ...]
    crashes: tuple[BaseException, ...]
    """Errors of the service that were logged and are no one's fault but its own."""
    events: tuple[str, ...]
    """The last ones, for people."""


def run_seed(seed: int) -> RunReport:
    """Run one seed. The same seed gives the same report, in any process."""
    return run_options(options_of(seed))


def run_options(options: RunOptions) -> RunReport:
    """Run what a seed stands for."""
    digest = StepDigest()
    chances = Chances(options.seed)
    disk = SimulatedDisk()
    world = World(options, chances, disk, History(answers_by_itself=options.unanswered.seconds > 0))
    try:
        with collected_logs(world.take_log), guard(world.run_crashed):
            run_in_virtual_time(_run, world, order=chances.source("schedule"), instrument=digest)
    finally:
        disk.remove()
    return RunReport(
        options=options,
        lives=world.lives,
        power_cuts=world.power_cuts,
        faults=world.faults,
        digest=digest.hexdigest(),
        steps=digest.steps,
        violations=tuple(world.history.violations),
        crashes=tuple(world.crashes),
        events=tuple(world.history.events),
    )


async def _run(world: World) -> None:
    trio.lowlevel.spawn_system_task(_watch_for_stuck_run)
    async with trio.open_nursery() as nursery:
        world.begin(nursery)
        with trio.move_on_after(RUN_SECONDS_MAX) as scope:
            await _run_lives(world)
        if scope.cancelled_caught:
            world.history.violated("everything settles", f"not within {RUN_SECONDS_MAX:g} s")
        nursery.cancel_scope.cancel()


async def _watch_for_stuck_run() -> None:
    """The error of a system task ends the run there and then, whatever is shielded."""
    await trio.sleep(RUN_SECONDS_MAX + _UNWIND_SECONDS_MAX)
    raise RunStuck


async def _run_lives(world: World) -> None:
    plans = plans_of(world.options, world.chances.source("workload"))
    clients = [
        SimulatedClient(
            name=f"client {number}",
            workspace_id=WORKSPACE,
            habits=habits,
            network=world.network,
            history=world.history,
            chance=world.chances.source(f"client {number}"),
            token=TOKEN,
            note=world.note,
            all_watches=world.watches,
        )
        for number, habits in enumerate(world.options.clients, start=1)
    ]
    async with trio.open_nursery() as people:
        done = [trio.Event() for _ in clients]
        for client, plan, event in zip(clients, plans, done, strict=True):
            people.start_soon(client.stay_connected)
            people.start_soon(client.answer_approvals)
            people.start_soon(client.read_what_was_not_shown)
            people.start_soon(_perform, world, client, plan, event)
        people.start_soon(_set_clock, world, world.chances.source("clock"))
        for ending in world.options.endings:
            await Life(world, ending).run()
        world.machine.calm = True
        await _last_life(world, clients, done)
        people.cancel_scope.cancel()


async def _last_life(world: World, clients: list[SimulatedClient], done: list[trio.Event]) -> None:
    life = Life(world, None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(life.run)
        for event in done:
            await event.wait()
        await audit(world, life, clients)
        life.stop.set()


async def _perform(world: World, client: SimulatedClient, plan: list[Operation], done: trio.Event) -> None:
    """The plan up to the last life: then what is under way is brought to its end, and nothing new is begun."""
    for operation in plan:
        if world.machine.calm and not isinstance(operation, CreateSession):
            break
        await operation.perform(client)
    done.set()


async def _set_clock(world: World, chance: random.Random) -> None:
    most = world.options.clock_jump_ms_max
    while most:
        await trio.sleep(chance.random() * 2)
        world.clock.jump(chance.randint(-most, most))
        world.faults["clock jump"] += 1
