"""What a method answers with: one result class for each shape. Refusals are in `runtime.wire.errors`.

`commit_seq` stands in every result of a read or command: the result contains every commit up to it
(`contract §4`).
"""

from typing import Literal, TypeAlias

import attrs

from runtime.side.lineage import Unsupported
from runtime.wire.faults import FaultInjectReply, FaultListReply
from runtime.wire.inspection import SessionInspection
from runtime.wire.limits import Limits
from runtime.wire.providers import (
    ProviderModelsReply,
    ProviderSkillsReply,
    ProviderStatusReply,
    ProviderUsageReply,
)
from runtime.wire.rows import (
    Count,
    HealthProblem,
    Interaction,
    KeptWorktree,
    LiveCounts,
    Message,
    MetricFamily,
    Operation,
    Queues,
    ServerCapabilities,
    ServerInfo,
    Session,
    SessionKey,
    SessionListItem,
    SessionSearchItem,
    Side,
    SideFacts,
    StoreHealth,
    SweeperHealth,
    Target,
    Turn,
    Workspace,
)

TokenScope = Literal["read", "control", "admin"]


@attrs.frozen(kw_only=True)
class InitializeReply:
    """The connection is open."""

    protocol_version: int
    store_id: str
    """Names the database: numbers of commits mean nothing in another one."""
    server_info: ServerInfo
    capabilities: ServerCapabilities
    scope: TokenScope
    """What the token allows."""
    limits: Limits


@attrs.frozen(kw_only=True)
class VoidReply:
    """Done."""

    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionCreateReply:
    """The session is durable, and with it the turn of its first prompt."""

    session: Session
    turn: Turn | None = None
    """Left out when no content was given."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionReply:
    """The session as it stands."""

    session: Session
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionsReply:
    """The sessions named and all below them, as they stand."""

    sessions: tuple[Session, ...]
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionPurgeReply:
    """The sessions named and all below them, as they stood."""

    sessions: tuple[Session, ...]
    kept_worktrees: tuple[KeptWorktree, ...]
    """Checkouts of theirs that stay on the disk, since they hold work that is nowhere else."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionListDeletedReply:
    """One page of deleted sessions."""

    items: tuple[Session, ...]
    """Topmost ones: what was below them is deleted with them."""
    sessions: tuple[Session, ...]
    """The same rows, by the name they have in the answers to delete, restore and purge."""
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionSearchReply:
    """One page of sessions found: first those whose title has the words, then by the newest text that has them."""

    items: tuple[SessionSearchItem, ...]
    """Each session once. A page may be short or empty and still have a next one."""
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionGetReply:
    """A session with what a client needs to show it."""

    session: Session
    active_turn: Turn | None
    turns: tuple[Turn, ...]
    """The newest, newest first."""
    turns_cursor: str | None
    """Where `turn/list` goes on."""
    interactions: tuple[Interaction, ...]
    """All pending ones of it and its descendants, and those of the turns returned."""
    children: tuple[Session, ...]
    incomplete: tuple[Literal["interactions", "children"], ...]
    """What did not fit into `maxPageBytes` whole. The rest of the interactions is in `interaction/list`; turns go on
    at `turnsCursor`."""
    projection: Literal["full", "summary"]
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionListReply:
    """One page of sessions."""

    items: tuple[SessionListItem, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SessionMessagesReply:
    """Messages, ascending in the asked direction's order."""

    messages: tuple[Message, ...]
    has_more: bool
    """Whether there are more in the asked direction."""
    oldest_sequence: int | None
    """The lowest `sequence` of the messages returned."""
    message_version: Count
    """The session's newest version."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class TurnReply:
    """The turn as it stands."""

    turn: Turn
    commit_seq: Count


@attrs.frozen(kw_only=True)
class OperationReply:
    """The operation as it stands."""

    operation: Operation
    commit_seq: Count


@attrs.frozen(kw_only=True)
class TurnListReply:
    """One page of turns, newest first."""

    items: tuple[Turn, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class InteractionReply:
    """The interaction as it stands."""

    interaction: Interaction
    commit_seq: Count


@attrs.frozen(kw_only=True)
class InteractionListReply:
    """One page of interactions."""

    items: tuple[Interaction, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SideCapabilitiesReply:
    """Whether `side/open` may be tried."""

    supported: bool
    facts: SideFacts
    """What was attested; the first five decide, each of them."""
    reason: Unsupported | None = None
    """Why not."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SideReply:
    """The Side as it stands."""

    side: Side
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SideGetReply:
    """A Side with what a client needs to follow it."""

    side: Side
    active_turn: Turn | None
    interactions: tuple[Interaction, ...]
    """Those that wait for an answer."""
    sequence: Count
    """Of the last thing told of it."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SideListReply:
    """One page of open Sides."""

    items: tuple[Side, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SurfaceDisposeReply:
    """The Sides that were closed, as they ended."""

    closed: tuple[Side, ...]
    commit_seq: Count


@attrs.frozen(kw_only=True)
class SurfaceAttachReply:
    """The Sides this connection owns now."""

    sides: tuple[Side, ...]
    commit_seq: Count


@attrs.frozen(kw_only=True)
class AttachmentPutReply:
    """The picture is durable. An image block of a prompt shows these three."""

    attachment_id: str
    media_type: str
    bytes: Count
    commit_seq: Count


@attrs.frozen(kw_only=True)
class AttachmentGetReply:
    """A picture with its content."""

    attachment_id: str
    media_type: str
    bytes: Count
    data: str
    """Base64, with its padding."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class EventsSubscribeReply:
    """The subscription stands; its events follow this reply."""

    subscription_id: Count
    """Unique on this connection."""
    commit_seq: Count
    """The head. Replayed commits end here, live ones begin after it."""
    gap: bool
    """True when what came after `afterCommitSeq` cannot be replayed: read again."""


@attrs.frozen(kw_only=True)
class TargetListReply:
    """One page of targets."""

    items: tuple[Target, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class WorkspaceListReply:
    """One page of workspaces, by their ids."""

    items: tuple[Workspace, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class HealthReadReply:
    """How the service is."""

    status: Literal["ok", "degraded", "failing"]
    problems: tuple[HealthProblem, ...]
    store: StoreHealth
    live: LiveCounts
    queues: Queues
    """How much waits in each named queue."""
    sweeper: SweeperHealth
    quarantined: tuple[SessionKey, ...]
    """Sessions that are readable and closed to commands until `session/resume`."""
    commit_seq: Count


@attrs.frozen(kw_only=True)
class MetricsReadReply:
    """Figures for machines; `GET /metrics` gives the same in the text format of Prometheus."""

    families: tuple[MetricFamily, ...]
    commit_seq: Count


@attrs.frozen(kw_only=True)
class DebugSessionReply:
    """One session's insides."""

    session: SessionKey
    inspection: SessionInspection
    commit_seq: Count


Reply: TypeAlias = (
    InitializeReply
    | VoidReply
    | SessionCreateReply
    | SessionReply
    | SessionsReply
    | SessionPurgeReply
    | SessionListDeletedReply
    | SessionSearchReply
    | SessionGetReply
    | SessionListReply
    | SessionMessagesReply
    | TurnReply
    | OperationReply
    | TurnListReply
    | InteractionReply
    | InteractionListReply
    | SideCapabilitiesReply
    | SideReply
    | SideGetReply
    | SideListReply
    | SurfaceDisposeReply
    | SurfaceAttachReply
    | AttachmentPutReply
    | AttachmentGetReply
    | EventsSubscribeReply
    | TargetListReply
    | ProviderStatusReply
    | ProviderModelsReply
    | ProviderSkillsReply
    | ProviderUsageReply
    | WorkspaceListReply
    | HealthReadReply
    | MetricsReadReply
    | DebugSessionReply
    | FaultInjectReply
    | FaultListReply
)
