"""A damaged write-ahead log is told from a torn end: what was acknowledged is never left out in silence (R10)."""

import random
import shutil
import struct
from pathlib import Path

import attrs
import pytest

from store.errors import StoreDamaged, StoreError
from store.open import DATABASE_FILE_NAME
from store.write_ahead_log import FRAME_HEADER_BYTES, HEADER_BYTES
from tests.store.builders import Clock, key, message_row, open_in, session_row, unit, written

PAGE_BYTES = 4_096
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
SWEPT = 150


@attrs.frozen
class Left:
    """What a killed process left behind, and where its last transaction begins in the log."""

    folder: Path
    log: bytes
    last_start: int

    @property
    def log_path(self) -> Path:
        return self.folder / f"{DATABASE_FILE_NAME}-wal"

    def open_with(self, log: bytes, database: bytes | None = None):
        """The next start, with another log or database in place of what was left."""
        again = self.folder.with_name("again")
        shutil.rmtree(again, ignore_errors=True)
        shutil.copytree(self.folder, again)
        (again / self.log_path.name).write_bytes(log)
        if database is not None:
            (again / DATABASE_FILE_NAME).write_bytes(database)
        return open_in(again)


def frame_starts(log: bytes) -> list[int]:
    return list(range(HEADER_BYTES, len(log) - FRAME_BYTES + 1, FRAME_BYTES))


def commits(log: bytes, start: int) -> bool:
    return struct.unpack_from(">I", log, start + 4)[0] > 0


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    """A log of several transactions, the last of which has more than one page."""
    folder = tmp_path_factory.mktemp("left") / "live"
    folder.mkdir()
    store = open_in(folder)
    for number in range(1, 9):
        rows = [message_row("s", f"m{number}", number, number, f"text {number} " * 120)]
        written(store, unit("s", session_row("s", title=f"round {number}"), *rows))
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    store.close()
    log = (copy / f"{DATABASE_FILE_NAME}-wal").read_bytes()
    starts = frame_starts(log)
    ends = [start for start in starts if commits(log, start)]
    assert len(ends) >= 8
    last_start = ends[-2] + FRAME_BYTES
    assert starts[-1] > last_start
    return Left(copy, log, last_start)


def flipped(content: bytes, bit: int) -> bytes:
    spoiled = bytearray(content)
    spoiled[bit // 8] ^= 1 << bit % 8
    return bytes(spoiled)


def bits_of(left: Left, count: int) -> list[int]:
    """Bits all over the log but for its last transaction: every kind of field, then at random."""
    header = list(range(0, HEADER_BYTES * 8, 7))
    starts = [start for start in frame_starts(left.log) if start < left.last_start]
    chance = random.Random(11)
    fields = [
        8 * start + bit for start in (starts[0], starts[-1]) for bit in range(0, FRAME_HEADER_BYTES * 8, 5)
    ]
    drawn = [chance.randrange(left.last_start * 8) for _ in range(count - len(header) - len(fields))]
    return [*header, *fields, *drawn]


def sweep(left: Left, count: int) -> None:
    noticed = 0
    for bit in bits_of(left, count):
        with pytest.raises(StoreDamaged, match="write-ahead log is damaged"):
            left.open_with(flipped(left.log, bit)).close()
        noticed += 1
    assert noticed == count


def test_every_flipped_bit_before_the_last_transaction_is_noticed(left: Left):
    sweep(left, SWEPT)


@pytest.mark.thorough
def test_a_thousand_of_a_thousand_flipped_bits_are_noticed(left: Left):
    sweep(left, 1_000)


def test_every_bit_of_the_frame_header_before_the_last_transaction_is_noticed(left: Left):
    """The commit mark itself is among them: a mark that is gone hides the end of a transaction."""
    start = left.last_start - FRAME_BYTES
    for bit in range(8 * start, 8 * (start + FRAME_HEADER_BYTES)):
        with pytest.raises(StoreDamaged):
            left.open_with(flipped(left.log, bit)).close()


def test_what_is_in_doubt_is_named(left: Left):
    with pytest.raises(StoreDamaged) as raised:
        left.open_with(flipped(left.log, 8 * (left.last_start - FRAME_BYTES) + 700)).close()
    assert "commits that were acknowledged stand in or after it" in str(raised.value)
    assert "commits up to 6 can be read" in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_log_that_is_damaged_is_left_as_it_is(left: Left):
    spoiled = flipped(left.log, 8 * (HEADER_BYTES + 900))
    with pytest.raises(StoreDamaged):
        left.open_with(spoiled).close()
    assert (left.folder.with_name("again") / left.log_path.name).read_bytes() == spoiled


def test_the_sound_log_opens_with_everything(left: Left):
    store = left.open_with(left.log)
    assert store.reader.session(key("s")).value.title == "round 8"
    store.close()


def test_a_torn_last_transaction_is_no_damage(left: Left):
    """Cut anywhere, or with sectors of it missing: it was never acknowledged, and what was before is there."""
    chance = random.Random(3)
    for number in range(60):
        torn = bytearray(left.log)
        if number % 2:
            del torn[chance.randrange(left.last_start, len(torn)) :]
        else:
            for sector in range(-(-left.last_start // 512), len(torn) // 512):
                if chance.random() < 0.4:
                    torn[sector * 512 : sector * 512 + 512] = chance.randbytes(512)
        store = left.open_with(bytes(torn))
        assert store.reader.session(key("s")).value.title in ("round 7", "round 8")
        store.close()


def test_what_an_earlier_use_of_the_log_left_behind_is_no_damage(tmp_path: Path):
    """After a checkpoint the log is written from its beginning again, over frames with other salts."""
    live = tmp_path / "live"
    live.mkdir()
    store = open_in(live)
    for number in range(1, 7):
        written(
            store, unit("s", session_row("s"), message_row("s", f"m{number}", number, number, "x" * 9_000))
        )
    store.committer.connection.wal_checkpoint(mode=1)
    written(store, unit("s", session_row("s", title="after")))
    copy = tmp_path / "copy"
    shutil.copytree(live, copy)
    store.close()
    again = open_in(copy)
    assert again.report.unclean_end
    assert again.reader.session(key("s")).value.title == "after"
    again.close()


@pytest.mark.parametrize("size", [0, PAGE_BYTES], ids=["empty", "header only"])
def test_a_database_that_was_emptied_is_damage_and_never_a_new_store(tmp_path: Path, size: int):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    store = open_in(fresh)
    header_only = (fresh / DATABASE_FILE_NAME).read_bytes()[:PAGE_BYTES]
    store.close()
    folder = tmp_path / "kept"
    folder.mkdir()
    store = open_in(folder)
    written(store, unit("s", session_row("s")))
    store.close()
    (folder / DATABASE_FILE_NAME).write_bytes(header_only[:size])
    (folder / f"{DATABASE_FILE_NAME}-wal").unlink(missing_ok=True)
    for _ in range(2):
        with pytest.raises(
            StoreDamaged, match=r"it is empty, and greenroom\.db\.store-id shows that it was not"
        ):
            open_in(folder, clock_ms=Clock())
    (folder / f"{DATABASE_FILE_NAME}.store-id").unlink()
    store = open_in(folder, new_store_id=lambda: "another")
    assert store.reader.store_id() == "another"
    store.close()


def test_a_copy_beside_a_missing_database_shows_that_there_was_one(tmp_path: Path):
    (tmp_path / f"{DATABASE_FILE_NAME}.version-1").write_bytes(b"a copy")
    with pytest.raises(StoreError, match=r"greenroom\.db\.version-1 shows"):
        open_in(tmp_path)
