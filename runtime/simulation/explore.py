"""Runs a small trio program under every schedule there is.

trio puts each batch of runnable tasks into an order; here that order, and every choice the program makes through
`choose`, walks depth first through all possibilities, one run after the other. The program must be small, take no
other chance, and do no real I/O; it runs in virtual time, on the real objects it wants to show.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import trio

from runtime.simulation.scheduler import run_in_virtual_time

R = TypeVar("R")

SCHEDULES_MAX: Final = 50_000


class TooManySchedules(AssertionError):
    """The program has more schedules than the limit: nothing is shown by a part of them."""


class NotRepeatable(AssertionError):
    """The same choices led elsewhere: the program takes chance from somewhere else."""


class _AllOrders:
    """Stands in for trio's random source. Its path is the list of (choice, of how many) of the present run."""

    def __init__(self) -> None:
        self.settled = False
        """Batches are left as they come: the oldest task first."""
        self._path: list[tuple[int, int]] = []
        self._position = 0

    def choose(self, width: int) -> int:
        """The choice that stands at this place of the path; at its end, the first one."""
        if self._position == len(self._path):
            self._path.append((0, width))
        choice, known_width = self._path[self._position]
        if known_width != width:
            raise NotRepeatable(f"choice {self._position} was one of {known_width}, now it is one of {width}")
        self._position += 1
        return choice

    def shuffle(self, batch: list[Any], /) -> None:
        """See `BatchOrder`: over all paths, every order of the batch."""
        if self.settled:
            return
        for last in range(len(batch) - 1, 0, -1):
            other = self.choose(last + 1)
            batch[last], batch[other] = batch[other], batch[last]

    def __str__(self) -> str:
        return " ".join(str(choice) for choice, _ in self._path[: self._position])

    def advance(self) -> bool:
        """Turn to the next path; False when the last one was run."""
        del self._path[self._position :]
        self._position = 0
        while self._path:
            choice, width = self._path.pop()
            if choice + 1 < width:
                self._path.append((choice + 1, width))
                return True
        return False


_current: list[_AllOrders] = []


def choose(width: int) -> int:
    """A number below `width`; over all schedules, each of them. Only inside of an explored program."""
    return _current[-1].choose(width)


async def pause(turns_max: int) -> None:
    """Let 0 to `turns_max` turns of the loop pass: batch order alone is too weak to part distant steps."""
    for _ in range(choose(turns_max + 1)):
        await trio.lowlevel.checkpoint()


async def now_or_later() -> None:
    """At once with others who are at it, a turn after them, or when what they do has had its effect."""
    moment = choose(3)
    if moment == 1:
        await trio.lowlevel.checkpoint()
    elif moment == 2:
        await trio.sleep(1)


@contextmanager
def one_order() -> Iterator[None]:
    """Within this each batch is run in one order: to bring a program to where it gets interesting, and to let it end.

    Only right while no order of these steps can matter to what is shown.
    """
    orders = _current[-1]
    orders.settled = True
    try:
        yield
    finally:
        orders.settled = False


def explore(
    program: Callable[..., Awaitable[R]], *arguments: object, limit: int = SCHEDULES_MAX
) -> Counter[R]:
    """Run `program(*arguments)` under every schedule and count its results.

    Raises `TooManySchedules` beyond `limit`; what the program raises comes out at the first schedule that shows it.
    """
    orders = _AllOrders()
    results: Counter[R] = Counter()

    async def begin() -> R:
        orders.settled = False
        return await program(*arguments)

    for schedule in range(1, limit + 1):
        _current.append(orders)
        orders.settled = (
            True  # until the program begins: the order in which trio sets itself up shows nothing
        )
        try:
            results[run_in_virtual_time(begin, order=orders)] += 1
        except BaseException as error:
            error.add_note(f"in schedule {schedule}, of the choices {orders}")
            raise
        finally:
            _current.pop()
        if not orders.advance():
            return results
    raise TooManySchedules(f"more than {limit} schedules: make the program smaller")
