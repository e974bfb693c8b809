"""What one actor writes in one go (a *unit*), and what became of it (`architecture §2`, ST-002, ST-004)."""

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import MessageId, SessionId, SessionKey, TurnId, WorkspaceId
from store.canonical.interaction import Interaction
from store.canonical.message import DeltaField, Message
from store.canonical.operation import Operation
from store.canonical.session import Session, SessionCounters
from store.canonical.turn import Turn


@attrs.frozen
class _OfSession:
    session: Session

    @property
    def workspace_id(self) -> WorkspaceId:
        """Where the session is."""
        return self.session.workspace_id

    @property
    def agent_session_id(self) -> SessionId:
        """Which session it is."""
        return self.session.agent_session_id


@attrs.frozen
class SessionRemoved(_OfSession):
    """The deletion of a session (ST-023). `session` is its row as it stands from then on, `deleted_at` set."""


@attrs.frozen
class SessionRestored(_OfSession):
    """The one thing that brings a deleted session back (ST-025, ST-026); `session` is its row, as it was before."""


@attrs.frozen
class SessionReread(_OfSession):
    """Writes nothing: tells who follows the session that all of it is to be read (`contract §5`, session_reset)."""


Row: TypeAlias = (
    Session | Turn | Message | Interaction | Operation | SessionRemoved | SessionRestored | SessionReread
)


@attrs.frozen
class Unit:
    """Complete rows of one session that commit together or not at all, under one `commitSeq`.

    `rows` are published in the order session, turn, message, interaction, operation, removal, restoration. A Session row is
    written only when something besides `message_version`, `updated_at` and `runtime` changed; `session_state` carries
    those columns and the counters always. Claims are internal and never published.

    A removal, a restoration or a purge stands alone in its unit, without a state: it moves no column but the mark of
    the deletion (ST-025). A purge publishes nothing: who followed the session heard of its removal.
    """

    session_key: SessionKey
    root_agent_session_id: SessionId
    rows: tuple[Row, ...]
    session_state: "SessionState | None"
    claims_added: tuple[SubmitClaim, ...] = ()
    claims_removed: tuple[SubmitClaim, ...] = ()
    purges: bool = False
    """The session and all that belongs to it goes for good; its id is free again."""


@attrs.frozen
class SessionState:
    """The columns of a session that move with every unit."""

    message_version: int
    updated_at: int
    counters: SessionCounters


@attrs.frozen
class Committed:
    """The unit is durable. `body` is the published commit event without its subscription (`contract §5`)."""

    unit: Unit
    commit_seq: int
    body: bytes


@attrs.frozen
class NotCommitted:
    """The unit was rolled back as a whole and left nothing: `code` is store.full, store.unavailable,
    submit.conflict (its claim was taken), session.deleted (it is of a deleted session), session.busy (a deletion
    decided on a row that has moved on) or internal.

    Not to be mistaken for `OutcomeUnknown`: here the old state is certain.
    """

    unit: Unit
    code: str
    detail: str


@attrs.frozen
class OutcomeUnknown:
    """The unit may or may not be durable (`reliability` fact 4): the actor must load again before it decides anything else.

    `code` is store.unavailable where the group's COMMIT failed, and the store has a new epoch; it is internal where
    the code that was to be told of the outcome failed in between.
    """

    unit: Unit
    detail: str
    code: str = "store.unavailable"


UnitOutcome: TypeAlias = Committed | NotCommitted | OutcomeUnknown


@attrs.frozen
class StreamPiece:
    """Text written behind while its message streams; kept apart from the row and joined when read.

    `first_delta_seq` is the number of the first delta contained, `deltas` how many are.
    """

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    message_id: MessageId
    first_delta_seq: int
    deltas: int
    field: DeltaField
    text: str


@attrs.frozen
class LoadedSession:
    """All a Session actor needs to start: the row, its counters, and what is unfinished."""

    session: Session
    counters: SessionCounters
    active_turn: Turn | None
    streaming_messages: tuple[Message, ...]
    """Rows still streaming, with their written-behind pieces joined in and `delta_seq` to match."""
    pending_interactions: tuple[Interaction, ...]


def publication_order(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Sort rows as the contract publishes them: session, turn, message (by sequence), interaction, and so on."""
    return tuple(sorted(rows, key=_rank))


def _rank(row: Row) -> tuple[int, int]:
    match row:
        case Session():
            return (0, 0)
        case Turn():
            return (1, row.sequence)
        case Message():
            return (2, row.sequence)
        case Interaction():
            return (3, 0)
        case Operation():
            return (4, 0)
        case SessionRemoved():
            return (5, 0)
        case SessionRestored():
            return (6, 0)
        case SessionReread():
            return (7, 0)


def turn_of(rows: Sequence[Row], turn_id: TurnId) -> Turn | None:
    """The row of that turn within a unit, if it is there."""
    return next((row for row in rows if isinstance(row, Turn) and row.turn_id == turn_id), None)
