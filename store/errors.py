"""The errors of the store, one class for each thing a caller can do about it.

Refusals of a single unit are no exceptions: they are outcomes (`store.canonical.change`). What stands here
concerns the database as a whole, or a call that could not be made.
"""

from pathlib import Path

import apsw


class StoreError(Exception):
    """Root of everything the store raises on purpose."""


class StoreFull(StoreError):
    """There was no room on the disk while the database was opened, migrated or recovered.

    Once the store is open a full disk is an outcome of the unit (`store.full`), not this.
    """


class StoreUnavailable(StoreError):
    """The database could not be read, opened or changed now: an I/O error, or a lock held for too long.

    The same call may succeed later. Not to be mistaken for `StoreDamaged`, which no retry mends.
    """


class StoreDamaged(StoreError):
    """What is on the disk is not what was written: a failed page checksum, a failed integrity check, no database.

    Never followed by an attempt to replace the file (`contract §6` promise 1); at start it is exit code 4.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path} is damaged: {detail}")
        self.path = path
        self.detail = detail


class SchemaTooNew(StoreError):
    """The database was written by a newer program; opened by this one it could lose data. Exit code 4.

    Not `StoreDamaged`: the file is sound, and the newer program opens it.
    """

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(f"{path} has schema version {found}, this program knows up to {known}")
        self.path = path
        self.found = found
        self.known = known


class DataDirectoryInUse(StoreError):
    """Another living daemon holds the data directory. Exit code 3; nothing in it was touched (FC-32)."""

    def __init__(self, data_directory: Path, pid: int | None) -> None:
        holder = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{data_directory} is in use by {holder}")
        self.data_directory = data_directory
        self.pid = pid
        """The holder's process id, or None when it had not written it yet."""


class NetworkFileSystem(StoreError):
    """The data directory lies on a network file system, where neither locks nor the shared index are safe."""

    def __init__(self, data_directory: Path, kind: str) -> None:
        super().__init__(f"{data_directory} is on a network file system ({kind}): choose a local folder")
        self.data_directory = data_directory
        self.kind = kind


class RowError(StoreError):
    """A stored or given row does not fit the vocabulary: an unknown value is never widened or guessed (ST-001).

    The row stays what it is; the caller sets its session aside (FC-40).
    """


class InvalidUnit(StoreError):
    """A unit contradicts itself or the rows it changes: a bug of its author, never written even in part."""


class ClaimTaken(StoreError):
    """A submit id of the unit is bound already; the unit is refused with `submit.conflict` (RT-037)."""


class SessionIsDeleted(StoreError):
    """A unit of a session that is deleted: nothing but a restore brings it back (ST-026). Code `session.deleted`."""


class SessionMoved(StoreError):
    """A deletion, restore or purge was decided on a row that is another one by now. Code `session.busy`: decide anew."""


class AttachmentGone(StoreError):
    """A unit shows a picture that is not stored, or no longer. Code `attachment.not_found`."""


class TooManyUnused(StoreError):
    """Pictures that nothing uses take up all they may. Code `limit.exceeded`."""


class WorktreeTaken(StoreError):
    """A checkout is to be recorded for a session that has one on record. Code `session.exists`."""


class InvalidCursor(StoreError):
    """A page cursor that this store did not make, or made for another list."""


_DAMAGE = (apsw.SQLITE_CORRUPT, apsw.SQLITE_NOTADB)
_DAMAGE_EXTENDED = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS)
_PASSING = (
    apsw.SQLITE_BUSY,
    apsw.SQLITE_CANTOPEN,
    apsw.SQLITE_INTERRUPT,
    apsw.SQLITE_IOERR,
    apsw.SQLITE_LOCKED,
    apsw.SQLITE_NOLFS,
    apsw.SQLITE_NOMEM,
    apsw.SQLITE_PERM,
    apsw.SQLITE_PROTOCOL,
    apsw.SQLITE_READONLY,
)


def result_codes(error: apsw.Error) -> tuple[int, int]:
    """SQLite's primary and extended result code; zeros for an error of the binding itself."""
    return getattr(error, "result", 0), getattr(error, "extendedresult", 0)


def is_damage(error: apsw.Error) -> bool:
    """Whether SQLite says that the file itself is wrong."""
    primary, extended = result_codes(error)
    return primary in _DAMAGE or extended in _DAMAGE_EXTENDED


def is_full(error: apsw.Error) -> bool:
    """Whether there was no room on the disk."""
    return result_codes(error)[0] == apsw.SQLITE_FULL


def is_passing(error: apsw.Error) -> bool:
    """Whether the same call may succeed later: an I/O error, or a lock held by somebody else."""
    return result_codes(error)[0] in _PASSING


def translated(error: apsw.Error, path: Path) -> Exception:
    """The store's error for SQLite's; `error` itself when it is a mistake in our SQL, which must not hide."""
    if is_damage(error):
        return StoreDamaged(path, str(error))
    if is_full(error):
        return StoreFull(f"{path}: no room on the disk")
    if is_passing(error):
        return StoreUnavailable(f"{path}: {error}")
    return error


PROGRAM_ERRORS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a mistake in our own code raises. Caught only where one unit, or one observer, must not stop the others;
anything else (exhausted memory, an interrupt) still ends the writer."""
