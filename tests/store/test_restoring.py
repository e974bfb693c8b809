"""A copy in the place of the database: checked first, a new store id, and the one before kept (contract §6, 1)."""

import os
from pathlib import Path

import apsw
import pytest

from store.connection import open_for_writing
from store.copies import kept_copies
from store.errors import SchemaTooNew, StoreDamaged
from store.migrations import shipped_migrations
from store.open import DATABASE_FILE_NAME
from store.restore import restore
from tests.store.builders import key, open_in, session_row, unit, written


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A data folder whose database holds session `new`; beside it a copy from when it held only `old`."""
    store = open_in(tmp_path)
    written(store, unit("old", session_row("old")))
    store.committer.connection.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    written(store, unit("new", session_row("new")))
    store.close()
    return tmp_path / DATABASE_FILE_NAME


def sessions_in(folder: Path) -> set[str]:
    store = open_in(folder)
    found = {name for name in ("old", "new") if store.reader.session(key(name)).value is not None}
    store.close()
    return found


def test_the_copy_takes_the_place_under_a_new_identity_and_the_one_before_is_kept(database: Path):
    restored = restore(database, database.with_name("copy.db"), "store-9")
    assert restored.store_id == "store-9"
    assert restored.schema_version == len(shipped_migrations())
    assert restored.set_aside == database.with_name("greenroom.db.set-aside-1")
    assert sessions_in(database.parent) == {"old"}
    store = open_in(database.parent)
    assert store.reader.store_id() == "store-9"
    store.close()
    kept = database.with_name("kept")
    kept.mkdir()
    restored.set_aside.rename(kept / DATABASE_FILE_NAME)
    assert sessions_in(kept) == {"old", "new"}


def test_the_log_of_the_one_before_goes_with_it(database: Path):
    """A log left behind would be applied to the copy."""
    store = open_in(database.parent)
    written(store, unit("later", session_row("later")))
    log = database.with_name(f"{database.name}-wal")
    torn = log.read_bytes()
    store.close()
    log.write_bytes(torn)
    restored = restore(database, database.with_name("copy.db"), "store-9")
    assert not log.exists()
    assert restored.set_aside is not None
    assert restored.set_aside.with_name(f"{restored.set_aside.name}-wal").read_bytes() == torn
    assert sessions_in(database.parent) == {"old"}


def test_a_copy_that_has_a_log_of_its_own_brings_it_along(database: Path):
    backup = database.with_name("backup")
    backup.mkdir()
    store = open_in(database.parent)
    written(store, unit("later", session_row("later")))
    for suffix in ("", "-wal"):
        source = database.with_name(database.name + suffix)
        (backup / source.name).write_bytes(source.read_bytes())
    store.close()
    restore(database, backup / DATABASE_FILE_NAME, "store-9")
    store = open_in(database.parent)
    assert store.reader.session(key("later")).value is not None
    store.close()


def test_a_damaged_database_can_be_replaced_and_is_still_kept(database: Path):
    database.write_bytes(b"garbage" * 1000)
    restored = restore(database, database.with_name("copy.db"), "store-9")
    assert sessions_in(database.parent) == {"old"}
    assert restored.set_aside is not None
    assert restored.set_aside.read_bytes() == b"garbage" * 1000


def test_where_there_is_no_database_nothing_is_set_aside(database: Path, tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    restored = restore(empty / DATABASE_FILE_NAME, database.with_name("copy.db"), "store-9")
    assert restored.set_aside is None
    assert sessions_in(empty) == {"old"}


def test_each_database_before_gets_a_name_of_its_own(database: Path):
    copy = database.with_name("copy.db")
    names = [restore(database, copy, f"store-{number}").set_aside for number in range(3)]
    assert [path.name for path in names if path] == [
        f"greenroom.db.set-aside-{number}" for number in (1, 2, 3)
    ]


def _damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200] = b"\xff" * 200
    path.write_bytes(bytes(content))


def _foreign(path: Path) -> None:
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    connection.close()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("no database at all " * 100)


@pytest.mark.parametrize("spoil", [_damaged, _foreign, _empty, _text])
def test_a_copy_that_is_not_sound_changes_nothing(database: Path, spoil):
    copy = database.with_name("copy.db")
    spoil(copy)
    before = database.read_bytes()
    with pytest.raises(StoreDamaged) as raised:
        restore(database, copy, "store-9")
    assert str(raised.value).startswith(f"{copy} is damaged: ")
    assert database.read_bytes() == before
    assert not list(database.parent.glob("*restoring*"))
    assert not list(database.parent.glob("*set-aside*"))


def test_a_copy_of_a_newer_program_is_refused(database: Path):
    copy = database.with_name("copy.db")
    connection = open_for_writing(copy)
    connection.pragma("user_version", 9999)
    connection.close()
    with pytest.raises(SchemaTooNew, match=r"copy\.db has schema version 9999"):
        restore(database, copy, "store-9")
    assert sessions_in(database.parent) == {"old", "new"}


def test_a_copy_that_is_not_there_changes_nothing(database: Path):
    with pytest.raises(FileNotFoundError):
        restore(database, database.with_name("missing"), "store-9")
    assert sessions_in(database.parent) == {"old", "new"}


def test_an_attempt_that_broke_off_is_no_obstacle(database: Path):
    for suffix in ("", "-wal", "-shm"):
        database.with_name(f"{database.name}.restoring{suffix}").write_bytes(b"half")
    restore(database, database.with_name("copy.db"), "store-9")
    assert sessions_in(database.parent) == {"old"}


def test_the_copies_of_migrations_are_listed_newest_first(tmp_path: Path):
    for version, at in ((1, 100), (2, 300), (3, 200)):
        path = tmp_path / f"{DATABASE_FILE_NAME}.version-{version}"
        path.write_bytes(b"x" * version)
        os.utime(path, (at, at))
    found = kept_copies(tmp_path / DATABASE_FILE_NAME)
    assert [(copy.path.name[-1], copy.bytes, copy.modified_ms) for copy in found] == [
        ("2", 2, 300_000),
        ("3", 3, 200_000),
        ("1", 1, 100_000),
    ]
