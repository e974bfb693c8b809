"""SQL of the list of roots: pinned first, then by the start of the newest turn or by creation (ST-042).

Pages go by key: what moved to the front while a client pages is not repeated behind its cursor.
"""

from collections.abc import Iterator

import apsw
import attrs

from store.canonical.identifiers import WorkspaceId
from store.errors import RowError
from store.port import SessionFilter
from store.rows import SESSION, SqlValue
from store.statements.composition import compose, selected
from store.statements.sessions import StoredSession, stored_session

_RANKS = {"recent": "recent_rank", "created": "created_rank"}
# The first two conditions repeat those of the partial indexes. A filter that is not asked for binds null.
_PAGE = """
    SELECT s.$rank, s.pinned, s.id, s.turn_sequence, s.message_sequence, $selected
    FROM sessions AS s
    WHERE s.parent_agent_session_id IS NULL AND s.deleted_at IS NULL
        AND s.workspace_id = ?1 AND (s.pinned, s.$rank, s.id) < (?2, ?3, ?4)
        AND (?5 IS NULL OR s.agent_target_id = ?5)
        AND (?6 IS NULL OR s.pinned = ?6)
        AND (?7 IS NULL OR (s.active_turn_id IS NOT NULL) = ?7)
    ORDER BY s.pinned DESC, s.$rank DESC, s.id DESC
    LIMIT ?8
"""
_PAGES = {order: compose(_PAGE, rank=rank, selected=selected(SESSION, "s")) for order, rank in _RANKS.items()}


@attrs.frozen
class ListPlace:
    """Where in the list a session stands."""

    pinned: int
    rank: int
    reference: int


TOP = ListPlace(pinned=2, rank=0, reference=0)
"""The place before the first session."""


@attrs.frozen
class Listed:
    """A root and its place. `stored` is None when its row cannot be read: the list goes on behind it (FC-40)."""

    place: ListPlace
    stored: StoredSession | None

    @property
    def size(self) -> int:
        """About how many characters it took to read it."""
        return self.stored.size if self.stored is not None else 0


def page(
    connection: apsw.Connection, workspace_id: WorkspaceId, which: SessionFilter, after: ListPlace, limit: int
) -> Iterator[Listed]:
    """Roots behind the place `after`, in list order."""
    bindings = (
        workspace_id,
        after.pinned,
        after.rank,
        after.reference,
        which.agent_target_id,
        which.pinned,
        which.active,
        limit,
    )
    for rank, pinned, *values in connection.execute(_PAGES[which.order], bindings):
        reference = values[0]
        assert isinstance(rank, int)
        assert isinstance(pinned, int)
        assert isinstance(reference, int)
        yield Listed(ListPlace(pinned, rank, reference), _readable(tuple(values)))


def _readable(values: tuple[SqlValue, ...]) -> StoredSession | None:
    try:
        return stored_session(values)
    except RowError:
        return None
