"""Writes one unit: its rows, the columns that move with it, and its claims, in the order the references need.

A unit that contradicts itself is refused here, before anything of it is stored (ST-002, ST-006, ST-007).
"""

from collections.abc import Sequence
from typing import assert_never

import apsw

from store.canonical.change import Row, Unit
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.errors import InvalidUnit
from store.statements import claims, interactions, messages, sessions, turns


def write_unit(connection: apsw.Connection, unit: Unit, rows: Sequence[Row]) -> None:
    """Write `unit`, whose `rows` stand in publication order.

    Besides rows of its own session a unit may hold Session rows of the same workspace: a whole tree is deleted
    or restored in one commit (ST-023, ST-025). Raises `InvalidUnit`, `RowError`, `ClaimTaken` or SQLite's errors;
    the caller then rolls the unit back.
    """
    _check(unit)
    for row in rows:
        if isinstance(row, Session):
            sessions.save(connection, row)
    reference = sessions.reference_of(connection, unit.session_key)
    if reference is None:
        raise InvalidUnit(f"session {unit.session_key} does not exist")
    for row in rows:
        _save(connection, reference, row)
    if any(isinstance(row, Turn) for row in rows):
        sessions.follow_newest_turn(connection, reference)
    sessions.save_state(connection, reference, unit.session_state)
    for claim in unit.claims_removed:
        claims.remove(connection, reference, claim)
    for claim in unit.claims_added:
        claims.add(connection, reference, claim)


def _save(connection: apsw.Connection, reference: int, row: Row) -> None:
    match row:
        case Session():
            pass  # written first: the others refer to it
        case Turn():
            turns.save(connection, reference, row)
        case Message():
            messages.save(connection, reference, row)
        case Interaction():
            interactions.save(connection, reference, row)
        case _:
            assert_never(row)


def _check(unit: Unit) -> None:
    key, state = unit.session_key, unit.session_state
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
