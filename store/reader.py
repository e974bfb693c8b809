"""Reads: each call is one read transaction, and says the `commitSeq` of what it saw (`architecture` rule 13).

Runs on the thread that calls it; in the service that is the loop, since a read takes microseconds. It never waits
for the writer and never holds a transaction between calls. The SQL stands in `store.statements`.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import apsw

from store import commit_log
from store.canonical.attachment import Attachment
from store.canonical.change import LoadedSession
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import (
    ClientSubmitId,
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
from store.canonical.worktree import Worktree, WorktreeCounts
from store.cursors import decode_cursor, decode_name_cursor, encode_cursor, encode_name_cursor
from store.errors import RowError, translated
from store.message_windows import read_window
from store.port import (
    AttachmentFacts,
    DeletedFilter,
    DeletedTree,
    ListedSession,
    ListedWorkspace,
    LoggedCommit,
    MessageQuery,
    MessageWindow,
    Page,
    Read,
    SearchHit,
    SessionDetail,
    SessionFilter,
)
from store.rows import SqlValue
from store.session_detail import SizedT, read_detail, within
from store.statements import (
    attachments,
    claims,
    deleted_sessions,
    interactions,
    messages,
    operations,
    search,
    session_lists,
    sessions,
    turns,
    workspaces,
    worktrees,
)
from store.statements.sessions import StoredSession

PAGE_BYTES_MAX: Final = 4 * 1024 * 1024
_LAST: Final = 2**62
"""Above every sequence and every row number."""

T = TypeVar("T")
PlacedT = TypeVar("PlacedT")


class SqliteReader:
    """Implements `store.port.StoreReader` on one connection that cannot write.

    Besides `StoreUnavailable` a call may raise `StoreDamaged` (a page failed its checksum) or `RowError` (a row
    outside the vocabulary): both concern what was read, not the whole store.
    """

    def __init__(self, connection: apsw.Connection, path: Path, page_bytes_max: int = PAGE_BYTES_MAX) -> None:
        self._connection = connection
        self._path = path
        self._page_bytes_max = page_bytes_max
        connection.create_scalar_function("folded", _folded, 1, deterministic=True)

    def session(self, key: SessionKey) -> Read[Session | None]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            stored = sessions.find(self._connection, key)
            return Read(stored.session if stored else None, commit_seq)

    def load(self, key: SessionKey) -> Read[LoadedSession | None]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            stored = sessions.find(self._connection, key)
            if stored is None:
                return Read(None, commit_seq)
            pending = interactions.pending(self._connection, [stored.reference])
            loaded = LoadedSession(
                session=stored.session,
                counters=stored.counters,
                active_turn=self._active_turn(stored),
                streaming_messages=messages.streaming(self._connection, stored.reference),
                pending_interactions=tuple(found.interaction for found in pending),
            )
            return Read(loaded, commit_seq)

    def detail(
        self, key: SessionKey, turns_max: int, *, with_children: bool = True
    ) -> Read[SessionDetail | None]:
        """See `store.session_detail`."""
        with self._snapshot() as commit_seq:
            stored = sessions.find(self._connection, key)
            if stored is None:
                return Read(None, commit_seq)
            detail = read_detail(
                self._connection, stored, turns_max, self._page_bytes_max, with_children=with_children
            )
            return Read(detail, commit_seq)

    def sessions(
        self, workspace_id: WorkspaceId, which: SessionFilter, cursor: str | None, limit: int
    ) -> Read[Page[ListedSession]]:
        """Roots that are not deleted; each counts the answers its whole tree waits for. One that cannot be read is
        left out, so that it hides no other (FC-40)."""
        list_name = f"sessions.{which.order}"
        after = session_lists.TOP
        if cursor is not None:
            after = session_lists.ListPlace(*decode_cursor(list_name, 3, cursor))
        with self._snapshot() as commit_seq:
            listed = session_lists.page(self._connection, workspace_id, which, after, limit + 1)
            found, more = _within(listed, limit, self._page_bytes_max)
            items = tuple(self._listed(one.stored) for one in found if one.stored is not None)
            place = found[-1].place if more else None
            next_cursor = (
                encode_cursor(list_name, (place.pinned, place.rank, place.reference)) if place else None
            )
            return Read(Page(items, next_cursor), commit_seq)

    def session_count(self, workspaces: frozenset[str] | None = None) -> int:
        """See `StoreReader`."""
        with self._snapshot():
            return sessions.count(self._connection, workspaces)

    def workspaces(
        self, only: frozenset[str] | None, cursor: str | None, limit: int
    ) -> Read[Page[ListedWorkspace]]:
        """See `StoreReader`."""
        after = "" if cursor is None else decode_name_cursor("workspaces", cursor)
        with self._snapshot() as commit_seq:
            items, more = _taken(workspaces.page(self._connection, only, after, limit + 1), limit)
            next_cursor = encode_name_cursor("workspaces", items[-1].workspace_id) if more else None
            return Read(Page(tuple(items), next_cursor), commit_seq)

    def tree(self, root: SessionKey) -> Read[tuple[Session, ...]]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            found = deleted_sessions.tree(self._connection, root.workspace_id, root.agent_session_id)
            return Read(tuple(stored.session for stored in found), commit_seq)

    def tree_keys(self, root: SessionKey) -> tuple[SessionKey, ...]:
        """See `StoreReader`."""
        with self._snapshot():
            names = deleted_sessions.names_in_tree(self._connection, root.workspace_id, root.agent_session_id)
            return tuple(SessionKey(root.workspace_id, name) for name in names)

    def deleted_sessions(
        self,
        workspace_id: WorkspaceId,
        cursor: str | None,
        limit: int,
        which: DeletedFilter | None = None,
    ) -> Read[Page[Session]]:
        """See `StoreReader`. One that cannot be read is left out, so that it hides no other (FC-40)."""
        after = deleted_sessions.TOP
        if cursor is not None:
            after = deleted_sessions.DeletedPlace(*decode_cursor("deleted", 2, cursor))
        with self._snapshot() as commit_seq:
            listed = deleted_sessions.page(
                self._connection, workspace_id, which or DeletedFilter(), after, limit + 1
            )
            found, more = _taken(listed, limit)
            items = tuple(one.session for one in found if one.session is not None)
            place = found[-1].place if more else None
            next_cursor = encode_cursor("deleted", (place.deleted_at, place.reference)) if place else None
            return Read(Page(items, next_cursor), commit_seq)

    def search(
        self, workspace_id: WorkspaceId, query: str, cursor: str | None, limit: int
    ) -> Read[Page[SearchHit]]:
        """See `StoreReader`."""
        after = search.TOP if cursor is None else search.SearchPlace(*decode_cursor("search", 2, cursor))
        expression = search.expression_of(query)
        with self._snapshot() as commit_seq:
            if expression is None:
                return Read(Page((), None), commit_seq)
            found = search.Search(self._connection, workspace_id, expression, after)
            items, place = found.page(limit)
            next_cursor = encode_cursor("search", (place.part, place.row)) if place else None
            return Read(Page(items, next_cursor), commit_seq)

    def attachment_facts(self, workspace_id: WorkspaceId, attachment_id: str) -> AttachmentFacts | None:
        """See `StoreReader`."""
        with self._snapshot():
            found = attachments.facts(self._connection, workspace_id, attachment_id)
            return None if found is None else AttachmentFacts(*found)

    def attachment(
        self, workspace_id: WorkspaceId, attachment_id: str, shown_by: SessionId | None = None
    ) -> Read[Attachment | None]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            if shown_by is not None:
                key = SessionKey(workspace_id, shown_by)
                if not attachments.is_shown_by(self._connection, key, attachment_id):
                    return Read(None, commit_seq)
            return Read(attachments.find(self._connection, workspace_id, attachment_id), commit_seq)

    def due_deletions(self, deleted_through: int, bytes_max: int, limit: int) -> tuple[DeletedTree, ...]:
        """See `StoreReader`."""
        with self._snapshot():
            return deleted_sessions.due(self._connection, deleted_through, bytes_max, limit)

    def messages(self, key: SessionKey, query: MessageQuery) -> Read[MessageWindow | None]:
        """See `StoreReader`. A window also ends at about the page's size in bytes."""
        with self._snapshot() as commit_seq:
            stored = sessions.find(self._connection, key)
            if stored is None:
                return Read(None, commit_seq)
            return Read(read_window(self._connection, stored, query, self._page_bytes_max), commit_seq)

    def messages_of_turn(self, key: SessionKey, turn_id: TurnId, limit: int) -> Read[tuple[Message, ...]]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            reference = sessions.reference_of(self._connection, key)
            if reference is None:
                return Read((), commit_seq)
            return Read(messages.of_turn(self._connection, reference, turn_id, limit), commit_seq)

    def was_said(self, key: SessionKey, turn_id: TurnId, submit_id: ClientSubmitId) -> bool:
        """See `StoreReader`."""
        with self._snapshot():
            reference = sessions.reference_of(self._connection, key)
            return reference is not None and messages.was_said(
                self._connection, reference, turn_id, submit_id
            )

    def turn(self, key: SessionKey, turn_id: TurnId) -> Read[Turn | None]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            reference = sessions.reference_of(self._connection, key)
            turn = None if reference is None else turns.find(self._connection, reference, turn_id)
            return Read(turn, commit_seq)

    def operation(self, key: SessionKey, operation_id: str) -> Read[Operation | None]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            reference = sessions.reference_of(self._connection, key)
            if reference is None:
                return Read(None, commit_seq)
            return Read(operations.find(self._connection, reference, operation_id), commit_seq)

    def turns(self, key: SessionKey, cursor: str | None, limit: int) -> Read[Page[Turn]]:
        """Newest first, retracted ones included; empty for a session that is not here."""
        with self._snapshot() as commit_seq:
            reference = sessions.reference_of(self._connection, key)
            if reference is None:
                return Read(Page((), None), commit_seq)
            return Read(self._turns(reference, cursor, limit), commit_seq)

    def interaction(
        self, key: SessionKey, turn_id: TurnId, request_id: RequestId
    ) -> Read[Interaction | None]:
        """See `StoreReader`."""
        with self._snapshot() as commit_seq:
            reference = sessions.reference_of(self._connection, key)
            if reference is None:
                return Read(None, commit_seq)
            return Read(interactions.find(self._connection, reference, turn_id, request_id), commit_seq)

    def interactions(
        self, workspace_id: WorkspaceId, status: InteractionStatus | None, cursor: str | None, limit: int
    ) -> Read[Page[Interaction]]:
        """Newest first, children's included; those of deleted sessions and those that cannot be read are left out."""
        list_name = f"interactions.{status or 'all'}"
        before = _LAST if cursor is None else decode_cursor(list_name, 1, cursor)[0]
        with self._snapshot() as commit_seq:
            listed = interactions.page(self._connection, workspace_id, status, before, limit + 1)
            found, more = _within(listed, limit, self._page_bytes_max)
            items = tuple(one.interaction for one in found if one.interaction is not None)
            next_cursor = encode_cursor(list_name, (found[-1].place,)) if more else None
            return Read(Page(items, next_cursor), commit_seq)

    def workspace_claim(
        self, workspace_id: WorkspaceId, submit_id: ClientSubmitId
    ) -> Read[SubmitClaim | None]:
        """The create this id is bound to."""
        with self._snapshot() as commit_seq:
            return Read(claims.of_workspace(self._connection, workspace_id, submit_id), commit_seq)

    def session_claim(self, key: SessionKey, submit_id: ClientSubmitId) -> Read[SubmitClaim | None]:
        """The command of this session the id is bound to."""
        with self._snapshot() as commit_seq:
            return Read(claims.of_session(self._connection, key, submit_id), commit_seq)

    def log_after(self, commit_seq: int, upto: int, bytes_max: int) -> tuple[LoggedCommit, ...] | None:
        """See `StoreReader`. None as well for a number above the head: it is none of this store's."""
        with self._snapshot():
            return commit_log.page(self._connection, commit_seq, upto, bytes_max)

    def log_reaches(self, commit_seq: int) -> bool:
        """See `StoreReader`. False as well for a number above the head."""
        with self._snapshot():
            return commit_log.reaches(self._connection, commit_seq)

    def worktree(self, key: SessionKey) -> Worktree | None:
        """See `StoreReader`."""
        with self._snapshot():
            return worktrees.find(self._connection, key)

    def unused_worktrees(self, limit: int) -> tuple[Worktree, ...]:
        """See `StoreReader`."""
        with self._snapshot():
            return worktrees.unused(self._connection, limit)

    def worktree_counts(self) -> WorktreeCounts:
        """See `StoreReader`."""
        with self._snapshot():
            return worktrees.counts(self._connection)

    def root_of(self, key: SessionKey) -> SessionId | None:
        """See `StoreReader`."""
        with self._snapshot():
            return sessions.root_of(self._connection, key)

    def store_id(self) -> str:
        """The identity of this database: another one after a restore (`contract §6` promise 1)."""
        with self._snapshot():
            return str(self._connection.execute("SELECT store_id FROM meta").get)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _snapshot(self) -> Iterator[int]:
        """One read transaction around the body; the newest `commitSeq` in it."""
        try:
            self._connection.execute("BEGIN")
            try:
                head, _ = commit_log.head_and_trimmed(self._connection)
                yield head
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("COMMIT")
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def _active_turn(self, stored: StoredSession) -> Turn | None:
        turn_id = stored.session.active_turn_id
        return None if turn_id is None else turns.find(self._connection, stored.reference, turn_id)

    def _turns(self, reference: int, cursor: str | None, limit: int) -> Page[Turn]:
        before = _LAST if cursor is None else decode_cursor("turns", 1, cursor)[0]
        found, more = _taken(turns.newest_before(self._connection, reference, before, limit + 1), limit)
        return Page(tuple(found), encode_cursor("turns", (found[-1].sequence,)) if more else None)

    def _listed(self, stored: StoredSession) -> ListedSession:
        session = stored.session
        pending = interactions.pending_in_tree(
            self._connection, session.workspace_id, session.agent_session_id
        )
        try:
            active_turn = self._active_turn(stored)
        except RowError:
            active_turn = None  # the session is shown without it; whoever asks for the turn is told
        return ListedSession(session, active_turn, pending)


def _folded(*values: SqlValue) -> SqlValue:
    """For comparing what people type: SQLite knows the case of ASCII alone."""
    (text,) = values
    return text.casefold() if isinstance(text, str) else None


def _within(listed: Iterable[SizedT], limit: int, bytes_max: int) -> tuple[list[SizedT], bool]:
    """As many as fit by number and by size, never none where there are some; and whether something was left."""
    taken, cut = within(listed, bytes_max)
    return taken[:limit], cut or len(taken) > limit


def _taken(found: Iterable[PlacedT], limit: int) -> tuple[list[PlacedT], bool]:
    """The first `limit` of at most one more, and whether there was one more."""
    items = list(found)
    return items[:limit], len(items) > limit
