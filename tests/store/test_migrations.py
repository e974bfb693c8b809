"""The schema is brought up step by step, with a copy before, and never taken back."""

from pathlib import Path

import apsw
import pytest

from store.connection import open_for_reading, open_for_writing, schema_version
from store.errors import SchemaTooNew, StoreDamaged
from store.files import LocalFiles
from store.migrations import Migration, migrate, shipped_migrations
from store.open import DATABASE_FILE_NAME
from store.restore import restore
from tests.store.builders import key, message_row, open_in, session_row, unit, written

SHIPPED = len(shipped_migrations())
NEXT = Migration(SHIPPED + 1, "next", "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT")
BROKEN = Migration(
    SHIPPED + 1, "broken", "CREATE TABLE half (id INTEGER) STRICT; CREATE TABLE half (id INTEGER) STRICT"
)


def test_a_fresh_file_gets_the_schema_and_no_copy(tmp_path: Path):
    store = open_in(tmp_path)
    assert store.report.copy_before_migration is None
    assert schema_version(store.committer.connection) == len(shipped_migrations())
    assert store.reader.store_id() == "store-1"
    store.close()


def test_a_copy_with_everything_in_it_is_made_before_a_step(tmp_path: Path):
    store = open_in(tmp_path)
    written(store, unit("s", session_row("s")))
    store.close()

    store = open_in(tmp_path, migrations=(*shipped_migrations(), NEXT))
    copy = store.report.copy_before_migration
    assert copy is not None
    with open_for_reading(copy) as before:
        assert schema_version(before) == SHIPPED
        assert before.execute("SELECT agent_session_id FROM sessions").get == "s"
        assert before.pragma("integrity_check") == "ok"
    before.close()
    assert schema_version(store.committer.connection) == SHIPPED + 1
    assert store.reader.session(key("s")).value is not None
    store.close()


def test_the_copy_of_a_database_larger_than_the_cache_is_sound(tmp_path: Path):
    """What a cache gives up early must carry its sums too: the copy is read back page by page."""
    store = open_in(tmp_path)
    store.committer.connection.pragma("cache_size", 16)
    rows = [message_row("s", f"m{n}", n, n, "text " * 20_000) for n in range(1, 31)]
    written(store, unit("s", session_row("s"), *rows))
    store.close()
    store = open_in(tmp_path, migrations=(*shipped_migrations(), NEXT))
    copy = store.report.copy_before_migration
    store.close()
    assert copy is not None
    restore(tmp_path / DATABASE_FILE_NAME, copy, "store-2")
    store = open_in(tmp_path)
    assert store.reader.session(key("s")).value is not None
    store.close()


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path):
    open_in(tmp_path).close()
    with pytest.raises(apsw.SQLError):
        open_in(tmp_path, migrations=(*shipped_migrations(), BROKEN))

    store = open_in(tmp_path)
    connection = store.committer.connection
    assert schema_version(connection) == SHIPPED
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").get == 0
    store.close()


def test_a_copy_left_by_an_attempt_that_broke_off_is_made_anew(tmp_path: Path):
    open_in(tmp_path).close()
    (tmp_path / f"{DATABASE_FILE_NAME}.version-{SHIPPED}").write_bytes(b"half a copy")
    store = open_in(tmp_path, migrations=(*shipped_migrations(), NEXT))
    assert store.report.copy_before_migration is not None
    store.close()


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path):
    open_in(tmp_path, migrations=(*shipped_migrations(), NEXT)).close()
    before = (tmp_path / DATABASE_FILE_NAME).read_bytes()
    with pytest.raises(SchemaTooNew) as refused:
        open_in(tmp_path)
    assert (refused.value.found, refused.value.known) == (SHIPPED + 1, SHIPPED)
    assert (tmp_path / DATABASE_FILE_NAME).read_bytes() == before


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path):
    path = tmp_path / DATABASE_FILE_NAME
    with apsw.Connection(str(path)) as foreign:
        foreign.execute("CREATE TABLE theirs (id INTEGER PRIMARY KEY)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="another program"):
        open_in(tmp_path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [DATABASE_FILE_NAME]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path):
    path = tmp_path / DATABASE_FILE_NAME
    path.write_bytes(b"#!/bin/sh\n" + b"x" * 9_000)
    with pytest.raises(StoreDamaged):
        open_in(tmp_path)
    assert path.read_bytes().startswith(b"#!/bin/sh\n")


def test_an_empty_file_without_meta_row_gets_its_identity_later(tmp_path: Path):
    """As after a power cut between the first migration and the identity."""
    files = LocalFiles(tmp_path / DATABASE_FILE_NAME, 0)
    connection = open_for_writing(files.database)
    migrate(connection, files, shipped_migrations())
    connection.close()
    store = open_in(tmp_path)
    assert store.reader.store_id() == "store-1"
    store.close()
