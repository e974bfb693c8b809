"""SQL of Operation rows."""

import apsw

from store.canonical.operation import Operation
from store.rows import OPERATION
from store.statements.composition import compose, marks, names, selected, updates

# What was frozen when the operation was prepared is its own kind's business; a plan's decision freezes nothing.
_UPSERT = compose(
    """
    INSERT INTO operations (session_ref, plan, finished_at, $columns) VALUES (?, '{}', ?, $marks)
    ON CONFLICT (session_ref, operation_id) DO UPDATE SET finished_at = excluded.finished_at, $updates
    """,
    columns=names(OPERATION),
    marks=marks(OPERATION),
    updates=updates(OPERATION, fixed=("operation_id", "kind", "created_at")),
)
_ONE = compose(
    """
    SELECT $selected FROM operations AS o JOIN sessions AS s ON s.id = o.session_ref
    WHERE o.session_ref = ? AND o.operation_id = ?
    """,
    selected=selected(OPERATION, "o"),
)


def save(connection: apsw.Connection, reference: int, operation: Operation) -> None:
    """Insert the row, or change how far it came."""
    connection.execute(_UPSERT, (reference, operation.finished_at, *OPERATION.to_sql(operation)))


def find(connection: apsw.Connection, reference: int, operation_id: str) -> Operation | None:
    """One operation of a session."""
    for values in connection.execute(_ONE, (reference, operation_id)):
        return OPERATION.from_sql(values)
    return None
