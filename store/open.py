"""Opens a store in the one right order, and closes it cleanly. The composition root's way in.

Renew the log after an unclean end, open, check the whole file, migrate, give it its identity. Afterwards the
caller recovers, chooses a writer, and serves. The instance lock is taken before this, by the caller.
"""

import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import apsw
import attrs
import structlog

from store import commit_log
from store.checksums import SYSTEM_LAYER
from store.commit_log import LogLimits
from store.committer import Committer
from store.connection import check_whole, is_summed, open_for_reading, open_for_writing, schema_version
from store.errors import StoreDamaged, StoreFull, StoreUnavailable, translated
from store.fault_points import NO_FAULTS
from store.files import DatabaseFiles
from store.inline_writer import InlineWriter
from store.migrations import Migration, migrate, shipped_migrations
from store.port import CommitEncoder, FaultSeam
from store.reader import PAGE_BYTES_MAX, SqliteReader
from store.recovery import Recovery, recover
from store.write_ahead_log import damage_behind
from store.writer import ThreadedWriter

_logger = structlog.get_logger(__name__)

DATABASE_FILE_NAME: Final = "greenroom.db"

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_BIRTH = "INSERT INTO meta (id, store_id, created_at, commit_seq, log_trimmed_through) VALUES (1, ?, ?, 0, 0)"


@attrs.frozen
class StoreOptions:
    """What the composition root decides about a store. Sizes in bytes, times in milliseconds."""

    clock_ms: Callable[[], int]
    new_store_id: Callable[[], str]
    encode: CommitEncoder
    log_limits: LogLimits = attrs.field(factory=LogLimits)
    page_bytes_max: int = PAGE_BYTES_MAX
    base_layer: str = SYSTEM_LAYER
    """SQLite's file system layer; a simulation names its own."""
    migrations: tuple[Migration, ...] = attrs.field(factory=shipped_migrations)
    faults: FaultSeam = NO_FAULTS


@attrs.frozen
class StartReport:
    """What opening found out and did."""

    unclean_end: bool
    """The last life left a log behind; it was renewed before anything read it."""
    pages_summed: bool
    copy_before_migration: Path | None


class Store:
    """An open store: one committer for the writer that runs, and as many readers as there are threads that read."""

    def __init__(
        self, committer: Committer, files: DatabaseFiles, options: StoreOptions, report: StartReport
    ) -> None:
        self.report = report
        self.committer = committer
        self._path = files.database
        self._options = options
        self._readers: list[SqliteReader] = []
        self._writer: ThreadedWriter | None = None
        self.reader = self.new_reader()

    def new_reader(self) -> SqliteReader:
        """A reader on a connection of its own, for a thread of its own. Closed with the store."""
        connection = open_for_reading(self._path, self._options.base_layer)
        reader = SqliteReader(connection, self._path, self._options.page_bytes_max)
        self._readers.append(reader)
        return reader

    def recover(self) -> Recovery:
        """Settle what the last life left open; before a writer runs and before clients are served.

        Raises `StoreFull`, `StoreUnavailable` or `StoreDamaged`: then nothing may be served.
        """
        try:
            return recover(self.committer, self._options.clock_ms())
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def threaded_writer(self) -> ThreadedWriter:
        """The writer of the service."""
        self._writer = ThreadedWriter(self.committer)
        return self._writer

    def inline_writer(self, latency: Callable[[], Awaitable[None]]) -> InlineWriter:
        """The writer of simulated runs."""
        return InlineWriter(self.committer, latency)

    def close(self) -> None:
        """Close everything and leave an empty log, which is what the next start takes for a clean end.

        Not to be called while a writer runs. A connection that an abandoned commit still uses is left alone: the
        process is about to end, and the next start treats it as what it is, an unclean end.
        """
        for reader in self._readers:
            reader.close()
        if self._writer is None or not self._writer.abandoned:
            self.committer.close()


def open_store(files: DatabaseFiles, options: StoreOptions) -> Store:
    """Open the database, creating it if there is none.

    Raises `StoreDamaged`, `SchemaTooNew`, `StoreFull` or `StoreUnavailable`; the file is then as it was, or at
    the last complete migration.
    """
    path = files.database
    _refuse_a_log_alone(files)
    unclean_end = _renew_wal(files, options.faults)
    connection = open_for_writing(path, options.base_layer)
    try:
        files.sync_folder()  # before anything is in the log: the name of a new file is durable first
        if unclean_end:
            _refuse_a_cut_log(connection, files)
        check_whole(connection, path)
        if schema_version(connection) == 0:
            _refuse_a_lost_store(files)
        copy = migrate(connection, files, options.migrations, options.base_layer, options.faults)
        store_id = _identity(connection, options)
        files.sync_folder()  # the log's own name, before a sign says that there is something to miss
        _leave_a_sign(files, store_id)
        committer = Committer(
            connection, files, options.encode, options.clock_ms, options.log_limits, options.faults
        )
        return Store(committer, files, options, StartReport(unclean_end, is_summed(connection), copy))
    except apsw.Error as error:
        connection.close(True)
        raise translated(error, path) from error
    except OSError as error:
        connection.close(True)
        raise StoreUnavailable(f"{path}: {error.strerror}") from error
    except BaseException:
        connection.close(True)
        raise


def _refuse_a_log_alone(files: DatabaseFiles) -> None:
    """SQLite would take a missing or emptied file for a new one and begin its log anew: all that is left would go."""
    sizes = files.sizes()
    if sizes.wal > 0 and sizes.database == 0:
        raise StoreDamaged(
            files.database, "its write-ahead log is there, the file itself is missing or empty"
        )
    if sizes.database == 0:
        _refuse_a_lost_store(files)


def _renew_wal(files: DatabaseFiles, faults: FaultSeam) -> bool:
    """Renew the log; on a full disk the reserve makes the room for the copy."""
    path = files.database
    try:
        if faults.on and files.sizes().wal:
            faults.reach_now("store.renewal.before")
        renewed = _renewed(files)
        if faults.on and renewed:
            faults.reach_now("store.renewal.after")
        return renewed
    except apsw.Error as error:
        raise translated(error, path) from error
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(f"{path}: no room on the disk to copy what the last run left behind") from error
        raise StoreUnavailable(f"{path}: {error.strerror}") from error


def _renewed(files: DatabaseFiles) -> bool:
    try:
        return files.renew_wal()
    except OSError as error:
        if error.errno not in _NO_ROOM or not files.release_reserve():
            raise
        return files.renew_wal()


def _refuse_a_cut_log(connection: apsw.Connection, files: DatabaseFiles) -> None:
    """SQLite reads a damaged log up to the damage and says nothing; what stands behind it was acknowledged."""
    log = files.open_log()
    if log is None:
        return
    with log:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # makes SQLite read the log
        frames_read, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        damage = damage_behind(log, frames_read, int(connection.pragma("page_size")))
    if damage is not None:
        raise StoreDamaged(files.database, f"{damage}; {_newest_readable(connection)}")


def _newest_readable(connection: apsw.Connection) -> str:
    if schema_version(connection) == 0 or connection.execute("SELECT count(*) FROM meta").get == 0:
        return "nothing of the store can be read"
    head, _ = commit_log.head_and_trimmed(connection)
    return f"commits up to {head} can be read"


def _refuse_a_lost_store(files: DatabaseFiles) -> None:
    """A file without a schema is a new one, unless what lies beside it says that a store was here."""
    sign = files.earlier_store()
    if sign is not None:
        detail = (
            f"it is empty, and {sign} shows that it was not; only where no store is to be kept, remove that"
        )
        raise StoreDamaged(files.database, detail)


def _leave_a_sign(files: DatabaseFiles, store_id: str) -> None:
    try:
        files.note_store(store_id)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _logger.warning("store.no_sign_left", reason="no room on the disk")  # the next start tries again


def _identity(connection: apsw.Connection, options: StoreOptions) -> str:
    """The store's id, given now to a new one."""
    if connection.execute("SELECT count(*) FROM meta").get == 0:
        connection.execute(_BIRTH, (options.new_store_id(), options.clock_ms()))
    return str(connection.execute("SELECT store_id FROM meta").get)
