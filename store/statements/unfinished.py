"""SQL that finds, for the whole store at once, what a crash may have left open (`contract §6` promise 5).

Each query is served by a partial index that is empty when everything is finished, so a start does not depend on
how many sessions are kept (FC-47).
"""

import apsw

from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.recovery import UnfinishedSession
from store.rows import INTERACTION, SESSION, TURN
from store.statements import messages
from store.statements.composition import compose, selected
from store.statements.sessions import stored_session

_REFERENCES = """
    SELECT session_ref FROM turns WHERE phase <> 'settled'
    UNION SELECT session_ref FROM messages WHERE status = 'streaming'
    UNION SELECT session_ref FROM interactions WHERE status = 'pending'
    UNION SELECT session_ref FROM interactions WHERE answer_delivery = 'dispatching'
    UNION SELECT id FROM sessions WHERE active_turn_id IS NOT NULL
    ORDER BY 1
"""
_KEY = "SELECT workspace_id, agent_session_id FROM sessions WHERE id = ?"
_SESSION = compose(
    "SELECT s.id, s.turn_sequence, s.message_sequence, $selected FROM sessions AS s WHERE s.id = ?",
    selected=selected(SESSION, "s"),
)
_TURNS = compose(
    """
    SELECT $selected FROM turns AS t JOIN sessions AS s ON s.id = t.session_ref
    WHERE t.session_ref = ? AND t.phase <> 'settled' ORDER BY t.sequence
    """,
    selected=selected(TURN, "t"),
)
# Two arms, because one condition with OR would be served by neither of the partial indexes.
_INTERACTIONS = compose(
    """
    WITH unfinished (id) AS (
        SELECT id FROM interactions WHERE session_ref = ?1 AND status = 'pending'
        UNION SELECT id FROM interactions WHERE session_ref = ?1 AND answer_delivery = 'dispatching'
    )
    SELECT $selected
    FROM unfinished JOIN interactions AS i ON i.id = unfinished.id JOIN sessions AS s ON s.id = i.session_ref
    ORDER BY i.id
    """,
    selected=selected(INTERACTION, "i"),
)


def references(connection: apsw.Connection) -> list[int]:
    """Every session in which anything is unfinished."""
    return [int(str(reference)) for (reference,) in connection.execute(_REFERENCES)]


def key_of(connection: apsw.Connection, reference: int) -> SessionKey:
    """The identity of a session whose row may be unreadable."""
    workspace_id, session_id = connection.execute(_KEY, (reference,)).get
    return SessionKey(WorkspaceId(workspace_id), SessionId(session_id))


def load(connection: apsw.Connection, reference: int) -> UnfinishedSession:
    """Everything open in one session. Raises `RowError` when a row of it cannot be read."""
    values = connection.execute(_SESSION, (reference,)).fetchone()
    assert values is not None
    stored = stored_session(values)
    return UnfinishedSession(
        session=stored.session,
        counters=stored.counters,
        turns=tuple(TURN.from_sql(row) for row in connection.execute(_TURNS, (reference,))),
        messages=messages.streaming(connection, reference),
        interactions=tuple(
            INTERACTION.from_sql(row) for row in connection.execute(_INTERACTIONS, (reference,))
        ),
    )
