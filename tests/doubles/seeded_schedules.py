"""Runs a trio program under the schedule of a seed: the same seed, the same run.

For programs too big to walk through all their schedules (`runtime.simulation.explore` does that).
"""

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from runtime.simulation.scheduler import Chances, run_in_virtual_time

R = TypeVar("R")


def run_seeded(program: Callable[[random.Random], Awaitable[R]], seed: int) -> R:
    """Run it in virtual time; `program` gets its own source of chance, the scheduler another one."""
    chances = Chances(seed)
    return run_in_virtual_time(program, chances.source("program"), order=chances.source("schedule"))


async def jitter(chance: random.Random, most_seconds: float = 0.01) -> None:
    """At a seam: a turn of the loop or two, or a short while; batch order alone parts no distant steps."""
    for _ in range(chance.randrange(3)):
        await trio.lowlevel.checkpoint()
    if chance.random() < 0.3:
        await trio.sleep(chance.random() * most_seconds)
