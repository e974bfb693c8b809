"""Opening: what an unclean end left is renewed first, what is damaged is refused, what is clean says so."""

import random
import shutil
from pathlib import Path

import pytest

from store.checksums import checksums_shipped
from store.errors import StoreDamaged, StoreError
from store.files import LocalFiles
from store.open import DATABASE_FILE_NAME
from store.port import MessageQuery
from tests.store.builders import key, message_row, open_in, running_session, session_row, unit, write, written


def crash_copy(folder: Path, into: Path) -> Path:
    """What a killed process leaves to the next one: everything written, and an index nobody may trust."""
    into.mkdir()
    for file in folder.iterdir():
        shutil.copy(file, into)
    return into


def test_pages_carry_checksums_on_this_platform(tmp_path: Path):
    assert checksums_shipped()
    store = open_in(tmp_path)
    assert store.report.pages_summed
    store.close()


def test_after_a_clean_end_there_is_nothing_to_renew(tmp_path: Path):
    store = open_in(tmp_path)
    written(store, unit("s", session_row("s")))
    store.close()
    store = open_in(tmp_path)
    assert not store.report.unclean_end
    assert store.reader.session(key("s")).value is not None
    store.close()


def test_after_a_kill_the_log_is_a_new_file_before_it_is_read(tmp_path: Path):
    (tmp_path / "a").mkdir()
    store = open_in(tmp_path / "a")
    written(store, running_session("s"))
    folder = crash_copy(tmp_path / "a", tmp_path / "b")
    wal = folder / f"{DATABASE_FILE_NAME}-wal"
    inode, content = wal.stat().st_ino, wal.read_bytes()
    assert LocalFiles(folder / DATABASE_FILE_NAME, 0).renew_wal()
    assert wal.stat().st_ino != inode
    assert wal.read_bytes() == content
    store.close()

    again = open_in(folder)
    assert again.report.unclean_end
    assert again.recover().sessions_settled == 1
    assert again.reader.store_id() == "store-1"
    again.close()
    assert not list(folder.glob("*renewed*"))


def test_the_identity_is_given_once(tmp_path: Path):
    open_in(tmp_path, new_store_id=lambda: "first").close()
    store = open_in(tmp_path, new_store_id=lambda: "second")
    assert store.reader.store_id() == "first"
    store.close()


def test_an_error_while_opening_leaves_no_lock_on_the_file(tmp_path: Path):
    def refuse() -> str:
        raise StoreError("no identity to be had")

    with pytest.raises(StoreError, match="no identity"):
        open_in(tmp_path, new_store_id=refuse)
    open_in(tmp_path).close()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The database of a store with some history, closed cleanly."""
    store = open_in(tmp_path)
    for number in range(40):
        rows = [message_row(f"s{number}", f"m{n}", n, n, f"text {n} " * 20) for n in range(1, 9)]
        write(store, unit(f"s{number}", session_row(f"s{number}"), *rows))
    store.close()
    return tmp_path / DATABASE_FILE_NAME


@pytest.mark.parametrize("flips", [40, pytest.param(1_000, marks=pytest.mark.thorough)])
def test_every_flipped_bit_is_noticed_before_data_is_served(filled: Path, flips: int):
    sound = filled.read_bytes()
    chance = random.Random(7)
    for _ in range(flips):
        spoiled = bytearray(sound)
        spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
        filled.write_bytes(spoiled)
        with pytest.raises(StoreError) as noticed:
            open_in(filled.parent)
        assert isinstance(noticed.value, StoreDamaged), noticed.value
        assert len(str(noticed.value).splitlines()) == 1
        assert filled.read_bytes() == spoiled, "a damaged file is left as it is"
    filled.write_bytes(sound)
    open_in(filled.parent).close()


@pytest.mark.parametrize("size", [100, 4_095, 20_000, 41_000])
def test_a_file_cut_short_is_damaged(filled: Path, size: int):
    filled.write_bytes(filled.read_bytes()[:size])
    with pytest.raises(StoreDamaged):
        open_in(filled.parent)


@pytest.mark.parametrize("empty", [False, True], ids=["missing", "empty"])
def test_a_log_without_its_file_is_damage_and_left_as_it_is(tmp_path: Path, empty: bool):
    """All of a young store may stand in its log alone."""
    live = tmp_path / "live"
    live.mkdir()
    store = open_in(live)
    written(store, unit("a", session_row("a")))
    folder = crash_copy(live, tmp_path / "left")
    (folder / DATABASE_FILE_NAME).unlink()
    if empty:
        (folder / DATABASE_FILE_NAME).touch()
    log = (folder / f"{DATABASE_FILE_NAME}-wal").read_bytes()
    assert log
    with pytest.raises(StoreDamaged, match="missing or empty"):
        open_in(folder)
    assert (folder / f"{DATABASE_FILE_NAME}-wal").read_bytes() == log
    store.close()


def test_a_page_that_rots_while_the_store_is_open_concerns_who_reads_it(tmp_path: Path):
    store = open_in(tmp_path)
    text = "rotten" * 2_000
    written(store, unit("a", session_row("a"), message_row("a", "m", 1, 1, text)))
    written(store, unit("b", session_row("b")))
    store.close()
    path = tmp_path / DATABASE_FILE_NAME
    content = bytearray(path.read_bytes())
    store = open_in(tmp_path)
    content[content.index(b"rottenrotten") + 500] ^= 1
    path.write_bytes(content)
    reader = store.new_reader()
    with pytest.raises(StoreDamaged):
        reader.messages(key("a"), MessageQuery(after_version=0))
    assert reader.session(key("b")).value is not None
    assert written(store, unit("b", session_row("b", title="still written")))
    store.close()
