"""Records of checkouts: there before the checkout and after the session, whatever becomes of the rows around them."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from store.canonical.change import SessionRemoved, Unit
from store.canonical.identifiers import SessionId, WorkspaceId
from store.canonical.session import SessionIsolation
from store.canonical.worktree import (
    Worktree,
    WorktreeBegun,
    WorktreeChange,
    WorktreeCounts,
    WorktreeGone,
    WorktreeKept,
    WorktreeNotStored,
    WorktreeStored,
)
from store.errors import RowError
from store.group import UnitsJob, WorktreeJob
from store.open import Store
from tests.store.builders import ignore, key, open_in, session_row, unit, written


def record(session: str, **changes: Any) -> Worktree:
    made = Worktree(
        workspace_id=WorkspaceId("w"),
        agent_session_id=SessionId(session),
        repository="/repository",
        relative_path="inner",
        path=f"/trees/w/{session}",
        branch=f"greenroom/w/{session}",
        base_commit="c1",
        store_id="s",
        created_at=1_000,
    )
    return attrs.evolve(made, **changes)


def change(store: Store, wanted: WorktreeChange) -> object:
    [outcome] = store.committer.commit([WorktreeJob(wanted, ignore)]).outcomes
    return outcome


def isolated(session: str) -> Unit:
    isolation = SessionIsolation("worktree", f"/trees/w/{session}", f"greenroom/w/{session}", "c1")
    return unit(session, session_row(session, isolation=isolation, rail_section_key="project:/repository"))


def purge(store: Store, session: str) -> None:
    [row] = store.reader.tree(key(session)).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5_000))
    removed = Unit(row.key, row.agent_session_id, (removal,), session_state=None)
    for one in (removed, attrs.evolve(removed, rows=(), purges=True)):
        store.committer.commit([UnitsJob((one,), ignore)])


def test_a_record_is_read_as_it_was_written_and_needs_no_session(store: Store) -> None:
    assert change(store, WorktreeBegun(record("a"))) == WorktreeStored()
    assert store.reader.worktree(key("a")) == record("a")
    assert store.reader.worktree(key("b")) is None
    assert store.reader.unused_worktrees(10) == (record("a"),)


@pytest.mark.rule("RT-061")
def test_a_session_has_one_checkout_and_the_first_record_stands(store: Store) -> None:
    change(store, WorktreeBegun(record("a")))
    assert change(store, WorktreeBegun(record("a", repository="/other"))) == WorktreeNotStored(
        "session.exists"
    )
    assert store.reader.worktree(key("a")) == record("a")


@pytest.mark.rule("RT-063")
def test_the_row_of_a_session_says_which_checkout_is_its_own(store: Store) -> None:
    written(store, isolated("a"))
    session = store.reader.session(key("a")).value
    assert session is not None
    assert session.isolation == SessionIsolation("worktree", "/trees/w/a", "greenroom/w/a", "c1")
    assert session.rail_section_key == "project:/repository"


def test_a_checkout_is_used_as_long_as_its_session_can_come_back(store: Store) -> None:
    change(store, WorktreeBegun(record("a")))
    written(store, isolated("a"))
    assert store.reader.unused_worktrees(10) == ()
    [row] = store.reader.tree(key("a")).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5_000))
    store.committer.commit(
        [UnitsJob((Unit(row.key, row.agent_session_id, (removal,), session_state=None),), ignore)]
    )
    assert store.reader.unused_worktrees(10) == ()


def test_a_purge_marks_the_record_in_the_same_transaction(store: Store) -> None:
    change(store, WorktreeBegun(record("a")))
    written(store, isolated("a"))
    purge(store, "a")
    assert store.reader.unused_worktrees(10) == (record("a", purged=True),)
    written(store, unit("a", session_row("a")))
    assert store.reader.unused_worktrees(10) == (record("a", purged=True),), "the id names another by now"


def test_what_is_kept_is_counted_and_comes_last(store: Store) -> None:
    for number, name in enumerate("abc"):
        change(store, WorktreeBegun(record(name, created_at=number)))
    change(store, WorktreeKept(key("a"), "changes"))
    assert store.reader.worktree_counts() == WorktreeCounts(all=3, kept=1)
    assert [one.agent_session_id for one in store.reader.unused_worktrees(10)] == ["b", "c", "a"]
    change(store, WorktreeGone(key("a")))
    change(store, WorktreeGone(key("never there")))
    assert store.reader.worktree_counts() == WorktreeCounts(all=2, kept=0)


def test_a_record_outlives_the_process(tmp_path: Path) -> None:
    first = open_in(tmp_path)
    change(first, WorktreeBegun(record("a")))
    first.close()
    again = open_in(tmp_path)
    assert again.reader.worktree(key("a")) == record("a")
    again.close()


@pytest.mark.case("FC-40")
def test_a_record_nobody_can_read_hides_no_other_and_stops_no_start(store: Store) -> None:
    for session in ("bad", "good"):
        change(store, WorktreeBegun(record(session)))
    store.committer.connection.execute(
        "UPDATE worktrees SET kept_because = 'the moon' WHERE agent_session_id = 'bad'"
    )
    assert [one.key for one in store.reader.unused_worktrees(9)] == [key("good")]
    assert store.reader.worktree_counts() == WorktreeCounts(2, 1)
    with pytest.raises(RowError):
        store.reader.worktree(key("bad"))
