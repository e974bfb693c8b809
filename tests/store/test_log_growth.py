"""A reader that does not end keeps the write-ahead log from being emptied; when it ends, the log shrinks by itself."""

from pathlib import Path

from store.committer import CHECKPOINT_PAGES
from store.connection import open_for_reading
from store.open import DATABASE_FILE_NAME, Store
from tests.store.builders import message_row, open_in, session_row, unit, written

PAGE_BYTES = 4_096
STEP_BYTES = CHECKPOINT_PAGES * PAGE_BYTES
KEPT_BYTES = 32 * 1024 * 1024


def grow(store: Store, version: int) -> None:
    """As much as makes one checkpoint due, with the upkeep between groups."""
    text = f"{version:4} " * (STEP_BYTES // 5)  # another one each time: what is equal is not written
    written(store, unit("s", session_row("s"), message_row("s", "m", 1, version, text)))
    if store.committer.needs_upkeep:
        store.committer.upkeep()


def log_bytes(store: Store) -> int:
    return store.committer.health(0).wal_bytes


def test_the_log_stays_small_without_readers_and_grows_under_one_that_does_not_end(tmp_path: Path):
    store = open_in(tmp_path)
    for version in range(1, 7):
        grow(store, version)
    bounded = log_bytes(store)
    assert bounded < 3 * STEP_BYTES

    pinned = open_for_reading(tmp_path / DATABASE_FILE_NAME)
    pinned.execute("BEGIN")
    pinned.execute("SELECT count(*) FROM sessions").fetchall()
    for version in range(7, 13):
        grow(store, version)
    grown = log_bytes(store)
    assert grown > bounded + 4 * STEP_BYTES, "what health is told"

    pinned.execute("ROLLBACK")
    for version in range(13, 16):
        grow(store, version)
    assert log_bytes(store) <= KEPT_BYTES, "in the middle of work"
    store.committer.rest()
    assert log_bytes(store) == 0
    pinned.close()
    store.close()
