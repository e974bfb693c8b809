"""What the store does to files beside SQLite: renewing the log after an unclean end, and the reserve for a full disk.

`DatabaseFiles` is the port; `LocalFiles` performs it with real system calls, the simulation has its own. No SQL.
"""

import os
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import attrs

_CHUNK_BYTES: Final = 1024 * 1024


@attrs.frozen
class FileSizes:
    """Sizes in bytes; `free` is what the file system would still give us."""

    database: int
    wal: int
    free: int


class DatabaseFiles(Protocol):
    """The files of one database."""

    @property
    def database(self) -> Path:
        """The main file; SQLite keeps its log and index beside it."""

    def renew_wal(self) -> bool:
        """Copy the write-ahead log to a new file, make that durable and put it in place of the old one.

        Must happen before SQLite opens the file after an unclean end: recovery trusts what it reads, and what it
        reads may exist in the page cache alone after a failed synchronisation. False when nothing was left over,
        which is what a clean end leaves. Raises `OSError`; the old log is then untouched.
        """

    def open_log(self) -> BinaryIO | None:
        """The write-ahead log, for reading; None when there is none."""

    def earlier_store(self) -> str | None:
        """What beside the database shows that there was a store here before; None when nothing does."""

    def note_store(self, store_id: str) -> None:
        """Leave a durable sign that this store is here: without its database, the folder is not empty but damaged."""

    def discard(self, path: Path) -> None:
        """Remove a file beside the database if it exists."""

    def sync_folder(self) -> None:
        """Make the names in the folder durable."""

    def hold_reserve(self) -> bool:
        """Take the reserve from the disk while there is plenty; False when there is not."""

    def release_reserve(self) -> bool:
        """Give the reserve back to the disk; False when none is held."""

    def sizes(self) -> FileSizes:
        """Present sizes, for health."""


@attrs.frozen
class LocalFiles:
    """The files of a database on a local disk."""

    database: Path
    reserve_bytes: int

    @property
    def _wal(self) -> Path:
        return self.database.with_name(self.database.name + "-wal")

    @property
    def _reserve(self) -> Path:
        return self.database.with_name("reserve")

    def renew_wal(self) -> bool:
        """See `DatabaseFiles`. The copy is read and written, not linked or cloned: new blocks are the point."""
        if _size(self._wal) == 0:
            return False
        copy = self._wal.with_name(self._wal.name + "-renewed")
        try:
            _copy_durably(self._wal, copy)
        except OSError:
            self.discard(copy)
            raise
        copy.replace(self._wal)
        self.sync_folder()
        return True

    def open_log(self) -> BinaryIO | None:
        """See `DatabaseFiles`."""
        return opened_log(self.database)

    def earlier_store(self) -> str | None:
        """See `DatabaseFiles`."""
        return earlier_store(self.database)

    def note_store(self, store_id: str) -> None:
        """See `DatabaseFiles`. Written once, and again after a restore."""
        sign, content = sign_of(self.database), f"{store_id}\n".encode()
        if sign.exists() and sign.read_bytes() == content:
            return
        draft = sign.with_name(f"{sign.name}-new")
        draft.write_bytes(content)
        draft.chmod(0o600)
        sync_file(draft)
        draft.replace(sign)
        self.sync_folder()

    def discard(self, path: Path) -> None:
        """See `DatabaseFiles`."""
        path.unlink(missing_ok=True)

    def sync_folder(self) -> None:
        """See `DatabaseFiles`."""
        sync_folder(self.database.parent)

    def hold_reserve(self) -> bool:
        """See `DatabaseFiles`. Taken only while twice as much is free, so that it is not given and taken in turns."""
        if self.reserve_bytes == 0 or _size(self._reserve) >= self.reserve_bytes:
            return True
        if self._free_bytes() < 2 * self.reserve_bytes:
            return False
        try:
            with self._reserve.open("ab") as reserve:
                os.posix_fallocate(reserve.fileno(), 0, self.reserve_bytes)
        except OSError:
            # The free space went meanwhile, or cannot be taken in advance here: then there is no reserve.
            self.discard(self._reserve)
            return False
        return True

    def release_reserve(self) -> bool:
        """See `DatabaseFiles`."""
        try:
            self._reserve.unlink()
        except FileNotFoundError:
            return False
        return True

    def sizes(self) -> FileSizes:
        """See `DatabaseFiles`."""
        return FileSizes(_size(self.database), _size(self._wal), self._free_bytes())

    def _free_bytes(self) -> int:
        figures = os.statvfs(self.database.parent)
        return figures.f_bavail * figures.f_frsize


def opened_log(database: Path) -> BinaryIO | None:
    """The write-ahead log beside `database`, for reading."""
    try:
        return database.with_name(database.name + "-wal").open("rb")
    except FileNotFoundError:
        return None


def sign_of(database: Path) -> Path:
    """The file that says which store is in this folder."""
    return database.with_name(f"{database.name}.store-id")


def earlier_store(database: Path) -> str | None:
    """The name of a file that only a store can have left beside `database`: its sign, or a copy of it."""
    if sign_of(database).exists():
        return sign_of(database).name
    for kind in ("copy", "backup", "version", "set-aside"):
        for path in database.parent.glob(f"{database.name}.{kind}-*"):
            return path.name
    return None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    sync_file(folder)


def sync_file(path: Path) -> None:
    """Make a file's content durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_durably(source: Path, target: Path) -> None:
    with source.open("rb", buffering=0) as reading, target.open("wb", buffering=0) as writing:
        target.chmod(source.stat().st_mode & 0o777)
        while chunk := reading.read(_CHUNK_BYTES):
            written = 0
            while written < len(chunk):
                written += writing.write(chunk[written:])
        os.fsync(writing.fileno())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
