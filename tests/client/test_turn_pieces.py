"""A turn as a person follows it: each character and each question once, whatever comes twice or is read again."""

from typing import Any

import pytest

from greenroom_client import (
    Asked,
    NoLongerAsked,
    NoticePiece,
    Piece,
    PlanPiece,
    ReadAgain,
    SessionView,
    TextPiece,
    ToolPiece,
    TurnView,
)
from tests.client.client_rows import as_event, commit, delta, gap, interaction, message, snapshot, tool, turn

STEPS = [{"text": "look", "status": "in_progress"}]
NOTICE = {"type": "notice", "code": "turn.empty", "severity": "warning", "text": "Nothing came."}


def pieces(view: TurnView, *events: Any) -> list[Piece]:
    return [piece for event in events for piece in view.receive(event)]


def text(found: list[Piece]) -> str:
    return "".join(piece.text for piece in found if isinstance(piece, TextPiece))


def test_text_is_told_once_however_it_comes():
    view = TurnView("s", "t")
    found = pieces(
        view,
        commit(1, ("message", message(text="He"))),
        delta(0, "l"),
        delta(0, "l"),
        snapshot(message(text="Hell", deltas=2)),
        delta(2, "o"),
        commit(2, ("message", message(text="Hello", deltas=None))),
    )
    assert text(found) == "Hello"
    assert text(list(view.see_message(message(text="Hello!", deltas=None), 3))) == "!"


def test_each_kind_of_message_is_told_when_it_changes():
    view = TurnView("s", "t")
    plan = message("p", kind="plan", content=[{"type": "plan", "entries": STEPS}])
    found = pieces(
        view,
        commit(
            1,
            ("message", tool("c", "running")),
            ("message", plan),
            ("message", message("n", kind="notice", role="system", content=[NOTICE], deltas=None)),
            ("message", message("u", "my own words", role="user", deltas=None)),
            ("message", message("x", kind="something new", deltas=None)),
            ("message", message("o", "of another turn", turnId="other", deltas=None)),
        ),
        commit(2, ("message", tool("c", "running", "more")), ("message", plan)),
        commit(3, ("message", tool("c", "failed", deltas=None))),
    )
    tools = [piece.call["status"] for piece in found if isinstance(piece, ToolPiece)]
    assert tools == ["running", "failed"]
    assert [type(piece) for piece in found if not isinstance(piece, ToolPiece)] == [PlanPiece, NoticePiece]


def test_a_question_is_asked_once_and_taken_back_once():
    view = TurnView("s", "t")
    child = interaction("pending", agentSessionId="child")
    found = pieces(
        view,
        commit(1, ("interaction", interaction("pending")), ("interaction", child)),
        commit(2, ("interaction", interaction("pending"))),
        commit(3, ("interaction", interaction("answered"))),
        commit(4, ("interaction", interaction("answered", answerDelivery="delivered"))),
    )
    assert [type(piece) for piece in found] == [Asked, Asked, NoLongerAsked]
    assert found[2] == NoLongerAsked(("s", "t", "r"))
    asked = found[0]
    assert isinstance(asked, Asked)
    assert asked.key == ("s", "t", "r")


@pytest.mark.rule("AP-010")
def test_missing_facts_are_told_and_older_rows_change_nothing():
    view = TurnView("s", "t")
    assert pieces(view, gap("text")) == []
    assert pieces(view, commit(5, ("turn", turn("settled", outcome="completed")))) == []
    assert view.ended
    pieces(view, commit(4, ("turn", turn("running"))))
    assert view.ended
    for missing in (gap("facts"), as_event("resync", commitSeq=9), as_event("session_reset", commitSeq=9)):
        assert pieces(view, missing) == [ReadAgain()]
    pieces(view, commit(1, ("turn", turn("running"))))  # of another store
    assert not view.ended


def test_events_and_changes_nobody_knows_have_no_pieces():
    view = TurnView("s", "t")
    assert pieces(view, as_event("something_new"), commit(1, ("something_new", {}))) == []


# --- a session --------------------------------------------------------------------------------------------------


def test_a_session_view_holds_the_newest_of_each_row():
    view = SessionView("w", "s")
    assert view.stale
    view.learn_session(
        as_read(5, session=row(title="read"), turns=[turn("running")], interactions=[interaction("pending")])
    )
    view.learn_messages(as_read(5, messages=[message("b", sequence=2), message("a", "A", sequence=1)]))
    assert not view.stale
    assert [one["messageId"] for one in view.messages] == ["a", "b"]
    assert view.message("none") is None
    assert not view.receive(commit(5, ("session", row(title="old")), ("turn", turn("submitted"))))
    assert view.session is not None
    assert view.session["title"] == "read"
    assert view.active_turn == turn("running")
    assert [one["requestId"] for one in view.pending_interactions] == ["r"]
    assert view.receive(
        commit(
            6, ("turn", turn("settled")), ("interaction", interaction("superseded")), ("something_new", {})
        )
    )
    assert view.active_turn is None
    assert view.pending_interactions == []


def test_a_session_view_keeps_out_what_is_of_other_sessions_but_not_what_descendants_ask():
    view = SessionView("w", "s")
    other = {"agentSessionId": "child"}
    assert not view.receive(commit(1, ("session", row(**other)), ("turn", turn("running", **other))))
    assert not view.receive(commit(2, ("message", message(**other))))
    assert view.receive(commit(3, ("interaction", interaction("pending", **other))))
    assert (view.session, view.turns, view.messages) == (None, {}, [])
    assert len(view.pending_interactions) == 1


def test_a_session_view_says_when_it_has_to_be_read_and_when_the_session_is_gone():
    view = SessionView("w", "s")
    view.learn_session(as_read(5, session=row(), turns=[], interactions=[]))
    assert view.receive(commit(6, ("session_removed", row())))
    assert view.removed
    assert view.receive(commit(7, ("session_restored", row())))
    assert not view.removed
    assert not view.receive(gap("text"))
    assert view.receive(gap("facts"))
    assert view.stale
    view.learn_session(as_read(1, session=row(title="other store"), turns=[], interactions=[]))
    assert view.session is not None
    assert view.session["title"] == "other store"


def row(**members: Any) -> Any:
    return {"workspaceId": "w", "agentSessionId": "s", "title": None, **members}


def as_read(commit_seq: int, **members: Any) -> Any:
    return {"commitSeq": commit_seq, **members}
