"""Looks at a whole database without changing it (`greenroom check`): pages, structure, marks, identity, log.

Everything found is told, not the first thing alone; nothing is mended. It may be the database of a running daemon, a copy,
or what a crash left behind.
"""

from pathlib import Path
from typing import Final

import apsw
import attrs

from store.connection import APPLICATION_ID, is_summed, open_to_look, schema_version
from store.copies import CopyFacts, facts_in
from store.errors import StoreDamaged, is_damage, translated
from store.files import opened_log
from store.migrations import shipped_migrations
from store.write_ahead_log import damage_behind

PROBLEMS_TOLD_MAX: Final = 100


@attrs.frozen
class Inspection:
    """What was found. Sizes in bytes."""

    bytes: int
    log_bytes: int
    pages_summed: bool | None
    """None when that could not be told."""
    facts: CopyFacts | None
    """None when they cannot be read."""
    problems: tuple[str, ...]
    newer: bool
    """It was written by a newer program: sound, but not for this one."""
    log_walked: bool
    """Whether the log was looked through for commits behind damage: not while somebody writes it."""


def inspect(database: Path, *, written_now: bool) -> Inspection:
    """Read everything once. Raises `StoreUnavailable` for what cannot be read now; damage is what it finds.

    With `written_now`, what a log holds behind its last commit is left alone: it may be a commit under way.
    """
    log_bytes = _log_bytes(database)
    try:
        connection = open_to_look(database)
    except StoreDamaged as error:
        return Inspection(database.stat().st_size, log_bytes, None, None, (error.detail,), False, False)
    try:
        problems = _wrong_pages(connection, database)
        walked = not written_now and log_bytes > 0
        if walked:
            problems += _wrong_log(connection, database)
        known = len(shipped_migrations())
        facts, newer, summed = None, False, None
        try:
            summed = is_summed(connection)
            if connection.pragma("application_id") != APPLICATION_ID:
                problems.append("it is not marked as a database of this program")
            newer = schema_version(connection) > known
            facts = facts_in(connection, database)
        except (StoreDamaged, apsw.Error) as error:
            problems += _told(error, database)
        return Inspection(
            database.stat().st_size, log_bytes, summed, facts, tuple(dict.fromkeys(problems)), newer, walked
        )
    finally:
        connection.close(True)


def _wrong_pages(connection: apsw.Connection, database: Path) -> list[str]:
    """Structure, indexes and page sums, of a large file too."""
    try:
        verdicts = connection.execute(f"PRAGMA integrity_check({PROBLEMS_TOLD_MAX})").fetchall()
    except apsw.Error as error:
        return _told(error, database)
    lines = [line for (verdict,) in verdicts for line in str(verdict).splitlines()]
    return [] if lines == ["ok"] else [line for line in lines if not line.startswith("*** in database")]


def _wrong_log(connection: apsw.Connection, database: Path) -> list[str]:
    log = opened_log(database)
    if log is None:
        return []
    with log:
        try:
            frames_read, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            damage = damage_behind(log, frames_read, int(connection.pragma("page_size")))
        except apsw.Error as error:
            return _told(error, database)
    return [] if damage is None else [str(damage)]


def _told(error: StoreDamaged | apsw.Error, database: Path) -> list[str]:
    """Damage as a finding; anything else ends the inspection."""
    if isinstance(error, StoreDamaged):
        return [error.detail]
    if not is_damage(error):
        raise translated(error, database) from error
    return [f"a page cannot be read as it was written ({error})"]


def _log_bytes(database: Path) -> int:
    log = database.with_name(f"{database.name}-wal")
    return log.stat().st_size if log.exists() else 0
