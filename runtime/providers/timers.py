"""The timers an adapter asks its connection for.

Owns one task for each running timer. A timer that was stopped or set again is never heard, also when it ran out
in the same step.
"""

from collections.abc import Callable

import trio

from runtime.providers.port import StartTimer


class AdapterTimers:
    """Running timers by token; `fire` is called with the token of each that runs out."""

    def __init__(self, nursery: trio.Nursery, fire: Callable[[object], None]) -> None:
        self._nursery = nursery
        self._fire = fire
        self._running: dict[object, trio.CancelScope] = {}

    def start(self, timer: StartTimer) -> None:
        """Run it; a running timer of the same token starts over."""
        self.stop(timer.token)
        scope = self._running[timer.token] = trio.CancelScope()
        self._nursery.start_soon(self._run, timer, scope)

    def stop(self, token: object) -> None:
        """Forget it. Harmless when there is none."""
        scope = self._running.pop(token, None)
        if scope is not None:
            scope.cancel()

    async def _run(self, timer: StartTimer, scope: trio.CancelScope) -> None:
        with scope:
            await trio.sleep(timer.seconds)
        if self._running.get(timer.token) is scope:
            del self._running[timer.token]
            self._fire(timer.token)
