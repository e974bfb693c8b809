"""A session's hold on its provider connection: acquiring, releasing and forcing in child tasks that report back.

Owns the reference of each generation; it lives in the cell, so that a crash of the actor's code leaks nothing.
It decides nothing: the machine says what to do, and learns what came of it by message.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

import attrs
import structlog
import trio

from runtime.lifecycle import inputs as i
from runtime.providers import failures
from runtime.providers.normalized import ConnectionLost, ProviderEvent
from runtime.providers.port import ConnectionCommand, Scope
from runtime.providers.routes import ScopeSink
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from store.canonical.common import TurnError
from store.canonical.session import Session
from supervisor.cell import guard
from supervisor.errors import ActorStopped
from supervisor.mailbox import Mailbox

log = structlog.get_logger(__name__)


class ConnectionSource(Protocol):
    """Gives a session its connection: target, launch and pool behind one call."""

    async def acquire(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference:
        """Returns a ready connection; raises AcquireFailed."""


@attrs.define(eq=False)
class MailboxSink:
    """Events of one generation, on their way into the session's mailbox."""

    mailbox: Mailbox[i.SessionInput]
    generation: int
    on_lost: Callable[[int], None]
    """Called with the generation when its connection is gone; its reference is dead from here on."""
    further_lanes: Callable[[], Iterable[Mailbox[i.SessionInput]]]
    """Where some of it is passed on to."""
    heard_at: float = attrs.field(factory=trio.current_time)
    """When the connection last had something to say; seconds of trio's clock."""

    def put(self, event: ProviderEvent) -> None:
        """Into the work lane. An actor that has ended needs no more words: its link was given up before."""
        self.heard_at = trio.current_time()
        if type(event) is ConnectionLost:
            self.on_lost(self.generation)
        try:
            self.mailbox.put(i.FromProvider(self.generation, event))
        except ActorStopped:
            log.debug("an event came after its session's actor ended", kind=type(event).__name__)

    @property
    def above_high_water(self) -> bool:
        """The read gate of the lane, and of those it is passed on to."""
        return any(lane.above_high_water for lane in (self.mailbox, *self.further_lanes()))

    async def wait_below_low_water(self) -> None:
        """Until those lanes that are full have drained to half."""
        for lane in (self.mailbox, *self.further_lanes()):
            if lane.above_high_water:
                await lane.wait_below_low_water()


@attrs.define(eq=False)
class _Acquisition:
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    done: trio.Event = attrs.field(factory=trio.Event)


@attrs.define(eq=False)
class SessionLink:
    """The references of one session's cell, by generation."""

    source: ConnectionSource
    spawn: Callable[..., None]
    """Starts a task in the service's nursery: it outlives the actor's code, not the daemon."""
    further_lanes: Callable[[], Iterable[Mailbox[i.SessionInput]]] = tuple
    """Where what this session hears is passed on to, besides its own mailbox."""
    generation: int = 0
    """The newest generation ever asked for; a restarted actor goes on counting from it."""
    _sink: MailboxSink | None = attrs.field(default=None, init=False)
    """Of the newest connection."""
    _references: dict[int, ConnectionReference] = attrs.field(factory=dict, init=False)
    _acquiring: dict[int, _Acquisition] = attrs.field(factory=dict, init=False)

    @property
    def held(self) -> bool:
        """Whether anything is held or on its way."""
        return bool(self._references or self._acquiring)

    @property
    def silent_seconds(self) -> float:
        """How long nothing has been heard of the newest connection."""
        return 0.0 if self._sink is None else trio.current_time() - self._sink.heard_at

    def acquire(
        self, generation: int, session: Session, scope: Scope, mailbox: Mailbox[i.SessionInput]
    ) -> None:
        """Get a connection in a child task; it reports ConnectionAcquired or ConnectionUnavailable."""
        self.generation = max(self.generation, generation)
        acquisition = self._acquiring[generation] = _Acquisition()
        self.spawn(self._acquire, generation, acquisition, session, scope, mailbox)

    def tell(self, generation: int, command: ConnectionCommand) -> None:
        """Pass a command on; one for a generation that is gone has nobody to hear it."""
        reference = self._references.get(generation)
        if reference is not None:
            reference.tell(command)

    def release(self, generation: int, mailbox: Mailbox[i.SessionInput]) -> None:
        """Give the generation back in a child task; it reports ConnectionReleased."""
        acquisition = self._acquiring.get(generation)
        if acquisition is not None:
            # In this step, not when the task runs: a reference that comes in between is then released where it comes.
            acquisition.scope.cancel()
        reference = self._references.pop(generation, None)
        self.spawn(self._release, generation, acquisition, reference, mailbox)

    def force(self, generation: int, reason: str) -> None:
        """End the generation for this session now; no report follows."""
        acquisition = self._acquiring.get(generation)
        if acquisition is not None:
            acquisition.scope.cancel()
        reference = self._references.pop(generation, None)
        if reference is not None:
            reference.force(reason)

    def force_all(self, reason: str) -> None:
        """The actor's code crashed: whatever it held is given up."""
        for generation in {*self._references, *self._acquiring}:
            self.force(generation, reason)

    def references(self) -> tuple[ConnectionReference, ...]:
        """What is held now, for `debug/session`."""
        return tuple(self._references.values())

    def _forget(self, generation: int) -> None:
        """Its process is gone. A dead reference that stayed would keep the actor from ever passivating."""
        self._references.pop(generation, None)

    async def _acquire(
        self,
        generation: int,
        acquisition: _Acquisition,
        session: Session,
        scope: Scope,
        mailbox: Mailbox[i.SessionInput],
    ) -> None:
        reference: ConnectionReference | None = None
        faults: list[Exception] = []
        try:
            with acquisition.scope, guard(faults.append):
                sink = self._sink = MailboxSink(mailbox, generation, self._forget, self.further_lanes)
                reference = await self.source.acquire(session, scope, sink)
        finally:
            del self._acquiring[generation]
            acquisition.done.set()
        for fault in faults:
            _report(mailbox, i.ConnectionUnavailable(generation, _error_of(fault)))
        if reference is None:
            return
        if acquisition.scope.cancel_called:
            # It came in the step in which it was given up: nobody else knows of it.
            reference.release()
            return
        self._references[generation] = reference
        _report(mailbox, i.ConnectionAcquired(generation))

    async def _release(
        self,
        generation: int,
        acquisition: _Acquisition | None,
        reference: ConnectionReference | None,
        mailbox: Mailbox[i.SessionInput],
    ) -> None:
        if acquisition is not None:
            await acquisition.done.wait()
        if reference is not None:
            with guard(_log_fault):
                reference.release()
                await reference.wait_gone()
        _report(mailbox, i.ConnectionReleased(generation))


def _error_of(fault: Exception) -> TurnError:
    """Why there is no connection. A session waits for this word, so it comes even when our own code failed."""
    if isinstance(fault, AcquireFailed):
        return fault.error
    _log_fault(fault)
    return failures.crashed()


def _log_fault(fault: Exception) -> None:
    log.error("a session's hold on its connection failed by a fault of this program", exc_info=fault)


def _report(mailbox: Mailbox[i.SessionInput], fact: i.SessionInput) -> None:
    try:
        mailbox.put(fact)
    except ActorStopped:
        log.debug("a report came after its session's actor ended", kind=type(fact).__name__)
