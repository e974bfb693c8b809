"""Runs a small trio program under every schedule there is.

trio sorts a batch of runnable tasks by age and then shuffles it with its own source of randomness. Here that
source walks, run by run and depth first, through all orders of all batches, and through the program's own
choices with them. The program must do no real I/O and use no other source of chance.

Two private names of trio are used, the ones that Hypothesis and pytest-trio rely on too; should they move,
`test_schedules.py` fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import trio
import trio.testing
from trio._core import _run as scheduler

R = TypeVar("R")


class _AllOrders:
    """Stands in for `random.Random`; its path is the list of (choice, of how many) made in this run."""

    def __init__(self) -> None:
        self._path: list[tuple[int, int]] = []
        self._position = 0

    def choose(self, width: int) -> int:
        if self._position == len(self._path):
            self._path.append((0, width))
        choice, known_width = self._path[self._position]
        assert known_width == width, "the program is not deterministic"
        self._position += 1
        return choice

    def shuffle(self, batch: list[Any]) -> None:
        for last in range(len(batch) - 1, 0, -1):
            other = self.choose(last + 1)
            batch[last], batch[other] = batch[other], batch[last]

    def advance(self) -> bool:
        """Turns to the next path; False when the last one was run."""
        del self._path[self._position :]
        self._position = 0
        while self._path:
            choice, width = self._path.pop()
            if choice + 1 < width:
                self._path.append((choice + 1, width))
                return True
        return False


_current: list[_AllOrders] = []


@contextmanager
def _steered_by(orders: _AllOrders) -> Iterator[None]:
    saved = scheduler._ALLOW_DETERMINISTIC_SCHEDULING, scheduler._r
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING, scheduler._r = True, orders
    _current.append(orders)
    try:
        yield
    finally:
        _current.pop()
        scheduler._ALLOW_DETERMINISTIC_SCHEDULING, scheduler._r = saved


def choose(width: int) -> int:
    """A number below `width`; over all schedules, each of them."""
    return _current[-1].choose(width)


async def pause(most: int) -> None:
    """Lets 0 to `most` turns of the loop pass: batch order alone is too weak to part distant steps."""
    for _ in range(choose(most + 1)):
        await trio.lowlevel.checkpoint()


def explore(program: Callable[[], Awaitable[R]], *, schedules_max: int = 50_000) -> Counter[R]:
    """Runs `program` under every schedule, in virtual time, and counts its results."""
    orders = _AllOrders()
    results: Counter[R] = Counter()
    for _ in range(schedules_max):
        with _steered_by(orders):
            results[trio.run(program, clock=trio.testing.MockClock(autojump_threshold=0))] += 1
        if not orders.advance():
            return results
    raise AssertionError(f"more than {schedules_max} schedules: make the program smaller")
