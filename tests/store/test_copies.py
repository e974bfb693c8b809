"""Copies are made while the database is written: one snapshot each, checked, durable, in rotation."""

import os
import stat
from pathlib import Path

import pytest

from store.checksums import checksums_shipped
from store.connection import is_summed, open_unchanging
from store.copies import (
    CopyStopped,
    abandoned_drafts,
    copy_path,
    facts_of,
    kept_copies,
    make_copy,
    remove_abandoned_drafts,
    rotate,
)
from store.errors import StoreDamaged, StoreUnavailable
from store.open import DATABASE_FILE_NAME, Store
from store.restore import restore
from tests.store.builders import key, message_row, open_in, session_row, unit, written


def go_on() -> bool:
    return True


def fill(store: Store, sessions: int = 20) -> None:
    for number in range(sessions):
        rows = [message_row(f"s{number}", f"m{n}", n, n, f"text {n} " * 2_000) for n in range(1, 9)]
        written(store, unit(f"s{number}", session_row(f"s{number}"), *rows))


def test_a_copy_holds_the_moment_it_was_begun_in_though_the_store_is_written_meanwhile(tmp_path: Path):
    store = open_in(tmp_path)
    fill(store)
    begun_at = store.committer.last_commit_seq
    target = tmp_path / "copy.db"
    steps = 0

    def write_between_steps() -> bool:
        nonlocal steps
        steps += 1
        written(store, unit(f"later{steps}", session_row(f"later{steps}")))
        return True

    facts = make_copy(tmp_path / DATABASE_FILE_NAME, target, write_between_steps)
    assert steps > 1
    assert store.committer.last_commit_seq > begun_at
    assert (facts.commit_seq, facts.sessions, facts.store_id) == (begun_at, 20, "store-1")
    assert facts_of(target) == facts
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    connection = open_unchanging(target)
    assert is_summed(connection) == checksums_shipped()
    connection.close()
    store.close()
    assert sorted(path.name for path in tmp_path.glob("copy*")) == ["copy.db"]


def test_a_copy_can_be_put_in_place(tmp_path: Path):
    store = open_in(tmp_path)
    fill(store, 2)
    make_copy(tmp_path / DATABASE_FILE_NAME, tmp_path / "copy.db", go_on)
    written(store, unit("later", session_row("later")))
    store.close()
    restore(tmp_path / DATABASE_FILE_NAME, tmp_path / "copy.db", "store-2")
    store = open_in(tmp_path)
    assert store.reader.store_id() == "store-2"
    assert store.reader.session(key("s1")).value is not None
    assert store.reader.session(key("later")).value is None
    store.close()


def test_what_only_stands_in_the_log_is_copied_too(tmp_path: Path):
    store = open_in(tmp_path)
    written(store, unit("a", session_row("a")))
    assert (tmp_path / f"{DATABASE_FILE_NAME}-wal").stat().st_size > 0
    assert make_copy(tmp_path / DATABASE_FILE_NAME, tmp_path / "copy.db", go_on).sessions == 1
    store.close()


def test_a_copy_that_is_stopped_leaves_nothing(tmp_path: Path):
    store = open_in(tmp_path)
    fill(store)
    before = sorted(tmp_path.iterdir())
    answers = iter([True, True, False])
    with pytest.raises(CopyStopped):
        make_copy(tmp_path / DATABASE_FILE_NAME, tmp_path / "copy.db", lambda: next(answers))
    assert sorted(tmp_path.iterdir()) == before
    store.close()


def test_nothing_is_written_over(tmp_path: Path):
    store = open_in(tmp_path)
    target = tmp_path / "copy.db"
    target.write_text("somebody's")
    with pytest.raises(FileExistsError):
        make_copy(tmp_path / DATABASE_FILE_NAME, target, go_on)
    assert target.read_text() == "somebody's"
    store.close()


def test_a_rotten_page_makes_no_copy(tmp_path: Path):
    """The copies there are stay: a damaged database must not push them out of rotation."""
    store = open_in(tmp_path)
    written(store, unit("a", session_row("a"), message_row("a", "m", 1, 1, "rotten" * 2_000)))
    store.close()
    path = tmp_path / DATABASE_FILE_NAME
    content = bytearray(path.read_bytes())
    content[content.index(b"rottenrotten") + 500] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreDamaged):
        make_copy(path, tmp_path / "copy.db", go_on)
    assert not list(tmp_path.glob("copy.db*"))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path):
    store = open_in(tmp_path)
    with pytest.raises(StoreUnavailable, match="No such file or directory"):
        make_copy(tmp_path / DATABASE_FILE_NAME, tmp_path / "missing" / "copy.db", go_on)
    store.close()


def test_each_copy_gets_a_name_of_its_own_with_its_time(tmp_path: Path):
    database = tmp_path / DATABASE_FILE_NAME
    names = []
    for _ in range(3):
        path = copy_path(database, "copy", 1_767_225_600_000)
        path.touch()
        names.append(path.name)
    assert names == [
        "greenroom.db.copy-20260101T000000Z",
        "greenroom.db.copy-20260101T000000Z-2",
        "greenroom.db.copy-20260101T000000Z-3",
    ]


def test_rotation_takes_the_oldest_of_its_own_kind_alone(tmp_path: Path):
    database = tmp_path / DATABASE_FILE_NAME
    for number in range(1, 6):
        path = database.with_name(f"{database.name}.copy-{number}")
        path.touch()
        os.utime(path, (number, number))
    for kind in ("backup-1", "version-1"):
        database.with_name(f"{database.name}.{kind}").touch()
        os.utime(database.with_name(f"{database.name}.{kind}"), (0, 0))
    assert [path.name[-1] for path in rotate(database, 2)] == ["3", "2", "1"]
    kept = [copy.path.name.removeprefix(f"{database.name}.") for copy in kept_copies(database)]
    assert kept == ["copy-5", "copy-4", "backup-1", "version-1"]


def test_the_facts_of_what_is_no_copy_are_not_made_up(tmp_path: Path):
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("no database " * 1_000)
    for name in ("empty.db", "text.db"):
        with pytest.raises(StoreDamaged):
            facts_of(tmp_path / name)
    with pytest.raises(StoreUnavailable, match="is not there"):
        facts_of(tmp_path / "missing.db")


def test_the_draft_of_a_killed_maker_goes_and_that_of_a_living_one_stays(tmp_path: Path):
    store = open_in(tmp_path)
    fill(store)
    database = tmp_path / DATABASE_FILE_NAME
    abandoned = tmp_path / f"{DATABASE_FILE_NAME}.backup-20200101T000000Z.unfinished"
    seen = []

    def meddle() -> bool:
        abandoned.write_bytes(b"half")
        abandoned.with_name(f"{abandoned.name}-journal").write_bytes(b"half")
        with pytest.raises(FileExistsError, match="being made already"):
            make_copy(database, target)
        seen.append((abandoned_drafts(database), remove_abandoned_drafts(database)))
        return True

    target = copy_path(database, "backup", 1_700_000_000_000)
    make_copy(database, target, meddle)
    assert seen == [((abandoned,), (abandoned,))] * len(seen)
    assert seen
    store.close()
    assert [copy.path for copy in kept_copies(database)] == [target]
    assert not list(tmp_path.glob("*unfinished*"))
