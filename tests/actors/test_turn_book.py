"""The book of unsettled turns follows the commits, by workspace, and counts each end once."""

from runtime.actors.turn_book import TurnBook
from store.canonical.change import Committed, SessionState, Unit
from store.canonical.identifiers import SessionId, SessionKey, TurnId, WorkspaceId
from store.canonical.session import SessionCounters
from store.canonical.turn import Turn


def told(book: TurnBook, workspace: str, turn_id: str, phase: str, outcome: str | None = None) -> None:
    key = SessionKey(WorkspaceId(workspace), SessionId("s"))
    turn = Turn(
        workspace_id=key.workspace_id,
        agent_session_id=key.agent_session_id,
        turn_id=TurnId(turn_id),
        sequence=1,
        submitted_at=0,
        phase=phase,
        outcome=outcome,
    )
    unit = Unit(key, key.agent_session_id, (turn,), SessionState(0, 0, SessionCounters()))
    book.note(Committed(unit, 1, b""))


def test_a_turn_is_unsettled_from_its_first_row_to_its_settled_one():
    book = TurnBook()
    for workspace in ("a", "b"):
        told(book, workspace, "t", "submitted")
        told(book, workspace, "t", "running")
    assert (book.unsettled(), book.unsettled(frozenset({"a"})), book.submitted) == (2, 1, 2)
    told(book, "a", "t", "settled", "completed")
    told(book, "a", "t", "settled", "completed")
    assert (book.unsettled(), book.unsettled(frozenset({"a", "c"})), dict(book.ended)) == (
        1,
        0,
        {"completed": 1},
    )


def test_a_turn_whose_beginning_was_not_seen_is_not_counted():
    book = TurnBook()
    told(book, "a", "old", "settled", "interrupted")
    assert (book.unsettled(), book.submitted, dict(book.ended)) == (0, 0, {})
