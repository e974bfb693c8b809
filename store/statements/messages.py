"""SQL of Message rows and of the text written behind them (`architecture` rule 12).

A message's sequence is fixed when it is created and its version only grows (ST-008, ST-009); both hold here, so
that no writer can break them.
"""

from collections.abc import Iterable, Iterator, Sequence

import apsw
import attrs
import orjson

from store.canonical.change import StreamPiece
from store.canonical.identifiers import ClientSubmitId, MessageId, TurnId
from store.canonical.message import Message
from store.canonical.projection import join_pieces
from store.errors import InvalidUnit, RowError
from store.rows import MESSAGE, PIECE, SqlValue
from store.statements.composition import compose, marks, names, selected, updates

_UPSERT = compose(
    """
    INSERT INTO messages (session_ref, $columns) VALUES (?, $marks)
    ON CONFLICT (session_ref, message_id) DO UPDATE SET $updates
    WHERE messages.sequence = excluded.sequence AND messages.version < excluded.version
    RETURNING id
    """,
    columns=names(MESSAGE),
    marks=marks(MESSAGE),
    updates=updates(MESSAGE, fixed=("message_id", "sequence", "created_at")),
)
_DROP_PIECES = "DELETE FROM message_pieces WHERE message_ref = ?"
_DROP_CONTAINED_PIECES = "DELETE FROM message_pieces WHERE message_ref = ? AND first_delta_seq < ?"
# Only a streaming row takes a piece, and only one it does not contain yet. A piece sent again after an unknown
# outcome replaces its first copy and may be longer.
_ADD_PIECE = compose(
    """
    INSERT OR REPLACE INTO message_pieces (message_ref, $columns)
    SELECT m.id, $marks FROM messages AS m JOIN sessions AS s ON s.id = m.session_ref
    WHERE s.workspace_id = ? AND s.agent_session_id = ? AND m.message_id = ?
        AND m.status = 'streaming' AND coalesce(m.delta_seq, 0) <= ?
    """,
    columns=names(PIECE),
    marks=marks(PIECE),
)
_READ = compose("m.id, $selected", selected=selected(MESSAGE, "m"))
_SELECT = compose("SELECT $read FROM messages AS m JOIN sessions AS s ON s.id = m.session_ref", read=_READ)
_LEAVE_RETRACTED_OUT = """
    AND NOT EXISTS (
        SELECT 1 FROM turns AS t
        WHERE t.session_ref = m.session_ref AND t.turn_id = m.turn_id AND t.retracted_at IS NOT NULL
    )
"""
_CHANGED = "$select WHERE m.session_ref = ? AND m.version > ? $retracted ORDER BY m.version LIMIT ?"
_BEFORE = "$select WHERE m.session_ref = ? AND m.sequence < ? $retracted ORDER BY m.sequence DESC LIMIT ?"
# The plus keeps the planner from walking the whole session in the order it is to be sorted by.
_NAMED = """
    $select WHERE m.session_ref = ? AND m.message_id IN (SELECT value FROM json_each(?)) $retracted
    ORDER BY +m.sequence LIMIT ?
"""
_STREAMING = compose(
    "$select WHERE m.session_ref = ? AND m.status = 'streaming' ORDER BY m.sequence", select=_SELECT
)
_OF_TURN = compose(
    "$select WHERE m.session_ref = ? AND m.turn_id = ? ORDER BY m.sequence LIMIT ?", select=_SELECT
)
_WAS_SAID = "SELECT 1 FROM messages WHERE session_ref = ? AND turn_id = ? AND client_submit_id = ? LIMIT 1"
_PIECES = compose(
    """
    SELECT s.workspace_id, s.agent_session_id, m.message_id, $columns
    FROM message_pieces AS p JOIN messages AS m ON m.id = p.message_ref JOIN sessions AS s ON s.id = m.session_ref
    WHERE p.message_ref = ? ORDER BY p.first_delta_seq
    """,
    columns=names(PIECE),
)


def _both_ways(text: str) -> dict[bool, str]:
    """The statement with retracted turns' messages (True) and without them (False)."""
    return {
        included: compose(text, select=_SELECT, retracted="" if included else _LEAVE_RETRACTED_OUT)
        for included in (True, False)
    }


_CHANGED_BY_RETRACTED = _both_ways(_CHANGED)
_BEFORE_BY_RETRACTED = _both_ways(_BEFORE)
_NAMED_BY_RETRACTED = _both_ways(_NAMED)


@attrs.frozen
class FoundMessage:
    """A message as it is read, and about how many characters it took to read it."""

    message: Message
    size: int


def save(connection: apsw.Connection, reference: int, message: Message) -> None:
    """Insert the row or change it, and drop the pieces it makes void.

    Raises `InvalidUnit` when the message's place would move or its version would not grow.
    """
    row_id = connection.execute(_UPSERT, (reference, *MESSAGE.to_sql(message))).get
    if row_id is None:
        raise InvalidUnit(f"message {message.message_id}: its sequence is fixed and its version must grow")
    if message.status != "streaming":
        connection.execute(_DROP_PIECES, (row_id,))
    elif message.delta_seq:
        connection.execute(_DROP_CONTAINED_PIECES, (row_id, message.delta_seq))


def add_piece(connection: apsw.Connection, piece: StreamPiece) -> None:
    """Append written-behind text; a piece whose message ended, or contains it, is dropped."""
    connection.execute(
        _ADD_PIECE,
        (
            *PIECE.to_sql(piece),
            piece.workspace_id,
            piece.agent_session_id,
            piece.message_id,
            piece.first_delta_seq,
        ),
    )


def changed_after(
    connection: apsw.Connection, reference: int, version: int, limit: int, *, include_retracted: bool
) -> Iterator[FoundMessage]:
    """Rows changed after `version`, ascending by version (ST-009)."""
    statement = _CHANGED_BY_RETRACTED[include_retracted]
    return _found(connection, connection.execute(statement, (reference, version, limit)))


def newest_before(
    connection: apsw.Connection, reference: int, sequence: int, limit: int, *, include_retracted: bool
) -> Iterator[FoundMessage]:
    """Rows below `sequence`, newest first."""
    statement = _BEFORE_BY_RETRACTED[include_retracted]
    return _found(connection, connection.execute(statement, (reference, sequence, limit)))


def named(
    connection: apsw.Connection,
    reference: int,
    message_ids: Sequence[MessageId],
    limit: int,
    *,
    include_retracted: bool,
) -> Iterator[FoundMessage]:
    """The rows with these ids, ascending by sequence."""
    statement = _NAMED_BY_RETRACTED[include_retracted]
    wanted = orjson.dumps(list(message_ids)).decode()
    return _found(connection, connection.execute(statement, (reference, wanted, limit)))


def of_turn(connection: apsw.Connection, reference: int, turn_id: TurnId, limit: int) -> tuple[Message, ...]:
    """The first rows of one turn, ascending by sequence."""
    found = _found(connection, connection.execute(_OF_TURN, (reference, turn_id, limit)))
    return tuple(one.message for one in found)


def was_said(connection: apsw.Connection, reference: int, turn_id: TurnId, submit_id: ClientSubmitId) -> bool:
    """Whether a message of the turn carries this submit id."""
    return connection.execute(_WAS_SAID, (reference, turn_id, submit_id)).get is not None


def streaming(connection: apsw.Connection, reference: int) -> tuple[Message, ...]:
    """All rows of the session that still stream, ascending by sequence, their pieces joined in."""
    found = _found(connection, connection.execute(_STREAMING, (reference,)))
    return tuple(one.message for one in found)


def _found(connection: apsw.Connection, rows: Iterable[tuple[SqlValue, ...]]) -> Iterator[FoundMessage]:
    for row_id, *values in rows:
        message = MESSAGE.from_sql(values)
        size = sum(len(value) for value in values if isinstance(value, str))
        if message.status == "streaming":
            assert isinstance(row_id, int)
            pieces = _pieces(connection, row_id)
            message = _joined(message, pieces)
            size += sum(len(piece.text) for piece in pieces)
        yield FoundMessage(message, size)


def _pieces(connection: apsw.Connection, row_id: int) -> list[StreamPiece]:
    return [PIECE.from_sql(values) for values in connection.execute(_PIECES, (row_id,))]


def _joined(message: Message, pieces: Sequence[StreamPiece]) -> Message:
    try:
        return join_pieces(message, pieces)
    except ValueError as error:
        raise RowError(str(error)) from error
