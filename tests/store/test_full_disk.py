"""A full disk costs typed refusals and nothing else: what runs can end, and it goes on when there is room again."""

import errno
import os
from pathlib import Path

import pytest

from runtime.simulation.disk import DiskFault, SimulatedDisk
from store.canonical.change import Committed, NotCommitted
from store.errors import StoreError, StoreFull, StoreUnavailable
from store.files import LocalFiles
from store.open import DATABASE_FILE_NAME, Store, open_store
from store.port import MessageQuery
from tests.store.builders import (
    claim_row,
    key,
    message_row,
    options,
    piece,
    running_session,
    session_row,
    turn_row,
    unit,
    write,
    write_pieces,
    written,
)
from tests.store.crash_images import open_on, round_of, rounds_in

RESERVE_BYTES = 400_000


def fill(store: Store, text: str = "x" * 20_000) -> int:
    """Stream into a session until the disk refuses; the last version that was kept."""
    version = 2
    while True:
        row = message_row("s", "m2", 2, version + 1, text * 2, turn_id="t1", status="streaming", delta_seq=1)
        (outcome,) = write(store, unit("s", row)).outcomes
        if not isinstance(outcome, Committed):
            assert outcome.code == "store.full"
            return version
        version += 1
        if store.committer.health(0).state == "degraded":
            return version


def end_turn(version: int):
    """What a Stop writes: the message as it is, and the turn settled."""
    return unit(
        "s",
        session_row("s"),
        turn_row("s", phase="settled", outcome="canceled", delivery="accepted"),
        message_row("s", "m2", 2, version + 1, "kept", turn_id="t1", status="interrupted"),
    )


@pytest.fixture
def small_disk():
    disk = SimulatedDisk(capacity_bytes=1_200_000)
    yield disk
    disk.remove()


@pytest.mark.case("FC-34")
def test_a_full_disk_gives_its_reserve_to_what_runs_and_takes_no_new_work(small_disk: SimulatedDisk):
    store = open_on(small_disk, RESERVE_BYTES)
    written(store, running_session("s"))
    version = fill(store)
    assert store.committer.health(0).state == "degraded"

    new = unit("t", session_row("t"), claims_added=(claim_row("t", "x"),))
    (refused,) = write(store, new).outcomes
    assert isinstance(refused, NotCommitted)
    assert refused.code == "store.full"
    assert write_pieces(store, piece("s", "m2", 1, "more")) is False
    assert store.reader.session(key("t")).value is None

    outcomes = write(store, new, end_turn(version)).outcomes
    assert [type(outcome) for outcome in outcomes] == [NotCommitted, Committed]
    assert store.reader.turn(key("s"), "t1").value.settled
    store.close()


@pytest.mark.case("FC-34")
def test_when_there_is_room_again_it_goes_on_by_itself(small_disk: SimulatedDisk):
    store = open_on(small_disk, RESERVE_BYTES)
    written(store, running_session("s"))
    version = fill(store)
    assert store.committer.needs_upkeep
    store.committer.upkeep()
    assert store.committer.health(0).state == "degraded", "there is no room for the reserve yet"

    small_disk.state.capacity_bytes = 10_000_000
    store.committer.upkeep()
    assert store.committer.health(0).state == "ok"
    written(store, end_turn(version), unit("t", session_row("t"), claims_added=(claim_row("t", "x"),)))
    messages = store.reader.messages(key("s"), MessageQuery(after_version=0)).value.messages
    assert messages[-1].content[0].text == "kept"
    store.close()


@pytest.mark.case("FC-34")
def test_the_first_new_work_after_there_is_room_again_is_taken_at_once(small_disk: SimulatedDisk):
    store = open_on(small_disk, RESERVE_BYTES)
    written(store, running_session("s"))
    fill(store)
    new = unit("t", session_row("t"), claims_added=(claim_row("t", "x"),))
    (refused,) = write(store, new).outcomes
    assert isinstance(refused, NotCommitted)
    small_disk.state.capacity_bytes = 10_000_000
    written(store, new)
    assert store.committer.health(0).state == "ok"
    assert store.reader.session(key("t")).value is not None
    store.close()


@pytest.mark.case("FC-34")
def test_without_any_room_every_unit_is_refused_and_nothing_is_half_there(small_disk: SimulatedDisk):
    store = open_on(small_disk, RESERVE_BYTES)
    written(store, running_session("s"))
    version = fill(store)
    before = store.reader.log_after(0, 10**6, 10**9)
    small_disk.state.capacity_bytes = small_disk.state.used_bytes
    for attempt in range(4):
        (outcome,) = write(store, end_turn(version)).outcomes
        assert isinstance(outcome, NotCommitted)
        assert outcome.code == "store.full", attempt
    assert store.committer.health(0).state == "failing"
    assert store.reader.turn(key("s"), "t1").value.phase == "waiting"
    assert store.reader.log_after(0, 10**6, 10**9) == before

    small_disk.state.capacity_bytes = None
    written(store, end_turn(version))
    assert store.reader.log_after(before[-1].commit_seq, 10**6, 10**9) != ()
    store.close()


@pytest.mark.case("FC-34")
def test_a_start_on_a_full_disk_says_so_and_damages_nothing(small_disk: SimulatedDisk):
    dead = open_on(small_disk)
    written(dead, running_session("s"))
    small_disk.kill()
    wal_bytes = small_disk.state.file_sizes[f"{DATABASE_FILE_NAME}-wal"]
    small_disk.state.capacity_bytes = small_disk.state.used_bytes
    with pytest.raises(StoreFull, match="no room"):
        open_on(small_disk)

    small_disk.state.capacity_bytes += wal_bytes  # room for the copy of the log, for nothing else
    store = open_on(small_disk, RESERVE_BYTES)
    assert store.committer.health(0).state == "degraded"
    small_disk.state.capacity_bytes = small_disk.state.used_bytes
    with pytest.raises(StoreFull):
        store.recover()
    assert store.reader.turn(key("s"), "t1").value.phase == "waiting"

    small_disk.state.capacity_bytes = None
    assert store.recover().sessions_settled == 1
    for one in (dead, store):
        one.close()


@pytest.mark.case("FC-34")
def test_the_reserve_makes_room_for_a_start(small_disk: SimulatedDisk):
    dead = open_on(small_disk)
    written(dead, running_session("s"))
    small_disk.kill()
    small_disk.state.reserved_bytes = RESERVE_BYTES
    small_disk.state.capacity_bytes = small_disk.state.used_bytes
    store = open_on(small_disk, RESERVE_BYTES)
    assert store.recover().sessions_settled == 1
    assert store.committer.health(0).state == "degraded"
    for one in (dead, store):
        one.close()


def test_a_new_store_does_not_begin_on_a_full_disk():
    disk = SimulatedDisk(capacity_bytes=20_000)
    with pytest.raises(StoreError):
        open_on(disk)
    disk.state.capacity_bytes = None
    store = open_on(disk)
    assert store.reader.store_id() == "store-1"
    store.close()
    disk.remove()


def test_the_reserve_is_really_taken_from_the_disk_and_given_back(tmp_path: Path):
    files = LocalFiles(tmp_path / DATABASE_FILE_NAME, 1_000_000)
    assert files.hold_reserve()
    reserve = tmp_path / "reserve"
    assert reserve.stat().st_size == 1_000_000
    assert reserve.stat().st_blocks * 512 >= 1_000_000
    assert files.hold_reserve()
    assert files.release_reserve()
    assert not reserve.exists()
    assert not files.release_reserve()


def test_no_reserve_is_taken_while_space_is_scarce(tmp_path: Path, monkeypatch):
    files = LocalFiles(tmp_path / DATABASE_FILE_NAME, 1_000_000)
    monkeypatch.setattr(LocalFiles, "_free_bytes", lambda _: 1_999_999)
    assert not files.hold_reserve()
    assert not (tmp_path / "reserve").exists()


def test_a_reserve_that_cannot_be_taken_after_all_is_none(tmp_path: Path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    files = LocalFiles(tmp_path / DATABASE_FILE_NAME, 1_000_000)
    assert not files.hold_reserve()
    assert not (tmp_path / "reserve").exists()


@pytest.mark.parametrize("kind", ["full", "short"])
def test_a_unit_refused_by_a_full_disk_is_not_there_after_a_kill_either(kind):
    """`NotCommitted` is certain: whichever write of the commit found no room, no restart brings the unit back."""
    nth = 0
    while True:
        nth += 1
        disk = SimulatedDisk()
        store = open_on(disk)
        written(store, round_of("a", 1))
        fault = DiskFault("write", nth, kind, sticky=True, name_ends="-wal")
        disk.state.faults.append(fault)
        (outcome,) = write(store, round_of("a", 2)).outcomes
        disk.kill()
        dead, store = store, open_on(disk)
        rounds = rounds_in(store, "a")
        for one in (dead, store):
            one.close()
        disk.remove()
        if not fault.fired:
            break
        assert isinstance(outcome, NotCommitted)
        assert (outcome.code, rounds) == ("store.full", 1)
    assert isinstance(outcome, Committed)
    assert rounds == 2
    assert nth > 10


def test_a_log_that_cannot_be_copied_is_left_untouched(tmp_path: Path, monkeypatch):
    files = LocalFiles(tmp_path / DATABASE_FILE_NAME, 0)
    wal = tmp_path / f"{DATABASE_FILE_NAME}-wal"
    files.database.write_bytes(b"pages")
    wal.write_bytes(b"frames")

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreUnavailable, match="Input/output error"):
        open_store(files, options())
    assert sorted(file.name for file in tmp_path.iterdir()) == [files.database.name, wal.name]
    assert (files.database.read_bytes(), wal.read_bytes()) == (b"pages", b"frames")


@pytest.mark.case("FC-34", "FC-49")
def test_a_store_that_nobody_writes_to_finds_out_by_itself_that_the_disk_takes_commits_again(
    disk: SimulatedDisk,
):
    """Whoever sees it failing sends it nothing: without a look of its own that would last until a restart."""
    store = open_on(disk)
    written(store, running_session("s"))
    disk.state.faults.append(DiskFault("write", sticky=True, name_ends="-wal"))
    for _ in range(3):
        assert not isinstance(write(store, unit("t", session_row("t"))).outcomes[0], Committed)
    assert store.committer.health(0).state == "failing"
    assert store.committer.wants_rest
    store.committer.rest()
    assert store.committer.health(0).state == "failing", "the disk still takes nothing"
    disk.state.faults.clear()
    store.committer.rest()
    assert store.committer.health(0).state == "ok"
    assert not store.committer.wants_rest
    store.close()
