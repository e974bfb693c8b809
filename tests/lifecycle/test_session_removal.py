"""A Session that is held, deleted and brought back: it ends what runs, begins nothing, and goes on as before."""

import attrs
import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState
from runtime.providers import normalized as n
from runtime.providers.port import CloseThread
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import LOADS, a_claim, a_session
from store.canonical.identifiers import RequestId
from store.canonical.interaction import OptionAnswer
from store.canonical.session import Session
from tests.lifecycle.playbook import Playbook

BUSY = Refusal("session.busy")
DELETED = Refusal("session.deleted")


def send(book: Playbook, reply: str) -> object:
    book.give(i.SendPrompt(reply, i.Submission(a_claim(reply), i.Prompt(()))))
    return book.answers[reply][-1]


def gone(book: Playbook) -> None:
    """The connection is given back."""
    book.give(i.ConnectionReleased(book.generation))


def test_a_session_at_rest_is_still_at_once_and_takes_no_prompt_until_the_hold_is_lifted() -> None:
    book = Playbook()
    book.give(i.HoldSession("hold"))
    assert isinstance(book.answers["hold"][0], Session)
    assert not book.state.idle, "an actor that ended would forget the hold"
    assert send(book, "while") == BUSY
    book.give(i.ResumeSession("resume"))
    assert book.answers["resume"] == [BUSY]
    book.give(i.HoldLifted())
    assert book.state.idle
    assert book.send("after", "after").phase == "submitted"


@pytest.mark.rule("RT-031")
def test_a_prompt_taken_before_the_hold_is_answered_again_with_its_turn() -> None:
    book = Playbook()
    turn_id = book.running()
    book.give(i.HoldSession("hold"))
    known = attrs.evolve(a_claim("c1"), turn_id=turn_id)
    book.give(i.SendPrompt("again", i.Submission(a_claim("c1"), i.Prompt(())), known, book.turns[turn_id]))
    [turn] = book.answers["again"]
    assert turn.turn_id == turn_id


def test_a_running_turn_and_the_runtime_end_before_the_hold_is_answered() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.give(i.HoldSession("hold"))
    assert "hold" not in book.answers
    book.say(n.TurnEnded(turn_id, "canceled"))
    assert book.turns[turn_id].outcome == "canceled"
    assert isinstance(book.told[-1], CloseThread)
    assert "hold" not in book.answers, "its process is still there"
    gone(book)
    assert len(book.answers["hold"]) == 1


def test_a_resume_that_waits_is_told_that_the_session_is_held() -> None:
    book = Playbook()
    book.give(i.ResumeSession("resume"))
    book.give(i.HoldSession("hold"))
    assert book.answers["resume"] == [BUSY]
    gone(book)
    assert len(book.answers["hold"]) == 1


@pytest.mark.rule("ST-026")
def test_a_deleted_session_refuses_every_command_and_writes_nothing_more() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.TurnEnded(turn_id, "completed"))
    book.give(i.HoldSession("hold"))
    gone(book)
    book.give(i.HoldLifted(attrs.evolve(book.state.session, deleted_at=5_000)))
    before = len(book.effects)
    assert send(book, "send") == DELETED
    book.give(i.ResumeSession("resume"))
    book.give(i.CloseSession("close"))
    book.give(i.RequestCancel("cancel", turn_id, book.turns[turn_id]))
    book.give(i.Respond("respond", turn_id, RequestId("r1"), OptionAnswer("yes")))
    book.give(i.HoldSession("second"))
    book.say(n.TurnEnded(turn_id, "completed"))
    for reply in ("send", "resume", "close", "cancel", "respond", "second"):
        assert book.answers[reply][-1] == DELETED, reply
    assert not any(isinstance(effect, fx.PersistSession | fx.PersistTurn) for effect in book.effects[before:])
    assert book.state.idle


@pytest.mark.rule("ST-025")
def test_a_restored_session_goes_on_without_anything_being_started() -> None:
    book = Playbook(SessionState(a_session(deleted_at=5_000)))
    before = len(book.effects)
    book.give(i.HoldLifted(a_session()))
    assert book.effects[before:] == []
    assert book.send().phase == "submitted"


def test_a_deletion_ends_the_quarantine_of_its_session() -> None:
    book = Playbook()
    book.give(i.Quarantine())
    book.give(i.HoldSession("hold"))
    assert len(book.answers["hold"]) == 1
    book.give(i.HoldLifted(attrs.evolve(book.state.session, deleted_at=5_000)))
    assert not book.state.quarantined
    shown = [effect for effect in book.effects if isinstance(effect, fx.PublishActivity)]
    assert shown[-1].runtime_state == "absent"


def test_a_daemon_that_stops_answers_the_hold_as_well() -> None:
    book = Playbook()
    turn_id = book.running(LOADS)
    book.give(i.HoldSession("hold"))
    book.give(i.Shutdown())
    assert book.turns[turn_id].outcome == "interrupted"
    gone(book)
    assert len(book.answers["hold"]) == 1
