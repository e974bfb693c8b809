"""Reads: one transaction each, stable pages, and no wait for anybody."""

import attrs
import pytest

from store.canonical.change import publication_order
from store.canonical.interaction import ApprovalInput, Interaction
from store.canonical.operation import Operation
from store.canonical.session import Session, SessionCounters
from store.errors import InvalidCursor, RowError
from store.open import Store
from store.port import SessionFilter
from tests.store.builders import (
    child_of,
    interaction_row,
    key,
    message_row,
    open_in,
    running_session,
    session_row,
    turn_row,
    unit,
    written,
)


def listed(store: Store, limit: int = 50, **which) -> list[str]:
    names: list[str] = []
    cursor = None
    while True:
        page = store.reader.sessions("w", SessionFilter(**which), cursor, limit).value
        names += [item.session.agent_session_id for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return names


def start(store: Store, name: str, sequence: int, at: int) -> None:
    turn = turn_row(name, f"t{sequence}", sequence, submitted_at=at, phase="settled")
    written(store, unit(name, turn))


def test_a_read_says_up_to_which_commit_it_goes(store: Store):
    assert store.reader.session(key("s")).commit_seq == 0
    (outcome,) = written(store, unit("s", session_row("s")))
    read = store.reader.session(key("s"))
    assert read.commit_seq == outcome.commit_seq == 1
    assert read.value == session_row("s")


@pytest.mark.rule("ST-043")
def test_everything_durable_is_there_for_another_reader(store: Store):
    written(store, running_session("s"))
    assert store.new_reader().detail(key("s"), 50) == store.reader.detail(key("s"), 50)


@pytest.mark.rule("RT-025")
def test_an_operation_commits_with_what_it_does_and_is_read_by_its_session_and_id(store: Store):
    written(store, unit("s", session_row("s")), unit("other", session_row("other")))
    prepared = Operation("w", "s", "o1", "plan", "prepared", None, 1, 1)
    written(store, unit("s", prepared, turn_row("s"), interaction_row("s")))
    assert store.reader.operation(key("s"), "o1").value == prepared
    assert store.reader.turn(key("s"), "t1").value == turn_row("s")
    committed = attrs.evolve(prepared, state="committed", updated_at=2)
    written(store, unit("s", committed))
    assert store.new_reader().operation(key("s"), "o1").value == committed
    assert store.reader.operation(key("other"), "o1").value is None
    assert store.reader.operation(key("nobody"), "o1").value is None
    assert [type(row) for row in publication_order((committed, interaction_row("s"), session_row("s")))] == [
        Session,
        Interaction,
        Operation,
    ]


@pytest.mark.rule("ST-042")
def test_roots_are_listed_pinned_first_then_by_the_start_of_their_newest_turn(store: Store):
    for name, created_at in (("a", 100), ("b", 200), ("c", 300), ("d", 400), ("e", 50)):
        written(store, unit(name, session_row(name, created_at=created_at)))
    assert listed(store) == ["d", "c", "b", "a", "e"]
    start(store, "a", 1, at=500)
    start(store, "c", 1, at=450)
    assert listed(store) == ["a", "c", "d", "b", "e"]
    assert listed(store, order="created") == ["d", "c", "b", "a", "e"]
    written(store, unit("b", session_row("b", created_at=200, pinned=True, updated_at=600)))
    written(store, unit("e", session_row("e", created_at=50, pinned=True, updated_at=700)))
    assert listed(store) == ["e", "b", "a", "c", "d"]
    start(store, "b", 1, at=9_000)
    assert listed(store) == ["e", "b", "a", "c", "d"], "pinned sessions keep their order"
    written(store, unit("e", session_row("e", created_at=50, updated_at=800)))
    assert listed(store) == ["b", "a", "c", "d", "e"]


@pytest.mark.rule("ST-042")
def test_streaming_and_completion_move_nobody(store: Store):
    for name, at in (("a", 100), ("b", 200)):
        written(store, unit(name, session_row(name)))
        start(store, name, 1, at)
    before = listed(store)
    for version in range(1, 6):
        row = message_row("a", "m", 1, version, status="streaming", delta_seq=version, turn_id="t1")
        written(store, unit("a", row, updated_at=10_000 + version))
    written(store, unit("a", turn_row("a", "t1", 1, submitted_at=100, phase="settled", settled_at=99_999)))
    assert listed(store) == before == ["b", "a"]


def test_pages_of_sessions_have_no_repeats_while_sessions_move(store: Store):
    for number in range(40):
        written(store, unit(f"s{number}", session_row(f"s{number}", created_at=number)))
    first = store.reader.sessions("w", SessionFilter(), None, 15).value
    start(store, "s39", 1, at=500)  # was on the first page
    second = store.reader.sessions("w", SessionFilter(), first.next_cursor, 15).value
    third = store.reader.sessions("w", SessionFilter(), second.next_cursor, 15).value
    names = [item.session.agent_session_id for page in (first, second, third) for item in page.items]
    assert names == [f"s{number}" for number in range(39, -1, -1)]
    assert third.next_cursor is None


def test_lists_filter_and_leave_children_deleted_and_other_workspaces_out(store: Store):
    written(
        store,
        unit("root", session_row("root", active_turn_id="t1"), turn_row("root", phase="running")),
        unit("child", child_of("child", "root", "root")),
        unit("gone", session_row("gone", deleted_at=5)),
        unit("other", session_row("other", agent_target_id="codex", pinned=True)),
    )
    assert listed(store) == ["other", "root"]
    assert listed(store, active=True) == ["root"]
    assert listed(store, active=False) == ["other"]
    assert listed(store, pinned=True) == listed(store, agent_target_id="codex") == ["other"]
    assert store.reader.sessions("elsewhere", SessionFilter(), None, 9).value.items == ()
    assert store.reader.session_count() == 3


def test_a_listed_root_shows_its_turn_and_what_its_whole_tree_waits_for(store: Store):
    written(store, running_session("root"))
    written(
        store,
        unit(
            "kid", child_of("kid", "root", "root"), turn_row("kid", phase="waiting"), interaction_row("kid")
        ),
    )
    (item,) = store.reader.sessions("w", SessionFilter(), None, 9).value.items
    assert item.active_turn.turn_id == "t1"
    assert item.pending_interactions == 2


def test_turns_come_newest_first_in_pages(store: Store):
    turns = [turn_row("s", f"t{n}", n, phase="settled") for n in range(1, 8)]
    written(store, unit("s", session_row("s"), *turns, counters=SessionCounters(7, 0)))
    first = store.reader.turns(key("s"), None, 3).value
    rest = store.reader.turns(key("s"), first.next_cursor, 50).value
    assert [turn.sequence for turn in (*first.items, *rest.items)] == [7, 6, 5, 4, 3, 2, 1]
    assert rest.next_cursor is None
    detail = store.reader.detail(key("s"), 3).value
    assert detail.turns == first.items
    assert store.reader.turns(key("s"), detail.turns_cursor, 50).value == rest
    assert store.reader.turn(key("s"), "t4").value == turns[3]
    assert store.reader.turn(key("s"), "t9").value is None
    assert store.reader.turns(key("nobody"), None, 3).value.items == ()


def test_a_session_is_shown_with_its_tree(store: Store):
    written(store, running_session("root"))
    for name, parent in (("kid", "root"), ("grandkid", "kid"), ("uncle", "root")):
        written(
            store,
            unit(
                name, child_of(name, parent, "root"), turn_row(name, phase="waiting"), interaction_row(name)
            ),
        )
    written(store, unit("uncle", child_of("uncle", "root", "root", deleted_at=9)))
    answered = interaction_row("root", "r0", status="answered", answer_delivery="delivered")
    written(store, unit("root", answered))
    detail = store.reader.detail(key("root"), 50).value
    assert [child.agent_session_id for child in detail.children] == ["kid", "grandkid"]
    shown = [(row.agent_session_id, row.request_id) for row in detail.interactions]
    assert shown == [("root", "r1"), ("kid", "r1"), ("grandkid", "r1"), ("root", "r0")]
    assert detail.active_turn.phase == "waiting"
    below = store.reader.detail(key("kid"), 50).value
    assert [child.agent_session_id for child in below.children] == ["grandkid"]
    assert store.reader.root_of(key("grandkid")) == "root"
    assert store.reader.root_of(key("root")) == "root"
    assert store.reader.root_of(key("nobody")) is None
    assert store.reader.detail(key("nobody"), 50).value is None


@pytest.mark.rule("RT-010")
def test_a_request_id_names_an_interaction_only_inside_its_turn(store: Store):
    written(
        store,
        unit(
            "s",
            session_row("s"),
            turn_row("s", "t1", 1),
            turn_row("s", "t2", 2),
            interaction_row("s", "r", "t1", status="answered"),
            interaction_row("s", "r", "t2"),
        ),
    )
    assert store.reader.interaction(key("s"), "t1", "r").value.status == "answered"
    assert store.reader.interaction(key("s"), "t2", "r").value.status == "pending"
    assert store.reader.interaction(key("s"), "t3", "r").value is None
    assert store.reader.interaction(key("nobody"), "t1", "r").value is None


def test_interactions_of_a_workspace_come_newest_first_in_pages(store: Store):
    for number in range(6):
        name = f"s{number}"
        row = interaction_row(name, status="answered" if number % 2 else "pending")
        written(store, unit(name, session_row(name), turn_row(name), row))
    written(store, unit("s0", session_row("s0", deleted_at=5)))

    def pages(status):
        found, cursor = [], None
        while True:
            page = store.reader.interactions("w", status, cursor, 2).value
            found += [row.agent_session_id for row in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return found

    assert pages(None) == ["s5", "s4", "s3", "s2", "s1"]
    assert pages("pending") == ["s4", "s2"]
    assert pages("answered") == ["s5", "s3", "s1"]
    assert pages("superseded") == []


def test_a_page_of_interactions_ends_at_its_size_but_never_empty_handed(tmp_path):
    store = open_in(tmp_path, page_bytes_max=10_000)
    for number, size in enumerate((4_000, 4_000, 4_000, 50_000)):
        name = f"s{number}"
        asked = ApprovalInput("call", "x" * size, "execute")
        written(store, unit(name, session_row(name), turn_row(name), interaction_row(name, input=asked)))
    pages, cursor = [], None
    for _ in range(3):
        page = store.reader.interactions("w", None, cursor, 50).value
        pages.append([row.agent_session_id for row in page.items])
        cursor = page.next_cursor
    assert (pages, cursor) == ([["s3"], ["s2", "s1"], ["s0"]], None)
    store.close()


def test_a_deleted_session_is_still_read_with_its_mark(store: Store):
    written(store, unit("s", session_row("s", deleted_at=77), message_row("s", "m", 1, 1)))
    assert store.reader.session(key("s")).value.deleted_at == 77
    assert store.reader.load(key("s")).value.session.deleted_at == 77


def test_an_actor_gets_what_is_unfinished_and_nothing_else(store: Store):
    written(store, running_session("s"))
    settled = [turn_row("s", "t0", 2, phase="settled"), message_row("s", "m9", 9, 9, turn_id="t0")]
    written(store, unit("s", *settled, counters=SessionCounters(2, 9)))
    loaded = store.reader.load(key("s")).value
    assert loaded.active_turn.turn_id == "t1"
    assert [row.message_id for row in loaded.streaming_messages] == ["m2"]
    assert [row.request_id for row in loaded.pending_interactions] == ["r1"]
    assert loaded.counters == SessionCounters(2, 9)
    assert store.reader.load(key("nobody")).value is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "AAAA", "é", "W10", "WyJ0dXJucyIsMV0", "A" * 10_000, "WyJzZXNzaW9ucy5yZWNlbnQiXQ"]
)
def test_a_cursor_of_another_list_is_refused(store: Store, cursor):
    with pytest.raises(InvalidCursor):
        store.reader.sessions("w", SessionFilter(), cursor, 5)


@pytest.mark.rule("ST-001")
@pytest.mark.case("FC-40")
def test_a_row_nobody_can_read_spoils_no_other_read(store: Store):
    written(store, running_session("bad"), running_session("good"))
    store.committer.connection.execute(
        "UPDATE turns SET phase = 'paused' WHERE session_ref = (SELECT id FROM sessions LIMIT 1)"
    )
    with pytest.raises(RowError, match="paused"):
        store.reader.load(key("bad"))
    assert store.reader.load(key("good")).value.active_turn.phase == "waiting"
    assert store.reader.session(key("bad")).value is not None


@pytest.mark.rule("ST-001")
@pytest.mark.case("FC-40")
def test_a_row_nobody_can_read_hides_nothing_else_from_a_list(store: Store):
    for number in range(7):
        written(store, running_session(f"s{number}"))
    everything = listed(store)
    for column, name in (("settings", everything[2]), ("capabilities", everything[3])):
        spoil = f"UPDATE sessions SET {column} = 'no json' WHERE agent_session_id = ?"
        store.committer.connection.execute(spoil, (name,))
    store.committer.connection.execute(
        "UPDATE turns SET phase = 'paused' WHERE session_ref = (SELECT id FROM sessions WHERE agent_session_id = ?)",
        (everything[6],),
    )
    store.committer.connection.execute("UPDATE interactions SET options = '7' WHERE id = 4")
    rest = [name for place, name in enumerate(everything) if place not in (2, 3)]
    assert [listed(store, limit) for limit in (1, 2, 3, 50)] == [rest] * 4
    last = store.reader.sessions("w", SessionFilter(), None, 50).value.items[-1]
    assert last.session.active_turn_id == "t1"
    assert last.active_turn is None, "what cannot be read is not guessed"
    assert len(store.reader.interactions("w", None, None, 50).value.items) == 6
    first = store.reader.interactions("w", "pending", None, 4).value
    assert len(first.items) == 3
    assert len(store.reader.interactions("w", "pending", first.next_cursor, 4).value.items) == 3


@pytest.mark.case("FC-47")
@pytest.mark.parametrize(
    ("table", "condition"),
    [
        ("messages", "m.status = 'streaming' AND m.session_ref = 1"),
        ("turns", "m.phase <> 'settled' AND m.session_ref = 1"),
        ("interactions", "m.status = 'pending' AND m.session_ref = 1"),
    ],
)
def test_what_is_unfinished_is_found_by_an_index_of_its_own(store: Store, table, condition):
    plan = store.committer.connection.execute(
        f"EXPLAIN QUERY PLAN SELECT * FROM {table} AS m WHERE {condition}"
    )
    (detail,) = [row[3] for row in plan]
    assert detail.startswith(f"SEARCH m USING INDEX {table}_")
