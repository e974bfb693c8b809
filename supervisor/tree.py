"""The supervision tree: one `Supervisor` starts its children in order and ends them in reverse (one_for_one).

Owns one nursery and the restart windows of its children. It must not know what a child does.

The order holds under cancellation too: a running child is shielded from outside, and the supervisor alone ends
it, each within its grace. A store writer is thus still there when those who write are ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

import attrs
import trio

from supervisor.cell import guard
from supervisor.child_spec import ChildSpec, StopRequest
from supervisor.errors import ChildStartFailed, RestartIntensityExceeded, SupervisorError
from supervisor.exit_reason import Crashed, ExitReason, Normal, Shutdown


@attrs.define(eq=False)
class _Child:
    spec: ChildSpec
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    ended: trio.Event = attrs.field(factory=trio.Event)
    is_started: bool = False
    stop_request: StopRequest | None = None
    recent_restarts: tuple[float, ...] = ()


@attrs.frozen(eq=False)
class _Started:
    """The task status given to a child: takes note of its stop request and passes on that it is initialised."""

    _child: _Child
    _task_status: trio.TaskStatus[None]

    def started(self, value: StopRequest | None = None) -> None:
        self._child.stop_request = value
        if self._child.is_started:
            return  # a restart; whoever waited for the first start went on long ago
        self._child.is_started = True
        self._task_status.started()
        # A start cancelled at this very moment stays with its cancelled starter, and must be able to end.
        if trio.current_effective_deadline() > -math.inf:
            self._child.scope.shield = True


class Supervisor:
    """Runs `children` until it is asked to stop, is cancelled, or has to give up; runs once.

    Args:
        on_exit: told the id of a child and why it ended, each time it ends, also before a restart. Must not
            raise: an error here ends the supervisor.
    """

    def __init__(
        self, children: Iterable[ChildSpec], *, on_exit: Callable[[str, ExitReason], None] | None = None
    ) -> None:
        self._children = [_Child(spec) for spec in children]
        self._on_exit = on_exit
        self._body = trio.CancelScope()
        self._failure: SupervisorError | None = None

    async def run(self, *, task_status: trio.TaskStatus[StopRequest] = trio.TASK_STATUS_IGNORED) -> None:
        """Starts the children one after the other, each when the one before is initialised, and stays.

        Raises:
            ChildStartFailed: a child was never initialised; those before it were ended.
            RestartIntensityExceeded: a permanent child ended too often; all were ended.
        """
        async with trio.open_nursery() as nursery:
            try:
                with self._body:
                    await self._start_children(nursery)
                    if not self._body.cancel_called:
                        task_status.started(self.request_stop)
                    await trio.sleep_forever()
            finally:
                self._body.cancel()  # nothing is restarted from here, however this came about
                in_haste = trio.current_effective_deadline() == -math.inf
                with trio.CancelScope(shield=True):  # bounded: by twice the grace of each child
                    await self._end_children(in_haste=in_haste)
        if self._failure is not None:
            raise self._failure

    def request_stop(self) -> None:
        """Ends the children in reverse order: each is asked, given its grace, and then cancelled."""
        self._body.cancel()

    def running(self) -> tuple[str, ...]:
        """The ids of the children that are initialised and have not ended for good, in starting order."""
        return tuple(
            child.spec.id for child in self._children if child.is_started and not child.ended.is_set()
        )

    async def _start_children(self, nursery: trio.Nursery) -> None:
        for child in self._children:
            crashes: list[Exception] = []
            with guard(crashes.append):
                await nursery.start(self._host, child)
            if crashes:
                self._give_up(ChildStartFailed(child.spec.id), crashes[0])
                return

    async def _host(self, child: _Child, *, task_status: trio.TaskStatus[None]) -> None:
        try:
            with child.scope:
                while await self._run_once(child, task_status):
                    pass
            if child.scope.cancelled_caught:
                self._report(child, Shutdown())
        finally:
            child.ended.set()

    async def _run_once(self, child: _Child, task_status: trio.TaskStatus[None]) -> bool:
        """One life of a child; whether there is to be another one."""
        child.stop_request = None
        crashes: list[Exception] = []
        with guard(crashes.append):
            await child.spec.start(task_status=_Started(child, task_status))
        cause = crashes[0] if crashes else None
        if not child.is_started:
            if cause is not None:
                raise cause  # through nursery.start to whoever starts the children
            return False
        is_ending = self._body.cancel_called
        reason = Crashed(cause) if cause is not None else Shutdown() if is_ending else Normal()
        self._report(child, reason)
        if is_ending or not child.spec.wants_restart(reason):
            return False
        recent = child.spec.intensity.admit(child.recent_restarts, trio.current_time())
        if recent is not None:
            child.recent_restarts = recent
        elif child.spec.restart == "permanent":
            self._give_up(RestartIntensityExceeded(child.spec.id, child.spec.intensity), cause)
        return recent is not None

    def _give_up(self, failure: SupervisorError, cause: Exception | None) -> None:
        if self._failure is None:
            failure.__cause__ = cause
            self._failure = failure
        self._body.cancel()

    async def _end_children(self, *, in_haste: bool) -> None:
        for child in reversed(self._children):
            if not child.is_started or child.ended.is_set():
                continue
            if child.stop_request is not None and not in_haste:
                with guard(partial(self._crashed_at_stop, child)):
                    child.stop_request()
                await self._wait_for_end(child)
            child.scope.cancel()
            await self._wait_for_end(child)

    async def _wait_for_end(self, child: _Child) -> None:
        with trio.move_on_after(child.spec.grace_seconds):
            await child.ended.wait()

    def _crashed_at_stop(self, child: _Child, error: Exception) -> None:
        self._report(child, Crashed(error))

    def _report(self, child: _Child, reason: ExitReason) -> None:
        if self._on_exit is not None:
            self._on_exit(child.spec.id, reason)
