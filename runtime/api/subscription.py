"""One subscription of one client: its filter, its place in the commit log, and what it lost.

Live, it takes commits as they come. When its client is too slow, or asked for a replay, it falls *behind*: commits
are left to the log and read from there when the queue has drained, so facts are never lost; deltas are, and are
made good by `stream_gap` and a snapshot (`contract §5`, FC-14, FC-16).
"""

from collections.abc import Iterable

import attrs

from runtime.actors.tails import TailRegistry
from runtime.api.commit_events import ENVELOPE_BYTES
from runtime.api.outbound_queue import OutboundQueue
from runtime.wire import events
from runtime.wire.encoding import encode_event, encode_snapshot, event_prefix
from store.canonical.identifiers import MessageId, SessionId, SessionKey
from store.canonical.message import Message
from store.port import LoggedCommit, StoreReader

REPLAY_BYTES_A_READ = 1024 * 1024
"""How much of the log is read in one step: bounds how long the loop is held by one slow client."""


@attrs.define
class HubFigures:
    """What happened on all subscriptions since the daemon started."""

    deltas: int = 0
    """Numbered and published, whoever followed them."""
    gaps: int = 0
    resyncs: int = 0


@attrs.frozen
class SubscriptionFilter:
    """What a subscription follows; None means all of the workspace."""

    sessions: frozenset[SessionId] | None = None
    deltas_all: bool = True
    delta_sessions: frozenset[SessionId] = frozenset()

    def takes(self, session: SessionId, root: SessionId) -> bool:
        """Whether commits of this session are followed; a root includes its descendants."""
        return self.sessions is None or session in self.sessions or root in self.sessions

    def takes_deltas(self, session: SessionId, root: SessionId) -> bool:
        """Whether its deltas and snapshots are."""
        wanted = self.deltas_all or session in self.delta_sessions or root in self.delta_sessions
        return wanted and self.takes(session, root)


@attrs.define(eq=False)
class _Gap:
    message: Message
    told: bool = False
    too_large: bool = False
    """No frame holds a snapshot of it: nothing more of it is sent before the row that ends it."""


@attrs.define(eq=False)
class Subscription:
    """Made by `events/subscribe`; ends with its connection or by `events/unsubscribe`."""

    subscription_id: int
    workspace_id: str
    filter: SubscriptionFilter
    queue: OutboundQueue
    reader: StoreReader
    tails: TailRegistry
    cursor: int
    """Every commit up to this one has been sent, or did not concern this subscription."""
    figures: HubFigures = attrs.field(factory=HubFigures)
    """Shared by all subscriptions of a hub."""
    frame_bytes_max: int = 8 * 1024 * 1024
    """`maxServerFrameBytes`."""
    live: bool = False
    _begun: bool = attrs.field(default=False, init=False)
    """Whether it follows the activity topic at all; of the host alone there is nothing to catch up with."""
    _head: int = attrs.field(default=0, init=False)
    _prefix: bytes = attrs.field(default=b"", init=False)
    _gaps: dict[tuple[SessionKey, MessageId], _Gap] = attrs.field(factory=dict, init=False)
    _lost_sides: set[SessionKey] = attrs.field(factory=set, init=False)
    """Sides that have not ended and that this client could not keep up with."""
    _side_gaps: dict[SessionKey, events.SideGap] = attrs.field(factory=dict, init=False)
    """What is still to be said of that."""
    _snapshots_due: bool = attrs.field(default=True, init=False)

    def __attrs_post_init__(self) -> None:
        self._prefix = event_prefix(self.subscription_id)
        self._head = self.cursor

    def wants(self, session: SessionId, root: SessionId) -> bool:
        """Whether its commits are followed."""
        return self.filter.takes(session, root)

    def wants_deltas(self, session: SessionId, root: SessionId) -> bool:
        """Whether its deltas are followed."""
        return self.filter.takes_deltas(session, root)

    def change(self, scope: SubscriptionFilter) -> None:
        """Follow something else from this step on (the reply is queued). What streams and is new in scope begins with
        a snapshot; what was lost of something that is no longer followed needs no word."""
        before, self.filter = self.filter, scope
        if not self._begun:
            return
        self._gaps = {key: gap for key, gap in self._gaps.items() if self._streams_to(scope, gap.message)}
        for message in self.tails.streaming():
            if self._streams_to(scope, message) and not self._streams_to(before, message):
                self._gaps.setdefault(_message_key(message), _Gap(message, told=True))
        if self.live:
            self._fill_gaps()

    def begin(self, head: int) -> None:
        """The subscribe reply is queued: replay what was asked for, then go live with snapshots."""
        self._begun = True
        self._head = head
        self.catch_up()

    def commit(self, commit_seq: int, body: bytes) -> None:
        """A new commit that this subscription follows."""
        self._head = commit_seq
        if not self.live:
            return
        if self._tell_gaps() and self.queue.put_fact(self._prefix, body):
            self.cursor = commit_seq
        else:
            self.live = False

    def delta(self, message: Message, body: bytes) -> None:
        """More text of a streaming message, unless this client has lost some of it already."""
        key = _message_key(message)
        if not self.live:
            self._gaps.setdefault(key, _Gap(message))
        elif key not in self._gaps and not self.queue.put_delta(self._prefix, body):
            # Told at once while there is room: else the row that ends the message would come without a word of it.
            self._gaps[key] = _Gap(message)
            self._tell_gaps()

    def observation(self, body: bytes) -> None:
        """Something never stored: worth nothing later, so it is dropped when there is no room."""
        if self.live:
            self.queue.put_delta(self._prefix, body)

    def wants_side(self, source: SessionId, side: SessionId) -> bool:
        """Whether this Side is followed: by its own id, or with its source."""
        return self.filter.takes(side, source)

    def side(self, event: events.SideUpdated, body: bytes, *, last: bool) -> None:
        """Something of a Side. Nothing of it is dropped singly: who lost one thing of it hears no more (`contract §5`)."""
        key = SessionKey(event.workspace_id, event.side_agent_session_id)
        if key not in self._lost_sides and not self.queue.put_delta(self._prefix, body):
            self._lost_sides.add(key)
            self._side_gaps[key] = events.SideGap(
                workspace_id=event.workspace_id,
                source_agent_session_id=event.source_agent_session_id,
                side_agent_session_id=event.side_agent_session_id,
            )
        if last:
            self._lost_sides.discard(key)
        self._tell_side_gaps()

    def hint(self, body: bytes) -> None:
        """Something of the host; it stands in no log."""
        self.queue.put_fact(self._prefix, body)

    def checkpoint(self, head: int, body: bytes) -> None:
        """Other commits went by: tell how far the store has come."""
        if self.live and head > self.cursor and self.queue.put_fact(self._prefix, body):
            self.cursor = head

    def catch_up(self) -> None:
        """There is room: read on in the log, and go live when its end is reached. One step, never waits."""
        self._tell_side_gaps()
        if not self._begun or not self._tell_gaps():
            return
        while not self.live:
            page = self.reader.log_after(self.cursor, self._head, REPLAY_BYTES_A_READ)
            if page is None:
                self._resync()
                return
            if not self._replay(page):
                return
            if not page or self.cursor >= self._head:
                self.cursor = max(self.cursor, self._head)
                self._go_live()
        self._fill_gaps()

    def _replay(self, page: Iterable[LoggedCommit]) -> bool:
        """Queue what concerns this subscription; False when the client has no room for more."""
        for logged in page:
            if self._follows(logged) and not self.queue.put_fact(self._prefix, logged.body):
                return False
            self.cursor = logged.commit_seq
        return True

    def _follows(self, logged: LoggedCommit) -> bool:
        here = self.workspace_id in ("*", logged.workspace_id)
        return here and self.filter.takes(logged.agent_session_id, logged.root_agent_session_id)

    def _resync(self) -> None:
        """The log no longer reaches back to where this subscription stands: the client has to read."""
        if self.queue.put_fact(self._prefix, encode_event(events.Resync(commit_seq=self._head))):
            self.figures.resyncs += 1
            self.cursor = self._head
            self._snapshots_due = True
            self._go_live()
            self._fill_gaps()

    def _go_live(self) -> None:
        self.live = True
        if not self._snapshots_due:
            return
        self._snapshots_due = False
        for message in self.tails.streaming():
            if _message_key(message) in self._gaps:
                continue  # it gets its snapshot when its gap is filled
            if self._streams_to(self.filter, message):
                self._snapshot(message)

    def _streams_to(self, scope: SubscriptionFilter, message: Message) -> bool:
        """Whether deltas of this message are followed under `scope`."""
        if self.workspace_id not in ("*", message.workspace_id):
            return False
        if scope.takes_deltas(message.agent_session_id, message.agent_session_id):
            return True
        if scope.deltas_all and scope.sessions is None:
            return True
        root = self.reader.root_of(SessionKey(message.workspace_id, message.agent_session_id))
        return root is not None and scope.takes_deltas(message.agent_session_id, root)

    def _tell_side_gaps(self) -> None:
        """Say once of each such Side that it was too much, as soon as there is room for it."""
        for key, gap in list(self._side_gaps.items()):
            if not self.queue.put_fact(self._prefix, encode_event(gap)):
                return
            del self._side_gaps[key]

    def _tell_gaps(self) -> bool:
        """Say once that text was lost, before anything that came later is sent. False when there is no room for it."""
        for (key, message_id), gap in self._gaps.items():
            if not gap.told:
                lost = events.StreamGap(
                    workspace_id=key.workspace_id,
                    agent_session_id=key.agent_session_id,
                    message_id=message_id,
                )
                gap.told = self.queue.put_fact(self._prefix, encode_event(lost))
                if not gap.told:
                    return False
                self.figures.gaps += 1
        return True

    def _fill_gaps(self) -> None:
        """Snapshots of what still streams; what has ended was made good by its row."""
        told = {key: gap for key, gap in self._gaps.items() if gap.told}
        for (key, message_id), gap in told.items():
            if gap.too_large and self.tails.streams(key, message_id):
                continue
            del self._gaps[key, message_id]
            snapshot = self.tails.snapshot(key, gap.message)
            if snapshot is not None:
                self._snapshot(snapshot, told=True)

    def _snapshot(self, message: Message, *, told: bool = False) -> None:
        body = encode_snapshot(message)
        if len(body) + ENVELOPE_BYTES > self.frame_bytes_max:
            self._gaps[_message_key(message)] = _Gap(message, told, too_large=True)
            self._tell_gaps()
        elif not self.queue.put_fact(self._prefix, body):
            self._gaps[_message_key(message)] = _Gap(message, told)


def _message_key(message: Message) -> tuple[SessionKey, MessageId]:
    return SessionKey(message.workspace_id, message.agent_session_id), message.message_id
