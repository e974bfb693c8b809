"""The controller: everything between the ports, composed once, for production and simulation alike.

Owns the supervision tree and the order in which it starts and stops (`architecture §5`). It names no production
implementation: the store, the launcher, clocks and the transport of each client are handed in.
"""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import structlog
import trio

from runtime.actors.activities import ActivityRegistry
from runtime.actors.family import SessionPost
from runtime.actors.session import SessionDirectory, SessionServices
from runtime.actors.session_cells import SessionCells
from runtime.actors.side import SideServices
from runtime.actors.tails import Flusher, TailRegistry
from runtime.actors.turn_book import TurnBook
from runtime.api.access import AccessControl
from runtime.api.client import Client
from runtime.api.clients import ClientList
from runtime.api.event_hub import EventHub
from runtime.api.host_hints import HostHints
from runtime.api.inspection import Inspection
from runtime.api.request_sink import RequestSink
from runtime.api.requests_context import ApiServices
from runtime.api.transport import ClientTransport
from runtime.controller_limits import (
    cell_policy,
    examination_limits,
    mailbox_limits,
    pool_limits,
    session_policy,
    side_bounds,
    sweeper_limits,
    tail_limits,
)
from runtime.controller_ports import ControllerPorts, catalogues, worktree_operations
from runtime.health import HealthReport
from runtime.lifecycle.inputs import ReleaseIfIdle, Shutdown
from runtime.metrics import MetricsReport
from runtime.observability.loop_lag import LoopLag
from runtime.operations.create_session import CreateOperation
from runtime.operations.deleted_retention import DeletedRetention
from runtime.operations.operation import Releasable, WatchedSink, run_operation
from runtime.operations.periodic_copies import PeriodicCopies
from runtime.operations.session_runtime import SessionRuntimeOperations
from runtime.operations.session_trees import SessionTreeOperations
from runtime.operations.sides import SideOperations
from runtime.providers.examiner import ProgramExaminer
from runtime.providers.pool import ConnectionPool
from runtime.providers.transport import ProcessTransports
from runtime.providers.web_socket import Transports
from runtime.side.machine import SideConversation
from runtime.targets import TargetCatalogue, TargetConnections
from runtime.wire.events import HostHint, HostShutdown
from runtime.wire.limits import Limits
from runtime.wire.rows import ServerInfo
from store.canonical.change import Committed
from store.canonical.identifiers import SessionKey
from store.port import StoreWriter
from supervisor import (
    AdoptedResource,
    ChildSpec,
    Directory,
    LifecycleLocks,
    ResourceSweeper,
    Supervisor,
)
from supervisor.cell import guard
from supervisor.exit_reason import Crashed, ExitReason
from supervisor.failpoints import failpoints

log = structlog.get_logger(__name__)

QUIET_POLL_SECONDS = 0.02
DRAIN_SHARE_OF_GRACE = 0.4
"""Of `shutdownGraceSeconds`: how long sessions get to end by themselves before processes are ended."""


SIDES_SHARE_OF_GRACE = 0.2
"""Of the same: how long Sides get, so that each can say why it ends."""


class Controller:
    """One running controller."""

    def __init__(self, ports: ControllerPorts, limits: Limits, server_info: ServerInfo) -> None:
        self._ports = ports
        self._limits = limits
        self.stopping = False
        self.locks = LifecycleLocks()
        self.activities = ActivityRegistry(on_releasable=lambda: self.pool.look_for_room())
        self.tails = TailRegistry(tail_limits(limits))
        self.sweeper = ResourceSweeper(on_abandoned=_log_abandoned, limits=sweeper_limits(limits))
        self.counts: dict[str, int] = {}
        self._nursery: trio.Nursery | None = None
        self.turns = TurnBook()
        self.hub = EventHub(
            ports.writer, ports.reader, self.tails, limits.checkpoint_seconds, self._note_committed
        )
        self.clients = ClientList()
        self.lag = LoopLag()
        self.flusher = Flusher(self.tails, ports.writer, limits.write_behind_ms)
        self.examiner = self._program_examiner()
        self.targets = TargetCatalogue(ports.targets, ports.registry, ports.program_found, self.examiner)
        opener = Transports(ProcessTransports(ports.launcher, ports.records), limits.max_provider_line_bytes)
        self.pool = ConnectionPool(
            ports.registry,
            opener,
            pool_limits(limits),
            self.sweeper,
            self._release_an_idle_session,
            lambda launch, told: self.catalogues.learned(launch, told),
        )
        self.connections = TargetConnections(
            self.targets,
            self.pool,
            ports.directories.is_directory,
            ports.identifiers.new_id,
            ports.shared_directory,
            self.examiner,
        )
        self.catalogues = catalogues(
            ports,
            limits,
            self.targets,
            self.connections,
            self.examiner,
            self._spawn,
            lambda kind: self.hints.note(kind),
        )
        self.targets.standing = self.catalogues.standing
        self.sessions: SessionDirectory = Directory(
            self._cells().make, stop_grace_seconds=limits.shutdown_grace_seconds
        )
        self.copies = (
            None
            if ports.copies is None
            else PeriodicCopies(ports.copies, ports.clock, limits.copy_interval_seconds)
        )
        self.health = self._health()
        self.hints = HostHints(self.health.read, self.hub.publish_host)
        self.metrics = self._metrics()
        self.sides = self._sides()
        self.worktrees = worktree_operations(ports, limits, self.locks)
        self.trees = self._trees()
        self.retention = DeletedRetention(
            ports.reader,
            ports.writer,
            self.trees,
            ports.clock,
            limits.deleted_retention_seconds,
            limits.deleted_retention_bytes,
            limits.attachment_unused_seconds,
        )
        self.api = self._api(server_info)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; what was acknowledged is durable however this ends."""
        children: tuple[ChildSpec, ...] = (
            ChildSpec(id="store writer", start=self._run_writer),
            ChildSpec(id="flusher", start=self.flusher.run),
            ChildSpec(id="resource sweeper", start=self.sweeper.run),
            ChildSpec(id="connection pool", start=self.pool.run),
            ChildSpec(id="tasks", start=self._run_tasks),
            ChildSpec(id="sessions", start=self.sessions.run, restart="temporary"),
            ChildSpec(id="event hub", start=self.hub.run),
            ChildSpec(id="program examinations", start=self._examine_programs, restart="temporary"),
            ChildSpec(id="host hints", start=self.hints.run),
            ChildSpec(id="loop lag", start=self.lag.run),
            ChildSpec(id="deleted retention", start=self.retention.run),
        )
        if self.worktrees is not None:
            children += (ChildSpec(id="checkouts", start=self.worktrees.run),)
        if self.copies is not None:
            children += (ChildSpec(id="database copies", start=self.copies.run),)
        supervisor = Supervisor(children, on_exit=_log_exit)

        async with trio.open_nursery() as nursery:
            await nursery.start(supervisor.run)
            task_status.started()

    async def serve_client(self, transport: ClientTransport) -> None:
        """One client, until its connection ends."""
        await Client(transport, self.api).run()

    async def stop(self) -> None:
        """The clean stop: nothing new, running turns interrupted, text flushed, processes ended (RT-144)."""
        if failpoints.on:
            await failpoints.reach("service.stop.before")
        grace_seconds = self._limits.shutdown_grace_seconds
        self.hub.publish_host(HostShutdown(grace_seconds=grace_seconds))
        self.stopping = True
        for key in self.sessions.running():
            self.sessions.mailbox(key).put(Shutdown())
        with trio.move_on_after(grace_seconds * SIDES_SHARE_OF_GRACE):
            await self.sides.shut_down()
        with trio.move_on_after(grace_seconds * DRAIN_SHARE_OF_GRACE):
            while self.sessions.running():  # noqa: ASYNC110 -- once, at the end, and bounded
                await trio.sleep(QUIET_POLL_SECONDS)
        await self.pool.close(grace_seconds * (1 - DRAIN_SHARE_OF_GRACE))
        with trio.move_on_after(grace_seconds * DRAIN_SHARE_OF_GRACE):
            await self.flusher.flush()
        if failpoints.on:
            await failpoints.reach("service.stop.after")

    def count(self, what: str) -> None:
        """Something odd but harmless happened; the figures are for `health/read` and metrics."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def _program_examiner(self) -> ProgramExaminer | None:
        ports = self._ports
        if ports.program_files is None:
            return None
        return ProgramExaminer(
            ports.registry,
            ports.launcher,
            ports.program_files,
            examination_limits(self._limits),
            on_report=lambda: self.hub.publish_host(HostHint(type="target")),
        )

    async def _examine_programs(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        await self.targets.examine_all()
        self.hints.note("target")

    def _health(self) -> HealthReport:
        ports, limits = self._ports, self._limits
        return HealthReport(
            ports.writer,
            self.pool,
            self.sessions,
            self.activities,
            self.turns,
            self.sweeper,
            ports.clock,
            lambda: len(self.sides.registry),
            tuple(sorted(ports.poisoned)),
            (
                partial(_log_problems, ports.writer, limits.max_wal_bytes),
                self.flusher.problems,
                *(() if self.copies is None else (self.copies.problems,)),
            ),
        )

    def _note_committed(self, committed: Committed) -> None:
        self.turns.note(committed)
        self.catalogues.committed(committed)

    def _cells(self) -> SessionCells:
        ports = self._ports
        services = SessionServices(
            writer=ports.writer,
            reader=ports.reader,
            hub=self.hub,
            activities=self.activities,
            tails=self.tails,
            clock=ports.clock,
            identifiers=ports.identifiers,
            policy=session_policy(self._limits, self._ports.unanswered),
            target_refusal=self.targets.refusal_for,
            target_settings=self.targets.settings_of,
            offered_efforts=self.catalogues.offered_efforts,
            count=self.count,
            post=SessionPost(lambda: self.sessions),
        )
        return SessionCells(
            services,
            self.connections,
            self._spawn,
            mailbox_limits(self._limits),
            cell_policy(self._limits),
            ports.poisoned,
        )

    def _sides(self) -> SideOperations:
        ports, limits = self._ports, self._limits
        services = SideServices(
            hub=self.hub,
            clock=ports.clock,
            identifiers=ports.identifiers,
            policy=session_policy(limits, ports.unanswered),
            tail_limits=tail_limits(limits),
            lane_limits=mailbox_limits(limits),
            turns_max=limits.max_side_turns,
            spawn=self._spawn,
            count=self.count,
            head_commit_seq=lambda: ports.writer.head_commit_seq,
        )
        return SideOperations(
            ports.reader, self.locks, self.targets, self.connections, services, side_bounds(limits)
        )

    def _side_of(self, key: SessionKey) -> SideConversation | None:
        actor = self.sides.actor(key)
        return actor.state if actor is not None else None

    def _trees(self) -> SessionTreeOperations:
        ports, limits = self._ports, self._limits
        return SessionTreeOperations(
            reader=ports.reader,
            writer=ports.writer,
            hub=self.hub,
            sessions=self.sessions,
            locks=self.locks,
            directories=ports.directories,
            clock=ports.clock,
            runtime_of=self.activities.runtime,
            end_sides_of=self.sides.end_sides_of,
            worktrees=self.worktrees,
            sessions_max=limits.max_sessions,
            deadline_seconds=limits.lifecycle_timeout_seconds,
        )

    def _api(self, server_info: ServerInfo) -> ApiServices:
        ports, limits = self._ports, self._limits
        create = CreateOperation(
            reader=ports.reader,
            sessions=self.sessions,
            locks=self.locks,
            targets=self.targets,
            directories=ports.directories,
            clock=ports.clock,
            runtime_of=self.activities.runtime,
            worktrees=self.worktrees,
            sessions_max=limits.max_sessions,
            deadline_seconds=limits.lifecycle_timeout_seconds,
        )
        return ApiServices(
            reader=ports.reader,
            writer=ports.writer,
            hub=self.hub,
            tails=self.tails,
            sessions=self.sessions,
            runtime_of=self.activities.runtime,
            create=create,
            trees=self.trees,
            sides=self.sides,
            runtimes=SessionRuntimeOperations(
                self.sessions, self.locks, ports.reader, limits.lifecycle_timeout_seconds
            ),
            targets=self.targets,
            catalogues=self.catalogues,
            health=self.health.read,
            metrics=self.metrics.read,
            clients=self.clients,
            inspection=Inspection(self.sessions, self.locks, self.pool, self.activities),
            access=AccessControl(
                ports.reader,
                self.targets,
                ports.directories.is_within,
                lambda names: self.turns.unsettled(names) + self.sides.running_turns(names),
                self._side_of,
            ),
            start_operation=self._start_operation,
            limits=limits,
            server_info=server_info,
            clock=ports.clock,
            identifiers=ports.identifiers,
            stopping=lambda: self.stopping,
        )

    def _metrics(self) -> MetricsReport:
        return MetricsReport(
            writer=self._ports.writer,
            reader=self._ports.reader,
            hub=self.hub,
            clients=self.clients,
            turns=self.turns,
            sessions=self.sessions,
            pool=self.pool,
            inquiries=self.catalogues.inquiries,
            sweeper=self.sweeper,
            flusher=self.flusher,
            lag=self.lag,
            health=self.health.read,
            process=self._ports.process_figures,
            counts=self.counts,
        )

    async def _run_writer(self, *, task_status: trio.TaskStatus[None]) -> None:
        await self._ports.writer.run(task_status=task_status)

    async def _run_tasks(self, *, task_status: trio.TaskStatus[None]) -> None:
        """The service's nursery: operations, and the child tasks of sessions."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    def _spawn(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        assert self._nursery is not None, "the controller runs no task yet"
        self._nursery.start_soon(_guarded, function, *arguments, name=function.__qualname__)

    def _start_operation(
        self,
        body: Callable[[WatchedSink], Awaitable[None]],
        sink: RequestSink,
        mark: Releasable,
        more_seconds: float = 0.0,
    ) -> None:
        self._spawn(run_operation, body, sink, mark, self._limits.lifecycle_timeout_seconds + more_seconds)

    def _release_an_idle_session(self) -> None:
        """Somebody waits for a connection: the session idle for longest gives its own up (`contract §4`)."""
        for key in self.activities.releasable():
            cell = self.sessions.find(key)
            if cell is not None:
                cell.mailbox.put(ReleaseIfIdle())
                return


async def _guarded(function: Callable[..., Awaitable[None]], *arguments: object) -> None:
    """A fault of one task is its own: those of every session run in the same nursery (promise 6)."""

    def record(fault: Exception) -> None:
        log.error("a task of the service crashed", task=function.__qualname__, exc_info=fault)

    with guard(record):
        await function(*arguments)


def _log_problems(writer: StoreWriter, bytes_max: int) -> Iterator[str]:
    """A write-ahead log that cannot be emptied: somebody reads the database and does not end."""
    if writer.health().wal_bytes > bytes_max:
        yield "store.log_growing"


def _log_abandoned(resource: AdoptedResource) -> None:
    log.error(
        "a resource could not be closed and is given up", resource=resource.name, attempts=resource.attempts
    )


def _log_exit(child: str, reason: ExitReason) -> None:
    if isinstance(reason, Crashed):
        log.error("a part of the service crashed", part=child, exc_info=reason.error)
