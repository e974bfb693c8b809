"""What a small protocol is, and the walk through all its schedules.

A protocol is a program on the objects that play it in the service, which asserts what must hold in every schedule and
returns in a word how it ended. The walk is its proof: no assertion failed, and it ended in each of the ways it is said
to have and in no other. Programs stand in the modules beside this one; `registry` has them all by name.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import attrs

from runtime.simulation.explore import explore
from supervisor.cell import guard


@attrs.frozen(kw_only=True)
class Protocol:
    """A program, and what walking it must show."""

    name: str
    shows: str
    """In a sentence, for people."""
    program: Callable[..., Awaitable[str]]
    arguments: tuple[Any, ...] = ()
    ends: frozenset[str]
    """Every way it may end; each of them occurs in some schedule."""
    schedules_min: int
    """With fewer, steps that should meet do not meet any more."""


@attrs.frozen
class Walk:
    """What came of all schedules of one protocol."""

    protocol: Protocol
    ends: Counter[str]
    """How many schedules ended so."""
    failure: Exception | None = None
    """What the first schedule raised that broke a promise; none was run after it."""

    @property
    def schedules(self) -> int:
        """How many were run to their end."""
        return self.ends.total()

    @property
    def faults(self) -> list[str]:
        """Why the protocol does not hold, in sentences; empty when it does."""
        if self.failure is not None:
            return list(_causes(self.failure))
        found = set(self.ends)
        faults = [f"it ended in a way it must not: {end}" for end in sorted(found - self.protocol.ends)]
        faults += [f"it never ended in this way: {end}" for end in sorted(self.protocol.ends - found)]
        if self.schedules < self.protocol.schedules_min:
            faults.append(f"{self.schedules} schedules, where there were {self.protocol.schedules_min}")
        return faults


def walk(protocol: Protocol) -> Walk:
    """Run a protocol under every schedule there is. Too many of them is a failure too: a part shows nothing."""
    ends: Counter[str] = Counter()
    failures: list[Exception] = []

    async def program() -> None:
        end = await protocol.program(*protocol.arguments)
        ends[end] += 1

    with guard(failures.append):
        explore(program)
    return Walk(protocol, ends, *failures)


def _causes(error: BaseException) -> Iterator[str]:
    """What was raised, out of the groups of the nurseries it came through, and in which schedule."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _causes(part)
    else:
        yield f"{type(error).__name__}: {error}"
    yield from getattr(error, "__notes__", ())
