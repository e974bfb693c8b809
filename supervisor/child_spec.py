"""How one child of a `Supervisor` is started, stopped and, perhaps, restarted.

Owns the specification and the one decision that follows from it alone. It must not know any task.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

import attrs
import trio
from attrs import validators

from supervisor.exit_reason import Crashed, ExitReason
from supervisor.restart_intensity import RestartIntensity

RestartKind: TypeAlias = Literal["permanent", "transient", "temporary"]
StopRequest: TypeAlias = Callable[[], None]
"""Asks a running child to end by itself soon; must not wait, and must bear being called twice."""


class StartChild(Protocol):
    """A function in the style of `trio.Nursery.start`: it initialises, says so, and goes on running.

    It says so by `task_status.started(stop_request)`; a child that passes no stop request (`started()`)
    is cancelled when its turn to stop comes.
    """

    async def __call__(self, *, task_status: trio.TaskStatus[StopRequest | None]) -> object: ...


@attrs.frozen(kw_only=True)
class ChildSpec:
    """One child. `permanent` is always restarted, `transient` only after a crash, `temporary` never."""

    id: str
    start: StartChild
    restart: RestartKind = "permanent"
    grace_seconds: float = attrs.field(default=5.0, validator=validators.ge(0))
    """How long it may take to end: once after its stop request, once more after it was cancelled."""
    intensity: RestartIntensity = attrs.field(factory=RestartIntensity)

    def wants_restart(self, reason: ExitReason) -> bool:
        """Whether an ending for `reason` asks for a restart, its intensity aside."""
        match self.restart:
            case "permanent":
                return True
            case "transient":
                return isinstance(reason, Crashed)
            case "temporary":
                return False
