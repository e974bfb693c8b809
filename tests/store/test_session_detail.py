"""What `session/get` shows stays within a page's size: turns give way to a cursor, and what else is cut is named."""

from pathlib import Path

from store.canonical.interaction import ApprovalInput, Interaction
from store.open import Store
from store.port import SessionDetail, SessionFilter
from store.session_detail import TURN_BYTES
from tests.store.builders import child_of, interaction_row, key, open_in, session_row, turn_row, unit, written

PAGE_BYTES = 20_000


def asked(turn: str, request: str, size: int, **changes) -> Interaction:
    given = ApprovalInput("c1", "Run it", "execute", command="x" * size)
    return interaction_row("s", request, turn, input=given, **changes)


def opened(folder: Path) -> Store:
    store = open_in(folder, page_bytes_max=PAGE_BYTES)
    written(store, unit("s", session_row("s")))
    return store


def detail(store: Store) -> SessionDetail:
    found = store.reader.detail(key("s"), 50).value
    assert found is not None
    return found


def add_turns(store: Store, count: int, size: int) -> None:
    """Settled turns, each with one answered question of about that size."""
    for number in range(1, count + 1):
        turn = turn_row("s", f"t{number}", number, phase="settled")
        question = asked(f"t{number}", "r", size, status="answered", resolved_at=1)
        written(store, unit("s", turn, question))


def test_as_many_turns_as_fit_come_each_with_all_that_was_asked_in_it(tmp_path: Path) -> None:
    store = opened(tmp_path)
    add_turns(store, 20, 2000)
    found = detail(store)
    names = [turn.turn_id for turn in found.turns]
    assert names == [f"t{20 - index}" for index in range(len(names))]
    assert 4 <= len(names) <= PAGE_BYTES // (TURN_BYTES + 2000)
    assert {row.turn_id for row in found.interactions} == set(names)
    assert found.incomplete == ()
    rest = store.reader.turns(key("s"), found.turns_cursor, 200).value
    assert next(turn.turn_id for turn in rest.items) == f"t{20 - len(names)}"


def test_a_single_turn_larger_than_a_page_is_shown_with_what_fits(tmp_path: Path) -> None:
    store = opened(tmp_path)
    rows = [asked("t1", f"r{number}", 4000, status="answered", resolved_at=1) for number in range(10)]
    written(store, unit("s", turn_row("s", "t1", 1, phase="settled"), *rows))
    found = detail(store)
    assert [turn.turn_id for turn in found.turns] == ["t1"]
    assert 1 <= len(found.interactions) < 10
    assert found.incomplete == ("interactions",)
    assert found.turns_cursor is None


def test_pending_ones_come_before_turns_and_take_at_most_half(tmp_path: Path) -> None:
    store = opened(tmp_path)
    add_turns(store, 5, 10)
    rows = [asked("t6", f"p{number}", 3000) for number in range(10)]
    written(store, unit("s", turn_row("s", "t6", 6, phase="waiting"), *rows))
    found = detail(store)
    pending = [row.request_id for row in found.interactions if row.status == "pending"]
    assert pending[:3] == ["p0", "p1", "p2"], "the oldest first"
    assert len(pending) < 10
    assert found.incomplete == ("interactions",)
    assert found.turns, "and there is room for turns"


def test_many_children_are_cut_and_named(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(20):
        written(store, unit(f"c{number}", child_of(f"c{number}", "s", "s", cwd="/" + "x" * 1000)))
    found = detail(store)
    assert 1 <= len(found.children) < 20
    assert found.children[0].agent_session_id == "c0"
    assert found.incomplete == ("children",)


def test_a_page_of_sessions_ends_at_its_size_too(tmp_path: Path) -> None:
    store = open_in(tmp_path, page_bytes_max=PAGE_BYTES)
    for number in range(30):
        row = session_row(f"s{number}", created_at=number, settings={"model": "x" * 1000})
        written(store, unit(f"s{number}", row))
    names, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        page = store.reader.sessions("w", SessionFilter(), cursor, 50).value
        assert 1 <= len(page.items) <= 20
        names += [item.session.agent_session_id for item in page.items]
        cursor, pages = page.next_cursor, pages + 1
    assert names == [f"s{number}" for number in range(29, -1, -1)]


def test_a_summary_has_the_newest_turn_and_what_waits_and_says_where_the_rest_is(tmp_path: Path) -> None:
    store = opened(tmp_path)
    add_turns(store, 3, 100)
    written(store, unit("s", turn_row("s", "t4", 4, phase="waiting"), asked("t4", "now", 100)))
    written(store, unit("s", session_row("s", active_turn_id="t4")))
    written(store, unit("kid", child_of("kid", "s", "s")))
    found = store.reader.detail(key("s"), 1, with_children=False).value
    assert found is not None
    assert found.active_turn is not None
    assert found.active_turn.turn_id == "t4"
    assert [row.request_id for row in found.interactions] == ["now"]
    assert [turn.turn_id for turn in found.turns] == ["t4"]
    assert (found.children, found.incomplete) == ((), ("children",))
    rest = store.reader.turns(key("s"), found.turns_cursor, 200).value
    assert [turn.turn_id for turn in rest.items] == ["t3", "t2", "t1"]


def test_a_summary_of_a_session_without_turns_and_children_is_whole(tmp_path: Path) -> None:
    found = opened(tmp_path).reader.detail(key("s"), 1, with_children=False).value
    assert found is not None
    assert (found.turns_cursor, found.incomplete) == (None, ())
