"""One thing that is read from a provider, kept: loaded once for all who ask, and shown stale while it is loaded again.

Owns the value, its age and the load in flight (PR-034, PR-035, PR-045). A value belongs to what it was read from: when that
changes, the value is dropped and its load is ended (PR-036). A load that fails changes nothing and is remembered by nobody
(PR-031).
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, Protocol, TypeVar

import attrs
import trio

from runtime.ports import WallClock
from store.canonical.common import TurnError

T = TypeVar("T")

LOADS_MAX = 3
"""How many loads one reader waits for, when what is read from keeps changing."""

CRASHED = TurnError("internal", "Reading from the agent failed.", "runtime")
CHANGED = TurnError(
    "provider.unavailable", "The agent's sign-in or program keeps changing.", "runtime", retryable=True
)


class Spawn(Protocol):
    """Starts a task of the service."""

    def __call__(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """A fault in it is its own."""


class LoadFailed(Exception):
    """Nothing was read; `error` says why in words of ours."""

    def __init__(self, error: TurnError) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.error = error


@attrs.frozen
class Reading(Generic[T]):
    """A snapshot at one moment."""

    value: T | None
    read_at: int | None
    """When it was read, in milliseconds of the clock on the wall; null when there is none."""
    stale: bool
    refreshing: bool
    problem: TurnError | None = None
    """Why the load that was waited for brought nothing."""


@attrs.define(eq=False)
class _Flight:
    """A load under way."""

    basis: Hashable
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    done: trio.Event = attrs.field(factory=trio.Event)
    problem: TurnError | None = CRASHED
    landed: bool = False


@attrs.define(eq=False)
class Snapshot(Generic[T]):
    """One value and its loads."""

    load: Callable[[bool], Awaitable[T]]
    """Reads it, within a bound of its own; true when no process may be asked that ran before a change. Raises LoadFailed."""
    basis: Callable[[], Hashable]
    """What the value is read from, by anything that changes with it. Does not wait."""
    fresh_seconds: float
    spawn: Spawn
    clock: WallClock
    on_change: Callable[[], None]
    """Told when the value becomes another."""
    _value: T | None = attrs.field(default=None, init=False)
    _basis: Hashable = attrs.field(default=None, init=False)
    _read_at: int | None = attrs.field(default=None, init=False)
    _completed_at_seconds: float = attrs.field(default=0.0, init=False)
    _changed: bool = attrs.field(default=False, init=False)
    """What it is read from changed since the last load."""
    _flight: _Flight | None = attrs.field(default=None, init=False)

    def peek(self) -> Reading[T]:
        """As it stands; nothing is started."""
        self._look()
        return self._reading()

    async def read(self, *, refresh: bool) -> Reading[T]:
        """The value: at once while there is one, else once it is loaded. A refresh waits for a load, and shares one."""
        self._look()
        if self._value is not None and not refresh:
            if self._reading().stale:
                self._fly()
            return self._reading()
        for _ in range(LOADS_MAX):
            flight = self._fly()
            await flight.done.wait()
            self._look()
            if flight.landed:
                return self._reading()
            if not flight.scope.cancel_called:
                return attrs.evolve(self._reading(), problem=flight.problem)
        return attrs.evolve(self._reading(), problem=CHANGED)

    def learn(self, value: T) -> None:
        """It was told on the way, without a load."""
        self._look()
        self._take(value, self.basis())

    def drop(self) -> None:
        """What it was read from is another now: forget it, and whatever is being read (PR-036)."""
        had, self._value, self._read_at, self._changed = self._value, None, None, True
        if self._flight is not None:
            self._flight.scope.cancel()
            self._flight = None
        if had is not None:
            self.on_change()

    def _look(self) -> None:
        basis = self.basis()
        flight = self._flight
        if (self._value is not None and basis != self._basis) or (
            flight is not None and basis != flight.basis
        ):
            self.drop()

    def _reading(self) -> Reading[T]:
        age_seconds = trio.current_time() - self._completed_at_seconds
        stale = self._value is not None and age_seconds > self.fresh_seconds
        return Reading(self._value, self._read_at, stale, self._flight is not None)

    def _fly(self) -> _Flight:
        if self._flight is None:
            self._flight = _Flight(self.basis())
            self.spawn(self._run, self._flight, self._changed)
        return self._flight

    async def _run(self, flight: _Flight, own_process: bool) -> None:
        try:
            with flight.scope:
                value = await self.load(own_process)
                # In one step with the next lines: nobody sees the flight over and the value missing.
                flight.landed = self._flight is flight
                if flight.landed:
                    self._take(value, flight.basis)
        except LoadFailed as failed:
            flight.problem = failed.error
        finally:
            if self._flight is flight:
                self._flight = None
            flight.done.set()

    def _take(self, value: T, basis: Hashable) -> None:
        changed = value != self._value
        self._value, self._basis, self._changed = value, basis, False
        self._read_at = self.clock.now_ms()
        self._completed_at_seconds = trio.current_time()
        if changed:
            self.on_change()
