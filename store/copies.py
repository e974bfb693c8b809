"""Copies of the database: made while it is in use, checked whole, kept beside it in rotation.

A copy is one snapshot. It is read in small steps within one read transaction, so the writer never waits for it; what it
costs is that the write-ahead log cannot be emptied meanwhile. It takes its name only when it is complete, durable and
checked. Who makes copies when, and what becomes of a failure, is the caller's business.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import apsw
import attrs

from store.checksums import SYSTEM_LAYER
from store.connection import (
    check_whole,
    database_bytes,
    open_for_copy_of,
    open_for_reading,
    open_to_look,
    open_unchanging,
    schema_version,
)
from store.errors import StoreDamaged, StoreUnavailable, translated
from store.files import sync_file, sync_folder

STEP_PAGES: Final = 256
"""Pages copied between two looks at whether to go on; a megabyte."""

COPY_KINDS: Final = ("copy", "backup", "version")
"""Copies made at intervals, by command, and before a migration; the first are taken away in rotation."""

_UNFINISHED: Final = ".unfinished"


@attrs.frozen
class CopyFacts:
    """What a database says of itself, the copy or the present one."""

    store_id: str
    commit_seq: int
    """The newest commit in it."""
    sessions: int
    """Not deleted, children included."""
    schema_version: int


@attrs.frozen
class KeptCopy:
    """A copy beside the database."""

    path: Path
    bytes: int
    modified_ms: int


class CopyStopped(Exception):
    """`may_go_on` said no: nothing is left of the copy."""


def kept_copies(database: Path) -> tuple[KeptCopy, ...]:
    """The copies beside the database, the newest first."""
    found = []
    for kind in COPY_KINDS:
        for path in database.parent.glob(f"{database.name}.{kind}-*"):
            if path.name.endswith(("-wal", "-shm", "-journal", _UNFINISHED)):
                continue
            figures = path.stat()
            found.append(KeptCopy(path, figures.st_size, figures.st_mtime_ns // 1_000_000))
    return tuple(sorted(found, key=lambda copy: (-copy.modified_ms, copy.path.name)))


def copy_path(database: Path, kind: str, now_ms: int) -> Path:
    """A free name beside the database for a copy that is made now."""
    moment = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    path = database.with_name(f"{database.name}.{kind}-{moment}")
    number = 2
    while path.exists():
        path = path.with_name(f"{database.name}.{kind}-{moment}-{number}")
        number += 1
    return path


def rotate(database: Path, kept: int) -> tuple[Path, ...]:
    """Remove copies made at intervals beyond the newest `kept`; what was removed."""
    prefix = f"{database.name}.copy-"
    periodic = [copy.path for copy in kept_copies(database) if copy.path.name.startswith(prefix)]
    for path in periodic[kept:]:
        path.unlink(missing_ok=True)
    return tuple(periodic[kept:])


def abandoned_drafts(database: Path) -> tuple[Path, ...]:
    """Beginnings of copies beside the database whose makers were killed. One at work holds its draft locked."""
    drafts = [
        path for kind in COPY_KINDS for path in database.parent.glob(f"{database.name}.{kind}-*{_UNFINISHED}")
    ]
    return tuple(sorted(path for path in drafts if not _is_being_written(path)))


def remove_abandoned_drafts(database: Path) -> tuple[Path, ...]:
    """Take them away; what was taken. Each is as large as what was copied of the database by then."""
    drafts = abandoned_drafts(database)
    for path in drafts:
        _remove(path)
    return drafts


def facts_of(path: Path, base_layer: str = SYSTEM_LAYER) -> CopyFacts:
    """What a copy, or the database itself, says of itself. Raises `StoreDamaged` or `StoreUnavailable`."""
    connection = open_to_look(path, base_layer)
    try:
        return facts_in(connection, path)
    except apsw.Error as error:
        raise translated(error, path) from error
    finally:
        connection.close(True)


def make_copy(
    database: Path,
    target: Path,
    may_go_on: Callable[[], bool] = lambda: True,
    base_layer: str = SYSTEM_LAYER,
) -> CopyFacts:
    """Copy the database, in use or not, to `target`, which must not exist: checked, durable, mode 0600.

    `may_go_on` is asked between steps; it may wait, and raises or returns False to stop (`CopyStopped`). Raises
    `StoreDamaged` for a source that cannot be copied whole, `StoreFull`, `StoreUnavailable`, and `FileExistsError`,
    also when the same copy is being made elsewhere.
    """
    if target.exists():
        raise FileExistsError(f"{target} is there already")
    draft = target.with_name(target.name + _UNFINISHED)
    if _is_being_written(draft):
        raise FileExistsError(f"{target} is being made already")
    try:
        with _draft(draft):
            source = open_for_reading(database, base_layer)
            try:
                copy_pages(source, draft, may_go_on, base_layer)
            finally:
                source.close(True)
            facts = facts_of(draft, base_layer)
            sync_file(draft)
            # A name that somebody took meanwhile is not overwritten.
            target.hardlink_to(draft)
        sync_folder(target.parent)
    except apsw.Error as error:
        raise translated(error, database) from error
    except FileExistsError:
        raise
    except OSError as error:
        raise StoreUnavailable(f"{target}: {error.strerror}") from error
    return facts


def copy_pages(
    source: apsw.Connection,
    target_path: Path,
    may_go_on: Callable[[], bool] = lambda: True,
    base_layer: str = SYSTEM_LAYER,
) -> None:
    """Copy what `source` sees now, page by page, into the empty or new file `target_path`, and check it whole.

    Not by `VACUUM INTO`: what that writes before the first page of its file carries no sums, and reads as damage.
    """
    # One read transaction for all steps: otherwise each commit of another connection would start the copy anew.
    source.execute("BEGIN")
    try:
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        target = open_for_copy_of(source, target_path, base_layer)
        try:
            with target.backup("main", source, "main") as backup:
                while not backup.done:
                    if not may_go_on():
                        raise CopyStopped(str(target_path))
                    backup.step(STEP_PAGES)
        finally:
            target.close(True)
    finally:
        source.execute("ROLLBACK")
    copy = open_unchanging(target_path, base_layer)
    try:
        check_whole(copy, target_path)
    finally:
        copy.close(True)


def facts_in(connection: apsw.Connection, path: Path) -> CopyFacts:
    """See `facts_of`. Raises `StoreDamaged`, and SQLite's errors as they are."""
    if database_bytes(connection) == 0 or schema_version(connection) == 0:
        raise StoreDamaged(path, "it is empty")
    meta = connection.execute("SELECT store_id, commit_seq FROM meta").get
    if meta is None:
        raise StoreDamaged(path, "it has no identity")
    sessions = connection.execute("SELECT count(*) FROM sessions WHERE deleted_at IS NULL").get
    return CopyFacts(str(meta[0]), int(meta[1]), int(sessions), schema_version(connection))


@contextmanager
def _draft(path: Path) -> Iterator[None]:
    """A new, empty draft, locked for as long as it is written; nothing of it is left afterwards.

    Not by SQLite's own locks, which a process loses with the first descriptor of the file that it closes.
    """
    _remove(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        _remove(path)
        os.close(descriptor)


def _is_being_written(draft: Path) -> bool:
    try:
        descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # not there, or nobody's whose lock could be asked for
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove(draft: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)
