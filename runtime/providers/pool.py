"""The pool: gives a scope a connection, shares processes, and takes them down when the last scope has left.

Owns the nursery of all connections and every claim on them. It decides who shares, waits, is refused or has to
go; what a connection says and how a process ends is the connection's. One connection's error never reaches
another, and a caller who is cancelled while he waits leaves nothing behind.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import attrs
import structlog
import trio

from runtime.providers import failures
from runtime.providers.admission import Admission
from runtime.providers.connection import ProviderConnection
from runtime.providers.connection_info import ConnectionInfo, ConnectionState
from runtime.providers.launch import LaunchSpecification
from runtime.providers.limits import PoolLimits
from runtime.providers.port import Learned, ProviderDescriptor, Scope
from runtime.providers.registry import ProviderRegistry, UnsupportedProvider
from runtime.providers.routes import ScopeSink
from runtime.providers.start_failures import NOT_COUNTED
from runtime.providers.tenancy import AcquireFailed, ConnectionReference, LiveConnection, ScopeInUse, Tenancy
from runtime.providers.transport import TransportOpener
from supervisor.cell import guard
from supervisor.resource_sweeper import CloseResource, ResourceSweeper

POLITE_SHARE_OF_GRACE = 0.6
"""Of the grace of `close`: so long processes may end by themselves, then they are killed."""
FAILED_MAX = 64
"""Connections remembered after their end, with the tail of their stderr, for `debug/session` (FC-50)."""

log = structlog.get_logger(__name__)


@attrs.frozen(kw_only=True)
class PoolStatistics:
    """The pool for `health/read`: present counts."""

    connections: Mapping[ConnectionState, int]
    """Processes that are not gone yet, by state."""
    scopes: int
    """Scopes that hold a connection."""
    waiting: int
    starts_in_flight: int


class ConnectionPool:
    """All provider connections of the daemon.

    Args:
        on_pressure: called while more scopes wait for a live connection than processes are about to end, so that
            an idle session may be released early (`contract §4`). It must not wait.
        on_learned: told what a provider says of itself, and which launch that is. It must not wait either.
    """

    def __init__(
        self,
        registry: ProviderRegistry,
        opener: TransportOpener,
        limits: PoolLimits,
        sweeper: ResourceSweeper,
        on_pressure: Callable[[], None] = lambda: None,
        on_learned: Callable[[LaunchSpecification, Learned], None] = lambda launch, told: None,
    ) -> None:
        self._registry = registry
        self._opener = opener
        self._limits = limits
        self._sweeper = sweeper
        self._on_pressure = on_pressure
        self._on_learned = on_learned
        self._admission = Admission(limits, self._open_connection, trio.current_time)
        self._tenancies: dict[Scope, Tenancy] = {}
        self._lives: dict[ProviderConnection, LiveConnection] = {}
        self._failed: dict[Scope, ProviderConnection] = {}
        self._nursery: trio.Nursery | None = None
        self._closing = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep connections until cancelled; then every process is ended, shielded and bounded. May run again."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                task_status.started()
                await trio.sleep_forever()
            finally:
                self._nursery = None
                self._admission.refuse_waiting(AcquireFailed(failures.SHUTTING_DOWN))

    async def close(self, grace_seconds: float) -> None:
        """Take nobody new, ever, and end all processes side by side, within the grace (RT-144)."""
        self._closing = True
        self._admission.refuse_waiting(AcquireFailed(failures.SHUTTING_DOWN))
        connections = [live.connection for live in self._admission]
        for connection in connections:
            connection.stop(failures.SHUTTING_DOWN)
        with trio.move_on_after(grace_seconds):
            with trio.move_on_after(grace_seconds * POLITE_SHARE_OF_GRACE):
                await _wait_all_gone(connections)
            for connection in connections:
                connection.kill()
            await _wait_all_gone(connections)

    async def acquire(
        self, launch: LaunchSpecification, scope: Scope, sink: ScopeSink
    ) -> ConnectionReference:
        """A ready connection for this scope; waits for a place, for the start and for an older claim's end.

        Whoever asks for a scope that is being acquired gets the same result, when launch and sink are the same.

        Raises:
            AcquireFailed: there is none; the error is typed for the turn that needed it.
            ScopeInUse: the scope is held with another sink or launch.
        """
        descriptor = self._descriptor(launch)
        while (earlier := self._tenancies.get(scope)) is not None:
            if earlier.phase == "held":
                return _same(earlier, launch, sink)
            if earlier.phase == "leaving":
                await earlier.gone.wait()
                continue
            await earlier.settled.wait()
            if earlier.refusal is not None and earlier.launch == launch and earlier.sink is sink:
                raise AcquireFailed(earlier.refusal.error, earlier.refusal.connection)
        if not self._is_open:
            raise AcquireFailed(failures.SHUTTING_DOWN)
        tenancy = Tenancy(scope, launch, sink, descriptor, self._capacity(launch, descriptor))
        self._tenancies[scope] = tenancy
        try:
            return await self._obtain(tenancy)
        except BaseException:
            self._withdraw(tenancy)
            raise
        finally:
            tenancy.settled.set()

    def join(self, holder: Scope, scope: Scope, sink: ScopeSink) -> ConnectionReference | None:
        """The very connection that another scope holds, whatever its capacity; None when that one holds none.

        For a fork of what the holder has there, which no other process could make. From then on both keep the process
        alive; neither leaving ends it for the other (RT-119, RT-131).

        Raises:
            ScopeInUse: the scope is held already, or being acquired.
        """
        held = self._tenancies.get(holder)
        if held is None or held.phase != "held" or held.live is None or not self._is_open:
            return None
        connection = held.live.connection
        if connection.state != "ready" or connection.end_error is not None:
            return None
        if scope in self._tenancies:
            raise ScopeInUse(f"{scope} is held already")
        tenancy = Tenancy(scope, held.launch, sink, held.descriptor, held.capacity, "held", held.live)
        tenancy.joined = holder
        self._tenancies[scope] = tenancy
        connection.attach(scope, sink)
        tenancy.reference = ConnectionReference(tenancy, connection, self._release, self._force)
        tenancy.placed.set()
        tenancy.settled.set()
        return tenancy.reference

    async def left(self, scope: Scope) -> None:
        """Until nothing is left of a connection that this scope had, or tried to have."""
        while (tenancy := self._tenancies.get(scope)) is not None and tenancy.phase == "leaving":
            await tenancy.gone.wait()

    def look_for_room(self) -> None:
        """A scope could give its connection up: ask for that if somebody waits. Without this the wait would be for
        whatever happens next in the pool, which may be nothing."""
        if self._is_open:
            self._report_pressure()

    def statistics(self) -> PoolStatistics:
        """As it stands now."""
        return PoolStatistics(
            connections=dict(Counter(live.connection.state for live in self._admission)),
            scopes=sum(live.connection.scopes for live in self._admission),
            waiting=self._admission.waiting,
            starts_in_flight=self._admission.starts_in_flight,
        )

    def last_failed(self, scope: Scope) -> ConnectionInfo | None:
        """The connection this scope last had that did not start or was lost; the newest `FAILED_MAX` are kept."""
        connection = self._failed.get(scope)
        return None if connection is None else connection.info()

    def _remember(self, scope: Scope, connection: ProviderConnection) -> None:
        self._failed.pop(scope, None)
        self._failed[scope] = connection
        if len(self._failed) > FAILED_MAX:
            del self._failed[next(iter(self._failed))]

    # --- acquiring --------------------------------------------------------------------------------------------

    def _descriptor(self, launch: LaunchSpecification) -> ProviderDescriptor:
        try:
            return self._registry.descriptor(launch.provider)
        except UnsupportedProvider as refusal:
            raise AcquireFailed(failures.unsupported(refusal)) from refusal

    def _capacity(self, launch: LaunchSpecification, descriptor: ProviderDescriptor) -> int:
        if launch.dedicated or launch.conversation is not None:
            return 1
        configured = self._limits.sessions_per_connection.get(descriptor.key)
        return max(1, descriptor.sessions_per_connection if configured is None else configured)

    async def _obtain(self, tenancy: Tenancy) -> ConnectionReference:
        """At most one further try: a process that dies right after it became ready must not be started for ever."""
        for may_retry in (True, False):
            live = await self._wait_for_place(tenancy)
            connection = live.connection
            await connection.started.wait()
            live.pending.discard(tenancy)
            if connection.state == "ready" and connection.end_error is None:
                connection.attach(tenancy.scope, tenancy.sink)
                tenancy.phase = "held"
                tenancy.reference = ConnectionReference(tenancy, connection, self._release, self._force)
                return tenancy.reference
            if connection.start_error is not None or not may_retry:
                break
            tenancy.live, tenancy.placed = None, trio.Event()
        error = connection.start_error or connection.end_error or failures.REPLACED
        if not connection.unwanted:
            self._remember(tenancy.scope, connection)
        tenancy.refusal = AcquireFailed(error, connection.info())
        raise tenancy.refusal

    async def _wait_for_place(self, tenancy: Tenancy) -> LiveConnection:
        kept = self._kept_by_a_fork(tenancy)
        if kept is not None:
            tenancy.live = kept
            kept.pending.add(tenancy)
            return kept
        self._admission.offer(tenancy)
        self._report_pressure()
        seconds = self._limits.admission_wait_seconds
        with trio.move_on_after(seconds):
            await tenancy.placed.wait()
        if tenancy.live is None:
            self._admission.withdraw(tenancy)
            tenancy.refusal = tenancy.refusal or AcquireFailed(failures.admission_timed_out(seconds))
            raise tenancy.refusal
        return tenancy.live

    def _kept_by_a_fork(self, tenancy: Tenancy) -> LiveConnection | None:
        """The connection this scope left while a fork of it stayed: no other process may write its conversation yet."""
        for other in self._tenancies.values():
            live = other.live
            if other.joined != tenancy.scope or other.phase != "held" or live is None:
                continue
            if other.launch == tenancy.launch and live.connection.takes_scopes:
                return live
        return None

    def _withdraw(self, tenancy: Tenancy) -> None:
        """Acquiring failed or was cancelled: leave nothing, and end a start that nobody waits for any more."""
        self._admission.withdraw(tenancy)
        live = tenancy.live
        if live is not None:
            live.pending.discard(tenancy)
            if live.tenants == 0:
                live.connection.leave()
            if live.connection.end_error is not None:
                self._leave_with_process(tenancy, live)
                return
        self._forget(tenancy)

    def _open_connection(self, tenancy: Tenancy) -> LiveConnection:
        assert self._nursery is not None
        limits = self._limits.connection
        connection = ProviderConnection(
            tenancy.launch,
            partial(
                tenancy.descriptor.adapter, limits.adapter, tenancy.launch.report, tenancy.launch.conversation
            ),
            self._opener,
            limits,
            self,
        )
        live = self._lives[connection] = LiveConnection(connection, tenancy.capacity)
        self._nursery.start_soon(self._run_connection, live)
        return live

    async def _run_connection(self, live: LiveConnection) -> None:
        connection = live.connection
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._bound_start_slot, live)
                with guard(lambda fault: log.error("provider connection crashed", exc_info=fault)):
                    await connection.run()
                nursery.cancel_scope.cancel()
        finally:
            self._admission.remove(live)
            del self._lives[connection]
            for tenancy in live.leaving:
                self._forget(tenancy)
            self._pump()

    async def _bound_start_slot(self, live: LiveConnection) -> None:
        await trio.sleep(self._limits.start_slot_seconds)
        self._admission.end_start(live)
        self._pump()

    # --- leaving ----------------------------------------------------------------------------------------------

    def _release(self, tenancy: Tenancy) -> None:
        live = self._take_off(tenancy)
        if live is None:
            return
        if live.tenants == 0:
            self._leave_with_process(tenancy, live)
            live.connection.leave()
        else:
            self._forget(tenancy)
            self._pump()

    def _force(self, tenancy: Tenancy, reason: str) -> None:
        live = self._take_off(tenancy)
        if live is None:
            return
        log.warning("scope taken off its connection by force", scope=str(tenancy.scope), reason=reason)
        # Its conversation may still be running in there, so nobody holds it elsewhere before the process is gone.
        self._leave_with_process(tenancy, live)
        if live.connection.scopes == 0:
            live.connection.stop(failures.REPLACED)
        else:
            live.connection.drain(self._limits.connection_drain_seconds, failures.REPLACED)

    def _take_off(self, tenancy: Tenancy) -> LiveConnection | None:
        """Detach a scope that holds a connection; None when it holds none."""
        if tenancy.phase != "held" or tenancy.live is None:
            return None
        tenancy.phase = "leaving"
        tenancy.live.connection.detach(tenancy.scope)
        return tenancy.live

    def _leave_with_process(self, tenancy: Tenancy, live: LiveConnection) -> None:
        tenancy.phase = "leaving"
        if live.connection.gone.is_set():
            self._forget(tenancy)
        else:
            live.leaving.append(tenancy)

    def _forget(self, tenancy: Tenancy) -> None:
        tenancy.phase = "leaving"
        if self._tenancies.get(tenancy.scope) is tenancy:
            del self._tenancies[tenancy.scope]
        tenancy.gone.set()

    # --- what connections report ------------------------------------------------------------------------------

    def connection_started(self, connection: ProviderConnection) -> None:
        """See `ConnectionOwner`: the start is over, well or not."""
        fingerprint, now = connection.launch.fingerprint, trio.current_time()
        failed_starts = self._admission.start_failures
        if connection.start_error is None:
            failed_starts.succeeded(fingerprint)
        elif connection.unwanted or connection.start_error.code in NOT_COUNTED:
            failed_starts.abandoned(fingerprint, now)
        else:
            failed_starts.failed(fingerprint, now)
        self._admission.end_start(self._lives[connection])
        self._pump()

    def scope_lost(self, connection: ProviderConnection, scope: Scope) -> None:
        """See `ConnectionOwner`: the reference is dead; the scope can be had again when the process is gone."""
        tenancy = self._tenancies.get(scope)
        if tenancy is not None and tenancy.phase == "held":
            if not connection.unwanted:
                self._remember(scope, connection)
            self._leave_with_process(tenancy, self._lives[connection])

    def learned(self, connection: ProviderConnection, told: Learned) -> None:
        """See `ConnectionOwner`: nothing of the pool's."""
        self._on_learned(connection.launch, told)

    def close_failed(self, name: str, close: CloseResource) -> None:
        """See `ConnectionOwner`: the sweeper goes on; the place among the live connections comes free."""
        self._sweeper.adopt(name, close)

    @property
    def _is_open(self) -> bool:
        return self._nursery is not None and not self._closing

    def _pump(self) -> None:
        if self._is_open:
            self._admission.pump()
            self._report_pressure()

    def _report_pressure(self) -> None:
        if self._admission.shortage > 0:
            self._on_pressure()


def _same(earlier: Tenancy, launch: LaunchSpecification, sink: ScopeSink) -> ConnectionReference:
    if earlier.sink is not sink or earlier.launch != launch or earlier.reference is None:
        raise ScopeInUse(f"{earlier.scope} is held already")
    return earlier.reference


async def _wait_all_gone(connections: list[ProviderConnection]) -> None:
    for connection in connections:
        await connection.gone.wait()
