"""Brings the schema of an opened database to this program's version, one numbered file a transaction.

`PRAGMA user_version` is the number of the newest migration applied; it changes with the migration or not at all. A
copy of the database is made before the first change of a file that already holds data.
"""

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Final

import apsw
import attrs

from store.checksums import SYSTEM_LAYER
from store.connection import schema_version
from store.copies import copy_pages
from store.errors import SchemaTooNew, translated
from store.fault_points import NO_FAULTS
from store.files import DatabaseFiles
from store.port import FaultSeam

_FILE_NAME: Final = re.compile(r"(\d{4})_(\w+)\.sql")


@attrs.frozen
class Migration:
    """One step: from schema version `number - 1` to `number`."""

    number: int
    name: str
    sql: str


def shipped_migrations() -> tuple[Migration, ...]:
    """The steps in `store/schema`, ascending and without a hole."""
    steps = [
        Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for file in resources.files("store").joinpath("schema").iterdir()
        if (match := _FILE_NAME.fullmatch(file.name))
    ]
    steps.sort(key=lambda step: step.number)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    return tuple(steps)


def migrate(
    connection: apsw.Connection,
    files: DatabaseFiles,
    migrations: Sequence[Migration],
    base_layer: str = SYSTEM_LAYER,
    faults: FaultSeam = NO_FAULTS,
) -> Path | None:
    """Apply what is missing; the copy made before, or None when none was needed.

    Raises `SchemaTooNew` before anything is changed, `StoreDamaged`, `StoreFull` or `StoreUnavailable`. After an
    error the file is at the last step that was complete.
    """
    path = files.database
    try:
        found = schema_version(connection)
        if found > len(migrations):
            raise SchemaTooNew(path, found, len(migrations))
        missing = migrations[found:]
        copy = _copy_before(connection, files, found, base_layer) if found and missing else None
        for step in missing:
            _apply(connection, step, faults)
    except apsw.Error as error:
        raise translated(error, path) from error
    return copy


def _copy_before(connection: apsw.Connection, files: DatabaseFiles, version: int, base_layer: str) -> Path:
    """A complete copy under a name of its own; one left by an attempt that broke off is made anew."""
    copy = files.database.with_name(f"{files.database.name}.version-{version}")
    files.discard(copy)
    copy_pages(connection, copy, base_layer=base_layer)
    files.sync_folder()
    return copy


def _apply(connection: apsw.Connection, step: Migration, faults: FaultSeam) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(step.sql).fetchall()
        connection.pragma("user_version", step.number)
        if faults.on:
            faults.reach_now("store.migration.before")
        connection.execute("COMMIT")
        if faults.on:
            faults.reach_now("store.migration.after")
    except apsw.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
