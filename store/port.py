"""The two ports of the store: `StoreWriter` (one, in order) and `StoreReader` (many, bounded).

Production is `store.writer` on a thread of its own; simulation is `store.inline_writer`, the same functions
called in the loop. Nothing outside the store speaks SQL.
"""

from collections.abc import Callable, Sequence
from typing import Generic, Literal, Protocol, TypeVar

import attrs
import trio

from store.canonical.attachment import Attachment, AttachmentOutcome
from store.canonical.change import LoadedSession, Row, StreamPiece, Unit, UnitOutcome
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import (
    ClientSubmitId,
    MessageId,
    RequestId,
    SessionId,
    SessionKey,
    TurnId,
    WorkspaceId,
)
from store.canonical.interaction import Interaction, InteractionStatus
from store.canonical.message import Message
from store.canonical.operation import Operation
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.canonical.worktree import Worktree, WorktreeChange, WorktreeCounts, WorktreeOutcome
from store.latency import Latency

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

IncompletePart = Literal["interactions", "children"]

CommitEncoder = Callable[[int, Sequence[Row]], bytes]
"""Encodes the published event of a commit; called by the writer once the number is known, off the loop."""


@attrs.frozen
class Read(Generic[T_co]):
    """A value and the `commitSeq` of the one read transaction it came from: every commit up to it is in."""

    value: T_co
    commit_seq: int


@attrs.frozen
class Page(Generic[T_co]):
    """One page of a list; `next_cursor` is opaque and null at the end."""

    items: tuple[T_co, ...]
    next_cursor: str | None


@attrs.frozen
class SessionDetail:
    """What `session/get` shows: the newest turns first, pending interactions of the whole tree. `incomplete` names
    what did not fit whole."""

    session: Session
    active_turn: Turn | None
    turns: tuple[Turn, ...]
    turns_cursor: str | None
    interactions: tuple[Interaction, ...]
    children: tuple[Session, ...]
    incomplete: tuple[IncompletePart, ...] = ()


@attrs.frozen
class ListedSession:
    """A Session row with what a list adds to it."""

    session: Session
    active_turn: Turn | None
    pending_interactions: int


@attrs.frozen
class SessionFilter:
    """Which roots a list shows, and in which order (ST-042): pinned first, then `order`."""

    order: Literal["recent", "created"] = "recent"
    agent_target_id: str | None = None
    active: bool | None = None
    pinned: bool | None = None


@attrs.frozen
class DeletedFilter:
    """Which deleted roots a list shows; what is null leaves out none (AP-029)."""

    only: tuple[SessionId, ...] | None = None
    title: str | None = None
    """Words of the title, in any case."""
    section_keys: tuple[str | None, ...] | None = None
    """`railSectionKey` of those shown; null stands for the conversations without a project."""


@attrs.frozen
class MessageQuery:
    """Exactly one of the three is given: changed rows after a version, a window before a sequence, or ids."""

    after_version: int | None = None
    before_sequence: int | None = None
    message_ids: tuple[MessageId, ...] | None = None
    include_retracted: bool = False
    limit: int = 50


@attrs.frozen
class MessageWindow:
    """`has_more` speaks of the asked direction; `oldest_sequence` is of the rows returned (ST-010)."""

    messages: tuple[Message, ...]
    has_more: bool
    oldest_sequence: int | None
    message_version: int


@attrs.frozen
class LoggedCommit:
    """One entry of the commit log, as it was published."""

    commit_seq: int
    workspace_id: WorkspaceId
    agent_session_id: SessionId
    root_agent_session_id: SessionId
    body: bytes


@attrs.frozen
class StoreHealth:
    """What `health/read` says of the store; sizes in bytes."""

    state: Literal["ok", "degraded", "failing"]
    bytes: int
    wal_bytes: int
    free_bytes: int
    head_commit_seq: int
    oldest_commit_seq: int


@attrs.frozen
class ListedWorkspace:
    """What `workspace/list` says of one workspace: its roots, and the unsettled and pending of all its sessions."""

    workspace_id: WorkspaceId
    sessions: int
    active_turns: int
    pending_interactions: int


@attrs.define
class WriterFigures:
    """What a writer has done since it was made. Kept by the writer; others read it."""

    commit: Latency = attrs.field(factory=Latency)
    """From the submission of a unit to the step in which its outcome was told."""
    groups: int = 0
    pieces: int = 0
    """Written-behind pieces of text that are durable."""
    refused: dict[str, int] = attrs.field(factory=dict)
    """Units that were not committed, or are not known to be, by code."""


@attrs.frozen
class SearchHit:
    """A session that a search found: by its title, or by its newest text that has all the words."""

    session: Session
    snippet: str
    """The title, or the text around the words."""
    message_id: MessageId | None = None
    turn_id: TurnId | None = None


@attrs.frozen
class DeletedTree:
    """A root that is deleted with all below it: what retention looks at (ST-030)."""

    root: SessionKey
    deleted_at: int
    bytes: int
    """Of its messages, when it was deleted."""


@attrs.frozen
class AttachmentFacts:
    """What is known of a picture without its content; the size in bytes."""

    media_type: str
    bytes: int


class FaultSeam(Protocol):
    """Where faults are put on purpose (`store.fault_points`). Handed in: the store knows nothing of who arms them."""

    @property
    def on(self) -> bool:
        """Whether places are to be reported. A place looks here first."""

    def reach_now(self, name: str) -> None:
        """A place is reached. May raise what a disk raises, and may not return at all."""


class StoreReader(Protocol):
    """Short reads on the loop, each in one read transaction. Raises `StoreUnavailable` on an I/O error."""

    def session(self, key: SessionKey) -> Read[Session | None]:
        """The row, a deleted one included."""

    def load(self, key: SessionKey) -> Read[LoadedSession | None]:
        """Everything an actor needs to start."""

    def detail(
        self, key: SessionKey, turns_max: int, *, with_children: bool = True
    ) -> Read[SessionDetail | None]:
        """The session with its newest turns and all that waits in its tree."""

    def sessions(
        self, workspace_id: WorkspaceId, which: SessionFilter, cursor: str | None, limit: int
    ) -> Read[Page[ListedSession]]: ...

    def session_count(self, workspaces: frozenset[str] | None = None) -> int:
        """How many sessions are kept and not deleted, children included, in these workspaces or in all."""

    def workspaces(
        self, only: frozenset[str] | None, cursor: str | None, limit: int
    ) -> Read[Page[ListedWorkspace]]:
        """Workspaces that hold a session that is not deleted, by id; `only` leaves out all others."""

    def tree(self, root: SessionKey) -> Read[tuple[Session, ...]]:
        """A root and all below it, deleted or not, the root first; empty when there is none of this name."""

    def tree_keys(self, root: SessionKey) -> tuple[SessionKey, ...]:
        """The names in a tree, whether its rows can be read or not."""

    def deleted_sessions(
        self,
        workspace_id: WorkspaceId,
        cursor: str | None,
        limit: int,
        which: DeletedFilter | None = None,
    ) -> Read[Page[Session]]:
        """Roots that are deleted and not purged, newest deletion first (ST-027)."""

    def search(
        self, workspace_id: WorkspaceId, query: str, cursor: str | None, limit: int
    ) -> Read[Page[SearchHit]]:
        """Sessions that are not deleted and hold all words of `query`, each once. A page may be shorter than `limit`,
        even empty, and have a next one: a call looks at a bounded number of matches."""

    def attachment_facts(self, workspace_id: WorkspaceId, attachment_id: str) -> AttachmentFacts | None: ...

    def attachment(
        self, workspace_id: WorkspaceId, attachment_id: str, shown_by: SessionId | None = None
    ) -> Read[Attachment | None]:
        """The picture with its content; with `shown_by`, only if that session shows it (RT-137)."""

    def due_deletions(self, deleted_through: int, bytes_max: int, limit: int) -> tuple[DeletedTree, ...]:
        """Deleted trees to purge, oldest deletion first: those deleted at or before `deleted_through`, and those that
        do not fit into `bytes_max` with all deleted after them (ST-030)."""

    def messages(self, key: SessionKey, query: MessageQuery) -> Read[MessageWindow | None]: ...

    def messages_of_turn(self, key: SessionKey, turn_id: TurnId, limit: int) -> Read[tuple[Message, ...]]:
        """The first rows of one turn, ascending by sequence."""

    def was_said(self, key: SessionKey, turn_id: TurnId, submit_id: ClientSubmitId) -> bool:
        """Whether the turn has a message of this submit id: what was submitted is part of it."""

    def turn(self, key: SessionKey, turn_id: TurnId) -> Read[Turn | None]: ...

    def operation(self, key: SessionKey, operation_id: str) -> Read[Operation | None]: ...

    def turns(self, key: SessionKey, cursor: str | None, limit: int) -> Read[Page[Turn]]: ...

    def interaction(
        self, key: SessionKey, turn_id: TurnId, request_id: RequestId
    ) -> Read[Interaction | None]: ...

    def interactions(
        self, workspace_id: WorkspaceId, status: InteractionStatus | None, cursor: str | None, limit: int
    ) -> Read[Page[Interaction]]: ...

    def workspace_claim(
        self, workspace_id: WorkspaceId, submit_id: ClientSubmitId
    ) -> Read[SubmitClaim | None]: ...

    def session_claim(self, key: SessionKey, submit_id: ClientSubmitId) -> Read[SubmitClaim | None]: ...

    def log_after(self, commit_seq: int, upto: int, bytes_max: int) -> tuple[LoggedCommit, ...] | None:
        """Logged commits in (commit_seq, upto], ascending, at most about `bytes_max`; None when the log no
        longer reaches back to `commit_seq`."""

    def log_reaches(self, commit_seq: int) -> bool:
        """Whether everything after `commit_seq` is still in the log."""

    def worktree(self, key: SessionKey) -> Worktree | None:
        """The record of the checkout made for this session, its session purged or not."""

    def unused_worktrees(self, limit: int) -> tuple[Worktree, ...]:
        """Checkouts that no session works in: to be removed, those nobody tried to remove yet first."""

    def worktree_counts(self) -> WorktreeCounts: ...

    def root_of(self, key: SessionKey) -> SessionId | None:
        """The root of that session's tree."""

    def store_id(self) -> str: ...


class StoreWriter(Protocol):
    """The one place that writes. Everything submitted is written in order of submission, in groups."""

    @property
    def head_commit_seq(self) -> int:
        """The newest commit whose completion step has run."""

    @property
    def epoch(self) -> int:
        """Raised whenever a group's outcome was unknown; actors of an older epoch load again."""

    def submit(self, unit: Unit, complete: Callable[[UnitOutcome], None]) -> None:
        """Queue a unit. `complete` runs on the loop, in commitSeq order with all others of the group, and
        must neither wait nor raise: it enqueues replies, publishes, and releases its actor. One that raises all the
        same is called once more, with `OutcomeUnknown`, so that nobody waits for ever."""

    def submit_together(
        self, units: Sequence[Unit], complete: Callable[[tuple[UnitOutcome, ...]], None]
    ) -> None:
        """Queue units of several sessions that commit together or not at all, each under a number of its own.
        `complete` gets their outcomes in their order: all committed, or all of one other kind."""

    def submit_attachment(
        self, attachment: Attachment, unused_bytes_max: int, complete: Callable[[AttachmentOutcome], None]
    ) -> None:
        """Queue a picture, refused when those that nothing uses, or those that wait to be written, would take up more
        than `unused_bytes_max`. No commitSeq: until a message shows it, it is nobody's fact."""

    def submit_expiry(self, put_before: int) -> None:
        """Queue a small step of dropping pictures that were put before that time and are not used."""

    def submit_worktree(self, change: WorktreeChange, complete: Callable[[WorktreeOutcome], None]) -> None:
        """Queue a change of the record of a checkout. No commitSeq: what clients see of it is in the Session's row."""

    def submit_pieces(self, pieces: Sequence[StreamPiece], complete: Callable[[bool], None]) -> None:
        """Queue written-behind text. A piece whose message no longer streams is dropped. No commitSeq."""

    def health(self) -> StoreHealth: ...

    @property
    def figures(self) -> WriterFigures:
        """What it has done so far."""

    @property
    def waiting(self) -> int:
        """How many submitted jobs have no outcome yet."""


class RunningWriter(StoreWriter, Protocol):
    """A writer with its task: a permanent child of the supervision tree."""

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Write until cancelled; then finish what is under way and refuse what waits."""

    async def drain(self) -> None:
        """Wait until everything submitted so far has been written and told."""
