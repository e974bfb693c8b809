"""SQL of Session rows: upsert, lookups, trees. Lists of sessions stand in `session_lists`."""

import apsw
import attrs
import orjson

from store.canonical.change import SessionState
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.session import Session, SessionCounters
from store.rows import SESSION, SqlValue
from store.statements.composition import compose, marks, names, selected, updates

# A session's message version and counters move by `save_state` alone, and only for the session a unit is of.
_UPSERT = compose(
    """
    INSERT INTO sessions ($columns, root_agent_session_id, parent_agent_session_id, started_at, pinned_at)
    VALUES ($marks, ?, ?, ?, ?)
    ON CONFLICT (workspace_id, agent_session_id) DO UPDATE SET
        $updates,
        pinned_at = CASE WHEN excluded.pinned THEN coalesce(sessions.pinned_at, excluded.pinned_at) END
    RETURNING id
    """,
    columns=names(SESSION),
    marks=marks(SESSION),
    updates=updates(
        SESSION, fixed=("workspace_id", "agent_session_id", "created_at", "parent", "message_version")
    ),
)
_STATE = """
    UPDATE sessions SET message_version = ?, updated_at = ?, turn_sequence = ?, message_sequence = ? WHERE id = ?
"""
_STARTED = """
    UPDATE sessions SET started_at = newest.submitted_at
    FROM (SELECT submitted_at FROM turns WHERE session_ref = ?1 ORDER BY sequence DESC LIMIT 1) AS newest
    WHERE id = ?1 AND started_at <> newest.submitted_at
"""
_REFERENCE = "SELECT id FROM sessions WHERE workspace_id = ? AND agent_session_id = ?"
_DELETION = "SELECT id, deleted_at FROM sessions WHERE workspace_id = ? AND agent_session_id = ?"
_ROOT = "SELECT root_agent_session_id FROM sessions WHERE workspace_id = ? AND agent_session_id = ?"
_ONE = compose(
    """
    SELECT s.id, s.turn_sequence, s.message_sequence, $selected
    FROM sessions AS s WHERE s.workspace_id = ? AND s.agent_session_id = ?
    """,
    selected=selected(SESSION, "s"),
)
# CROSS JOIN fixes the order: from the few found so far to their children.
_DESCENDANTS = compose(
    """
    WITH RECURSIVE below (agent_session_id) AS (
        SELECT agent_session_id FROM sessions WHERE workspace_id = ?1 AND parent_agent_session_id = ?2
        UNION
        SELECT c.agent_session_id FROM below CROSS JOIN sessions AS c
            ON c.workspace_id = ?1 AND c.parent_agent_session_id = below.agent_session_id
    )
    SELECT s.id, s.turn_sequence, s.message_sequence, $selected
    FROM below CROSS JOIN sessions AS s ON s.workspace_id = ?1 AND s.agent_session_id = below.agent_session_id
    WHERE s.deleted_at IS NULL
    ORDER BY s.id
    """,
    selected=selected(SESSION, "s"),
)
# Both counts are of small indexes; counting the table itself would read every wide row.
_COUNT = """
    SELECT (SELECT count(*) FROM sessions) - (SELECT count(*) FROM sessions WHERE deleted_at IS NOT NULL)
"""

_COUNT_OF = """
    WITH named AS (SELECT value FROM json_each(?1))
    SELECT (SELECT count(*) FROM sessions WHERE workspace_id IN named)
        - (SELECT count(*) FROM sessions WHERE workspace_id IN named AND deleted_at IS NOT NULL)
"""


@attrs.frozen
class StoredSession:
    """A Session row with what stands beside it. `reference` is the number other tables know it by."""

    reference: int
    session: Session
    counters: SessionCounters
    size: int
    """About how many characters it took to read it."""


def stored_session(values: tuple[SqlValue, ...]) -> StoredSession:
    """From a result row of (id, turn_sequence, message_sequence, *row)."""
    reference, turn_sequence, message_sequence, *row = values
    assert isinstance(reference, int)
    assert isinstance(turn_sequence, int)
    assert isinstance(message_sequence, int)
    size = sum(len(value) for value in row if isinstance(value, str))
    counters = SessionCounters(turn_sequence, message_sequence)
    return StoredSession(reference, SESSION.from_sql(row), counters, size)


def save(connection: apsw.Connection, session: Session) -> int:
    """Insert the row or change everything in it that may change; its reference."""
    parent = session.parent
    pinned_at = session.updated_at if session.pinned else None
    bindings = (
        *SESSION.to_sql(session),
        session.root_agent_session_id,
        parent.parent_agent_session_id if parent else None,
        session.created_at,
        pinned_at,
    )
    reference = connection.execute(_UPSERT, bindings).get
    assert isinstance(reference, int)
    return reference


def save_state(connection: apsw.Connection, reference: int, state: SessionState) -> None:
    """The columns that move with every unit."""
    counters = state.counters
    connection.execute(
        _STATE,
        (
            state.message_version,
            state.updated_at,
            counters.turn_sequence,
            counters.message_sequence,
            reference,
        ),
    )


def follow_newest_turn(connection: apsw.Connection, reference: int) -> None:
    """Move the session in the list by the start of its newest turn; nothing else moves it (ST-042)."""
    connection.execute(_STARTED, (reference,))


def reference_of(connection: apsw.Connection, key: SessionKey) -> int | None:
    """The number other tables know this session by."""
    found = connection.execute(_REFERENCE, (key.workspace_id, key.agent_session_id)).get
    assert found is None or isinstance(found, int)
    return found


def reference_and_deletion(connection: apsw.Connection, key: SessionKey) -> tuple[int, int | None] | None:
    """The number other tables know this session by, and when it was deleted."""
    values = connection.execute(_DELETION, (key.workspace_id, key.agent_session_id)).fetchone()
    return None if values is None else (int(str(values[0])), values[1])


def root_of(connection: apsw.Connection, key: SessionKey) -> SessionId | None:
    """The root of this session's tree: itself, unless it is a child."""
    found = connection.execute(_ROOT, (key.workspace_id, key.agent_session_id)).get
    return None if found is None else SessionId(str(found))


def find(connection: apsw.Connection, key: SessionKey) -> StoredSession | None:
    """The session, a deleted one included."""
    values = connection.execute(_ONE, (key.workspace_id, key.agent_session_id)).fetchone()
    return None if values is None else stored_session(values)


def descendants(
    connection: apsw.Connection, workspace_id: WorkspaceId, session_id: SessionId
) -> list[StoredSession]:
    """Children, their children and so on, those that are not deleted, oldest first."""
    return [stored_session(values) for values in connection.execute(_DESCENDANTS, (workspace_id, session_id))]


def count(connection: apsw.Connection, workspaces: frozenset[str] | None = None) -> int:
    """How many sessions are kept and not deleted, children included, in these workspaces or in all."""
    if workspaces is None:
        number = connection.execute(_COUNT).get
    else:
        number = connection.execute(_COUNT_OF, (orjson.dumps(sorted(workspaces)).decode(),)).get
    assert isinstance(number, int)
    return number
