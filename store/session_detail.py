"""One session as `session/get` shows it, within a bound in bytes (`contract §4`, maxPageBytes).

Owns what gives way: first turns, which a cursor brings, and each with all that was asked in it; then interactions and
children, of which the reply says that there are more. It starts nothing and writes nothing.
"""

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

import apsw

from store.canonical.turn import Turn
from store.cursors import encode_cursor
from store.port import IncompletePart, SessionDetail
from store.statements import interactions, sessions, turns
from store.statements.interactions import FoundInteraction
from store.statements.sessions import StoredSession

TURN_BYTES: Final = 1024
"""About what a turn takes; none of its members is long."""
CHILDREN_SHARE: Final = 0.25
PENDING_SHARE: Final = 0.5
"""Of the bound, at most: pending interactions come before turns, since somebody has to answer them."""
_LAST: Final = 2**62


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


SizedT = TypeVar("SizedT", bound=_Sized)


def read_detail(
    connection: apsw.Connection, stored: StoredSession, turns_max: int, bytes_max: int, *, with_children: bool
) -> SessionDetail:
    """The newest `turns_max` turns, or as many as fit; pending interactions of the tree, and all of those turns.

    Children that are not wanted are named as cut, where there are some.
    """
    session, reference = stored.session, stored.reference
    below = sessions.descendants(connection, session.workspace_id, session.agent_session_id)
    children, children_cut = within(below if with_children else [], round(bytes_max * CHILDREN_SHARE))
    tree = [reference, *(child.reference for child in below)]
    pending, pending_cut = within(interactions.pending(connection, tree), round(bytes_max * PENDING_SHARE))
    shown = {found.place: found for found in pending}
    room = bytes_max - stored.size - _size(children) - _size(pending)

    newest = list(turns.newest_before(connection, reference, _LAST, turns_max + 1))
    taken: list[Turn] = []
    asked_cut = False
    for turn in newest[:turns_max]:
        asked = [
            one
            for one in interactions.of_turns(connection, reference, [turn.turn_id])
            if one.place not in shown
        ]
        if taken and TURN_BYTES + _size(asked) > room:
            break
        fitting, cut = within(asked, room)
        asked_cut = asked_cut or cut
        taken.append(turn)
        shown |= {found.place: found for found in fitting}
        room -= TURN_BYTES + _size(fitting)
    more = len(taken) < len(newest)
    parts: tuple[tuple[IncompletePart, bool], ...] = (
        ("interactions", pending_cut or asked_cut),
        ("children", children_cut or (bool(below) and not with_children)),
    )
    active_id = session.active_turn_id
    return SessionDetail(
        session=session,
        active_turn=None if active_id is None else turns.find(connection, reference, active_id),
        turns=tuple(taken),
        turns_cursor=encode_cursor("turns", (taken[-1].sequence,)) if more and taken else None,
        interactions=tuple(shown[place].interaction for place in sorted(shown)),
        children=tuple(child.session for child in children),
        incomplete=tuple(part for part, cut in parts if cut),
    )


def within(found: Iterable[SizedT], bytes_max: int) -> tuple[list[SizedT], bool]:
    """As many of the first as fit, never none where there are some; and whether something was left."""
    taken: list[SizedT] = []
    size = 0
    for one in found:
        size += one.size
        if taken and size > bytes_max:
            return taken, True
        taken.append(one)
    return taken, False


def _size(found: Iterable[StoredSession] | Iterable[FoundInteraction]) -> int:
    return sum(one.size for one in found)
