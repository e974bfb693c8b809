"""The timers of one session, as tasks that report by message. They live in the cell and end with it."""

from collections.abc import Callable
from typing import Protocol

import attrs
import trio

from runtime.lifecycle.inputs import Timer, TimerFired
from supervisor.errors import ActorStopped


class TakesTimers(Protocol):
    """A mailbox, as far as timers use it."""

    def put(self, message: TimerFired, /) -> None:
        """Take in the fact. Raises ActorStopped."""


@attrs.define(eq=False)
class SessionTimers:
    """At most one running timer for each name; arming again starts over."""

    spawn: Callable[..., None]
    _running: dict[Timer, trio.CancelScope] = attrs.field(factory=dict, init=False)
    _due: dict[Timer, float] = attrs.field(factory=dict, init=False)

    def arm(self, timer: Timer, seconds: float, mailbox: TakesTimers) -> None:
        """Report TimerFired(timer) to the mailbox after so many seconds."""
        self.disarm(timer)
        scope = self._running[timer] = trio.CancelScope()
        self._due[timer] = trio.current_time() + seconds
        self.spawn(self._run, timer, scope, seconds, mailbox)

    def disarm(self, timer: Timer) -> None:
        """Forget that timer; one that is not running is forgotten already."""
        scope = self._running.pop(timer, None)
        self._due.pop(timer, None)
        if scope is not None:
            scope.cancel()

    def disarm_all(self) -> None:
        """The actor ends or begins anew."""
        for timer in list(self._running):
            self.disarm(timer)

    def due(self) -> tuple[tuple[Timer, float], ...]:
        """The running ones and when they fire, on trio's clock."""
        return tuple((timer, self._due[timer]) for timer in self._running)

    def __len__(self) -> int:
        return len(self._running)

    async def _run(self, timer: Timer, scope: trio.CancelScope, seconds: float, mailbox: TakesTimers) -> None:
        with scope:
            await trio.sleep(seconds)
        if scope.cancelled_caught or self._running.get(timer) is not scope:
            return
        del self._running[timer], self._due[timer]
        try:
            mailbox.put(TimerFired(timer))
        except ActorStopped:
            return  # the actor has passivated: nothing waits for this any more
