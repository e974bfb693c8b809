"""Ends at the start of a daemon what dead instances left running (contract §6 promise 7).

Owns the reading of the instances folder and the report of what was found. Runs under the single-instance
lock, before anything is spawned: every record but our own is of a dead instance. It must not kill what it
cannot prove to be theirs: that is reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import attrs

from supervisor.process_guard.forced_end import Ownership, end_owned
from supervisor.process_guard.journal import SUFFIX, DiskRecordFile, Recorded, read_records
from supervisor.process_guard.marks import INSTANCE_MARK
from supervisor.process_guard.process_table import (
    LinuxProcessTable,
    ProcessIdentity,
    ProcessRow,
    ProcessTable,
)

SWEEP_SECONDS = 5.0

Doubt = Literal["pid_used_again", "session_of_recorded", "instance_alive"]


@attrs.frozen
class Unproven:
    """A living process that may have to do with a dead instance. It was left alone."""

    instance_id: str
    identity: ProcessIdentity
    doubt: Doubt


@attrs.frozen
class SweepReport:
    """What one sweep found. Identities are of this boot."""

    instances: tuple[str, ...] = ()
    ended: tuple[ProcessIdentity, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    remaining: tuple[ProcessIdentity, ...] = ()
    """Proven, but would not end in time or may not be signalled; their record is kept for the next start."""


async def sweep(
    instances: Path,
    *,
    own_instance_id: str,
    table: ProcessTable | None = None,
    seconds: float = SWEEP_SECONDS,
) -> SweepReport:
    """End everything of all dead instances recorded in `instances`, for at most `seconds` each.

    Works also when the reapers and the spawner were killed before their daemon: what they held is found by
    the mark in its environment and by recorded identity.
    """
    table = LinuxProcessTable() if table is None else table
    report = SweepReport()
    for path in _record_paths(instances):
        if path.stem != own_instance_id:
            found = await _sweep_instance(path, table, seconds)
            if not found.remaining and all(doubt.doubt != "instance_alive" for doubt in found.unproven):
                DiskRecordFile(path).remove()
            report = SweepReport(
                report.instances + found.instances,
                report.ended + found.ended,
                report.unproven + found.unproven,
                report.remaining + found.remaining,
            )
    return report


def _record_paths(instances: Path) -> list[Path]:
    return sorted(instances.glob(f"*{SUFFIX}"))


async def _sweep_instance(path: Path, table: ProcessTable, seconds: float) -> SweepReport:
    instance_id = path.stem
    boot_id = table.boot_id()
    records = [record for record in read_records(path) if record.boot_id == boot_id]
    report = SweepReport((instance_id,))
    if not records:
        return report  # of another boot, or ended before its first record: nothing of it can be alive
    daemon = _living_daemon(records, table)
    if daemon is not None:
        # the lock says it is dead, the table says it is not: no proof, so no kill
        return attrs.evolve(report, unproven=(Unproven(instance_id, daemon.identity, "instance_alive"),))
    ownership = Ownership(
        members=frozenset(record.identity for record in records if record.role == "provider"),
        holders=frozenset(record.identity for record in records if record.role in ("spawner", "reaper")),
        mark={INSTANCE_MARK: instance_id},
    )
    result = await end_owned(table, ownership, seconds)
    remaining = tuple(row.identity for row in result.remaining)
    unproven = tuple(
        Unproven(instance_id, row.identity, doubt)
        for row, doubt in find_unproven(records, table.rows(), table.own_pid())
        if row.identity not in remaining
    )
    return SweepReport((instance_id,), tuple(sorted(result.ended)), unproven, remaining)


def _living_daemon(records: list[Recorded], table: ProcessTable) -> ProcessRow | None:
    rows = table.rows()
    for record in records:
        row = rows.get(record.identity.pid)
        if record.role == "daemon" and row is not None and row.living and row.identity == record.identity:
            return row
    return None


def find_unproven(
    records: list[Recorded], rows: dict[int, ProcessRow], own_pid: int
) -> list[tuple[ProcessRow, Doubt]]:
    """Living processes at a recorded pid or in the session a recorded provider led.

    After the sweep such a pid is another process's, and such a session may be one led by that other.
    """
    pids = {record.identity.pid for record in records if record.role != "daemon"}
    sessions = {record.identity.pid for record in records if record.role == "provider"}
    found: list[tuple[ProcessRow, Doubt]] = []
    for row in rows.values():
        if not row.living or row.pid == own_pid:
            continue
        if row.pid in pids:
            found.append((row, "pid_used_again"))
        elif row.session_id in sessions:
            found.append((row, "session_of_recorded"))
    return found
