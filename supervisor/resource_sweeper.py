"""The resource sweeper: retries the physical closes that failed, within bounds (architecture rule 6, RT-121).

Owns what it has adopted until that is closed or reported abandoned; nothing leaves in silence. It must not know
what a resource is, only how to try to close it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import attrs
import trio
from attrs import validators

from supervisor.back_off import BackOff
from supervisor.cell import guard
from supervisor.failpoints import failpoints

CloseResource: TypeAlias = Callable[[], Awaitable[None]]


@attrs.frozen(kw_only=True)
class SweeperLimits:
    """Bounds of the sweeper."""

    pending_max: int = attrs.field(default=256, validator=validators.ge(1))
    attempts_max: int = attrs.field(default=8, validator=validators.ge(1))
    attempt_timeout_seconds: float = attrs.field(default=10.0, validator=validators.gt(0))
    back_off: BackOff = attrs.field(factory=lambda: BackOff(0.5, 60.0))
    """The wait before each attempt; the failed close of the former owner counts as the first failure."""


@attrs.frozen
class AdoptedResource:
    """What is known of one resource; `last_error` is None before the first attempt here."""

    name: str
    attempts: int
    last_error: Exception | None


@attrs.define(eq=False)
class _Adoption:
    name: str
    close: CloseResource
    attempts: int = 0
    last_error: Exception | None = None
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def record(self, error: Exception) -> None:
        self.last_error = error

    def describe(self) -> AdoptedResource:
        return AdoptedResource(self.name, self.attempts, self.last_error)


class ResourceSweeper:
    """Cleanup owner of last resort; visible in `health/read`.

    Args:
        on_abandoned: told of each resource that is given up: it was tried often enough, or it was the oldest
            and there were too many. Must not raise.
    """

    def __init__(
        self, *, on_abandoned: Callable[[AdoptedResource], None], limits: SweeperLimits | None = None
    ) -> None:
        self.limits = limits or SweeperLimits()
        self.swept = 0
        self.abandoned = 0
        self._on_abandoned = on_abandoned
        self._pending: list[_Adoption] = []
        self._nursery: trio.Nursery | None = None

    def adopt(self, name: str, close: CloseResource) -> None:
        """Takes over a resource whose close failed. One step, and possible while `run` is not running.

        Args:
            name: for people, such as `codex process 4711`.
            close: closes it, or raises; called from the sweeper's tasks, so it needs no scope of the caller.
        """
        if len(self._pending) >= self.limits.pending_max:
            self._abandon(self._pending[0])
        adoption = _Adoption(name, close)
        self._pending.append(adoption)
        if self._nursery is not None:
            self._start(adoption, self._nursery)

    def pending(self) -> tuple[AdoptedResource, ...]:
        """What is still to be closed, the oldest first."""
        return tuple(adoption.describe() for adoption in self._pending)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Retries until cancelled; a permanent child. What is pending then stays pending for the next run."""
        async with trio.open_nursery() as nursery:
            try:
                self._nursery = nursery
                for adoption in self._pending:
                    self._start(adoption, nursery)
                task_status.started()
                await trio.sleep_forever()
            finally:
                self._nursery = None

    def _start(self, adoption: _Adoption, nursery: trio.Nursery) -> None:
        # The scope is there before the task runs, so an adoption abandoned in between is not swept.
        adoption.scope = trio.CancelScope()
        nursery.start_soon(self._sweep, adoption, name=f"sweep {adoption.name}")

    async def _sweep(self, adoption: _Adoption) -> None:
        with adoption.scope:
            while adoption.attempts < self.limits.attempts_max:
                await trio.sleep(self.limits.back_off.seconds(adoption.attempts + 1))
                adoption.attempts += 1
                if await self._attempt(adoption):
                    self._pending.remove(adoption)
                    self.swept += 1
                    return
            self._abandon(adoption)

    async def _attempt(self, adoption: _Adoption) -> bool:
        timeout_seconds = self.limits.attempt_timeout_seconds
        with trio.move_on_after(timeout_seconds) as scope, guard(adoption.record):
            if failpoints.on:
                await failpoints.reach("sweeper.attempt.before")
            await adoption.close()
            if failpoints.on:
                await failpoints.reach("sweeper.attempt.after")
            return True
        if scope.cancelled_caught:
            adoption.record(TimeoutError(f"not closed within {timeout_seconds:g} s"))
        return False

    def _abandon(self, adoption: _Adoption) -> None:
        self._pending.remove(adoption)
        self.abandoned += 1
        adoption.scope.cancel()
        self._on_abandoned(adoption.describe())
