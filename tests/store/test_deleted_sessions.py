"""Deleting, restoring and purging in the store: all or none, nothing else moves, and nothing comes back by itself."""

from pathlib import Path

import attrs
import pytest

from store.canonical.change import (
    Committed,
    NotCommitted,
    Row,
    SessionRemoved,
    SessionReread,
    SessionRestored,
    Unit,
    UnitOutcome,
)
from store.canonical.session import Session
from store.group import UnitJob, UnitsJob
from store.open import Store
from store.port import MessageQuery
from store.statements import deleted_sessions
from tests.store.builders import (
    W,
    child_of,
    claim_row,
    ignore,
    interaction_row,
    key,
    message_row,
    open_in,
    piece,
    session_row,
    turn_row,
    unit,
    write_pieces,
    written,
)

NOW = 5_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A root with a child and a grandchild, and another session."""
    opened = open_in(tmp_path)
    written(opened, unit("a", session_row("a", title="A")))
    written(opened, unit("kid", child_of("kid", "a", "a")))
    written(opened, unit("grandkid", child_of("grandkid", "kid", "a")))
    written(opened, unit("b", session_row("b")))
    return opened


def lifecycle(row: Row, *, purges: bool = False) -> Unit:
    assert isinstance(row, Session | SessionRemoved | SessionRestored | SessionReread)
    session = row if isinstance(row, Session) else row.session
    rows = () if isinstance(row, Session) else (row,)
    return Unit(session.key, session.root_agent_session_id, rows, session_state=None, purges=purges)


def together(store: Store, *units: Unit) -> tuple[UnitOutcome, ...]:
    [outcomes] = store.committer.commit([UnitsJob(units, ignore)]).outcomes
    assert isinstance(outcomes, tuple)
    return outcomes


def tree(store: Store, root: str = "a") -> tuple[Session, ...]:
    return store.reader.tree(key(root)).value


def delete(store: Store, root: str = "a", deleted_at: int = NOW) -> tuple[UnitOutcome, ...]:
    rows = [attrs.evolve(session, deleted_at=deleted_at) for session in tree(store, root)]
    return together(store, *(lifecycle(SessionRemoved(row)) for row in rows))


def restore(store: Store, root: str = "a") -> tuple[UnitOutcome, ...]:
    rows = [attrs.evolve(session, deleted_at=None) for session in tree(store, root)]
    return together(store, *(lifecycle(SessionRestored(row)) for row in rows))


def purge(store: Store, root: str = "a") -> tuple[UnitOutcome, ...]:
    return together(store, *(lifecycle(session, purges=True) for session in tree(store, root)))


def deleted_names(store: Store) -> list[str]:
    page = store.reader.deleted_sessions(W, None, 50).value
    return [session.agent_session_id for session in page.items]


def count(store: Store, table: str) -> int:
    return int(store.committer.connection.execute(f"SELECT count(*) FROM {table}").get)


@pytest.mark.rule("ST-023", "ST-025")
def test_a_tree_goes_and_comes_back_as_it_was_each_under_numbers_of_its_own(store: Store) -> None:
    before = tree(store)
    outcomes = delete(store)
    assert [outcome.body for outcome in outcomes if isinstance(outcome, Committed)] == [
        b"5:SessionRemoved",
        b"6:SessionRemoved",
        b"7:SessionRemoved",
    ]
    assert [session.deleted_at for session in tree(store)] == [NOW] * 3
    assert store.reader.session_count() == 1
    assert all(isinstance(outcome, Committed) for outcome in restore(store))
    assert tree(store) == before
    assert store.reader.session_count() == 4


@pytest.mark.rule("ST-002", "ST-024")
def test_units_that_commit_together_leave_nothing_when_one_of_them_cannot(store: Store) -> None:
    written(store, unit("kid", child_of("kid", "a", "a", active_turn_id="t1")))
    outcomes = delete(store)
    assert [getattr(outcome, "code", None) for outcome in outcomes] == ["session.busy"] * 3
    assert [session.deleted_at for session in tree(store)] == [None] * 3
    assert deleted_names(store) == []


def test_a_deletion_decided_on_an_older_row_is_to_be_decided_anew(store: Store) -> None:
    [row] = [attrs.evolve(session, deleted_at=NOW) for session in tree(store, "b")]
    written(store, unit("b", message_row("b", "m1", 1, 1, turn_id=None), updated_at=2_000))
    [outcome] = together(store, lifecycle(SessionRemoved(row)))
    assert isinstance(outcome, NotCommitted)
    assert outcome.code == "session.busy"


@pytest.mark.rule("ST-026")
def test_nothing_but_a_restore_brings_a_deleted_session_back(store: Store) -> None:
    delete(store, "b")
    late = unit("b", session_row("b", title="late"), turn_row("b"))
    [outcome] = store.committer.commit([UnitJob(late, ignore)]).outcomes
    assert isinstance(outcome, NotCommitted)
    assert outcome.code == "session.deleted"
    [row] = tree(store, "b")
    assert (row.deleted_at, row.title) == (NOW, None)
    assert store.reader.turns(key("b"), None, 10).value.items == ()


def test_a_removal_beside_other_rows_is_a_mistake(store: Store) -> None:
    [row] = tree(store, "b")
    for rows in ((SessionRemoved(row), turn_row("b")), (SessionRemoved(row), session_row("b"))):
        [outcome] = store.committer.commit([UnitJob(unit("b", *rows), ignore)]).outcomes
        assert isinstance(outcome, NotCommitted)
        assert outcome.code == "internal"
    assert tree(store, "b") == (row,)


@pytest.mark.rule("ST-027")
def test_the_list_has_roots_alone_and_pages_from_the_newest_deletion(store: Store) -> None:
    delete(store, "a", 7_000)
    delete(store, "b", 6_000)
    first = store.reader.deleted_sessions(W, None, 1).value
    assert [session.agent_session_id for session in first.items] == ["a"]
    rest = store.reader.deleted_sessions(W, first.next_cursor, 1).value
    assert [session.agent_session_id for session in rest.items] == ["b"]
    assert rest.next_cursor is None


@pytest.mark.rule("ST-028")
def test_a_row_that_cannot_be_read_hides_no_other_and_can_be_purged(store: Store) -> None:
    delete(store, "a", 7_000)
    delete(store, "b", 6_000)
    gone = tree(store, "a")
    store.committer.connection.execute("UPDATE sessions SET settings = '[]' WHERE agent_session_id = 'a'")
    assert deleted_names(store) == ["b"]
    assert all(
        isinstance(outcome, Committed)
        for outcome in together(store, *(lifecycle(session, purges=True) for session in gone))
    )
    assert store.reader.session(key("a")).value is None


def fill(store: Store, messages: int) -> None:
    written(
        store,
        unit(
            "a",
            session_row("a"),
            turn_row("a", phase="settled", outcome="completed"),
            *(message_row("a", f"m{n}", n, n, turn_id="t1") for n in range(1, messages + 1)),
            interaction_row("a", status="superseded"),
            claims_added=(claim_row("a", "create", scope="workspace"), claim_row("a", "send")),
        ),
    )


@pytest.mark.rule("ST-029")
def test_a_purge_takes_everything_away_in_small_steps_and_frees_the_ids_at_once(store: Store) -> None:
    fill(store, 3 * deleted_sessions.ROWS_A_STEP * 8)
    delete(store)
    assert purge(store)
    assert tree(store) == ()
    assert store.reader.session(key("a")).value is None
    assert store.reader.messages(key("a"), MessageQuery(after_version=0)).value is None
    assert store.reader.workspace_claim(W, claim_row("a", "create").client_submit_id).value is None
    assert store.reader.interactions(W, None, None, 10).value.items == ()
    assert deleted_names(store) == []
    # The same names at once, while the rows of the old ones are still being taken away.
    again = unit("a", session_row("a"), claims_added=(claim_row("a", "create", scope="workspace"),))
    written(store, again)
    assert count(store, "messages") > 0
    steps = 0
    while store.committer.is_cleaning:
        store.committer.upkeep()
        steps += 1
    assert steps >= 3
    for table in ("messages", "turns", "interactions"):
        assert count(store, table) == 0
    assert count(store, "sessions") == 2
    assert count(store, "submit_claims") == 1


def test_a_purge_that_a_crash_cut_off_goes_on_at_the_next_start(store: Store, tmp_path: Path) -> None:
    fill(store, 3 * deleted_sessions.ROWS_A_STEP)
    delete(store)
    purge(store)
    store.close()
    opened = open_in(tmp_path)
    assert opened.committer.is_cleaning
    while opened.committer.is_cleaning:
        opened.committer.upkeep()
    assert count(opened, "messages") == 0
    assert count(opened, "sessions") == 1
    opened.close()


def test_what_lives_cannot_be_purged(store: Store) -> None:
    [outcome] = together(store, lifecycle(tree(store, "b")[0], purges=True))
    assert isinstance(outcome, NotCommitted)
    assert store.reader.session(key("b")).value is not None


def test_written_behind_text_of_a_purged_message_is_void(store: Store) -> None:
    written(store, unit("b", turn_row("b"), message_row("b", "m1", 1, 1, turn_id="t1")))
    delete(store, "b")
    purge(store, "b")
    assert write_pieces(store, piece("b", "m1", 0, "late"))
    assert count(store, "message_pieces") == 0


@pytest.mark.rule("ST-030")
def test_due_are_those_kept_too_long_and_the_oldest_of_what_is_too_much(store: Store) -> None:
    fill(store, 4)
    size = sum(len('[{"text":"text","type":"text"}]') for _ in range(4))
    delete(store, "a", 7_000)
    delete(store, "b", 6_000)
    due = store.reader.due_deletions
    assert due(5_999, 10_000, 10) == ()
    assert [(one.root, one.bytes) for one in due(6_000, 10_000, 10)] == [(key("b"), 0)]
    assert [one.root for one in due(7_000, 10_000, 10)] == [key("b"), key("a")]
    assert [one.root for one in due(7_000, 10_000, 1)] == [key("b")]
    everything = due(0, 0, 10)
    assert everything[-1].root == key("a")
    assert 0 < everything[-1].bytes <= size
    restore(store, "a")
    restore(store, "b")
    assert due(10_000, 0, 10) == ()
