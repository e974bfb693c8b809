"""One way to a provider with its adapter: the one place where an adapter's outputs are performed.

Owns the transport from its opening to its end (of a process: to the end of its last descendant), the adapter's timers
and the routes to the scopes. It decides nothing about a turn and admits nobody by itself: who may use it, and when it is given
up, is the pool's. It lives in one call of `run`; whatever goes wrong in there, bugs of an adapter included, ends
this connection alone (FC-25).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import assert_never

import structlog
import trio

from runtime.providers import failures
from runtime.providers.connection_info import ConnectionInfo, ConnectionOwner, ConnectionState, Evidence
from runtime.providers.launch import LaunchSpecification
from runtime.providers.limits import ConnectionLimits
from runtime.providers.outbox import Outbox
from runtime.providers.output_reader import OutputReader, read_to_end
from runtime.providers.port import (
    CloseThread,
    ConnectionCommand,
    Deliver,
    Diagnostic,
    GiveUp,
    HandshakeDone,
    Learned,
    Outputs,
    ProviderAdapter,
    Scope,
    StartTimer,
    StartTurn,
    StopTimer,
    Write,
)
from runtime.providers.records import ReadRecord
from runtime.providers.routes import ScopeRoutes, ScopeSink
from runtime.providers.timers import AdapterTimers
from runtime.providers.transport import ProviderTransport, TransportOpener
from runtime.providers.transport_end import end_transport
from runtime.providers.transport_start import open_transport
from store.canonical.common import TurnError
from supervisor.cell import guard
from supervisor.failpoints import failpoints
from supervisor.process_guard.port import LadderTimes

log = structlog.get_logger(__name__)


class ProviderConnection:
    """The shell around one adapter and one process. Made by the pool, run once."""

    def __init__(
        self,
        launch: LaunchSpecification,
        make_adapter: Callable[[], ProviderAdapter],
        opener: TransportOpener,
        limits: ConnectionLimits,
        owner: ConnectionOwner,
    ) -> None:
        self.launch = launch
        self.state: ConnectionState = "starting"
        self.start_error: TurnError | None = None
        """Why it never became ready."""
        self.end_error: TurnError | None = None
        """Why it ends; the first reason stands."""
        self.unwanted = False
        """It ends because its owner wants it to."""
        self.started = trio.Event()
        """It is ready, or it failed to become so."""
        self.gone = trio.Event()
        """Nothing of the process is left, or its end is in other hands."""
        self._make_adapter = make_adapter
        self._opener = opener
        self._limits = limits
        self._owner = owner
        self._work = trio.CancelScope()
        self._adapter: ProviderAdapter | None = None
        self._adapter_failed = False
        self._transport: ProviderTransport | None = None
        self._nursery: trio.Nursery | None = None
        self._timers: AdapterTimers | None = None
        self._drain_error: TurnError | None = None
        self._farewell_said = False
        self._errors_ended = trio.Event()
        self._outbox = Outbox(limits.write_queue_bytes_max)
        self._routes = ScopeRoutes(partial(owner.scope_lost, self), self._on_sink_failed)
        self._evidence = Evidence(launch, limits)
        self._log = log.bind(provider=launch.provider, program=launch.program, launch=launch.fingerprint[:12])

    # --- what the pool and its references do ------------------------------------------------------------------

    @property
    def scopes(self) -> int:
        """How many scopes hear this connection."""
        return len(self._routes)

    @property
    def takes_scopes(self) -> bool:
        """Whether it is of use to somebody new, now or once it is ready (FC-30)."""
        return self.end_error is None and self.state in ("starting", "ready")

    def attach(self, scope: Scope, sink: ScopeSink) -> None:
        """The scope hears this connection from now on. Only while it is ready."""
        assert self.state == "ready", self.state
        self._routes.attach(scope, sink)

    def detach(self, scope: Scope) -> None:
        """The scope hears nothing any more; what still comes for it is dropped and counted (FC-24).

        Its conversation is ended on the wire, unless the scope has seen to that itself.
        """
        closes_thread = scope in self._routes and not self._routes.thread_closed(scope)
        self._routes.detach(scope)
        if closes_thread and self._adapter is not None:
            self._ask(self._adapter.command, CloseThread(scope))

    def tell(self, command: ConnectionCommand) -> bool:
        """Hand a command to the adapter.

        False when it was not handed over, so the provider surely has nothing of it: the connection is ending, the
        scope has no route, or this would begin a turn on a connection that is being given up.
        """
        begins_late = self.state == "draining" and isinstance(command, StartTurn)
        if (
            self._adapter is None
            or self.end_error is not None
            or begins_late
            or command.scope not in self._routes
        ):
            return False
        self._routes.told(command)
        self._ask(self._adapter.command, command)
        return True

    def leave(self) -> None:
        """End it politely: what was told goes out, within a bound, then the process is ended."""
        if self.end_error is not None:
            return
        self.unwanted = True
        if self.state == "starting" or self._nursery is None:
            self._end(failures.RELEASED)
        elif not self._farewell_said:
            self._farewell_said = True
            self.state = "draining"
            self._nursery.start_soon(self._say_farewell, failures.RELEASED)

    def stop(self, error: TurnError = failures.RELEASED) -> None:
        """End it now; where the provider goes on without us, once it was told to stop what it does for us."""
        if self.end_error is None:
            self.unwanted = True
            self._part(error)

    def kill(self) -> None:
        """End it without any further wait; a process with all it ever forked."""
        if self.end_error is None:
            self.unwanted = True
            self._end(failures.RELEASED)
        if self._transport is not None:
            self._transport.kill()

    def drain(self, seconds: float, error: TurnError) -> None:
        """Take nobody new, let open turns end, then end the process; all within `seconds` (architecture §6).

        A scope without an open turn is told of the loss at once, so that its next turn gets a fresh process.
        """
        if self.state == "ready" and self.end_error is None and self._nursery is not None:
            self.state, self._drain_error = "draining", error
            self._nursery.start_soon(self._bound_drain, seconds, error)
            self._let_idle_scopes_go()

    def info(self) -> ConnectionInfo:
        """As it stands now."""
        return self._evidence.report(
            self._transport,
            state=self.state,
            scopes=len(self._routes),
            unwritten_bytes=self._outbox.waiting_bytes,
        )

    # --- its life ---------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Launch, live, tell every scope of the end, end the process tree. Always sets `started` and `gone`."""
        async with trio.open_nursery() as carrier:
            try:
                with self._work:
                    await self._open_and_live(carrier)
            finally:
                # Cancelled from outside means that the daemon stops the hard way: no time for politeness.
                cancelled = trio.current_effective_deadline() == -math.inf
                try:
                    self._finish(failures.SHUTTING_DOWN if cancelled else failures.crashed())
                finally:
                    await self._end_transport(LadderTimes.at_once() if cancelled else self._limits.ladder)
                    carrier.cancel_scope.cancel()

    async def _open_and_live(self, carrier: trio.Nursery) -> None:
        if self.end_error is not None:
            return
        seconds = self._limits.adapter.initialize_timeout_seconds
        deadline = trio.current_time() + seconds
        opened = await open_transport(self._opener, self.launch, carrier, seconds, self._log)
        if isinstance(opened, TurnError):
            self._end(opened)
            return
        self._transport = opened
        with guard(self._on_bug):
            self._adapter = self._make_adapter()
        if self._adapter is not None:
            await self._live(opened, self._adapter, deadline)

    async def _live(self, transport: ProviderTransport, adapter: ProviderAdapter, deadline: float) -> None:
        output = OutputReader(transport.output, self._limits.read_bytes, self._limits.last_reads_seconds)
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            self._timers = AdapterTimers(nursery, lambda token: self._ask(adapter.timer, token))
            self._ask(adapter.begin)
            nursery.start_soon(self._read, transport, adapter, output)
            nursery.start_soon(self._write, transport, adapter, output)
            nursery.start_soon(self._read_errors, transport)
            nursery.start_soon(self._watch_end, transport, output)
            nursery.start_soon(self._watch_handshake, deadline)

    async def _read(
        self, transport: ProviderTransport, adapter: ProviderAdapter, output: OutputReader
    ) -> None:
        """What was said and that it ended travel in one line, the end last (architecture rule 8)."""
        with output.waiting:
            await self._routes.wait_below_low_water()
            while data := await output.read():
                if failpoints.on:
                    await failpoints.reach("provider.read.before")
                self._ask(adapter.receive, data)
                if failpoints.on:
                    await failpoints.reach("provider.read.after")
                if self._routes.above_high_water:
                    await self._routes.wait_below_low_water()
        with trio.move_on_after(self._limits.last_evidence_seconds):
            await transport.wait_ended()
            await self._errors_ended.wait()
        how = f"ended ({transport.ended})" if transport.ended is not None else "closed its pipes"
        if self.state == "starting":
            self._end(failures.ended_at_start(self.launch, how))
        else:
            self._end(failures.lost(f"{self.launch.program} {how}"))

    async def _read_errors(self, transport: ProviderTransport) -> None:
        if transport.errors is not None:
            await read_to_end(transport.errors, self._limits.read_bytes, self._evidence.stderr.feed)
        self._errors_ended.set()

    async def _write(
        self, transport: ProviderTransport, adapter: ProviderAdapter, output: OutputReader
    ) -> None:
        try:
            await self._outbox.run(transport.input, lambda token: self._ask(adapter.written, token))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # What it said before it stopped reading still counts, so the end is left to the reader.
            output.begin_last_reads()

    async def _read_record(self, wanted: ReadRecord) -> None:
        assert self._transport is not None
        found: object | None = None
        with guard(self._on_bug):
            found = await self._transport.read_record(wanted, self._limits.record)
        self._ask(wanted.took, found)

    async def _watch_end(self, transport: ProviderTransport, output: OutputReader) -> None:
        await transport.wait_ended()
        output.begin_last_reads()

    async def _watch_handshake(self, deadline: float) -> None:
        with trio.move_on_at(deadline):
            await self.started.wait()
            return
        self._end(failures.start_timed_out(self.launch, self._limits.adapter.initialize_timeout_seconds))

    async def _say_farewell(self, error: TurnError) -> None:
        with trio.move_on_after(self._limits.farewell_seconds):
            await self._outbox.wait_flushed()
        self._end(error)

    async def _bound_drain(self, seconds: float, error: TurnError) -> None:
        await trio.sleep(seconds)
        self._part(error)

    def _part(self, error: TurnError) -> None:
        """End it. A provider that outlives us would go on with our turns for nobody: it is told to stop them first."""
        transport, adapter, nursery = self._transport, self._adapter, self._nursery
        may_speak = self.state != "starting" and not self._farewell_said
        if (
            transport is None
            or adapter is None
            or nursery is None
            or not (transport.outlives_us and may_speak)
        ):
            self._end(error)
            return
        self._farewell_said, self.state = True, "draining"
        for scope in self._routes:
            if not self._routes.thread_closed(scope):
                self._ask(adapter.command, CloseThread(scope))
        if self.end_error is None:
            nursery.start_soon(self._say_farewell, error)

    # --- performing -------------------------------------------------------------------------------------------

    def _ask(self, method: Callable[..., Outputs], *arguments: object) -> None:
        """Ask the adapter something and perform what it wants. A bug in there is no provider's doing."""
        if self.end_error is None:
            with guard(self._on_bug):
                self._perform(method(*arguments))

    def _perform(self, outputs: Outputs) -> None:
        """Everything in order, except that events are put last, merged, and that the end is for the end."""
        end: TurnError | None = None
        for output in outputs:
            match output:
                case Deliver(scope, event):
                    if not self._routes.collect(scope, event):
                        self._evidence.diagnostics.count("event_without_route")
                case Write():
                    if not self._outbox.put(output):
                        end = end or failures.too_much_unread(self.launch, self._limits.write_queue_bytes_max)
                case HandshakeDone():
                    self._become_ready(output)
                case StartTimer():
                    assert self._timers is not None
                    self._timers.start(output)
                case StopTimer(token):
                    assert self._timers is not None
                    self._timers.stop(token)
                case ReadRecord():
                    assert self._nursery is not None
                    self._nursery.start_soon(self._read_record, output)
                case Diagnostic():
                    self._evidence.diagnostics.add(output)
                case Learned():
                    self._owner.learned(self, output)
                case GiveUp(error):
                    end = end or error
                case _:
                    assert_never(output)
        self._routes.flush()
        if self._drain_error is not None:
            self._let_idle_scopes_go()
        if end is not None:
            self._end(end)

    def _become_ready(self, agent: HandshakeDone) -> None:
        self._evidence.agent = agent
        if self.state == "starting":
            self.state = "ready"
            self._log.info("provider ready", agent=agent.agent_name, version=agent.agent_version)
            self.started.set()
            self._owner.connection_started(self)

    def _let_idle_scopes_go(self) -> None:
        assert self._drain_error is not None
        self._routes.lose_idle(self._drain_error)
        if not self._routes:
            self._end(self._drain_error)

    # --- the end ----------------------------------------------------------------------------------------------

    def _end(self, error: TurnError) -> None:
        if self.end_error is None:
            self.end_error = error
            self._work.cancel()

    def _finish(self, fallback: TurnError) -> None:
        """What was said last, then the loss, to every scope exactly once. Performs nothing else any more."""
        error = self.end_error = self.end_error or fallback
        never_ready, self.state = self.state == "starting", "ended"
        adapter, self._adapter = self._adapter, None
        if never_ready and not self.unwanted:
            tail = self._evidence.last_words()
            self._log.warning("provider did not start", code=error.code, stderr=tail)
        else:
            self._log.info("provider connection ends", code=error.code, wanted=self.unwanted)
        if adapter is not None and not self._adapter_failed:
            with guard(self._on_bug):
                self._deliver(adapter.end_of_input())
            with guard(self._on_bug):
                self._deliver(adapter.lost(error))
        self._routes.lose_all(error)
        if never_ready:
            self.start_error = error
            self.started.set()
            self._owner.connection_started(self)

    def _deliver(self, outputs: Outputs) -> None:
        for output in outputs:
            if isinstance(output, Deliver):
                self._routes.collect(output.scope, output.event)
            elif isinstance(output, Diagnostic):
                self._evidence.diagnostics.add(output)
        self._routes.flush()

    async def _end_transport(self, times: LadderTimes) -> None:
        try:
            if self._transport is not None:
                transport, feed = self._transport, self._evidence.stderr.feed
                fault = await end_transport(transport, times, self._limits.read_bytes, feed)
                if fault is not None:
                    self._log.error("provider process not ended", pid=transport.pid, fault=str(fault))
                    self._owner.close_failed(transport.label, partial(transport.close, LadderTimes.at_once()))
        finally:
            self.gone.set()

    # --- what goes wrong --------------------------------------------------------------------------------------

    def _on_bug(self, fault: Exception) -> None:
        self._adapter_failed = True
        self._log.error("provider adapter crashed", exc_info=fault)
        self._end(failures.crashed())

    def _on_sink_failed(self, scope: Scope, fault: Exception) -> None:
        self._log.error("scope takes no events", scope=str(scope), exc_info=fault)
        self._owner.scope_lost(self, scope)
