"""Runs a trio program so that the same source of chance gives the same run, step by step.

The one module that touches trio's private scheduler switches: a flag that sorts each batch of runnable tasks by age,
and the random source that then shuffles the batch. Hypothesis and pytest-trio rely on the same two names; should
trio move them, `check_switches` says so. Programs run here must take nothing from outside but through ports.
"""

import hashlib
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import trio
import trio.testing
from trio._core import _run as trio_scheduler

R = TypeVar("R")

_FLAG = "_ALLOW_DETERMINISTIC_SCHEDULING"
_SOURCE = "_r"


class BatchOrder(Protocol):
    """What trio asks of its random source: the order of one batch of runnable tasks."""

    def shuffle(self, batch: list[Any], /) -> None:
        """Put the batch, which comes sorted by age, into the order in which it is to run."""


class SwitchesMoved(Exception):
    """This version of trio has its scheduler's switches elsewhere: no run can be repeated until that is mended."""


def check_switches() -> None:
    """Raise `SwitchesMoved` unless trio still has the names this module sets."""
    source = getattr(trio_scheduler, _SOURCE, None)
    if not isinstance(getattr(trio_scheduler, _FLAG, None), bool) or not hasattr(source, "shuffle"):
        raise SwitchesMoved(f"trio {trio.__version__} has no {_FLAG} or {_SOURCE}")


@contextmanager
def batches_ordered_by(order: BatchOrder) -> Iterator[None]:
    """Within this, trio's batches are sorted by age and then given to `order`."""
    check_switches()
    saved = getattr(trio_scheduler, _FLAG), getattr(trio_scheduler, _SOURCE)
    setattr(trio_scheduler, _FLAG, True)
    setattr(trio_scheduler, _SOURCE, order)
    try:
        yield
    finally:
        setattr(trio_scheduler, _FLAG, saved[0])
        setattr(trio_scheduler, _SOURCE, saved[1])


class StepDigest(trio.abc.Instrument):
    """Hashes the name and the moment of every task step: two runs with equal digests took the same way."""

    def __init__(self) -> None:
        self.steps = 0
        self._hash = hashlib.sha256()
        self._now = -1.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Called by trio."""
        self.steps += 1
        now = trio.current_time()
        if now != self._now:
            self._now = now
            self._hash.update(f"{now!r}\n".encode())
        self._hash.update(f"{task.name}\n".encode())

    def hexdigest(self) -> str:
        """The digest of all steps so far."""
        return self._hash.hexdigest()


def run_in_virtual_time(
    program: Callable[..., Awaitable[R]],
    *arguments: object,
    order: BatchOrder,
    instrument: trio.abc.Instrument | None = None,
) -> R:
    """Run a program to its end. Waiting costs no time: the clock jumps when every task waits."""
    instruments = [] if instrument is None else [instrument]
    with batches_ordered_by(order):
        return trio.run(
            program,
            *arguments,
            clock=trio.testing.MockClock(autojump_threshold=0),
            instruments=instruments,
        )


class Chances:
    """All chance of one run: a source for each purpose, so that one more draw here changes nothing there."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def source(self, purpose: str) -> random.Random:
        """A fresh source that depends on the seed and the purpose alone."""
        return random.Random(f"{self.seed}/{purpose}")  # noqa: S311 - repeatable, which is the point
