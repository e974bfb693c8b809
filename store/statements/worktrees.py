"""SQL of the records of checkouts (`store.canonical.worktree`)."""

from typing import assert_never

import apsw
import structlog

from store.canonical.identifiers import SessionKey
from store.canonical.worktree import (
    Worktree,
    WorktreeBegun,
    WorktreeChange,
    WorktreeCounts,
    WorktreeGone,
    WorktreeKept,
)
from store.errors import RowError, WorktreeTaken
from store.rows import WORKTREE
from store.statements.composition import compose, marks, names, selected

_logger = structlog.get_logger(__name__)

_BEGIN = compose(
    "INSERT INTO worktrees ($columns) VALUES ($marks) ON CONFLICT DO NOTHING RETURNING 1",
    columns=names(WORKTREE),
    marks=marks(WORKTREE),
)
_KEEP = "UPDATE worktrees SET kept_because = ? WHERE workspace_id = ? AND agent_session_id = ?"
_DROP = "DELETE FROM worktrees WHERE workspace_id = ? AND agent_session_id = ?"
_PURGE = "UPDATE worktrees SET purged = 1 WHERE workspace_id = ? AND agent_session_id = ?"
_ONE = compose(
    "SELECT $selected FROM worktrees AS w WHERE w.workspace_id = ? AND w.agent_session_id = ?",
    selected=selected(WORKTREE, "w"),
)
# An id that was purged may name another session by now; one that is isolated has this record for its own.
_UNUSED = compose(
    """
    SELECT $selected FROM worktrees AS w
    WHERE w.purged OR NOT EXISTS (
        SELECT 1 FROM sessions AS s WHERE s.workspace_id = w.workspace_id
            AND s.agent_session_id = w.agent_session_id AND s.isolation IS NOT NULL
    )
    ORDER BY w.kept_because IS NOT NULL, w.created_at LIMIT ?
    """,
    selected=selected(WORKTREE, "w"),
)
_COUNTS = "SELECT count(*), count(kept_because) FROM worktrees"


def change(connection: apsw.Connection, wanted: WorktreeChange) -> None:
    """Make one change. Raises `WorktreeTaken` when the session has a record already."""
    match wanted:
        case WorktreeBegun(worktree):
            if connection.execute(_BEGIN, WORKTREE.to_sql(worktree)).get is None:
                raise WorktreeTaken(f"session {worktree.key} has a checkout already")
        case WorktreeKept(key, because):
            connection.execute(_KEEP, (because, key.workspace_id, key.agent_session_id))
        case WorktreeGone(key):
            connection.execute(_DROP, (key.workspace_id, key.agent_session_id))
        case _:
            assert_never(wanted)


def purge(connection: apsw.Connection, key: SessionKey) -> None:
    """Note that its session is purged, in the transaction that purges it."""
    connection.execute(_PURGE, (key.workspace_id, key.agent_session_id))


def find(connection: apsw.Connection, key: SessionKey) -> Worktree | None:
    """The record of this session's checkout."""
    values = connection.execute(_ONE, (key.workspace_id, key.agent_session_id)).fetchone()
    return None if values is None else WORKTREE.from_sql(values)


def unused(connection: apsw.Connection, limit: int) -> tuple[Worktree, ...]:
    """Checkouts that no session works in, those nobody tried to remove yet first. One that cannot be read stays."""
    found = []
    for values in connection.execute(_UNUSED, (limit,)):
        try:
            found.append(WORKTREE.from_sql(values))
        except RowError as error:
            _logger.warning("store.checkout_unreadable", reason=str(error))
    return tuple(found)


def counts(connection: apsw.Connection) -> WorktreeCounts:
    """How many there are."""
    every, kept = connection.execute(_COUNTS).fetchone() or (0, 0)
    assert isinstance(every, int)
    assert isinstance(kept, int)
    return WorktreeCounts(every, kept)
