"""SQL of Interaction rows."""

from collections.abc import Iterable, Iterator, Sequence

import apsw
import attrs
import orjson

from store.canonical.identifiers import RequestId, SessionId, TurnId, WorkspaceId
from store.canonical.interaction import Interaction, InteractionStatus
from store.errors import RowError
from store.rows import INTERACTION, SqlValue
from store.statements.composition import compose, marks, names, selected, updates

# What was asked is immutable: the first insert says it (RT-014).
_UPSERT = compose(
    """
    INSERT INTO interactions (session_ref, workspace_id, $columns) VALUES (?, ?, $marks)
    ON CONFLICT (session_ref, turn_id, request_id) DO UPDATE SET $updates
    """,
    columns=names(INTERACTION),
    marks=marks(INTERACTION),
    updates=updates(INTERACTION, fixed=("turn_id", "request_id", "kind", "input", "created_at", "options")),
)
_SELECT = compose(
    "SELECT i.id, $selected FROM interactions AS i JOIN sessions AS s ON s.id = i.session_ref",
    selected=selected(INTERACTION, "i"),
)
_ONE = compose(
    "$select WHERE i.session_ref = ? AND i.turn_id = ? AND i.request_id = ?",
    select=_SELECT,
)
_PENDING = compose(
    "$select WHERE i.session_ref IN (SELECT value FROM json_each(?)) AND i.status = 'pending' ORDER BY i.id",
    select=_SELECT,
)
_OF_TURNS = compose(
    """
    $select WHERE i.session_ref = ? AND i.turn_id IN (SELECT value FROM json_each(?)) ORDER BY i.id
    """,
    select=_SELECT,
)
_PAGE = compose(
    """
    $select WHERE i.workspace_id = ? AND i.id < ? AND s.deleted_at IS NULL ORDER BY i.id DESC LIMIT ?
    """,
    select=_SELECT,
)
_PAGE_OF_STATUS = compose(
    """
    $select WHERE i.workspace_id = ? AND i.id < ? AND i.status = ? AND s.deleted_at IS NULL
    ORDER BY i.id DESC LIMIT ?
    """,
    select=_SELECT,
)
# The status is written out so that the partial index of pending rows serves it.
_PAGE_OF_PENDING = compose(
    """
    $select WHERE i.workspace_id = ? AND i.id < ? AND i.status = 'pending' AND s.deleted_at IS NULL
    ORDER BY i.id DESC LIMIT ?
    """,
    select=_SELECT,
)
_PENDING_IN_TREE = """
    SELECT count(*) FROM sessions AS s JOIN interactions AS i ON i.session_ref = s.id AND i.status = 'pending'
    WHERE s.workspace_id = ? AND s.root_agent_session_id = ? AND s.deleted_at IS NULL
"""


@attrs.frozen
class FoundInteraction:
    """An Interaction and its place in the order of creation, which pages go by."""

    place: int
    interaction: Interaction
    size: int
    """About how many characters it took to read it."""


@attrs.frozen
class ListedInteraction:
    """A place in a list of a workspace. The row is None when it cannot be read: the list goes on behind it (FC-40)."""

    place: int
    interaction: Interaction | None
    size: int
    """About how many characters it took to read it."""


def save(connection: apsw.Connection, reference: int, interaction: Interaction) -> None:
    """Insert the row, or change what became of it."""
    connection.execute(_UPSERT, (reference, interaction.workspace_id, *INTERACTION.to_sql(interaction)))


def find(
    connection: apsw.Connection, reference: int, turn_id: TurnId, request_id: RequestId
) -> Interaction | None:
    """One interaction: its request id names it only inside its turn (RT-010)."""
    for found in _found(connection.execute(_ONE, (reference, turn_id, request_id))):
        return found.interaction
    return None


def pending(connection: apsw.Connection, references: Sequence[int]) -> list[FoundInteraction]:
    """What waits for an answer in these sessions, oldest first."""
    return list(_found(connection.execute(_PENDING, (_list(references),))))


def of_turns(
    connection: apsw.Connection, reference: int, turn_ids: Sequence[TurnId]
) -> list[FoundInteraction]:
    """Everything asked in these turns, oldest first."""
    return list(_found(connection.execute(_OF_TURNS, (reference, _list(turn_ids)))))


def page(
    connection: apsw.Connection,
    workspace_id: WorkspaceId,
    status: InteractionStatus | None,
    before: int,
    limit: int,
) -> Iterator[ListedInteraction]:
    """Those of a whole workspace created before the place `before`, newest first, deleted sessions left out."""
    if status is None:
        return _listed(connection.execute(_PAGE, (workspace_id, before, limit)))
    if status == "pending":
        return _listed(connection.execute(_PAGE_OF_PENDING, (workspace_id, before, limit)))
    return _listed(connection.execute(_PAGE_OF_STATUS, (workspace_id, before, status, limit)))


def pending_in_tree(connection: apsw.Connection, workspace_id: WorkspaceId, root: SessionId) -> int:
    """How many answers a root and its descendants wait for."""
    number = connection.execute(_PENDING_IN_TREE, (workspace_id, root)).get
    assert isinstance(number, int)
    return number


def _found(rows: Iterable[tuple[SqlValue, ...]]) -> Iterator[FoundInteraction]:
    for place, *values in rows:
        assert isinstance(place, int)
        yield FoundInteraction(place, INTERACTION.from_sql(values), _size(values))


def _listed(rows: Iterable[tuple[SqlValue, ...]]) -> Iterator[ListedInteraction]:
    for place, *values in rows:
        assert isinstance(place, int)
        size = _size(values)
        try:
            yield ListedInteraction(place, INTERACTION.from_sql(values), size)
        except RowError:
            yield ListedInteraction(place, None, size)


def _size(values: Sequence[SqlValue]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


def _list(values: Sequence[object]) -> str:
    return orjson.dumps(list(values)).decode()
