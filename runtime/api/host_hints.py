"""`host.updated`: hints to read again, said once however often their cause occurred.

Owns what is due and when it is said; what a hint is about is read where it always is. Health has no single cause, so
it is looked at here in a fixed period.
"""

from collections.abc import Callable, Hashable
from typing import Literal, TypeAlias

import attrs
import trio

from runtime.wire.events import HostHint
from runtime.wire.replies import HealthReadReply

HintType: TypeAlias = Literal["target", "models", "status", "health"]

PERIOD_SECONDS = 1.0
"""Between looks at health, and at least between two hints of one type."""


@attrs.define(eq=False)
class HostHints:
    """Tells clients what of the host to read again."""

    health: Callable[[], HealthReadReply]
    publish: Callable[[HostHint], None]
    _due: set[HintType] = attrs.field(factory=set, init=False)
    _seen: Hashable = attrs.field(default=None, init=False)

    def note(self, kind: HintType) -> None:
        """Something of this kind changed; said within a period, once for all that comes until then."""
        self._due.add(kind)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Look and tell until cancelled."""
        self._seen = _essence(self.health())
        task_status.started()
        while True:
            await trio.sleep(PERIOD_SECONDS)
            self._look()
            due, self._due = sorted(self._due), set()
            for kind in due:
                self.publish(HostHint(type=kind))

    def _look(self) -> None:
        essence = _essence(self.health())
        if essence != self._seen:
            self._seen = essence
            self.note("health")


def _essence(health: HealthReadReply) -> Hashable:
    """What of health is worth a hint: figures change all the time, problems come and go."""
    return health.status, health.problems, health.quarantined
