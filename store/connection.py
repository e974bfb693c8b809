"""Opens the database file the one way it may be opened, and checks it. Owns every setting of a connection.

Write-ahead log with full synchronisation: a commit that returned survives a power cut. Checkpoints are the
writer's decision (`store.upkeep`), never a side effect of a commit. Nothing here knows tables.
"""

from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from store.checksums import RESERVED_BYTES, SYSTEM_LAYER, checksum_layer, checksums_shipped
from store.errors import StoreDamaged, StoreError, StoreUnavailable, translated

BUSY_TIMEOUT_MS: Final = 30_000
"""How long a write waits for a foreign process that holds the write lock (FC-15); on the writer's thread."""

READ_BUSY_TIMEOUT_MS: Final = 1_000
"""Reads run on the loop and nearly never wait: only for another process that recovers or truncates the log."""

FULL_CHECK_BYTES_MAX: Final = 200_000_000
"""Below this a full integrity check costs about a second; above it the quick check is made."""

APPLICATION_ID: Final = 0x4752524D
"""Marks the file as ours; the file of another program is refused before anything in it changes."""

_WAL_KEPT_BYTES: Final = 32 * 1024 * 1024
_WRITER_CACHE_KIB: Final = 16 * 1024
_READER_CACHE_KIB: Final = 8 * 1024


def open_for_writing(path: Path, base_layer: str = SYSTEM_LAYER) -> apsw.Connection:
    """The writer's connection; creates the file when there is none.

    Raises `StoreDamaged`, `StoreFull` or `StoreUnavailable`.
    """
    try:
        connection = apsw.Connection(str(path), vfs=_page_layer(base_layer))
    except apsw.Error as error:
        raise translated(error, path) from error
    try:
        _prepare(connection)
        _prepare_writer(connection, path)
    except apsw.Error as error:
        connection.close(True)
        raise translated(error, path) from error
    except StoreError:
        connection.close(True)
        raise
    return connection


def open_for_reading(path: Path, base_layer: str = SYSTEM_LAYER) -> apsw.Connection:
    """A connection that cannot write; the file exists and a writer has opened it.

    Raises `StoreDamaged` or `StoreUnavailable`.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs=_page_layer(base_layer))
        _prepare(connection)
        connection.set_busy_timeout(READ_BUSY_TIMEOUT_MS)
        connection.pragma("query_only", True)
        connection.pragma("cache_size", -_READER_CACHE_KIB)
    except apsw.Error as error:
        raise translated(error, path) from error
    return connection


def open_unchanging(path: Path, base_layer: str = SYSTEM_LAYER) -> apsw.Connection:
    """For a file that nobody writes and that has no log: nothing is made beside it, nothing is locked.

    Raises `StoreDamaged` or `StoreUnavailable`.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    address = f"file:{quote(str(path.absolute()))}?immutable=1"
    try:
        connection = apsw.Connection(address, flags=flags, vfs=_page_layer(base_layer))
        _prepare(connection)
    except apsw.Error as error:
        raise translated(error, path) from error
    return connection


def open_to_look(path: Path, base_layer: str = SYSTEM_LAYER) -> apsw.Connection:
    """Read-only, for a database in use, a copy, or what a crash left. A database in use has a log, an empty one at
    times; a file without any is a copy, and nothing is made beside it.

    Raises `StoreDamaged` or `StoreUnavailable`, which is also for a file that is not there.
    """
    if not path.exists():
        raise StoreUnavailable(f"{path} is not there")
    has_log = path.with_name(f"{path.name}-wal").exists()
    return open_for_reading(path, base_layer) if has_log else open_unchanging(path, base_layer)


def open_for_copy_of(source: apsw.Connection, path: Path, base_layer: str = SYSTEM_LAYER) -> apsw.Connection:
    """For an empty file that is to become a copy; there is no journal, an unfinished one is no copy.

    Its first page is written before any other: only then does the layer below know that pages are to be summed, and
    what it wrote before would read as damage.
    """
    connection = apsw.Connection(str(path), vfs=_page_layer(base_layer))
    connection.pragma("journal_mode", "off")
    connection.reserve_bytes("main", source.reserve_bytes("main"))
    connection.pragma("application_id", APPLICATION_ID)
    return connection


def check_whole(connection: apsw.Connection, path: Path) -> None:
    """Read everything once and compare: page checksums, structure, and for a small file every index.

    Raises `StoreDamaged`, or `StoreUnavailable` when it cannot be read now.
    """
    try:
        small = database_bytes(connection) < FULL_CHECK_BYTES_MAX
        verdict = connection.execute("PRAGMA integrity_check(1)" if small else "PRAGMA quick_check(1)").get
    except apsw.Error as error:
        raise translated(error, path) from error
    if verdict != "ok":
        # Its first line only names the database; a refusal to start is one line.
        raise StoreDamaged(path, str(verdict).splitlines()[-1])


def schema_version(connection: apsw.Connection) -> int:
    """The number of the newest migration applied; 0 for an empty file."""
    return int(connection.pragma("user_version"))


def database_bytes(connection: apsw.Connection) -> int:
    """How large the database is as this connection sees it, its log included."""
    return int(connection.pragma("page_count")) * int(connection.pragma("page_size"))


def is_summed(connection: apsw.Connection) -> bool:
    """Whether the pages of this file carry checksums."""
    return connection.reserve_bytes("main") == RESERVED_BYTES


def _page_layer(base_layer: str) -> str:
    return checksum_layer(base_layer) if checksums_shipped() else base_layer


def _prepare(connection: apsw.Connection) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    # Plans never depend on what is bound. Otherwise a statement is prepared anew for every value, which costs
    # ten times what running it does.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("temp_store", "memory")  # a full disk must not stop a sort


def _prepare_writer(connection: apsw.Connection, path: Path) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Without this an error on the way in would still move the log into a file that may be damaged.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    if connection.pragma("page_count") > 1 and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreDamaged(path, "it is the database of another program")
    if connection.pragma("page_count") == 0 and checksums_shipped():
        connection.reserve_bytes("main", RESERVED_BYTES)
    elif is_summed(connection) and not checksums_shipped():
        # Writing without the layer would leave stale sums behind, which later read as damage.
        raise StoreUnavailable(f"{path} has page checksums, and this installation of apsw lacks them")
    journal_mode = connection.pragma("journal_mode", "wal")
    if journal_mode != "wal":
        raise StoreUnavailable(f"{path}: no write-ahead log on this file system ({journal_mode})")
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", True)
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("journal_size_limit", _WAL_KEPT_BYTES)
    connection.pragma("cache_size", -_WRITER_CACHE_KIB)
