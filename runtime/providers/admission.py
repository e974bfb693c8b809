"""Who gets which connection, and who waits: every decision of the pool about placing, in one synchronous step each.

Owns the books: live connections, starts under way, the line of those who wait. A scope joins a connection of its
launch when one has room; otherwise it needs a place among the live connections and among the concurrent starts,
and gets them in the order of asking. Nothing here waits or touches a process.
"""

from collections.abc import Callable, Iterable, Iterator

from runtime.providers import failures
from runtime.providers.limits import PoolLimits
from runtime.providers.start_failures import StartFailures
from runtime.providers.tenancy import AcquireFailed, LiveConnection, Tenancy


class Admission:
    """The books of a pool.

    Args:
        open_connection: begins a new connection for this tenancy.
        now: seconds of trio's clock.
    """

    def __init__(
        self,
        limits: PoolLimits,
        open_connection: Callable[[Tenancy], LiveConnection],
        now: Callable[[], float],
    ) -> None:
        self._limits = limits
        self._open_connection = open_connection
        self._now = now
        self._live: dict[LiveConnection, str] = {}
        """In the order of their making, with the fingerprint under which they may be shared, or an empty one."""
        self._shared: dict[str, list[LiveConnection]] = {}
        self._waiting: dict[Tenancy, None] = {}
        self.start_failures = StartFailures(limits)

    def __iter__(self) -> Iterator[LiveConnection]:
        return iter(tuple(self._live))

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._waiting)

    @property
    def starts_in_flight(self) -> int:
        """How many starts count against the bound."""
        return sum(live.holds_start_slot for live in self._live)

    @property
    def is_full(self) -> bool:
        """Whether no further process may be started before one has ended."""
        return len(self._live) >= self._limits.max_live_connections

    @property
    def shortage(self) -> int:
        """How many wait for a process to end that nobody has asked to end."""
        ending = sum(not live.connection.takes_scopes for live in self._live)
        return self.waiting - ending if self.is_full else 0

    def offer(self, tenancy: Tenancy) -> None:
        """Place it, refuse it, or let it wait at the end of the line."""
        if self._place(tenancy):
            return
        if len(self._waiting) >= self._limits.admission_waiting_max:
            self._refuse(tenancy, AcquireFailed(failures.too_many_waiting(len(self._waiting))))
        else:
            self._waiting[tenancy] = None

    def withdraw(self, tenancy: Tenancy) -> None:
        """It waits no longer. Harmless when it does not wait."""
        self._waiting.pop(tenancy, None)

    def refuse_waiting(self, refusal: AcquireFailed) -> None:
        """Send everybody away who waits."""
        waiting, self._waiting = self._waiting, {}
        for tenancy in waiting:
            self._refuse(tenancy, refusal)

    def pump(self) -> None:
        """Something came free: place who can be placed, in the order of the line."""
        for tenancy in tuple(self._waiting):
            if tenancy in self._waiting and self._place(tenancy):
                self.withdraw(tenancy)

    def end_start(self, live: LiveConnection) -> None:
        """Its start does not count any more. Harmless when it does not."""
        live.holds_start_slot = False

    def remove(self, live: LiveConnection) -> None:
        """Nothing of its process is left."""
        self.end_start(live)
        fingerprint = self._live.pop(live)
        group = self._shared.get(fingerprint, [])
        if live in group:
            group.remove(live)
            if not group:
                del self._shared[fingerprint]

    def _place(self, tenancy: Tenancy) -> bool:
        """True when it is settled where it goes, or that it goes nowhere."""
        fingerprint = tenancy.launch.fingerprint
        shares = tenancy.capacity > 1
        live = _first_with_room(self._shared.get(fingerprint, ())) if shares else None
        if live is not None:
            self._settle_on(tenancy, live)
            return True
        now = self._now()
        closed_for_seconds = self.start_failures.closed_for_seconds(fingerprint, now)
        if closed_for_seconds > 0:
            failed = self.start_failures.failures(fingerprint)
            error = failures.crash_loop(tenancy.launch, failed, closed_for_seconds)
            self._refuse(tenancy, AcquireFailed(error))
            return True
        if self.is_full or self.starts_in_flight >= self._limits.max_concurrent_starts:
            return False
        self.start_failures.begin(fingerprint, now)
        live = self._open_connection(tenancy)
        self._live[live] = fingerprint if shares else ""
        if shares:
            self._shared.setdefault(fingerprint, []).append(live)
        self._settle_on(tenancy, live)
        return True

    def _settle_on(self, tenancy: Tenancy, live: LiveConnection) -> None:
        tenancy.live = live
        live.pending.add(tenancy)
        tenancy.placed.set()

    def _refuse(self, tenancy: Tenancy, refusal: AcquireFailed) -> None:
        tenancy.refusal = refusal
        tenancy.placed.set()


def _first_with_room(group: Iterable[LiveConnection]) -> LiveConnection | None:
    return next((live for live in group if live.has_room), None)
