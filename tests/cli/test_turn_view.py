"""A turn's events become text that is shown once, whichever of deltas, snapshots and rows bring it (contract §5)."""

import pytest

from runtime.cli.turn_view import Asked, LinePiece, NoLongerAsked, ReadAgain, TextPiece, TurnView
from tests.cli.rows import approval, commit, delta, message, settled, tool, turn


@pytest.fixture
def view():
    return TurnView("s1", "t1")


def pieces(view, *events):
    return [piece for event in events for piece in view.receive(event)]


def text(found):
    return "".join(piece.text for piece in found if isinstance(piece, TextPiece))


def test_deltas_come_out_as_they_come_in(view):
    found = pieces(view, delta("m", 0, "Hel"), delta("m", 1, "lo"), delta("n", 0, "hm", kind="reasoning"))
    assert found == [
        TextPiece("m", "text", "Hel"),
        TextPiece("m", "text", "lo"),
        TextPiece("n", "reasoning", "hm"),
    ]


def test_the_row_that_ends_a_message_adds_only_what_was_not_shown(view):
    ended = commit(("message", message("m", "Hello!")))
    assert text(pieces(view, delta("m", 0, "Hel"), delta("m", 1, "lo"), ended)) == "Hello!"
    assert pieces(view, ended) == []


def test_a_snapshot_stands_in_for_the_deltas_it_contains(view):
    snapshot = {"type": "message_snapshot", "message": message("m", "Hello", status="streaming", deltaSeq=3)}
    found = pieces(view, delta("m", 0, "Hel"), snapshot, delta("m", 2, "o"), delta("m", 3, " you"))
    assert text(found) == "Hello you"


def test_after_lost_deltas_nothing_is_shown_until_the_snapshot(view):
    snapshot = {"type": "message_snapshot", "message": message("m", "abcd", status="streaming", deltaSeq=4)}
    found = pieces(view, delta("m", 0, "a"), delta("m", 2, "c"), snapshot, delta("m", 4, "e"))
    assert text(found) == "abcde"


def test_other_turns_other_sessions_and_ones_own_prompt_are_not_shown(view):
    other_turn = message("m", "no", turnId="t2")
    other_session = message("m", "no", agentSessionId="s2")
    prompt = message("m", "no", role="user")
    rows = commit(("message", other_turn), ("message", other_session), ("message", prompt))
    assert pieces(view, rows, {**delta("x", 0, "no"), "agentSessionId": "s2"}) == []


def test_a_tool_call_has_one_line_and_another_only_when_it_ends_badly(view):
    running = commit(("message", tool("m", "running")))
    done = commit(("message", tool("m", "completed")))
    assert pieces(view, running, running, done) == [LinePiece("tool", "execute: make")]
    broken = commit(
        ("message", tool("n", "pending", title="make\n check")), ("message", tool("n", "failed", exitCode=2))
    )
    assert [piece.text for piece in pieces(view, broken)] == [
        "execute: make check",
        "execute: make: failed (exit code 2)",
    ]
    assert pieces(view, delta("n", 0, "output", kind="tool_call", field="output")) == []


def test_plans_and_notices_are_told_again_only_when_they_change(view):
    def plan(status):
        blocks = [{"type": "plan", "entries": [{"text": "look", "status": status}]}]
        return commit(("message", message("p", kind="plan", content=blocks)))

    blocks = [{"type": "notice", "code": "turn.empty", "severity": "warning", "text": "Nothing came."}]
    notice = commit(("message", message("n", kind="notice", role="system", content=blocks)))
    found = pieces(view, plan("pending"), plan("pending"), plan("completed"), notice, notice)
    assert [piece.text for piece in found] == ["look (pending)", "look (completed)", "warning: Nothing came."]


def test_interactions_are_asked_and_withdrawn_those_of_children_too(view):
    child = approval("r2", agentSessionId="child", turnId="t9")
    found = pieces(view, commit(("interaction", approval())), commit(("interaction", child)))
    assert [piece.key for piece in found] == [("s1", "t1", "r1"), ("child", "t9", "r2")]
    assert all(isinstance(piece, Asked) for piece in found)
    answered = commit(("interaction", approval(status="answered")))
    assert pieces(view, answered) == [NoLongerAsked(("s1", "t1", "r1"))]


def test_the_turn_ends_with_its_settled_row(view):
    pieces(view, commit(("turn", turn(phase="running")), ("turn", settled(turn_id="t2"))))
    assert not view.ended
    pieces(view, commit(("turn", settled())))
    assert view.ended
    assert view.turn["outcome"] == "completed"


def test_events_that_say_read_again_say_so_and_unknown_ones_nothing(view):
    assert pieces(view, {"type": "session_reset", "commitSeq": 1}, {"type": "resync"}) == [
        ReadAgain(),
        ReadAgain(),
    ]
    assert pieces(view, {"type": "from_the_future"}, {"type": "checkpoint", "commitSeq": 5}) == []
    assert pieces(view, commit(("unknown", {"agentSessionId": "s1"}))) == []
