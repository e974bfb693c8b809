"""Runs a trio program under the schedule of a seed: the same seed, the same run.

For programs too big to walk through all their schedules (`tests/supervisor/schedules.py` does that). Uses the two
private names of trio that Hypothesis and pytest-trio rely on too.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio
import trio.testing
from trio._core import _run as scheduler

from tests.doubles.virtual_time import pass_time

R = TypeVar("R")


def run_seeded(program: Callable[[random.Random], Awaitable[R]], seed: int) -> R:
    """Run it in virtual time; `program` gets its own source of chance, the scheduler another one."""
    saved = scheduler._ALLOW_DETERMINISTIC_SCHEDULING, scheduler._r
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING, scheduler._r = True, random.Random(f"schedule {seed}")
    try:
        return trio.run(
            program, random.Random(f"program {seed}"), clock=trio.testing.MockClock(autojump_threshold=0)
        )
    finally:
        scheduler._ALLOW_DETERMINISTIC_SCHEDULING, scheduler._r = saved


async def jitter(chance: random.Random, most_seconds: float = 0.01) -> None:
    """At a seam: a turn of the loop or two, or a short while; batch order alone parts no distant steps."""
    for _ in range(chance.randrange(3)):
        await trio.lowlevel.checkpoint()
    if chance.random() < 0.3:
        await pass_time(chance.random() * most_seconds)
