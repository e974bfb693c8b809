"""SQL of sessions that are deleted: marking, unmarking, listing and purging them (ST-023..ST-030).

A purge is one small change whatever a session holds: its row moves into a workspace without a name, which no client can
ask for, and its id is free. What belongs to it is taken away afterwards in small steps (`take_away`), which go on after
a crash where they stopped.
"""

from collections.abc import Collection, Iterator
from typing import Final

import apsw
import attrs
import orjson

from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.session import Session
from store.errors import RowError, SessionMoved
from store.port import DeletedFilter, DeletedTree
from store.rows import SESSION, SqlValue
from store.statements import worktrees
from store.statements.composition import compose, selected
from store.statements.sessions import StoredSession, stored_session

ROWS_A_STEP: Final = 64
"""Rows taken away in one step: a message may be some megabytes."""

# `octet_length` reads no overflow page, so the size of a long session costs little more than counting its messages.
_REMOVE = """
    UPDATE sessions SET deleted_at = ?1, deleted_bytes = (
        SELECT coalesce(sum(octet_length(m.content) + coalesce(octet_length(m.tool_call), 0)), 0)
        FROM messages AS m WHERE m.session_ref = sessions.id
    ) + (
        SELECT coalesce(sum(octet_length(a.data)), 0)
        FROM attachment_uses AS u JOIN attachments AS a ON a.id = u.attachment_ref
        WHERE u.session_ref = sessions.id
    )
    WHERE workspace_id = ?2 AND agent_session_id = ?3 AND updated_at = ?4 AND message_version = ?5
        AND deleted_at IS NULL AND active_turn_id IS NULL
    RETURNING id
"""
_RESTORE = """
    UPDATE sessions SET deleted_at = NULL, deleted_bytes = 0
    WHERE workspace_id = ? AND agent_session_id = ? AND deleted_at IS NOT NULL
    RETURNING id
"""
_PURGE = """
    UPDATE sessions SET workspace_id = '', agent_session_id = 'purged/' || id, root_agent_session_id = '',
        parent_agent_session_id = NULL
    WHERE workspace_id = ? AND agent_session_id = ? AND deleted_at IS NOT NULL
    RETURNING id
"""
# The one claim that would stand in the way of others: a create's, unique in its workspace.
_FREE_CREATE = "DELETE FROM submit_claims WHERE session_ref = ? AND scope = 'workspace'"
_PURGED = "SELECT id FROM sessions WHERE workspace_id = '' LIMIT 1"
_TREE = compose(
    """
    SELECT s.id, s.turn_sequence, s.message_sequence, $selected FROM sessions AS s
    WHERE s.workspace_id = ? AND s.root_agent_session_id = ? ORDER BY s.id
    """,
    selected=selected(SESSION, "s"),
)
_NAMES = """
    SELECT agent_session_id FROM sessions WHERE workspace_id = ? AND root_agent_session_id = ? ORDER BY id
"""
# Topmost components: a root is deleted with all below it, so a deleted child never stands alone (ST-027).
_PAGE = compose(
    """
    SELECT s.deleted_at, s.id, s.turn_sequence, s.message_sequence, $selected FROM sessions AS s
    WHERE s.workspace_id = ?1 AND s.deleted_at IS NOT NULL AND s.parent_agent_session_id IS NULL
        AND (s.deleted_at, s.id) < (?2, ?3)
        AND (?4 IS NULL OR s.agent_session_id IN (SELECT value FROM json_each(?4)))
        AND (?5 IS NULL OR instr(folded(s.title), folded(?5)))
        AND (?6 IS NULL OR EXISTS (SELECT 1 FROM json_each(?6) WHERE value IS s.rail_section_key))
    ORDER BY s.deleted_at DESC, s.id DESC LIMIT ?7
    """,
    selected=selected(SESSION, "s"),
)
# Those kept for too long, and of the rest, from the newest on, those that no longer fit.
_DUE = """
    WITH trees (workspace_id, root, deleted_at, bytes) AS (
        SELECT workspace_id, root_agent_session_id, max(deleted_at), sum(deleted_bytes)
        FROM sessions WHERE deleted_at IS NOT NULL AND workspace_id <> '' GROUP BY 1, 2
    ), kept AS (
        SELECT *, sum(bytes) OVER (ORDER BY deleted_at DESC, workspace_id, root) AS bytes_through FROM trees
    )
    SELECT workspace_id, root, deleted_at, bytes FROM kept
    WHERE deleted_at <= ?1 OR bytes_through > ?2
    ORDER BY deleted_at, workspace_id, root LIMIT ?3
"""
# Children first: each step frees a bounded number of rows of one table. Pieces go with their messages.
_TAKE_AWAY: Final = tuple(
    f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE session_ref = ? LIMIT {ROWS_A_STEP})"  # noqa: S608
    for table in ("messages", "interactions", "submit_claims", "operations", "turns")
)
_TAKE_SESSION_AWAY = "DELETE FROM sessions WHERE id = ?"


@attrs.frozen
class DeletedPlace:
    """Where a page of the list ends: newest deletion first."""

    deleted_at: int
    reference: int


@attrs.frozen
class ListedDeletion:
    """A place in the list. The row is None when it cannot be read: the list goes on behind it (FC-40)."""

    place: DeletedPlace
    session: Session | None


TOP: Final = DeletedPlace(2**62, 2**62)


def remove(connection: apsw.Connection, session: Session) -> None:
    """Mark the session deleted. Raises `SessionMoved` when its row is not what the deletion was decided on."""
    bindings = (
        session.deleted_at,
        session.workspace_id,
        session.agent_session_id,
        session.updated_at,
        session.message_version,
    )
    _require(connection.execute(_REMOVE, bindings).get, session.key)


def restore(connection: apsw.Connection, session: Session) -> None:
    """Take the mark away; nothing else of the session changes (ST-025)."""
    _require(connection.execute(_RESTORE, (session.workspace_id, session.agent_session_id)).get, session.key)


def purge(connection: apsw.Connection, key: SessionKey) -> None:
    """Take a deleted session out of everybody's sight and free its id and its create's submit id."""
    reference = connection.execute(_PURGE, (key.workspace_id, key.agent_session_id)).get
    _require(reference, key)
    connection.execute(_FREE_CREATE, (reference,))
    worktrees.purge(connection, key)


def purged(connection: apsw.Connection) -> int | None:
    """A session that was purged and of which something is still here."""
    found = connection.execute(_PURGED).get
    assert found is None or isinstance(found, int)
    return found


def take_away(connection: apsw.Connection, reference: int) -> None:
    """One small step of taking a purged session away. The caller owns the transaction."""
    for statement in _TAKE_AWAY:
        connection.execute(statement, (reference,))
        if connection.changes():
            return
    connection.execute(_TAKE_SESSION_AWAY, (reference,))


def tree(connection: apsw.Connection, workspace_id: WorkspaceId, root: SessionId) -> list[StoredSession]:
    """A root and all below it, deleted or not, the root first."""
    found = [stored_session(values) for values in connection.execute(_TREE, (workspace_id, root))]
    return sorted(found, key=lambda one: one.session.agent_session_id != root)


def names_in_tree(connection: apsw.Connection, workspace_id: WorkspaceId, root: SessionId) -> list[SessionId]:
    """The same by name alone, for rows that cannot be read."""
    return [SessionId(str(name)) for (name,) in connection.execute(_NAMES, (workspace_id, root))]


def page(
    connection: apsw.Connection,
    workspace_id: WorkspaceId,
    which: DeletedFilter,
    after: DeletedPlace,
    limit: int,
) -> Iterator[ListedDeletion]:
    """Deleted roots behind a place, newest deletion first."""
    named, keys = _json(which.only), _json(which.section_keys)
    bindings = (workspace_id, after.deleted_at, after.reference, named, which.title, keys, limit)
    for deleted_at, *values in connection.execute(_PAGE, bindings):
        assert isinstance(deleted_at, int)
        assert isinstance(values[0], int)
        yield ListedDeletion(DeletedPlace(deleted_at, values[0]), _readable(tuple(values)))


def _json(values: Collection[str | None] | None) -> str | None:
    return None if values is None else orjson.dumps(list(values)).decode()


def due(
    connection: apsw.Connection, deleted_through: int, bytes_max: int, limit: int
) -> tuple[DeletedTree, ...]:
    """Trees whose time is over or that are over the budget, oldest deletion first (ST-030)."""
    return tuple(
        DeletedTree(SessionKey(WorkspaceId(workspace_id), SessionId(root)), deleted_at, size)
        for workspace_id, root, deleted_at, size in connection.execute(
            _DUE, (deleted_through, bytes_max, limit)
        )
    )


def _readable(values: tuple[SqlValue, ...]) -> Session | None:
    try:
        return stored_session(values).session
    except RowError:
        return None


def _require(found: object, key: SessionKey) -> None:
    if found is None:
        raise SessionMoved(f"session {key} is not what this was decided on")
