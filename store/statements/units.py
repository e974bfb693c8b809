"""Writes one unit: its rows, the columns that move with it, and its claims, in the order the references need.

A unit that contradicts itself is refused here, before anything of it is stored (ST-002, ST-006, ST-007).
"""

from collections.abc import Sequence
from typing import assert_never

import apsw

from store.canonical.change import Row, SessionRemoved, SessionReread, SessionRestored, SessionState, Unit
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.operation import Operation
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.errors import InvalidUnit, SessionIsDeleted
from store.statements import (
    attachments,
    claims,
    deleted_sessions,
    interactions,
    messages,
    operations,
    sessions,
    turns,
)


def write_unit(connection: apsw.Connection, unit: Unit, rows: Sequence[Row]) -> None:
    """Write `unit`, whose `rows` stand in publication order.

    Besides rows of its own session a unit may hold Session rows of the same workspace. Raises `InvalidUnit`,
    `RowError`, `ClaimTaken`, `SessionIsDeleted`, `SessionMoved` or SQLite's errors; the caller then rolls the unit back.
    """
    state = unit.session_state
    if state is None:
        _write_end_or_return(connection, unit, rows)
        return
    _check(unit, state)
    found = sessions.reference_and_deletion(connection, unit.session_key)
    if found is not None and found[1] is not None:
        raise SessionIsDeleted(f"session {unit.session_key} is deleted")
    for row in rows:
        if isinstance(row, Session):
            sessions.save(connection, row)
    reference = found[0] if found is not None else sessions.reference_of(connection, unit.session_key)
    if reference is None:
        raise InvalidUnit(f"session {unit.session_key} does not exist")
    for row in rows:
        _save(connection, reference, row)
    if any(isinstance(row, Turn) for row in rows):
        sessions.follow_newest_turn(connection, reference)
    sessions.save_state(connection, reference, state)
    for claim in unit.claims_removed:
        claims.remove(connection, reference, claim)
    for claim in unit.claims_added:
        claims.add(connection, reference, claim)


def _write_end_or_return(connection: apsw.Connection, unit: Unit, rows: Sequence[Row]) -> None:
    """A removal, a restoration or a purge, which stands alone in its unit (ST-023, ST-025)."""
    for row in rows:
        match row:
            case SessionRemoved():
                deleted_sessions.remove(connection, row.session)
            case SessionRestored():
                deleted_sessions.restore(connection, row.session)
            case SessionReread():
                pass
            case _:
                raise InvalidUnit(f"a unit of {unit.session_key} without a state holds other rows")
        if row.session.key != unit.session_key:
            raise InvalidUnit(f"a row of session {row.session.key} in a unit of {unit.session_key}")
    if unit.purges:
        deleted_sessions.purge(connection, unit.session_key)


def _save(connection: apsw.Connection, reference: int, row: Row) -> None:
    match row:
        case Session():
            pass  # written first: the others refer to it
        case SessionRemoved() | SessionRestored() | SessionReread():
            raise InvalidUnit(f"a unit of session {row.session.key} removes or restores it beside other rows")
        case Turn():
            turns.save(connection, reference, row)
        case Message():
            messages.save(connection, reference, row)
            attachments.use(connection, reference, row)
        case Interaction():
            interactions.save(connection, reference, row)
        case Operation():
            operations.save(connection, reference, row)
        case _:
            assert_never(row)


def _check(unit: Unit, state: SessionState) -> None:
    key = unit.session_key
    for row in unit.rows:
        if row.workspace_id != key.workspace_id:
            raise InvalidUnit(f"a row of workspace {row.workspace_id} in a unit of {key}")
        if row.agent_session_id != key.agent_session_id:
            if not isinstance(row, Session):
                raise InvalidUnit(f"a row of session {row.agent_session_id} in a unit of {key}")
        elif isinstance(row, Session) and row.message_version != state.message_version:
            raise InvalidUnit(f"session {key} would be published with an older message version")
        elif isinstance(row, Message) and row.version > state.message_version:
            raise InvalidUnit(f"message {row.message_id} has a version the session does not know")
    for claim in (*unit.claims_added, *unit.claims_removed):
        if claim.session_key != key:
            raise InvalidUnit(f"a claim of session {claim.session_key} in a unit of {key}")
