"""A group is one transaction, and each unit in it stands or falls alone."""

from collections.abc import Sequence

import apsw
import pytest

from store.canonical.change import Committed, NotCommitted, Row
from store.canonical.identifiers import TurnId
from store.canonical.session import SessionCounters
from store.open import Store
from tests.store.builders import (
    claim_row,
    interaction_row,
    key,
    message_row,
    open_in,
    session_row,
    turn_row,
    unit,
    write,
    written,
)


@pytest.mark.rule("ST-002")
@pytest.mark.case("FC-40")
def test_a_bad_unit_fails_alone_and_as_a_whole(store: Store):
    first = unit("a", session_row("a"))
    bad = unit("b", session_row("b"), turn_row("b"), message_row("b", "m", 1, 1, turn_id="unheard-of"))
    last = unit("c", session_row("c"))
    outcomes = write(store, first, bad, last).outcomes

    assert [type(outcome) for outcome in outcomes] == [Committed, NotCommitted, Committed]
    assert outcomes[1].code == "internal"
    assert store.reader.session(key("a")).value is not None
    assert store.reader.session(key("b")).value is None
    assert store.reader.session(key("c")).value is not None
    assert len(store.reader.log_after(0, 99, 9_999)) == 2


@pytest.mark.rule("ST-002")
@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_a_unit_is_visible_whole_or_not_at_all(store: Store, failing: int):
    rows: list[Row] = [
        session_row("s", active_turn_id="t1"),
        turn_row("s"),
        message_row("s", "m", 1, 1, turn_id="t1"),
        interaction_row("s"),
    ]
    spoiled = [session_row("s", title_source="rumour"), turn_row("s", phase="rumour")]
    spoiled += [message_row("s", "m", 1, 1, kind="rumour"), interaction_row("s", status="rumour")]
    rows[failing - 1] = spoiled[failing - 1]
    (outcome,) = write(store, unit("s", *rows)).outcomes
    assert isinstance(outcome, NotCommitted)
    assert "rumour" in outcome.detail
    connection = store.committer.connection
    for table in ("sessions", "turns", "messages", "interactions", "commit_log"):
        assert connection.execute(f"SELECT count(*) FROM {table}").get == 0


@pytest.mark.rule("ST-006")
def test_a_message_of_an_unknown_turn_is_refused(store: Store):
    written(store, unit("s", session_row("s")))
    (outcome,) = write(store, unit("s", message_row("s", "m", 1, 1, turn_id="never"))).outcomes
    assert isinstance(outcome, NotCommitted)


@pytest.mark.rule("ST-007")
def test_ids_are_unique_only_inside_their_session(store: Store):
    for session in ("a", "b"):
        written(
            store,
            unit(
                session,
                session_row(session, active_turn_id="t1"),
                turn_row(session),
                message_row(session, "m1", 1, 1, f"of {session}", turn_id="t1"),
                interaction_row(session),
                counters=SessionCounters(1, 1),
            ),
        )
    for session in ("a", "b"):
        detail = store.reader.detail(key(session), 50).value
        assert detail.active_turn.agent_session_id == session
        assert [row.agent_session_id for row in detail.interactions] == [session]


def test_the_same_session_id_lives_in_two_workspaces(store: Store):
    other = session_row("s", workspace_id="elsewhere", title="other")
    written(store, unit("s", session_row("s", title="here")))
    (outcome,) = write(store, unit("s", other)).outcomes
    assert isinstance(outcome, NotCommitted)
    assert "workspace elsewhere" in outcome.detail
    assert store.reader.session(key("s", "elsewhere")).value is None


@pytest.mark.parametrize(
    "wrong",
    [
        unit("s", turn_row("t")),
        unit("s", message_row("s", "m", 1, 5), claims_added=(claim_row("t", "c"),)),
        unit("nobody", turn_row("nobody")),
    ],
)
def test_a_unit_that_contradicts_itself_is_refused(store: Store, wrong):
    written(store, unit("s", session_row("s")))
    (outcome,) = write(store, wrong).outcomes
    assert isinstance(outcome, NotCommitted)
    assert outcome.detail.startswith("InvalidUnit")


@pytest.mark.rule("ST-008")
def test_the_place_of_a_message_never_changes(store: Store):
    written(store, unit("s", session_row("s"), message_row("s", "m", 1, 1)))
    for version in range(2, 102):
        written(store, unit("s", message_row("s", "m", 1, version, f"text {version}")))
    (moved,) = write(store, unit("s", message_row("s", "m", 2, 200))).outcomes
    assert isinstance(moved, NotCommitted)
    connection = store.committer.connection
    assert connection.execute("SELECT sequence, version FROM messages").get == (1, 101)


@pytest.mark.rule("ST-009")
def test_a_change_that_does_not_raise_the_version_is_refused(store: Store):
    written(store, unit("s", session_row("s"), message_row("s", "m", 1, 1)))
    (stale,) = write(store, unit("s", message_row("s", "m", 1, 1, "again"), version=1)).outcomes
    assert isinstance(stale, NotCommitted)


@pytest.mark.rule("ST-005")
def test_what_is_published_is_logged_in_the_same_commit(store: Store):
    outcomes = written(store, unit("a", session_row("a"), turn_row("a")), unit("b", session_row("b")))
    assert [outcome.body for outcome in outcomes] == [b"1:Session,Turn", b"2:Session"]
    logged = store.reader.log_after(0, 2, 9_999)
    assert [(entry.commit_seq, entry.body) for entry in logged] == [
        (1, b"1:Session,Turn"),
        (2, b"2:Session"),
    ]


@pytest.mark.rule("ST-004")
def test_rows_are_published_in_the_order_of_the_contract(store: Store):
    rows = (
        interaction_row("s"),
        message_row("s", "m2", 2, 2, turn_id="t1"),
        message_row("s", "m1", 1, 1, turn_id="t1"),
        turn_row("s"),
        session_row("s", active_turn_id="t1"),
    )
    (outcome,) = written(store, unit("s", *rows))
    assert outcome.body == b"1:Session,Turn,Message,Message,Interaction"


def test_counters_alone_are_kept_but_not_published(store: Store):
    written(store, unit("s", session_row("s")))
    (outcome,) = written(store, unit("s", counters=SessionCounters(3, 7), version=9))
    assert outcome.body == b""
    loaded = store.reader.load(key("s"))
    assert loaded.value.counters == SessionCounters(3, 7)
    assert loaded.value.session.message_version == 9
    assert loaded.commit_seq == outcome.commit_seq
    assert len(store.reader.log_after(0, 99, 9_999)) == 1


@pytest.mark.rule("ST-043")
def test_a_number_once_given_is_never_given_again(tmp_path):
    store = open_in(tmp_path)
    given = [outcome.commit_seq for outcome in written(store, unit("a", session_row("a")))]
    failed = unit("b", session_row("b", title_source="rumour"))
    write(store, failed)
    write(store, failed, unit("c", session_row("c")))
    given.append(store.committer.last_commit_seq)
    store.close()

    store = open_in(tmp_path)
    (after,) = written(store, unit("d", session_row("d")))
    assert given == [1, 4]
    assert after.commit_seq == 5
    assert store.reader.session(key("d")).commit_seq == 5
    store.close()


def test_an_encoder_that_fails_costs_its_unit_alone(tmp_path):
    def fragile(commit_seq: int, rows: Sequence[Row]) -> bytes:
        if any(row.agent_session_id == "b" for row in rows):
            raise ZeroDivisionError("a bug in the encoder")
        return b"ok"

    store = open_in(tmp_path, encode=fragile)
    outcomes = write(store, *(unit(name, session_row(name)) for name in "abc")).outcomes
    assert [type(outcome) for outcome in outcomes] == [Committed, NotCommitted, Committed]
    assert store.reader.session(key("b")).value is None
    store.close()


@pytest.mark.case("FC-15")
def test_a_foreign_writer_only_delays_a_group(tmp_path):
    """The other process holds the lock when the group begins and lets go while it waits."""
    store = open_in(tmp_path)
    other = apsw.Connection(str(tmp_path / "greenroom.db"), vfs="cksmvfs")
    other.execute("BEGIN IMMEDIATE")
    waits = 0

    def let_go(attempt: int) -> bool:
        nonlocal waits
        waits = attempt + 1
        if waits == 3:
            other.execute("ROLLBACK")
        return True

    store.committer.connection.set_busy_handler(let_go)
    written(store, unit("s", session_row("s")))
    assert waits == 3
    other.close()
    store.close()


def test_claims_are_unique_in_their_scope(store: Store):
    written(
        store,
        unit("a", session_row("a"), claims_added=(claim_row("a", "x", turn_id=TurnId("t1")),)),
        unit("b", session_row("b"), claims_added=(claim_row("b", "x"),)),
    )
    (again,) = write(store, unit("a", claims_added=(claim_row("a", "x", digest="e" * 64),))).outcomes
    assert isinstance(again, NotCommitted)
    assert again.code == "submit.conflict"
    assert store.reader.session_claim(key("a"), "x").value.turn_id == "t1"
    assert store.reader.session_claim(key("a"), "y").value is None


@pytest.mark.rule("RT-037")
def test_two_creates_with_one_submit_id_make_one_session(store: Store):
    claims = [
        claim_row(session, "x", scope="workspace", method="session/create", content={"text": ["hello"]})
        for session in ("a", "b")
    ]
    first, second = write(
        store,
        unit("a", session_row("a"), claims_added=(claims[0],)),
        unit("b", session_row("b"), claims_added=(claims[1],)),
    ).outcomes
    assert isinstance(first, Committed)
    assert isinstance(second, NotCommitted)
    assert second.code == "submit.conflict"
    assert store.reader.session(key("b")).value is None
    assert store.reader.workspace_claim("w", "x").value == claims[0]


def test_a_claim_taken_back_frees_its_id(store: Store):
    claim = claim_row("s", "x")
    written(store, unit("s", session_row("s"), claims_added=(claim,)))
    written(store, unit("s", turn_row("s"), claims_removed=(claim,)))
    assert store.reader.session_claim(key("s"), "x").value is None
    written(store, unit("s", claims_added=(claim,)))
