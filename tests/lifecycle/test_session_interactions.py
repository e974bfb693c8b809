"""Interactions: published, answered once, superseded, never delivered twice."""

import pytest

from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import Policy
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, RefuseAsk
from runtime.refusal import Refusal
from store.canonical.common import TurnError
from store.canonical.identifiers import RequestId, TurnId
from store.canonical.interaction import (
    ApprovalInput,
    Interaction,
    InteractionOption,
    OptionAnswer,
    PlanInput,
    Question,
    QuestionInput,
    QuestionOption,
)
from store.canonical.message import NoticeBlock
from tests.lifecycle.playbook import OPTIONS, Playbook

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


@pytest.mark.rule("AP-039")
def test_a_plan_that_was_replaced_is_not_carried_out_by_an_answer_to_the_old_one() -> None:
    book = Playbook()
    turn_id = book.running()
    for request, plan in (("r1", "# Delete all"), ("r2", "# Delete nothing")):
        asked = n.InteractionRequested(turn_id, RequestId(request), "plan", PlanInput(markdown=plan), OPTIONS)
        book.say(asked)
        if request == "r1":
            book.say(n.InteractionWithdrawn(turn_id, RequestId("r1")))
    book.answer(turn_id, "yes", "late", "r1")
    [refused] = book.answers["late"]
    assert isinstance(refused, Refusal)
    assert refused.code == "interaction.not_pending"
    assert answers_told(book) == []
    assert book.interactions[turn_id, "r1"].answer is None
    book.answer(turn_id, "yes", "now", "r2")
    assert [told.request_id for told in answers_told(book)] == ["r2"]


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


# --- what is published ---------------------------------------------------------------------------------------------


def refusals_told(book: Playbook) -> list[RequestId]:
    return [command.request_id for command in book.told if isinstance(command, RefuseAsk)]


def notices(book: Playbook) -> list[str]:
    return [
        block.code
        for row in book.messages.values()
        for block in row.content
        if isinstance(block, NoticeBlock)
    ]


def question(*labels: str, name: str = "q") -> Question:
    options = tuple(QuestionOption(label) for label in labels)
    return Question(name, "Which?", multi_select=False, free_text=False, secret=False, options=options)


@pytest.mark.rule("RT-014", "RT-016")
@pytest.mark.parametrize(
    ("kind", "given", "options"),
    [
        ("approval", ApprovalInput("call", "Run it", "execute"), ()),
        ("approval", ApprovalInput("call", "Run it", "execute"), (OPTIONS[0], OPTIONS[0])),
        ("plan", PlanInput(markdown="# Plan"), ()),
        ("question", QuestionInput(()), ()),
        ("question", QuestionInput((question("a"), question("b"))), ()),
        ("question", QuestionInput((question("same", "same"),)), ()),
        ("approval", ApprovalInput("call", "é" * 600, "execute"), OPTIONS),
    ],
)
def test_what_cannot_be_shown_whole_or_answered_exactly_is_refused_before_anybody_sees_it(
    kind: str, given: object, options: tuple[InteractionOption, ...]
) -> None:
    book = Playbook(policy=Policy(interaction_bytes_max=1000))
    turn_id = book.running()
    book.say(n.InteractionRequested(turn_id, RequestId("r1"), kind, given, options))
    assert not book.interactions
    assert refusals_told(book) == [RequestId("r1")]
    assert notices(book) == ["interaction.unsupported"]
    assert book.turns[turn_id].phase == "running"


@pytest.mark.rule("RT-016")
def test_text_is_measured_in_bytes_and_what_just_fits_is_shown() -> None:
    book = Playbook(policy=Policy(interaction_bytes_max=1000))
    turn_id = book.running()
    words = sum(len(word) for option in OPTIONS for word in (option.option_id, option.label, option.kind))
    title = "é" * ((1000 - words - len("callexecute")) // 2)
    asked = ApprovalInput("call", title, "execute")
    book.say(n.InteractionRequested(turn_id, RequestId("r1"), "approval", asked, OPTIONS))
    assert book.interactions[turn_id, "r1"].status == "pending"


def test_what_an_agent_asks_beyond_its_bound_is_refused_and_a_place_is_free_again_with_each_answer() -> None:
    book = Playbook(policy=Policy(open_interactions_max=2))
    turn_id = book.running()
    for number in range(3):
        book.ask(turn_id, f"r{number}")
    assert refusals_told(book) == [RequestId("r2")]
    book.answer(turn_id, "yes", "a", "r0")
    book.ask(turn_id, "r3")
    assert book.interactions[turn_id, "r3"].status == "pending"
    assert book.turns[turn_id].phase == "waiting"


@pytest.mark.case("FC-04")
@pytest.mark.parametrize("how", ["stopped", "ended", "never_taken"])
def test_what_is_asked_in_a_turn_that_nobody_waits_for_gets_its_refusal(how: str) -> None:
    book = Playbook()
    turn_id = book.running()
    if how == "stopped":
        book.cancel(turn_id)
    elif how == "ended":
        book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    else:
        book.say(n.TurnStartedByProvider(TurnId("other"), "p9"))
        turn_id = TurnId("other")
    book.ask(turn_id)
    assert not book.interactions
    assert refusals_told(book) == [RequestId("r1")]


@pytest.mark.rule("RT-010", "RT-026")
@pytest.mark.parametrize("since", ["ended", "another", "stopped"])
def test_an_answer_that_failed_is_not_written_again_once_its_turn_goes_on_no_more(since: str) -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id)
    book.answer(turn_id, "yes", "a")
    book.say(n.AnswerFailed(turn_id, RequestId("r1"), REFUSED))
    if since == "stopped":
        book.cancel(turn_id)
    else:
        book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    if since == "another":
        other = book.send("next", "c2", "next").turn_id
        book.say(n.TurnAccepted(other))
        book.ask(other)
    book.answer(turn_id, "yes", "again")
    [row] = book.answers["again"]
    assert (row.status, row.answer_delivery) == ("answered", "failed")
    assert len(answers_told(book)) == 1


@pytest.mark.rule("PR-022")
def test_a_series_of_questions_is_answered_one_by_one_and_none_before_it_is_asked() -> None:
    book = Playbook()
    turn_id = book.running()
    book.ask(turn_id, "r1")
    book.answer(turn_id, "yes", "early", "r2")
    assert book.answers["early"] == [Refusal("interaction.not_found")]
    book.answer(turn_id, "yes", "a", "r1")
    book.say(n.AnswerDelivered(turn_id, RequestId("r1")))
    book.ask(turn_id, "r2")
    assert book.interactions[turn_id, "r2"].status == "pending"  # nothing was kept for it
    book.answer(turn_id, "no", "b", "r2")
    assert [(told.request_id, told.answer.option_id) for told in answers_told(book)] == [
        ("r1", "yes"),
        ("r2", "no"),
    ]
