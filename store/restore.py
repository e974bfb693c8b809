"""Puts a copy of the database in the place of the present one, which is kept beside it (`greenroom restore`).

The copy is checked whole before anything is moved, and gets a new `storeId`: commit numbers of the old one mean
nothing in it (`contract §6`, promise 1). The instance lock is held by the caller. Nothing here decides to restore.
"""

import shutil
from pathlib import Path
from typing import Final

import apsw
import attrs

from store.connection import check_whole, open_for_writing, schema_version
from store.errors import SchemaTooNew, StoreDamaged, StoreUnavailable, translated
from store.files import sync_file, sync_folder
from store.migrations import shipped_migrations

_LOG: Final = "-wal"
_INDEX: Final = "-shm"
_SET_ASIDE_MAX: Final = 1000


@attrs.frozen
class Restored:
    """What was put in place."""

    store_id: str
    schema_version: int
    set_aside: Path | None
    """Where the database before is now, its log beside it; None when there was none."""


def restore(database: Path, copy: Path, new_store_id: str) -> Restored:
    """Put `copy` in the place of `database`. Safe to repeat: until the last step the present one stays in use.

    Raises `StoreDamaged` or `SchemaTooNew` for a copy that must not be used, `StoreFull` or `StoreUnavailable`, and
    `OSError` for files that cannot be read or written; the present database is then as it was.
    """
    draft = database.with_name(f"{database.name}.restoring")
    _remove_with_log(draft)
    try:
        _copy_durably(copy, draft)
        version = _adopt(draft, copy, new_store_id)
    except BaseException:
        _remove_with_log(draft)
        raise
    set_aside = _set_aside(database)
    draft.replace(database)
    sync_folder(database.parent)
    return Restored(new_store_id, version, set_aside)


def _copy_durably(copy: Path, draft: Path) -> None:
    for suffix in ("", _LOG):
        source, target = copy.with_name(copy.name + suffix), draft.with_name(draft.name + suffix)
        if suffix and not source.exists():
            continue
        shutil.copyfile(source, target)
        target.chmod(0o600)
        sync_file(target)


def _adopt(draft: Path, copy: Path, new_store_id: str) -> int:
    """Check the draft and give it its new identity; its schema version. Errors name the copy it was made of."""
    try:
        connection = open_for_writing(draft)
        try:
            check_whole(connection, draft)
            version, known = schema_version(connection), len(shipped_migrations())
            if version == 0:
                raise StoreDamaged(copy, "it is empty")
            if version > known:
                raise SchemaTooNew(copy, version, known)
            connection.execute("UPDATE meta SET store_id = ?", (new_store_id,))
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
            if busy:
                raise StoreUnavailable(f"{draft} is in use")
        finally:
            connection.close(True)
    except StoreDamaged as error:
        raise StoreDamaged(copy, error.detail) from error
    except apsw.Error as error:
        raise translated(error, copy) from error
    _remove_with_log(draft, but_itself=True)
    return version


def _set_aside(database: Path) -> Path | None:
    """Give the present database a second name, then take its log away: a log applies to whatever lies beside it."""
    if not database.exists():
        _remove_with_log(database)
        return None
    for number in range(1, _SET_ASIDE_MAX):
        kept = database.with_name(f"{database.name}.set-aside-{number}")
        try:
            kept.hardlink_to(database)
        except FileExistsError:
            continue
        log = database.with_name(database.name + _LOG)
        if log.exists():
            log.replace(kept.with_name(kept.name + _LOG))
        database.with_name(database.name + _INDEX).unlink(missing_ok=True)
        return kept
    raise FileExistsError(f"{database.parent} holds {_SET_ASIDE_MAX} databases set aside: remove some")


def _remove_with_log(path: Path, *, but_itself: bool = False) -> None:
    for suffix in (_LOG, _INDEX) if but_itself else ("", _LOG, _INDEX):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
