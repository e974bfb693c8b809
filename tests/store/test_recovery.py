"""After a restart nothing is left open, and nothing that was kept is lost (promise 5)."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as some

from store.canonical.message import ToolCall, ToolOutput
from store.canonical.recovery import UnfinishedSession, recover_session
from store.canonical.session import SessionCounters
from store.open import Store
from store.port import MessageQuery
from tests.store.builders import (
    claim_row,
    interaction_row,
    key,
    message_row,
    open_in,
    piece,
    running_session,
    session_row,
    turn_row,
    unit,
    write_pieces,
    written,
)

DELIVERIES = [
    ("submitted", "not_dispatched", "not_dispatched"),
    ("submitted", "dispatching", "unknown"),
    ("running", "accepted", "accepted"),
    ("waiting", "accepted", "accepted"),
    ("settling", "accepted", "accepted"),
    ("running", "unknown", "unknown"),
    ("settling", "dispatching", "unknown"),
]


@pytest.mark.rule("RT-076", "RT-034")
@pytest.mark.parametrize(("phase", "delivery", "known"), DELIVERIES)
def test_an_unfinished_turn_is_interrupted_with_what_is_known_of_its_delivery(
    store: Store, phase, delivery, known
):
    claim = claim_row("s", "x", turn_id="t1")
    written(
        store,
        unit(
            "s",
            session_row("s", active_turn_id="t1"),
            turn_row("s", phase=phase, delivery=delivery),
            counters=SessionCounters(1, 0),
            claims_added=(claim,),
        ),
    )
    head = store.committer.last_commit_seq
    recovery = store.recover()
    assert (recovery.sessions_settled, recovery.quarantined) == (1, ())
    turn = store.reader.turn(key("s"), "t1").value
    assert (turn.phase, turn.outcome, turn.delivery) == ("settled", "interrupted", known)
    assert turn.settled_at == 1_000_000
    loaded = store.reader.load(key("s"))
    assert loaded.value.session.active_turn_id is None
    assert loaded.value.active_turn is None
    assert loaded.value.counters == SessionCounters(1, 0)
    assert loaded.commit_seq == head + 1
    assert store.reader.log_after(head, 99, 9_999)[0].body.endswith(b"Session,Turn")
    assert store.reader.session_claim(key("s"), "x").value == claim


def test_streamed_text_is_kept_with_what_was_written_behind(store: Store):
    written(store, running_session("s"))
    call = ToolCall("c", "shell", "ls", status="running", output=ToolOutput("$ ls\n"))
    tool = message_row(
        "s",
        "m3",
        3,
        3,
        kind="tool_call",
        content=(),
        tool_call=call,
        status="streaming",
        delta_seq=1,
        turn_id="t1",
    )
    written(store, unit("s", tool, counters=SessionCounters(1, 3)))
    write_pieces(store, piece("s", "m2", 0, "half a sen"), piece("s", "m3", 1, "a.py", field="output"))
    store.recover()
    window = store.reader.messages(key("s"), MessageQuery(after_version=3)).value
    text, tool = window.messages
    assert (text.status, text.content[0].text, text.delta_seq) == ("interrupted", "half a sen", None)
    assert (tool.status, tool.tool_call.status) == ("interrupted", "interrupted")
    assert tool.tool_call.output.text == "$ ls\na.py"
    assert (text.version, tool.version, window.message_version) == (4, 5, 5)
    assert store.committer.connection.execute("SELECT count(*) FROM message_pieces").get == 0
    assert store.reader.load(key("s")).value.counters == SessionCounters(1, 3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("pending", None), ("superseded", None)),
        (("pending", "dispatching"), ("superseded", "unknown")),
        (("answered", "dispatching"), ("answered", "unknown")),
        (("answered", "delivered"), ("answered", "delivered")),
        (("answered", "failed"), ("answered", "failed")),
        (("superseded", None), ("superseded", None)),
    ],
)
def test_interactions_end_as_what_is_known_of_them(store: Store, before, after):
    status, delivery = before
    settled = turn_row("s", phase="settled", outcome="completed")
    row = interaction_row("s", status=status, answer_delivery=delivery)
    written(store, unit("s", session_row("s"), settled, row))
    assert store.recover().sessions_settled == (before != after)
    row = store.reader.interaction(key("s"), "t1", "r1").value
    assert (row.status, row.answer_delivery) == after
    assert (row.resolved_at is not None) == (before[0] == "pending")
    assert store.reader.turn(key("s"), "t1").value == settled


def test_what_is_finished_is_left_alone(store: Store):
    written(store, unit("s", session_row("s"), turn_row("s", phase="settled"), message_row("s", "m", 1, 1)))
    head = store.committer.last_commit_seq
    assert store.recover().sessions_settled == 0
    assert store.committer.last_commit_seq == head


def test_recovery_has_nothing_left_to_do_the_second_time(store: Store):
    written(store, running_session("a"), running_session("b"))
    assert store.recover().sessions_settled == 2
    assert store.recover().sessions_settled == 0


def test_a_reference_to_a_turn_that_ended_is_released(store: Store):
    rows = [session_row("s", active_turn_id="t1"), turn_row("s", phase="settled", outcome="completed")]
    written(store, unit("s", *rows))
    assert store.recover().sessions_settled == 1
    assert store.reader.session(key("s")).value.active_turn_id is None
    assert store.reader.turn(key("s"), "t1").value.outcome == "completed"


@pytest.mark.case("FC-40")
@pytest.mark.rule("ST-001")
@pytest.mark.parametrize(
    "poison",
    [
        "UPDATE turns SET phase = 'paused' WHERE session_ref = $bad",
        "UPDATE sessions SET settings = 'nonsense' WHERE id = $bad",
        "UPDATE messages SET content = '[{}]' WHERE session_ref = $bad AND status = 'streaming'",
        "UPDATE interactions SET kind = 'riddle' WHERE session_ref = $bad",
    ],
)
def test_a_poisonous_row_sets_its_session_aside_and_stops_nobody(store: Store, poison):
    written(store, *(running_session(name) for name in ("a", "bad", "c")))
    bad = "(SELECT id FROM sessions WHERE agent_session_id = 'bad')"
    store.committer.connection.execute(poison.replace("$bad", bad))
    recovery = store.recover()
    assert recovery.sessions_settled == 2
    (aside,) = recovery.quarantined
    assert aside.session_key == key("bad")
    assert "cannot be read" in aside.reason
    assert store.reader.turn(key("a"), "t1").value.settled
    assert store.reader.turn(key("c"), "t1").value.settled


@pytest.mark.case("FC-40")
@pytest.mark.parametrize(
    ("poison", "aside"),
    [
        ("UPDATE message_pieces SET field = 'smell'", ["bad"]),
        ("UPDATE message_pieces SET deltas = -7", []),
        ("UPDATE submit_claims SET scope = 'the moon'", []),
        ("UPDATE commit_log SET body = x'00ff'", []),
    ],
    ids=["piece", "piece-numbers", "claim", "log"],
)
def test_a_poisonous_row_of_any_other_table_stops_no_start_either(tmp_path, poison, aside):
    store = open_in(tmp_path)
    written(store, running_session("a"), running_session("bad"))
    written(store, unit("c", session_row("c"), claims_added=(claim_row("c", "x"),)))
    write_pieces(store, piece("bad", "m2", 0, "half a sen"))
    store.committer.connection.execute("PRAGMA ignore_check_constraints = 1")
    store.committer.connection.execute(poison)
    store.close()
    store = open_in(tmp_path)
    recovery = store.recover()
    assert [one.session_key for one in recovery.quarantined] == [key(name) for name in aside], recovery
    assert store.reader.turn(key("a"), "t1").value.settled
    assert written(store, unit("a", session_row("a")))
    store.close()


def test_a_unit_that_cannot_be_written_sets_its_session_aside(store: Store):
    """The row contradicts itself: recovery would have to lower a version."""
    written(store, running_session("bad"), running_session("good"))
    store.committer.connection.execute(
        "UPDATE sessions SET message_version = 0 WHERE agent_session_id = 'bad'"
    )
    recovery = store.recover()
    assert [aside.session_key for aside in recovery.quarantined] == [key("bad")]
    assert recovery.sessions_settled == 1


@pytest.mark.case("FC-47")
def test_a_thousand_sessions_are_settled_each_in_a_commit_of_its_own(store: Store):
    names = [f"s{number:04}" for number in range(1_000)]
    written(store, *(running_session(name) for name in names))
    head = store.committer.last_commit_seq
    recovery = store.recover()
    assert (recovery.sessions_settled, recovery.quarantined) == (1_000, ())
    assert store.committer.last_commit_seq == head + 1_000
    logged = store.reader.log_after(head, head + 1_000, 10**9)
    assert sorted(entry.agent_session_id for entry in logged) == names
    for query in ("turns WHERE phase <> 'settled'", "messages WHERE status = 'streaming'"):
        assert store.committer.connection.execute(f"SELECT count(*) FROM {query}").get == 0
    assert store.recover().sessions_settled == 0


@given(
    some.lists(some.sampled_from(DELIVERIES), max_size=3),
    some.lists(some.sampled_from(["streaming", "completed"]), max_size=4),
    some.lists(some.sampled_from([("pending", None), ("answered", "dispatching"), ("answered", "failed")])),
    some.booleans(),
)
def test_a_recovered_session_needs_no_recovery(turns, messages, interactions, active):
    unfinished = UnfinishedSession(
        session_row("s", active_turn_id="t0" if active else None, message_version=4),
        SessionCounters(3, 4),
        tuple(
            turn_row("s", f"t{number}", number + 1, phase=phase, delivery=delivery)
            for number, (phase, delivery, _) in enumerate(turns)
        ),
        tuple(
            message_row("s", f"m{number}", number + 1, number + 1, status=status)
            for number, status in enumerate(messages)
        ),
        tuple(
            interaction_row("s", f"r{number}", status=status, answer_delivery=delivery)
            for number, (status, delivery) in enumerate(interactions)
        ),
    )
    settled = recover_session(unfinished, 7)
    if settled is None:
        assert not turns
        assert not active
        return
    rows = settled.rows
    changed = [row for row in rows if hasattr(row, "version")]
    assert [row.version for row in changed] == list(range(5, 5 + len(changed)))
    assert settled.session_state.message_version == 4 + len(changed)
    after = attrs.evolve(
        unfinished,
        session=next((row for row in rows if hasattr(row, "history_revision")), unfinished.session),
        turns=tuple(row for row in rows if hasattr(row, "phase")),
        messages=tuple(row for row in rows if hasattr(row, "version")),
        interactions=tuple(row for row in rows if hasattr(row, "request_id")),
    )
    assert recover_session(after, 8) is None
