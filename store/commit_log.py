"""The commit log: what was published, kept within bounds so that a subscriber can catch up (`contract §5`).

Each entry carries running totals, so retention by count and size costs no scan. Only a prefix is ever removed,
and the newest number removed is remembered: that is how a log that no longer reaches back is told from a hole.
"""

from typing import Final

import apsw
import attrs

from store.canonical.identifiers import SessionId, WorkspaceId
from store.port import LoggedCommit

_TRIM_ROWS: Final = 512

_APPEND = """
    INSERT INTO commit_log (
        commit_seq, workspace_id, agent_session_id, root_agent_session_id, committed_at, entries_through,
        bytes_through, body
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ENDS = "SELECT entries_through, bytes_through, committed_at FROM commit_log ORDER BY commit_seq $direction LIMIT 1"
_OLDEST = _ENDS.replace("$direction", "ASC")
_NEWEST = _ENDS.replace("$direction", "DESC")
_HEAD_AND_TRIMMED = "SELECT commit_seq, log_trimmed_through FROM meta"
_RANGE = """
    SELECT commit_seq, workspace_id, agent_session_id, root_agent_session_id, body
    FROM commit_log WHERE commit_seq > ? AND commit_seq <= ? ORDER BY commit_seq
"""
# The newest of the oldest rows that is over a bound: everything up to it goes, whatever its clock said.
_TRIM_THROUGH = """
    SELECT max(commit_seq)
    FROM (SELECT * FROM commit_log ORDER BY commit_seq LIMIT ?)
    WHERE entries_through <= ? OR bytes_through <= ? OR committed_at < ?
"""
_TRIM = "DELETE FROM commit_log WHERE commit_seq <= ?"
_REMEMBER_TRIM = "UPDATE meta SET log_trimmed_through = max(log_trimmed_through, ?)"


@attrs.frozen
class LogLimits:
    """How much of the log is kept: whichever bound is reached first (`contract §1`, commitLog*)."""

    count_max: int = 1_000_000
    bytes_max: int = 1024 * 1024 * 1024
    age_max_ms: int = 604_800_000


@attrs.frozen
class LogEnd:
    """Running totals of everything ever logged, and when the entry they stand in was committed."""

    entries: int = 0
    bytes: int = 0
    committed_at: int = 0


def append(connection: apsw.Connection, entry: LoggedCommit, now_ms: int, end: LogEnd) -> LogEnd:
    """Add `entry` behind `end`; the new end. Part of the transaction that writes the rows (ST-005)."""
    end = LogEnd(end.entries + 1, end.bytes + len(entry.body), now_ms)
    connection.execute(
        _APPEND,
        (
            entry.commit_seq,
            entry.workspace_id,
            entry.agent_session_id,
            entry.root_agent_session_id,
            now_ms,
            end.entries,
            end.bytes,
            entry.body,
        ),
    )
    return end


def newest(connection: apsw.Connection) -> LogEnd:
    """The totals at the newest entry; zeros for an empty log."""
    values = connection.execute(_NEWEST).fetchone()
    return LogEnd(*values) if values else LogEnd()


def oldest(connection: apsw.Connection) -> LogEnd | None:
    """The totals at the oldest entry kept."""
    values = connection.execute(_OLDEST).fetchone()
    return LogEnd(*values) if values else None


def head_and_trimmed(connection: apsw.Connection) -> tuple[int, int]:
    """The newest number given to a unit, and the newest one that was removed from the log."""
    head, trimmed = connection.execute(_HEAD_AND_TRIMMED).get
    return head, trimmed


def reaches(connection: apsw.Connection, commit_seq: int) -> bool:
    """Whether everything after `commit_seq` is still here; not so for a number that was never given."""
    head, trimmed = head_and_trimmed(connection)
    return trimmed <= commit_seq <= head


def page(
    connection: apsw.Connection, commit_seq: int, upto: int, bytes_max: int
) -> tuple[LoggedCommit, ...] | None:
    """Entries in (commit_seq, upto], ascending; at least one if there is one, then about `bytes_max`."""
    if not reaches(connection, commit_seq):
        return None
    entries: list[LoggedCommit] = []
    size = 0
    for number, workspace_id, session_id, root_id, body in connection.execute(_RANGE, (commit_seq, upto)):
        size += len(body)
        if entries and size > bytes_max:
            break
        entries.append(
            LoggedCommit(number, WorkspaceId(workspace_id), SessionId(session_id), SessionId(root_id), body)
        )
    return tuple(entries)


def over_limits(oldest_kept: LogEnd | None, end: LogEnd, limits: LogLimits, now_ms: int) -> bool:
    """Whether `trim` would find something to remove."""
    if oldest_kept is None:
        return False
    return (
        oldest_kept.entries <= end.entries - limits.count_max
        or oldest_kept.bytes <= end.bytes - limits.bytes_max
        or oldest_kept.committed_at < now_ms - limits.age_max_ms
    )


def trim(connection: apsw.Connection, end: LogEnd, limits: LogLimits, now_ms: int) -> None:
    """Remove a small number of the oldest entries that are over a bound. The caller owns the transaction."""
    bounds = (
        _TRIM_ROWS,
        end.entries - limits.count_max,
        end.bytes - limits.bytes_max,
        now_ms - limits.age_max_ms,
    )
    through = connection.execute(_TRIM_THROUGH, bounds).get
    if through is not None:
        connection.execute(_TRIM, (through,))
        connection.execute(_REMEMBER_TRIM, (through,))
