"""Interactions: published, answered once, superseded, never delivered twice."""

import pytest

from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import Policy
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction
from runtime.refusal import Refusal
from store.canonical.common import TurnError
from store.canonical.identifiers import RequestId, TurnId
from store.canonical.interaction import Interaction, OptionAnswer
from tests.lifecycle.playbook import Playbook

REFUSED = TurnError("provider.rejected", "no", "provider")


def answers_told(book: Playbook) -> list[AnswerInteraction]:
    return [command for command in book.told if isinstance(command, AnswerInteraction)]


@pytest.mark.rule("RT-019")
def test_an_open_interaction_puts_its_turn_in_waiting_and_an_answer_takes_it_out() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    assert book.turns[turn_id].phase == "waiting"
    book.answer(turn_id, "yes", "a")
    assert book.turns[turn_id].phase == "running"
    row = book.interactions[turn_id, "r1"]
    assert (row.status, row.answer, row.answer_delivery) == ("answered", OptionAnswer("yes"), "dispatching")
    assert "a" not in book.answers
    book.say(n.AnswerDelivered(turn_id, RequestId("r1")))
    [reply] = book.answers["a"]
    assert isinstance(reply, Interaction)
    assert reply.answer_delivery == "delivered"
    assert len(answers_told(book)) == 1


@pytest.mark.rule("RT-009")
@pytest.mark.case("FC-45")
def test_the_first_answer_wins_and_the_other_is_told_which() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.answer(turn_id, "yes", "first")
    book.answer(turn_id, "no", "second")
    book.answer(turn_id, "yes", "same")
    [refusal] = book.answers["second"]
    assert isinstance(refusal, Refusal)
    assert refusal.code == "interaction.not_pending"
    assert refusal.details["interaction"] == book.interactions[turn_id, "r1"]
    assert isinstance(book.answers["same"][0], Interaction)
    assert len(answers_told(book)) == 1


@pytest.mark.rule("RT-010", "RT-011")
def test_the_same_request_id_in_another_turn_is_another_interaction() -> None:
    book = Playbook()
    first = book.running()
    book.ask(first)
    book.answer(first, "yes", "a")
    book.say(n.AnswerDelivered(first, RequestId("r1")))
    book.say(n.TurnEnded(first, "completed", "end_turn"))
    second = book.send("next", "c2", "second").turn_id
    book.say(n.TurnAccepted(second))
    book.ask(second)
    book.answer(first, "no", "old")
    assert book.answers["old"][0].code == "interaction.not_pending"
    assert book.interactions[second, "r1"].status == "pending"
    book.answer(TurnId("nobody"), "yes", "wrong")
    assert book.answers["wrong"] == [Refusal("interaction.not_found")]


def test_an_answer_that_was_not_offered_is_refused_and_the_request_stays_open() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.answer(turn_id, "perhaps", "a")
    assert book.answers["a"] == [Refusal("interaction.unsupported_answer")]
    assert book.interactions[turn_id, "r1"].status == "pending"


@pytest.mark.case("FC-04")
def test_cancel_supersedes_what_is_pending_and_a_late_answer_reaches_nobody() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.cancel(turn_id)
    assert book.interactions[turn_id, "r1"].status == "superseded"
    book.answer(turn_id, "yes", "late")
    assert book.answers["late"][0].code == "interaction.not_pending"
    assert not answers_told(book)


@pytest.mark.rule("RT-023", "RT-022")
def test_an_equal_answer_is_written_once_more_only_after_a_known_failure() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.answer(turn_id, "yes", "a")
    book.say(n.AnswerFailed(turn_id, RequestId("r1"), REFUSED))
    assert book.answers["a"] == [Refusal("provider.rejected", delivery="rejected")]
    assert book.interactions[turn_id, "r1"].answer_delivery == "failed"
    book.answer(turn_id, "yes", "b")
    assert len(answers_told(book)) == 2
    book.say(n.AnswerDelivered(turn_id, RequestId("r1")))
    assert isinstance(book.answers["b"][0], Interaction)


@pytest.mark.rule("RT-022")
def test_an_answer_whose_delivery_is_unknown_is_never_sent_again() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.answer(turn_id, "yes", "a")
    book.give(i.TimerFired(i.Timer("respond", turn_id=turn_id, request_id=RequestId("r1"))))
    assert book.answers["a"] == [Refusal("provider.timeout", delivery="unknown")]
    assert book.interactions[turn_id, "r1"].answer_delivery == "unknown"
    book.answer(turn_id, "yes", "b")
    assert isinstance(book.answers["b"][0], Interaction)
    assert len(answers_told(book)) == 1


@pytest.mark.case("FC-46")
def test_a_withdrawn_request_is_superseded_and_the_turn_goes_on() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.say(n.InteractionWithdrawn(turn_id, RequestId("r1")))
    assert book.interactions[turn_id, "r1"].status == "superseded"
    assert book.turns[turn_id].phase == "running"


@pytest.mark.rule("RT-016")
def test_a_lost_process_supersedes_pending_and_leaves_answers_on_their_way_unknown() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id, "r1")
    book.ask(turn_id, "r2")
    book.answer(turn_id, "yes", "a", "r1")
    book.say(n.ConnectionLost(TurnError("provider.lost", "gone", "provider")))
    assert book.interactions[turn_id, "r1"].answer_delivery == "unknown"
    assert book.interactions[turn_id, "r2"].status == "superseded"
    assert book.answers["a"] == [Refusal("provider.lost", delivery="unknown")]
    assert not book.state.interactions
    assert not book.state.responders


@pytest.mark.case("FC-46")
def test_nothing_limits_how_long_an_answer_may_take_unless_somebody_set_it() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    assert not [timer for timer in book.timers if timer.kind == "interaction"]


@pytest.mark.parametrize(("answer", "told"), [("reject_once", "no"), ("stop", None)])
def test_an_unattended_host_refuses_once_or_stops_and_never_allows(answer: str, told: str | None) -> None:
    book = Playbook(policy=Policy(interaction_timeout_seconds=60, interaction_timeout_answer=answer))
    turn_id = book.running()
    book.ask(turn_id)
    timer = i.Timer("interaction", turn_id=turn_id, request_id=RequestId("r1"))
    assert book.timers[timer] == 60
    book.give(i.TimerFired(timer))
    assert [command.answer for command in answers_told(book)] == ([OptionAnswer(told)] if told else [])
    assert book.interactions[turn_id, "r1"].status == ("answered" if told else "superseded")
    assert book.turns[turn_id].phase == ("running" if told else "settling")
    assert timer not in book.timers


def test_an_answer_in_time_disarms_the_timeout() -> None:
    book = Playbook(policy=Policy(interaction_timeout_seconds=60))
    turn_id = book.running()
    book.ask(turn_id)
    book.answer(turn_id, "yes", "a")
    assert not [timer for timer in book.timers if timer.kind == "interaction"]
