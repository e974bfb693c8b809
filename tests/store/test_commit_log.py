"""The commit log: what is replayed, how much is kept, and when it no longer reaches back."""

import pytest

from store.commit_log import LogLimits
from store.open import Store
from tests.store.builders import Clock, open_in, session_row, unit, write_pieces, written

ROOMY = LogLimits(count_max=10**6, bytes_max=10**9, age_max_ms=10**9)


def commit(store: Store, count: int, title: str = "x") -> None:
    for _ in range(count):
        written(store, unit("s", session_row("s", title=title)))


def numbers(store: Store, after: int, upto: int = 10**6, bytes_max: int = 10**6):
    entries = store.reader.log_after(after, upto, bytes_max)
    return None if entries is None else [entry.commit_seq for entry in entries]


def trim(store: Store) -> None:
    while store.committer.needs_upkeep:
        store.committer.upkeep()


def test_a_range_is_read_ascending_and_within_its_bounds(store: Store):
    commit(store, 9)
    assert numbers(store, 0) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert numbers(store, 3, upto=6) == [4, 5, 6]
    assert numbers(store, 9) == []
    assert numbers(store, 0, bytes_max=25) == [1, 2]
    assert numbers(store, 4, bytes_max=0) == [5], "one entry at least, or nobody gets on"
    assert store.reader.log_after(0, 1, 99)[0].root_agent_session_id == "s"


def test_a_number_this_store_never_gave_is_out_of_reach(store: Store):
    commit(store, 3)
    assert store.reader.log_reaches(3)
    assert not store.reader.log_reaches(4)
    assert numbers(store, 4) is None


@pytest.mark.parametrize(
    "limits",
    [
        LogLimits(count_max=5, bytes_max=10**9, age_max_ms=10**9),
        LogLimits(count_max=10**6, bytes_max=5 * len("20:Session"), age_max_ms=10**9),
    ],
)
def test_the_oldest_entries_go_when_the_log_is_too_long(tmp_path, limits):
    store = open_in(tmp_path, log_limits=limits)
    commit(store, 20)
    trim(store)
    assert numbers(store, 15) == [16, 17, 18, 19, 20]
    assert numbers(store, 14) is None
    assert store.reader.log_reaches(15)
    assert not store.reader.log_reaches(14)
    assert store.committer.health(20).oldest_commit_seq == 16
    store.close()


def test_old_entries_go_even_when_all_are_old(tmp_path):
    clock = Clock()
    store = open_in(tmp_path, clock_ms=clock, log_limits=LogLimits(10**6, 10**9, age_max_ms=1_000))
    commit(store, 4)
    clock.now_ms += 500
    commit(store, 4)
    clock.now_ms += 600
    trim(store)
    assert numbers(store, 4) == [5, 6, 7, 8]
    assert numbers(store, 3) is None
    clock.now_ms += 10_000
    trim(store)
    assert numbers(store, 8) == []
    assert numbers(store, 7) is None
    commit(store, 2)
    assert numbers(store, 8) == [9, 10]
    store.close()


def test_a_clock_that_jumps_back_makes_no_hole_inside_the_log(tmp_path):
    clock = Clock()
    store = open_in(tmp_path, clock_ms=clock, log_limits=LogLimits(10**6, 10**9, age_max_ms=10_000))
    commit(store, 3)
    clock.now_ms -= 50_000
    commit(store, 1)
    clock.now_ms += 50_000
    commit(store, 2)
    trim(store)
    kept = numbers(store, store.committer.health(6).oldest_commit_seq - 1)
    assert kept == list(range(kept[0], 7))
    store.close()


def test_a_long_overdue_trim_is_done_in_small_steps(tmp_path):
    store = open_in(tmp_path, log_limits=ROOMY)
    for _ in range(12):
        written(store, *(unit("s", session_row("s", title=str(n))) for n in range(100)))
    store.close()
    store = open_in(tmp_path, log_limits=LogLimits(count_max=10, bytes_max=10**9, age_max_ms=10**9))
    store.committer.upkeep()
    remaining = store.committer.connection.execute("SELECT count(*) FROM commit_log").get
    assert remaining == 1_200 - 512
    trim(store)
    assert numbers(store, 1_190) == list(range(1_191, 1_201))
    store.close()


def test_totals_go_on_after_a_restart_and_after_a_failed_unit(tmp_path):
    limits = LogLimits(count_max=3, bytes_max=10**9, age_max_ms=10**9)
    store = open_in(tmp_path, log_limits=limits)
    commit(store, 2)
    store.close()
    store = open_in(tmp_path, log_limits=limits)
    commit(store, 2)
    written(store)
    write_pieces(store)
    trim(store)
    assert numbers(store, 1) == [2, 3, 4]
    store.close()
