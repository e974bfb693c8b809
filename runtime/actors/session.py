"""The Session actor: drain, ask the machine, perform the effects. It decides nothing.

Owns one life of a session's code; what outlives a crash (mailbox, live tail, link, timers) is in the cell. The
commit is the one thing it waits for (`architecture rule 3`).
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias

import attrs
import structlog
import trio

from runtime.actors.activities import ActivityRegistry
from runtime.actors.family import SessionPost, WorkingChildren, never_begun, told_through_root
from runtime.actors.holds import is_over
from runtime.actors.links import SessionLink
from runtime.actors.lookup import Lookup
from runtime.actors.markers import markers_of, told_by
from runtime.actors.pictures import with_pictures
from runtime.actors.replies import InteractionReply, ReplySink, SessionReply, TurnReply
from runtime.actors.tails import TailRegistry
from runtime.actors.timers import SessionTimers
from runtime.actors.units import Segment, numbers_after, segments
from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.link import Link
from runtime.lifecycle.live_tail import Delta
from runtime.lifecycle.session import decide
from runtime.lifecycle.settings import KnownSettings
from runtime.lifecycle.state import Context, Policy, SessionState, loaded_state
from runtime.ports import IdentifierSource, WallClock
from runtime.providers.normalized import CHUNKS
from runtime.refusal import Refusal
from store.canonical.change import (
    Committed,
    NotCommitted,
    OutcomeUnknown,
    Row,
    Unit,
    UnitOutcome,
    publication_order,
)
from store.canonical.change import SessionState as StoredState
from store.canonical.identifiers import SessionKey, TargetId
from store.canonical.message import Message
from store.canonical.session import Session, SessionCounters
from store.errors import RowError, StoreDamaged
from store.port import StoreReader, StoreWriter
from supervisor.cell import Cell
from supervisor.directory import Directory
from supervisor.failpoints import failpoints

log = structlog.get_logger(__name__)


class SessionHub(Protocol):
    """The part of the event hub a session uses. Every call is one step and never waits."""

    def publish_commit(self, committed: Committed) -> None:
        """A durable unit, to all who follow it."""

    def publish_deltas(self, session: Session, deltas: list[Delta]) -> None:
        """Optimistic text."""

    def publish_activity(self, session: Session, activity: fx.PublishActivity) -> None:
        """A live observation."""


@attrs.frozen
class SessionServices:
    """What every Session actor works with."""

    writer: StoreWriter
    reader: StoreReader
    hub: SessionHub
    activities: ActivityRegistry
    tails: TailRegistry
    clock: WallClock
    identifiers: IdentifierSource
    policy: Policy
    target_refusal: Callable[[TargetId], Refusal | None]
    target_settings: Callable[[TargetId], KnownSettings]
    offered_efforts: Callable[[TargetId, str | None], frozenset[str] | None]
    count: Callable[[str], None]
    post: SessionPost


@attrs.define(eq=False)
class Glimpse:
    """What the machine last held, for those who only look (`debug/session`); None before anything was loaded."""

    state: SessionState | None = None


@attrs.define(eq=False)
class LastCrash:
    """Why the last life ended, for the turn it leaves behind."""

    cause: i.ReloadCause = "internal"


@attrs.frozen
class SessionResources:
    """What a session's cell keeps from life to life, besides its live tail."""

    key: SessionKey
    link: SessionLink
    timers: SessionTimers
    children: WorkingChildren
    glimpse: Glimpse = attrs.field(factory=Glimpse)
    last_crash: LastCrash = attrs.field(factory=LastCrash)
    waiting: list[ReplySink] = attrs.field(factory=list)
    """Callers whose commands were decided and have no answer yet: told of a crash, which forgets their commands."""


SessionCell: TypeAlias = Cell[i.SessionInput, SessionResources]
SessionDirectory: TypeAlias = Directory[SessionKey, i.SessionInput, SessionResources]


class UnitNotCommitted(Exception):
    """The store did not take a unit; the old state is certain, and the actor loads it again.

    `code` is what the callers of the discarded commands are told: store.full or internal.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code


class SessionActor:
    """One life of a session's code."""

    def __init__(self, cell: SessionCell, services: SessionServices, *, quarantined: bool = False) -> None:
        self._cell = cell
        self._quarantined = quarantined
        self._unreadable = False
        """What is stored of it cannot be read: nothing can be done before somebody has mended it."""
        self._services = services
        self._key = cell.extra.key
        self._link = cell.extra.link
        self._timers = cell.extra.timers
        self._tail = services.tails.of(self._key)
        self._lookup = Lookup(self._key, services.reader)
        self._state: SessionState | None = None
        self._flushed: SessionState | None = None
        """The state at the end of the last flush: text alone changes nothing of it."""
        self._effects: list[fx.Effect] = []
        self._numbers = StoredState(0, 0, SessionCounters())
        """The last numbers given in committed units: the machine's own run ahead within a batch."""

    async def start(self) -> None:
        """Load what is durable; after a crash, give up what the last life held and settle what it left."""
        self._link.force_all("the session's actor restarted")
        self._timers.disarm_all()
        try:
            loaded = self._services.reader.load(self._key).value
        except (RowError, StoreDamaged) as error:
            self._set_aside(error)
            return
        if loaded is None:
            return
        for message in loaded.streaming_messages:
            self._tail.open(message)
        stored = loaded.session
        self._numbers = StoredState(stored.message_version, stored.updated_at, loaded.counters)
        self._state = attrs.evolve(loaded_state(loaded), link=Link(generation=self._link.generation))
        if self._services.activities.runtime(self._key).state != "absent":
            # It was seen of an earlier life. Nothing runs when a life begins.
            now_ms = self._services.clock.now_ms()
            self._effects.append(fx.PublishActivity("absent", "idle", now_ms))
        self._effects += self._cell.extra.children.cut_off()
        if self._quarantined:
            self.receive(i.Quarantine())
        elif loaded.active_turn is not None:
            self.receive(i.Reloaded(self._cell.extra.last_crash.cause))
        await self.flush()

    def receive(self, message: i.SessionInput) -> None:
        """Decide one input and remember its effects."""
        if isinstance(message, i.HoldSession) and is_over(message):
            return
        if isinstance(message, i.SessionPurged):
            self._state, self._numbers = None, StoredState(0, 0, SessionCounters())
            return
        state = self._state
        if state is None:
            if self._unreadable or not isinstance(message, i.CreateSession):
                self._refuse(message, "session.quarantined" if self._unreadable else "session.not_found")
                return
            state = SessionState(session=message.session, link=Link(generation=self._link.generation))
        elif isinstance(message, i.CreateSession):
            self._effects.append(fx.Refuse(message.reply, Refusal("session.exists")))
            return
        context = self._context(message, state)
        try:
            known = self._lookup.enrich(message, state)
        except RowError as error:
            log.error("a stored row cannot be read", session=str(self._key), reason=str(error))
            self._refuse(message, "session.quarantined")
            return
        self._state, effects = decide(state, known, context)
        self._lookup.remember(effects)
        self._effects.extend(effects)

    def _context(self, message: i.SessionInput, state: SessionState) -> Context:
        services = self._services
        now_ms, new_id = services.clock.now_ms(), services.identifiers.new_id
        if (
            type(message) is i.FromProvider and type(message.event) in CHUNKS
        ):  # nearly all, and text asks nothing
            return Context(now_ms, new_id, services.policy)
        return Context(
            now_ms=now_ms,
            new_id=new_id,
            policy=services.policy,
            target_refusal=services.target_refusal(state.session.agent_target_id),
            known_settings=services.target_settings(state.session.agent_target_id),
            offered_efforts=partial(services.offered_efforts, state.session.agent_target_id),
            silent_seconds=self._link.silent_seconds if type(message) is i.TimerFired else 0.0,
        )

    async def flush(self) -> None:
        """Perform the batch: each unit commits, then what follows from it is told (`architecture rule 2`)."""
        while self._effects:
            effects, self._effects = self._effects, []
            self._cell.extra.glimpse.state = self._state
            self._cell.extra.children.note(self._state, performed=False)
            not_kept: list[i.ClaimNotKept] = []
            for segment in segments(effects):
                if segment.writes:
                    refused = await self._commit(segment)
                    if refused is not None:
                        not_kept.append(refused)
                        continue
                else:
                    self._reply(segment, self._services.writer.head_commit_seq)
                if failpoints.on:
                    await self._perform_with_faults(segment)
                    continue
                for effect in segment.after:
                    self._perform(effect)
            self._lookup.forget()
            for fact in not_kept:
                self.receive(fact)
        if self._state is not None and self._state is not self._flushed:
            self._flushed = self._state
            self._cell.extra.children.note(self._state, performed=True)
            self._cell.extra.waiting[:] = map(_sink, self._state.waiting_replies)

    def may_passivate(self) -> bool:
        """Without a runtime, a turn, or a timer there is nothing that the store does not know."""
        state = self._state
        if self._link.held or len(self._timers):
            return False
        if state is None:
            return True
        # Quarantine is remembered here alone, until the daemon stops.
        return state.idle and state.link.phase == "absent" and (state.stopping or not state.quarantined)

    async def stop(self) -> None:
        """The actor's end: its tail is empty, unless the daemon goes down in the middle of a turn."""
        self._timers.disarm_all()
        self._services.tails.forget(self._key)

    async def _perform_with_faults(self, segment: Segment) -> None:
        """The same, with a failpoint on each side of what a connection is told."""
        for effect in segment.after:
            told = told_by(effect)
            if told is not None:
                await failpoints.reach(f"session.{told}.before")
            self._perform(effect)
            if told is not None:
                await failpoints.reach(f"session.{told}.after")

    async def _commit(self, segment: Segment) -> i.ClaimNotKept | None:
        """Submit the unit and wait for it: not cancellable, since nobody can take a commit back (rule 14).

        A claim that was only tried for is no reason to give up what runs, when the disk is full for one.
        """
        markers = markers_of(segment) if failpoints.on else ()
        for marker in markers:
            await failpoints.reach(f"marker.{marker}.before")
        unit = self._unit(segment)
        released = trio.Event()
        outcomes: list[UnitOutcome] = []

        def complete(outcome: UnitOutcome) -> None:
            outcomes.append(outcome)
            if isinstance(outcome, Committed):
                self._committed(segment, outcome)
            released.set()

        self._services.writer.submit(unit, complete)
        with trio.CancelScope(shield=True):
            await released.wait()
        # The last: an outcome that could not be told to its end is told again, as unknown.
        outcome = outcomes[-1]
        if isinstance(outcome, NotCommitted):
            if segment.tentative is not None:
                return i.ClaimNotKept(segment.tentative, outcome.code)
            raise UnitNotCommitted(outcome.code, outcome.detail)
        if isinstance(outcome, OutcomeUnknown):
            raise UnitNotCommitted(outcome.code, outcome.detail)
        for marker in markers:
            await failpoints.reach(f"marker.{marker}.after")
        return None

    def _unit(self, segment: Segment) -> Unit:
        assert self._state is not None
        session = self._state.session
        self._numbers = numbers_after(self._numbers, segment.rows.values(), session.updated_at)
        rows = [self._shown(row) for row in segment.rows.values()]
        return Unit(
            session_key=self._key,
            root_agent_session_id=session.root_agent_session_id,
            rows=publication_order(rows),
            session_state=self._numbers,
            claims_added=tuple(segment.claims),
            claims_removed=tuple(segment.claims_removed),
        )

    def _shown(self, row: Row) -> Row:
        """A row as it is written and published: text laid in, the session with the numbers of this unit."""
        if isinstance(row, Message):
            return self._tail.complete(row)
        if isinstance(row, Session) and row.key == self._key:
            numbers = self._numbers
            return attrs.evolve(row, message_version=numbers.message_version, updated_at=numbers.updated_at)
        return row

    def _committed(self, segment: Segment, committed: Committed) -> None:
        """The completion step, run by the writer: replies first, then facts (`contract §2`, Order)."""
        self._reply(segment, committed.commit_seq)
        opened = {effect.message.message_id for effect in segment.opened}
        for row in committed.unit.rows:
            if isinstance(row, Message):
                self._settle_tail(row, opened=row.message_id in opened)
        self._services.hub.publish_commit(committed)

    def _settle_tail(self, row: Message, *, opened: bool) -> None:
        """The tail follows the row as committed: one opened and changed, or ended, in one unit is that already."""
        if row.status != "streaming":
            self._tail.close(row.message_id)
        elif opened:
            self._tail.open(row)
        elif row.message_id in self._tail:
            self._tail.revise(row)
            self._tail.mark_written(row.message_id)

    def _reply(self, segment: Segment, commit_seq: int) -> None:
        for effect in segment.replies:
            match effect:
                case fx.ReplyTurn(to, turn):
                    _sink(to).deliver(TurnReply(turn), commit_seq)
                case fx.ReplySession(to, session, turn):
                    _sink(to).deliver(SessionReply(session, turn), commit_seq)
                case fx.ReplyInteraction(to, interaction):
                    _sink(to).deliver(InteractionReply(interaction), commit_seq)
                case fx.Refuse(to, refusal):
                    _sink(to).refuse(refusal)
                case _:
                    raise AssertionError(f"{type(effect).__name__} is no reply")

    def _perform(self, effect: fx.Effect) -> None:
        assert self._state is not None
        session = self._state.session
        mailbox = self._cell.mailbox
        match effect:
            case fx.AppendText(message_id, text):
                deltas = self._tail.append(message_id, text)
                if deltas:
                    self._services.hub.publish_deltas(session, deltas)
            case fx.ReplaceText(message_id, text):
                self._tail.replace(message_id, text)
            case fx.TellConnection(generation, command):
                through = told_through_root(session, command)
                if through is not None:
                    self._services.post.tell(through.key, through.message)
                    return
                self._link.tell(
                    generation, with_pictures(command, self._services.reader, self._key.workspace_id)
                )
            case fx.TellSession(key, message):
                self._services.post.tell(key, message)
            case fx.ArmTimer(timer, seconds):
                self._timers.arm(timer, seconds, mailbox)
            case fx.DisarmTimer(timer):
                self._timers.disarm(timer)
            case fx.PublishActivity():
                self._services.activities.note(self._key, effect)
                self._services.hub.publish_activity(session, effect)
            case fx.AcquireConnection(generation, wanted):
                self._link.acquire(generation, wanted, self._state.scope, mailbox)
            case fx.ReleaseConnection(generation):
                self._link.release(generation, mailbox)
            case fx.ForceConnection(generation, reason):
                log.warning("a provider connection is forced", session=str(self._key), reason=reason)
                self._link.force(generation, reason)
            case fx.Count(what):
                self._services.count(what)
            case _:
                raise AssertionError(f"{type(effect).__name__} is no effect to perform after a commit")

    def _refuse(self, message: i.SessionInput, code: str) -> None:
        reply, lost = getattr(message, "reply", None), never_begun(self._key, message)
        if reply is not None:
            _sink(reply).refuse(Refusal(code))
        if lost is not None:
            self._services.post.tell(lost.key, lost.message)

    def _set_aside(self, error: RowError | StoreDamaged) -> None:
        """Loading again would fail again: answer that it is set aside, and be seen in health (FC-40)."""
        log.error("a session cannot be read and is set aside", session=str(self._key), reason=str(error))
        self._unreadable = True
        now_ms = self._services.clock.now_ms()
        self._services.activities.note(self._key, fx.PublishActivity("quarantined", "idle", now_ms))


def _sink(to: object) -> ReplySink:
    return to  # type: ignore[return-value]  # the machine hands a caller's sink back untouched
