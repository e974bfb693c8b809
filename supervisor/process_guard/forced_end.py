"""Ends every process that is provably one owner's, when no reaper is there to do it.

Owns the proof (recorded identity, mark in the environment, descent from one of these) and the order of the
kills. It must not kill on less: not by name, not by a bare pid. Used for one launch whose reaper is lost
and for everything of a dead daemon.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import trio

from supervisor.process_guard.process_table import ProcessIdentity, ProcessRow, ProcessTable, descendants

SCAN_SECONDS = 0.02


@attrs.frozen
class Ownership:
    """What is known of one owner's processes."""

    members: frozenset[ProcessIdentity]
    holders: frozenset[ProcessIdentity]
    """Reapers and spawners. Killed last: while they live, nothing of their trees can slip away from below them."""
    mark: Mapping[str, str]


@attrs.frozen
class ForcedEnd:
    """What was killed, and what was still alive at the end (zombies are not)."""

    ended: frozenset[ProcessIdentity]
    remaining: tuple[ProcessRow, ...]


def find_owned(
    ownership: Ownership, rows: Mapping[int, ProcessRow], carriers: set[int], own_pid: int
) -> list[ProcessRow]:
    """Everything alive that is provably owned, never ourselves or an ancestor of ours.

    (The daemon may have been started from a shell that an agent of the dead instance had opened, which
    gives the mark to all of these.)
    """
    recorded = ownership.members | ownership.holders
    known = [row for row in rows.values() if row.identity in recorded or row.pid in carriers]
    found = {row.pid: row for row in known + descendants(rows, [row.pid for row in known])}
    spared, pid = set[int](), own_pid
    while pid in rows and pid not in spared:
        spared.add(pid)
        pid = rows[pid].parent_pid
    return [row for row in found.values() if row.living and row.pid not in spared]


async def end_owned(table: ProcessTable, ownership: Ownership, seconds: float) -> ForcedEnd:
    """Kill until a look finds nothing more, for at most `seconds`."""
    ended: set[ProcessIdentity] = set()
    deadline = trio.current_time() + seconds
    while True:
        found = find_owned(ownership, table.rows(), table.carriers(ownership.mark), table.own_pid())
        if not found or trio.current_time() > deadline:
            return ForcedEnd(frozenset(ended - {row.identity for row in found}), tuple(found))
        victims = [row for row in found if row.identity not in ownership.holders] or found
        table.kill_all(victims)
        ended.update(row.identity for row in victims)
        await trio.sleep(SCAN_SECONDS)
