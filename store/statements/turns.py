"""SQL of Turn rows."""

from collections.abc import Iterable

import apsw

from store.canonical.identifiers import TurnId
from store.canonical.turn import Turn
from store.errors import InvalidUnit
from store.rows import TURN
from store.statements.composition import compose, marks, names, selected, updates

# A turn keeps the place it was given: an upsert that names another one finds no row to change.
_UPSERT = compose(
    """
    INSERT INTO turns (session_ref, $columns) VALUES (?, $marks)
    ON CONFLICT (session_ref, turn_id) DO UPDATE SET $updates WHERE turns.sequence = excluded.sequence
    RETURNING id
    """,
    columns=names(TURN),
    marks=marks(TURN),
    updates=updates(TURN, fixed=("turn_id", "sequence", "submitted_at")),
)
_ONE = compose(
    """
    SELECT $selected FROM turns AS t JOIN sessions AS s ON s.id = t.session_ref
    WHERE t.session_ref = ? AND t.turn_id = ?
    """,
    selected=selected(TURN, "t"),
)
_NEWEST_BEFORE = compose(
    """
    SELECT $selected FROM turns AS t JOIN sessions AS s ON s.id = t.session_ref
    WHERE t.session_ref = ? AND t.sequence < ? ORDER BY t.sequence DESC LIMIT ?
    """,
    selected=selected(TURN, "t"),
)


def save(connection: apsw.Connection, reference: int, turn: Turn) -> None:
    """Insert the row or change it. Raises `InvalidUnit` when the turn's place would move."""
    if connection.execute(_UPSERT, (reference, *TURN.to_sql(turn))).get is None:
        raise InvalidUnit(f"turn {turn.turn_id}: its sequence is fixed at creation")


def find(connection: apsw.Connection, reference: int, turn_id: TurnId) -> Turn | None:
    """One turn of a session."""
    values = connection.execute(_ONE, (reference, turn_id)).fetchone()
    return None if values is None else TURN.from_sql(values)


def newest_before(connection: apsw.Connection, reference: int, sequence: int, limit: int) -> Iterable[Turn]:
    """Turns below `sequence`, newest first."""
    for values in connection.execute(_NEWEST_BEFORE, (reference, sequence, limit)):
        yield TURN.from_sql(values)
