"""The daemon's own copies: nothing twice, nothing without room, nothing left of one that was broken off."""

from pathlib import Path

import pytest
import trio

from runtime.service.database_copies import DatabaseCopies
from runtime.system_ports import SystemClock
from store.copies import facts_of, kept_copies
from store.errors import StoreFull
from store.open import DATABASE_FILE_NAME, Store
from tests.store.builders import message_row, open_in, session_row, unit, written


def copies_of(folder: Path, *, kept: int = 2, room_bytes: int = 0, pause: float = 0) -> DatabaseCopies:
    return DatabaseCopies(folder / DATABASE_FILE_NAME, kept, room_bytes, SystemClock(), pause)


def more(store: Store, number: int) -> None:
    rows = [message_row(f"s{number}", "m", 1, 1, "text " * 300_000)]
    written(store, unit(f"s{number}", session_row(f"s{number}"), *rows))


async def test_what_changed_is_copied_and_the_oldest_goes(tmp_path: Path):
    store, copies = open_in(tmp_path), copies_of(tmp_path)
    for number in range(4):
        more(store, number)
        await copies.make()
    found = kept_copies(tmp_path / DATABASE_FILE_NAME)
    assert sorted(facts_of(copy.path).sessions for copy in found) == [3, 4]
    store.close()


async def test_what_did_not_change_is_not_copied_again_and_counts_as_fresh(tmp_path: Path):
    store, copies = open_in(tmp_path), copies_of(tmp_path)
    more(store, 1)
    await copies.make()
    (copy,) = kept_copies(tmp_path / DATABASE_FILE_NAME)
    before = copies.newest_ms()
    await copies.make()
    assert [kept.path for kept in kept_copies(tmp_path / DATABASE_FILE_NAME)] == [copy.path]
    assert copies.newest_ms() >= before
    store.close()


async def test_without_room_nothing_is_begun_and_the_copies_stay(tmp_path: Path):
    store, copies = open_in(tmp_path), copies_of(tmp_path)
    more(store, 1)
    await copies.make()
    before = sorted(path.name for path in tmp_path.iterdir())
    more(store, 2)
    copies.room_bytes = 10**18
    with pytest.raises(StoreFull, match="not enough room"):
        await copies.make()
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    store.close()


async def test_room_that_goes_meanwhile_breaks_it_off(tmp_path: Path, monkeypatch):
    store, copies = open_in(tmp_path), copies_of(tmp_path, room_bytes=1_000)
    more(store, 1)
    answers = iter([10**12, 10**12])
    monkeypatch.setattr(DatabaseCopies, "_free_bytes", lambda _: next(answers, 0))
    with pytest.raises(StoreFull):
        await copies.make()
    assert not kept_copies(tmp_path / DATABASE_FILE_NAME)
    assert not list(tmp_path.glob("*unfinished*"))
    store.close()


async def test_a_copy_that_is_cancelled_is_broken_off_and_lets_go_of_the_log(tmp_path: Path):
    store, copies = open_in(tmp_path), copies_of(tmp_path, pause=0.01)
    for number in range(8):
        more(store, number)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(copies.make)
        with trio.fail_after(20):
            while not list(tmp_path.glob("*unfinished*")):
                await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert not kept_copies(tmp_path / DATABASE_FILE_NAME)
    assert not list(tmp_path.glob("*unfinished*"))
    store.close()
    assert (tmp_path / f"{DATABASE_FILE_NAME}-wal").stat().st_size == 0


async def test_what_a_killed_daemon_left_half_done_is_taken_away(tmp_path: Path):
    store, copies = open_in(tmp_path), copies_of(tmp_path)
    more(store, 1)
    (tmp_path / f"{DATABASE_FILE_NAME}.copy-20200101T000000Z.unfinished").write_bytes(b"half")
    assert copies.newest_ms() is None
    await copies.make()
    assert not list(tmp_path.glob("*unfinished*"))
    assert len(kept_copies(tmp_path / DATABASE_FILE_NAME)) == 1
    store.close()
