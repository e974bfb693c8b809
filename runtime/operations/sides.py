"""Opening and ending Sides: tasks that hold the lifecycle identities of source and Side (`architecture §4`).

Owns which Sides there are, the order of an opening and its undo, and every way a Side is ended from outside: its client,
its surface, its owner's loss, its source's deletion, the daemon's stop. What happens inside of one is its actor's.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from contextlib import AsyncExitStack
from typing import Final, Protocol

import attrs
import structlog
import trio

from runtime.actors.replies import SideReply, SidesReply
from runtime.actors.side import SideActor, SideMailbox, SideServices, SideSink, refuse_all, side_mailbox
from runtime.lifecycle.settings import chosen
from runtime.operations.operation import WatchedSink
from runtime.operations.side_connections import SideConnections, connection_for_fork
from runtime.providers.normalized import ConnectionLost, SideForked, ThreadOpenFailed
from runtime.providers.port import OpenSide, Scope
from runtime.providers.side_facts import SideFacts
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from runtime.refusal import Refusal
from runtime.side.lineage import is_side_of, resolve_support
from runtime.side.machine import CloseSide, SideInput, open_side, scope_of
from runtime.side.open_buffer import OpenBuffer
from runtime.side.registry import SideEntry, SideRegistry
from runtime.side.rows import CloseReason, Side
from store.canonical.identifiers import SessionKey, TargetId
from store.canonical.session import Session
from store.port import StoreReader
from supervisor import PlaceMark
from supervisor.errors import ActorStopped, LifecycleTimeout
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks

log = structlog.get_logger(__name__)

UNDO_SECONDS: Final = 5.0
"""How long the undo of an opening waits for a process of the Side's own to end; the pool goes on by itself."""


class SideTargets(Protocol):
    """What opening needs to know of targets."""

    def refusal_for(self, target_id: TargetId) -> Refusal | None:
        """Why this target cannot serve, if so."""

    def side_facts(self, session: Session) -> SideFacts:
        """What its provider family can do at least about ephemeral forks of this session."""


@attrs.define(eq=False)
class LiveSide:
    """A Side's mailbox from its reservation on, and its actor once it is open."""

    mailbox: SideMailbox
    actor: SideActor | None = None
    unwanted: Refusal | None = None
    """It was to end before its opening had begun: the opening is refused with this."""


@attrs.frozen(kw_only=True)
class AskedSide:
    """A Side as asked for."""

    key: SessionKey
    source: SessionKey
    surface_id: str
    owner: Hashable
    instructions: str | None


@attrs.frozen(kw_only=True)
class SideBounds:
    """Of all Sides; seconds."""

    sides_max: int
    tombstones_max: int
    open_timeout_seconds: float
    owner_grace_seconds: float
    lifecycle_timeout_seconds: float
    early_bytes_max: int


class SideOperations:
    """Every Side of the service."""

    def __init__(
        self,
        reader: StoreReader,
        locks: LifecycleLocks,
        targets: SideTargets,
        connections: SideConnections,
        services: SideServices,
        bounds: SideBounds,
    ) -> None:
        self._reader = reader
        self._locks = locks
        self._targets = targets
        self._connections = connections
        self._services = services
        self._bounds = bounds
        self.registry: SideRegistry[LiveSide] = SideRegistry(bounds.sides_max, bounds.tombstones_max)

    # --- looking ----------------------------------------------------------------------------------------------

    def actor(self, key: SessionKey) -> SideActor | None:
        """The actor of an open Side."""
        entry = self.registry.find(key)
        return entry.live.actor if entry is not None else None

    def row(self, entry: SideEntry[LiveSide]) -> Side | None:
        """The Side as it stands; None while it is still opening, when nothing of it is settled."""
        actor = entry.live.actor
        return actor.state.side if actor is not None else None

    def running_turns(self, workspaces: frozenset[str] | None) -> int:
        """Turns of Sides that are not settled, of some workspaces or of all."""
        return sum(
            entry.live.actor is not None and entry.live.actor.state.talk.turn is not None
            for entry in self.registry
            if workspaces is None or entry.key.workspace_id in workspaces
        )

    def tell(self, key: SessionKey, command: SideInput, source: Hashable, *, control: bool) -> Refusal | None:
        """Hand a command to a Side. One that is opening takes it up once it is open. Raises MailboxFull."""
        entry = self.registry.find(key)
        if entry is None:
            return self.registry.refusal(key)
        try:
            entry.live.mailbox.offer(command, source=source, control=control)
        except ActorStopped:
            return self.registry.refusal(key)
        return None

    # --- opening ----------------------------------------------------------------------------------------------

    def reserve(self, asked: AskedSide) -> Refusal | None:
        """Take the id, in the step of the request: what the same client sends after it finds the Side (RT-112)."""
        refusal = self.registry.reserve_refusal(asked.key, asked.source)
        if refusal is None and self.registry.find(asked.key) is None:
            if self._reader.session(asked.key).value is not None:
                return Refusal("side.exists")
            mailbox = side_mailbox(self._services.lane_limits)
            entry = SideEntry(asked.key, asked.source, asked.surface_id, asked.owner, LiveSide(mailbox))
            self.registry.reserve(entry)
        return refusal

    def abandon(self, key: SessionKey) -> None:
        """A reservation whose opening did not begin, or failed: nothing of it stays."""
        entry = self.registry.find(key)
        if entry is not None and entry.live.actor is None:
            self.registry.cancel(entry)
            refuse_all(entry.live.mailbox, Refusal("side.not_found"))

    async def open(self, asked: AskedSide, mark: PlaceMark, sink: WatchedSink) -> None:
        """Answer with the Side, or with why there is none; a failed opening leaves nothing (RT-111, RT-113)."""
        try:
            # What the client asked of the source before has its place first; what it asks now need not wait for us.
            await mark.reached.wait()
            mark.release()
            async with self._locks.hold(
                _session_identity(asked.source),
                _side_identity(asked.key),
                holder=f"open side {asked.key}",
                deadline_seconds=self._bounds.lifecycle_timeout_seconds,
            ):
                refusal = self.reserve(asked) or await self._open_held(asked, sink)
                if refusal is not None:
                    self.abandon(asked.key)
                    sink.refuse(refusal)
        finally:
            self.abandon(asked.key)

    async def _open_held(self, asked: AskedSide, sink: WatchedSink) -> Refusal | None:
        entry = self.registry.find(asked.key)
        assert entry is not None
        if entry.live.unwanted is not None:
            return entry.live.unwanted
        if entry.live.actor is not None:
            sink.deliver(SideReply(entry.live.actor.state.side), self._services.head_commit_seq())
            return None
        session = self._source(asked.source)
        if isinstance(session, Refusal):
            return session
        refusal: Refusal | None = Refusal("provider.timeout", delivery="unknown")
        async with AsyncExitStack() as undo:
            with trio.move_on_after(self._bounds.open_timeout_seconds):
                refusal = await self._fork(asked, session, entry, undo, sink)
        return refusal

    def _source(self, key: SessionKey) -> Session | Refusal:
        """The source, if it can be forked as far as is known without its provider (RT-109)."""
        session = self._reader.session(key).value
        if session is None:
            return Refusal("session.not_found")
        if session.deleted_at is not None:
            return Refusal("session.deleted")
        refusal = self._targets.refusal_for(session.agent_target_id)
        if refusal is not None:
            return refusal
        support = resolve_support(session, self._targets.side_facts(session))
        if not support.supported:
            return Refusal("capability.unsupported", details={"reason": support.reason})
        return session

    async def _fork(
        self,
        asked: AskedSide,
        session: Session,
        entry: SideEntry[LiveSide],
        undo: AsyncExitStack,
        sink: WatchedSink,
    ) -> Refusal | None:
        scope = Scope("side", asked.key.workspace_id, asked.key.agent_session_id)
        route = SideSink(OpenBuffer(self._bounds.early_bytes_max))
        try:
            reference = await connection_for_fork(
                self._connections, session, scope, route, asked.instructions
            )
        except AcquireFailed as failed:
            return Refusal(failed.error.code, retry_after_ms=failed.error.retry_after_ms)
        undo.push_async_callback(_leave, reference)
        assert session.provider_session_id is not None
        told = reference.tell(
            OpenSide(scope, session.provider_session_id, session.cwd, chosen(session), asked.instructions)
        )
        if not told:
            return Refusal("provider.lost")
        await route.decided.wait()
        outcome = route.buffer.outcome
        match outcome:
            case ThreadOpenFailed(error) | ConnectionLost(error):
                return Refusal(error.code, delivery="rejected", retry_after_ms=error.retry_after_ms)
            case SideForked() if not is_side_of(outcome, session.provider_session_id):
                return Refusal("provider.protocol", delivery="rejected")
            case SideForked() if route.buffer.lost is None:
                # From here on nothing waits: fork, route and Side come into being in one step.
                self._register(asked, session, entry, reference, route, outcome, sink)
                undo.pop_all()
                return None
            case SideForked():
                return Refusal("provider.lost", delivery="rejected")
            case _:
                return Refusal("overloaded", delivery="rejected")

    def _register(
        self,
        asked: AskedSide,
        session: Session,
        entry: SideEntry[LiveSide],
        reference: ConnectionReference,
        route: SideSink,
        forked: SideForked,
        sink: WatchedSink,
    ) -> None:
        side = Side(
            workspace_id=asked.key.workspace_id,
            agent_session_id=asked.key.agent_session_id,
            source_agent_session_id=asked.source.agent_session_id,
            side_agent_session_id=asked.key.agent_session_id,
            surface_id=entry.surface_id,
            state="open",
            active_turn_id=None,
            settings=forked.settings,
            opened_at=self._services.clock.now_ms(),
        )
        assert scope_of(side) == reference.scope
        turns_max = min(self._services.turns_max, forked.turns_max or self._services.turns_max)
        state, effects = open_side(side, session, forked.provider_session_id, turns_max)
        mailbox = entry.live.mailbox

        def ended() -> None:
            self.registry.end(entry)

        actor = entry.live.actor = SideActor(state, mailbox, reference, self._services, ended)
        route.mailbox = mailbox
        sink.deliver(SideReply(side), self._services.head_commit_seq())
        actor.begin(effects, route.buffer.replay())
        self._services.spawn(actor.run)

    # --- ending -----------------------------------------------------------------------------------------------

    async def close(self, key: SessionKey, sink: WatchedSink) -> None:
        """Answer with the Side once nothing of it is left: `side/close`."""
        entry = self.registry.find(key)
        if entry is None:
            sink.refuse(self.registry.refusal(key))
            return
        await self._end(entry, "closed", sink)
        if not sink.answered.is_set():
            sink.refuse(self.registry.refusal(key))

    async def dispose(self, workspace_id: str, surface_id: str, owner: Hashable, sink: WatchedSink) -> None:
        """Close what this connection shows in that place: `surface/dispose`."""
        mine = [entry for entry in self.registry.of_surface(workspace_id, surface_id) if entry.owner == owner]
        closed = await self._end_all(mine, "surface_disposed")
        sink.deliver(SidesReply(closed), self._services.head_commit_seq())

    def attach(self, workspace_id: str, surface_id: str, owner: Hashable) -> tuple[Side, ...]:
        """From now on this connection owns what is shown in that place; the Sides that are open there."""
        entries = self.registry.of_surface(workspace_id, surface_id)
        for entry in entries:
            entry.owner = owner
        return tuple(side for entry in entries if (side := self.row(entry)) is not None)

    def owner_lost(self, owner: Hashable) -> None:
        """A connection has ended: its Sides follow, unless another one takes them within the grace."""
        if self.registry.of_owner(owner):
            self._services.spawn(self._end_owned, owner)

    async def end_sides_of(self, sources: Iterable[SessionKey]) -> None:
        """These sessions are about to be deleted: their Sides end first (`source_deleted`)."""
        entries = [entry for source in sources for entry in self.registry.of_source(source)]
        await self._end_all(entries, "source_deleted")

    async def shut_down(self) -> None:
        """The daemon stops."""
        await self._end_all(list(self.registry), "shutdown")

    async def _end_owned(self, owner: Hashable) -> None:
        await trio.sleep(self._bounds.owner_grace_seconds)
        await self._end_all(self.registry.of_owner(owner), "owner_lost")

    async def _end_all(self, entries: Iterable[SideEntry[LiveSide]], reason: CloseReason) -> tuple[Side, ...]:
        """All at once; those that were open, as they ended."""
        closed: list[Side] = []

        async def end(entry: SideEntry[LiveSide]) -> None:
            try:
                side = await self._end(entry, reason, None)
            except LifecycleTimeout as error:
                log.warning("a Side could not be closed now", reason=str(error))
                return
            if side is not None:
                closed.append(side)

        async with trio.open_nursery() as nursery:
            for entry in entries:
                nursery.start_soon(end, entry)
        return tuple(sorted(closed, key=lambda side: side.opened_at))

    async def _end(
        self, entry: SideEntry[LiveSide], reason: CloseReason, sink: WatchedSink | None
    ) -> Side | None:
        """Hold the Side, so that an opening is over, then end it; the Side as it ended."""
        async with self._locks.hold(
            _side_identity(entry.key),
            holder=f"end side {entry.key}",
            deadline_seconds=self._bounds.lifecycle_timeout_seconds,
        ):
            actor = entry.live.actor
            if actor is None:
                if reason != "source_deleted":
                    # An opening that waits for its source finds out itself whether that was deleted in the end.
                    stops = reason == "shutdown"
                    entry.live.unwanted = Refusal("shutdown.in_progress" if stops else "side.expired")
                return None
            try:
                entry.live.mailbox.put(CloseSide(sink, reason))
            except ActorStopped:
                log.debug("a Side had ended before it was closed")
            await actor.gone.wait()
            return actor.state.side


EndSides = Callable[[Iterable[SessionKey]], Awaitable[None]]


async def _leave(reference: ConnectionReference) -> None:
    """Undo: give the connection back, and with it whatever fork was made on it."""
    with trio.move_on_after(UNDO_SECONDS, shield=True):
        reference.release()
        await reference.wait_gone()


def _session_identity(key: SessionKey) -> LifecycleIdentity:
    return LifecycleIdentity("session", key.workspace_id, key.agent_session_id)


def _side_identity(key: SessionKey) -> LifecycleIdentity:
    return LifecycleIdentity("side", key.workspace_id, key.agent_session_id)
