"""What the server tells by itself: the payloads of the three topics (`contract §5`).

On the wire an event is `{subscriptionId, topic, type, ...}`; `subscriptionId` differs for each subscriber, all the
rest is encoded once and shared, so it is no member here. Deltas, gaps and activity are optimistic and carry no
`commitSeq`. The hot ones are written by `runtime.wire.encoding` without an object of these classes.
"""

from typing import Annotated, Literal, TypeAlias

import attrs

from runtime.side.rows import SideClosed as SideClosed
from runtime.side.rows import SideError as SideError
from runtime.side.rows import SideExpired as SideExpired
from runtime.side.rows import SideInteraction as SideInteraction
from runtime.side.rows import SideMessage as SideMessage
from runtime.side.rows import SideOpened as SideOpened
from runtime.side.rows import SideTurn as SideTurn
from runtime.wire.constraints import Characters
from runtime.wire.limits import Seconds
from runtime.wire.rows import Count, Goal, Interaction, Message, Operation, Session, Turn
from store.canonical.identifiers import MessageId, SessionId, TurnId, WorkspaceId
from store.canonical.message import DeltaField, MessageKind
from store.canonical.session import RuntimeState

# --- agent.activity.updated: committed facts --------------------------------------------------------------------


@attrs.frozen
class SessionChange:
    """The session as it is now."""

    row: Session
    type: Literal["session"] = "session"


@attrs.frozen
class TurnChange:
    """The turn as it is now."""

    row: Turn
    type: Literal["turn"] = "turn"


@attrs.frozen
class MessageChange:
    """The message as it is now."""

    row: Message
    type: Literal["message"] = "message"


@attrs.frozen
class InteractionChange:
    """The interaction as it is now."""

    row: Interaction
    type: Literal["interaction"] = "interaction"


@attrs.frozen
class GoalChange:
    """The goal as it is now."""

    row: Goal
    type: Literal["goal"] = "goal"


@attrs.frozen
class OperationChange:
    """The operation as it is now."""

    row: Operation
    type: Literal["operation"] = "operation"


@attrs.frozen
class SessionRemovedChange:
    """The session was deleted."""

    row: Session
    type: Literal["session_removed"] = "session_removed"


@attrs.frozen
class SessionRestoredChange:
    """The session is back (AP-019); a `session_reset` follows."""

    row: Session
    type: Literal["session_restored"] = "session_restored"


Change: TypeAlias = (
    SessionChange
    | TurnChange
    | MessageChange
    | InteractionChange
    | GoalChange
    | OperationChange
    | SessionRemovedChange
    | SessionRestoredChange
)


@attrs.frozen(kw_only=True)
class Commit:
    """What one actor wrote in one go: complete rows of one workspace. Numbers grow and have holes."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["commit"] = "commit"
    commit_seq: Count
    changes: tuple[Change, ...]


@attrs.frozen(kw_only=True)
class Checkpoint:
    """Commits up to here were none of this subscription's."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["checkpoint"] = "checkpoint"
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionReset:
    """Stands in for a commit that is too large to send, a fork or an import: read the session again."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["session_reset"] = "session_reset"
    commit_seq: Count
    workspace_id: WorkspaceId
    agent_session_id: SessionId
    message_version: Count


@attrs.frozen(kw_only=True)
class Resync:
    """This subscription fell behind the log: read everything again. What follows is newer than this number."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["resync"] = "resync"
    commit_seq: Count


# --- agent.activity.updated: optimistic -------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class DeltaBody:
    """More text of a streaming message, to be appended."""

    type: Literal["message_delta"] = "message_delta"
    workspace_id: WorkspaceId
    agent_session_id: SessionId
    turn_id: TurnId
    message_id: MessageId
    kind: MessageKind
    field: DeltaField
    """`text`: the one text block of the message; `output`: `toolCall.output.text`."""
    delta_seq: Count
    """Counts from 0 in each message, without holes."""
    text: Annotated[str, Characters(1)]


@attrs.frozen(kw_only=True)
class MessageDelta(DeltaBody):
    """More text of a streaming message, to be appended (AP-012)."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"


@attrs.frozen(kw_only=True)
class MessageSnapshot:
    """A streaming message as it stands; only deltas from its `deltaSeq` on follow."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["message_snapshot"] = "message_snapshot"
    message: Message


@attrs.frozen(kw_only=True)
class StreamGap:
    """This client was too slow and lost deltas of this message; a snapshot follows."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["stream_gap"] = "stream_gap"
    workspace_id: WorkspaceId
    agent_session_id: SessionId
    message_id: MessageId


@attrs.frozen(kw_only=True)
class RuntimeActivity:
    """What a session's runtime does right now; never stored (AP-016)."""

    topic: Literal["agent.activity.updated"] = "agent.activity.updated"
    type: Literal["runtime_activity"] = "runtime_activity"
    workspace_id: WorkspaceId
    agent_session_id: SessionId
    runtime_state: RuntimeState
    activity: Literal["running", "idle"]
    last_activity_at: int | None
    occurred_at: int


# --- agent.side.updated -----------------------------------------------------------------------------------------


SidePayload: TypeAlias = (
    SideOpened | SideTurn | SideMessage | DeltaBody | SideInteraction | SideError | SideClosed | SideExpired
)


@attrs.frozen(kw_only=True)
class SideUpdated:
    """Something happened in a Side (AP-017). Nothing of a Side appears anywhere else."""

    topic: Literal["agent.side.updated"] = "agent.side.updated"
    type: Literal["side"] = "side"
    workspace_id: WorkspaceId
    source_agent_session_id: SessionId
    side_agent_session_id: SessionId
    sequence: Count
    """Counts from 1 in each Side, without holes."""
    payload: SidePayload


@attrs.frozen(kw_only=True)
class SideGap:
    """This client was too slow: nothing more of this Side is sent to it."""

    topic: Literal["agent.side.updated"] = "agent.side.updated"
    type: Literal["side_gap"] = "side_gap"
    workspace_id: WorkspaceId
    source_agent_session_id: SessionId
    side_agent_session_id: SessionId


# --- host.updated -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class HostHint:
    """Something of the host changed: read it again."""

    topic: Literal["host.updated"] = "host.updated"
    type: Literal["target", "models", "status", "health"]


@attrs.frozen(kw_only=True)
class HostShutdown:
    """The daemon is about to stop; commands are refused from now on."""

    topic: Literal["host.updated"] = "host.updated"
    type: Literal["shutdown"] = "shutdown"
    grace_seconds: Seconds


ActivityEvent: TypeAlias = (
    Commit | Checkpoint | SessionReset | Resync | MessageDelta | MessageSnapshot | StreamGap | RuntimeActivity
)
SideEvent: TypeAlias = SideUpdated | SideGap
HostEvent: TypeAlias = HostHint | HostShutdown
Event: TypeAlias = ActivityEvent | SideEvent | HostEvent
