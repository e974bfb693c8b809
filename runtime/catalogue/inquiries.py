"""Asks an agent about itself: on a connection that is there already, or in a short-lived process without a session.

Owns the bound on how many are asked at once, the deadline, and who waits for which answer (PR-032, PR-037). What an answer
means is its caller's.
"""

from collections.abc import Callable

import attrs
import trio

from runtime.catalogue.snapshot import LoadFailed, Spawn
from runtime.providers import failures
from runtime.providers.catalogue import ProviderFacts, Subject
from runtime.providers.normalized import ConnectionLost, ProviderEvent
from runtime.providers.port import Inquire, Learned, Scope
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from runtime.targets import TargetConnections
from store.canonical.common import TurnError
from store.canonical.identifiers import TargetId

CODES = frozenset(
    {
        "provider.unavailable",
        "provider.auth_required",
        "provider.rejected",
        "provider.timeout",
        "provider.lost",
        "provider.protocol",
        "limit.exceeded",
        "shutdown.in_progress",
    }
)
"""Why an agent may not have said it; whatever else went wrong with its start, it was not to be had."""
TIMED_OUT = TurnError("provider.timeout", "The agent did not say it in time.", "provider", retryable=True)


@attrs.define(eq=False)
class _Waiter:
    """Who asked; a `ScopeSink` too, to hear that the connection is gone."""

    facts: ProviderFacts | None = None
    lost: TurnError | None = None
    answered: trio.Event = attrs.field(factory=trio.Event)
    above_high_water: bool = attrs.field(default=False, init=False)

    def put(self, event: ProviderEvent) -> None:
        """See `ScopeSink`. Nothing but the loss comes: an inquiry has no conversation."""
        if isinstance(event, ConnectionLost):
            self.lost = event.error
            self.answered.set()

    async def wait_below_low_water(self) -> None:
        """See `ScopeSink`."""
        await trio.lowlevel.checkpoint()


class Inquiries:
    """All inquiries of the daemon.

    Args:
        at_once_max: how many may be under way, the ends of their processes included.
    """

    def __init__(
        self, connections: TargetConnections, spawn: Spawn, timeout_seconds: float, at_once_max: int
    ) -> None:
        self._connections = connections
        self._spawn = spawn
        self._timeout_seconds = timeout_seconds
        self._places = trio.Semaphore(at_once_max)
        self._at_once_max = at_once_max
        self._waiters: dict[Scope, _Waiter] = {}
        self.told, self.failed = 0, 0

    @property
    def under_way(self) -> int:
        """How many places are taken."""
        return self._at_once_max - self._places.value

    def answered(self, told: Learned) -> bool:
        """Whether this is what somebody waits for; he has it now."""
        waiter = self._waiters.get(told.scope) if told.scope is not None else None
        if waiter is None:
            return False
        waiter.facts = told.facts
        waiter.answered.set()
        return True

    async def ask(self, target_id: TargetId, subject: Subject, *, own_process: bool) -> ProviderFacts:
        """What the agent says of this one subject. Raises LoadFailed, within the deadline."""
        facts: ProviderFacts | None = None
        try:
            with trio.move_on_after(self._timeout_seconds):
                await self._places.acquire()
                held: list[ConnectionReference] = []
                try:
                    facts = await self._ask(target_id, subject, own_process, held.append)
                finally:
                    self._spawn(self._leave, held)
        finally:
            self.told += facts is not None
            self.failed += facts is None
        if facts is None:
            raise LoadFailed(TIMED_OUT)
        return facts

    async def _ask(
        self,
        target_id: TargetId,
        subject: Subject,
        own_process: bool,
        hold: Callable[[ConnectionReference], None],
    ) -> ProviderFacts:
        scope, waiter = Scope("inquiry", target_id, subject), _Waiter()
        self._waiters[scope] = waiter
        try:
            reference = await self._connections.acquire_for_inquiry(target_id, scope, waiter, own_process)
            hold(reference)
            if not reference.tell(Inquire(scope, frozenset({subject}))):
                raise LoadFailed(waiter.lost or failures.RELEASED)
            await waiter.answered.wait()
        except AcquireFailed as refused:
            raise LoadFailed(_typed(refused.error)) from refused
        finally:
            del self._waiters[scope]
        if waiter.facts is None:
            raise LoadFailed(waiter.lost or failures.RELEASED)
        failed = waiter.facts.failures.get(subject)
        if failed is not None:
            raise LoadFailed(_typed(failed))
        return waiter.facts

    async def _leave(self, held: list[ConnectionReference]) -> None:
        """Give the connection back; the place is free once nothing is left of a process that was started for it."""
        try:
            for reference in held:
                reference.release()
                await reference.wait_gone()
        finally:
            self._places.release()


def _typed(error: TurnError) -> TurnError:
    return error if error.code in CODES else attrs.evolve(error, code="provider.unavailable")
