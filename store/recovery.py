"""Settles at start what the last life left open, as ordinary commits, before any client is served (RT-076).

Finds the sessions for the whole store at once; what each of them needs is decided purely in
`store.canonical.recovery`. It creates no actor and asks no provider. A row that cannot be read or a unit that
cannot be written sets its session aside and never stops the start (FC-40).
"""

from typing import Final

import apsw
import attrs

from store.canonical.change import NotCommitted, OutcomeUnknown, Unit, UnitOutcome
from store.canonical.identifiers import SessionKey
from store.canonical.recovery import recover_session
from store.committer import Committer
from store.errors import RowError, StoreFull, StoreUnavailable
from store.group import UnitJob
from store.statements import unfinished

_SESSIONS_A_GROUP: Final = 256


@attrs.frozen
class Quarantined:
    """A session that recovery could not settle; it must not be started until somebody has looked at it."""

    session_key: SessionKey
    reason: str


@attrs.frozen
class Recovery:
    """What a start had to settle."""

    sessions_settled: int
    quarantined: tuple[Quarantined, ...]


def recover(committer: Committer, now_ms: int) -> Recovery:
    """Settle everything unfinished. Called once, before a writer runs.

    Raises `StoreFull` or `StoreUnavailable` when the disk refuses a whole group: nothing is served then.
    """
    quarantined: list[Quarantined] = []
    settled = 0
    references = unfinished.references(committer.connection)
    for start in range(0, len(references), _SESSIONS_A_GROUP):
        group = references[start : start + _SESSIONS_A_GROUP]
        units = _decide(committer.connection, group, now_ms, quarantined)
        if committer.faults.on:
            committer.faults.reach_now("store.recovery.before")
        settled += _commit(committer, units, quarantined)
        if committer.faults.on:
            committer.faults.reach_now("store.recovery.after")
    return Recovery(settled, tuple(quarantined))


def _decide(
    connection: apsw.Connection, references: list[int], now_ms: int, quarantined: list[Quarantined]
) -> list[Unit]:
    """The units these sessions need, read in one transaction: taking it anew for each query costs as much."""
    units: list[Unit] = []
    connection.execute("BEGIN")
    for reference in references:
        try:
            unit = recover_session(unfinished.load(connection, reference), now_ms)
        except RowError as error:
            quarantined.append(Quarantined(unfinished.key_of(connection, reference), str(error)))
        else:
            units.extend([] if unit is None else [unit])
    connection.execute("COMMIT")
    return units


def _commit(committer: Committer, units: list[Unit], quarantined: list[Quarantined]) -> int:
    outcomes: list[UnitOutcome] = []
    result = committer.commit([UnitJob(unit, outcomes.append) for unit in units])
    if result.failure == "full":
        raise StoreFull("no room on the disk to settle what the last run left open")
    if result.failure is not None:
        raise StoreUnavailable("the database cannot be written: what the last run left open is not settled")
    settled = 0
    for outcome in result.outcomes:
        match outcome:
            case NotCommitted(unit=unit, detail=detail) | OutcomeUnknown(unit=unit, detail=detail):
                quarantined.append(Quarantined(unit.session_key, detail))
            case _:
                settled += 1
    return settled
