"""Plans by which a turn ends: put up with its end, carried out once, and never in place of a newer one."""

import attrs
import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, PlanEnd, SettingChoice, SettingDescription, StartTurn
from runtime.refusal import Refusal
from store.canonical.identifiers import RequestId, TurnId
from store.canonical.interaction import Interaction, OptionAnswer, PlanInput, QuestionAnswer
from store.canonical.operation import Operation
from tests.lifecycle.playbook import SETTINGS, Playbook

MODE = SettingDescription(
    "way",
    "next_turn",
    (SettingChoice("work", "Work"), SettingChoice("think", "Think")),
    "work",
    plan_end=PlanEnd("work", "Do it."),
)
PLAN = PlanInput(markdown="# First\n1. look")
ASKED = RequestId("plan")


def planned(book: Playbook | None = None, plan: PlanInput = PLAN) -> tuple[Playbook, TurnId]:
    """A turn that has ended with a plan."""
    book = book or Playbook(known_settings={**SETTINGS, "way": MODE})
    turn_id = book.running()
    book.update("to plan", way="think")
    book.say(n.PlanProposed(turn_id, plan))
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    return book, turn_id


def decide(book: Playbook, turn_id: TurnId, answer: object, reply: str = "decision") -> object:
    key = (turn_id, ASKED)
    stored = None if key in book.state.interactions else book.interactions.get(key)
    book.give(i.Respond(reply, turn_id, ASKED, answer, stored))
    return book.answers[reply][-1]


def operations(book: Playbook) -> list[Operation]:
    return [effect.operation for effect in book.effects if isinstance(effect, fx.PersistOperation)]


def dispatched(book: Playbook) -> list[StartTurn]:
    return [command for command in book.told if isinstance(command, StartTurn)]


@pytest.mark.rule("RT-025")
def test_a_plan_waits_for_its_user_once_its_turn_is_settled_and_holds_nobody_up() -> None:
    book, turn_id = planned()
    row = book.interactions[turn_id, ASKED]
    assert (row.kind, row.status, row.input) == ("plan", "pending", PLAN)
    assert [option.kind for option in row.options] == ["allow_once", "reject_once"]
    assert (book.turns[turn_id].phase, book.turns[turn_id].outcome) == ("settled", "completed")
    assert book.state.idle, "the runtime may be given back while a person thinks"
    book.say(n.ConnectionLost(n.TurnError("provider.lost", "gone", "provider")))
    assert book.interactions[turn_id, ASKED].status == "pending"


@pytest.mark.rule("RT-025")
def test_a_plan_that_is_accepted_is_one_operation_one_change_of_settings_and_one_prompt_in_one_unit() -> None:
    book, turn_id = planned()
    before = len(book.effects)
    row = decide(book, turn_id, OptionAnswer("accept"))
    assert isinstance(row, Interaction)
    assert (row.status, row.answer, row.answer_delivery) == ("answered", OptionAnswer("accept"), "delivered")
    (operation,) = operations(book)
    assert (operation.kind, operation.state, operation.error) == ("plan", "committed", None)
    assert book.state.session.settings["way"] == "work"
    done = book.effects[before:]
    units = [isinstance(effect, fx.NewUnit) for effect in done]
    first = done[: units.index(True, 1) if True in units[1:] else len(done)]
    kinds = {type(effect) for effect in first}
    assert {
        fx.PersistInteraction,
        fx.PersistOperation,
        fx.PersistSession,
        fx.PersistTurn,
        fx.AddClaim,
    } <= kinds
    (_, start) = dispatched(book)
    assert [block.text for block in start.content] == ["Do it."]
    assert start.settings["way"] == "work"
    assert not [command for command in book.told if isinstance(command, AnswerInteraction)]
    again = decide(book, turn_id, OptionAnswer("accept"), "again")
    assert again == row
    assert len(dispatched(book)) == 2
    assert len(operations(book)) == 1


@pytest.mark.rule("RT-009", "RT-025")
def test_of_two_decisions_the_first_one_stands() -> None:
    book, turn_id = planned()
    decide(book, turn_id, OptionAnswer("accept"))
    refused = decide(book, turn_id, OptionAnswer("decline"), "second")
    assert isinstance(refused, Refusal)
    assert refused.code == "interaction.not_pending"
    assert len(dispatched(book)) == 2


@pytest.mark.rule("RT-020", "RT-025")
@pytest.mark.parametrize("feedback", [None, "smaller steps"])
def test_a_plan_that_is_declined_changes_nothing_and_what_was_said_with_it_is_the_next_prompt(
    feedback: str | None,
) -> None:
    book, turn_id = planned()
    row = decide(book, turn_id, OptionAnswer("decline", feedback))
    assert isinstance(row, Interaction)
    assert (row.status, row.answer_delivery) == ("answered", "delivered")
    assert book.state.session.settings["way"] == "think"
    assert len(operations(book)) == 1
    said = [[block.text for block in start.content] for start in dispatched(book)[1:]]
    assert said == ([] if feedback is None else [[feedback]])


@pytest.mark.rule("AP-039")
@pytest.mark.parametrize("by", ["prompt", "provider"])
def test_a_plan_that_the_session_went_on_from_carries_nothing_out(by: str) -> None:
    book, turn_id = planned()
    if by == "prompt":
        newer = book.send("rather this", "c2", "next").turn_id
        book.say(n.TurnAccepted(newer))
    else:
        newer = TurnId("p2")
        book.say(n.TurnStartedByProvider(newer, "p2"))
    assert book.interactions[turn_id, ASKED].status == "superseded"
    refused = decide(book, turn_id, OptionAnswer("accept"))
    assert isinstance(refused, Refusal)
    assert refused.code == "interaction.not_pending"
    book.say(n.PlanProposed(newer, PlanInput(markdown="# Second")))
    book.say(n.TurnEnded(newer, "completed", "end_turn"))
    decide(book, turn_id, OptionAnswer("accept"), "old")
    assert book.interactions[newer, ASKED].status == "pending", "the newer one is asked on its own"
    assert not operations(book)


@pytest.mark.rule("AP-039")
def test_the_last_plan_of_a_turn_is_the_one_that_is_put_up_and_never_changes() -> None:
    book = Playbook(known_settings={"way": MODE})
    turn_id = book.running()
    book.say(n.PlanProposed(turn_id, PlanInput(markdown="# Draft")))
    book.say(n.PlanProposed(turn_id, PLAN))
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    book.say(n.PlanProposed(turn_id, PlanInput(markdown="# Late")))
    assert book.interactions[turn_id, ASKED].input == PLAN


@pytest.mark.parametrize("outcome", ["failed", "canceled"])
def test_only_a_turn_that_was_completed_puts_its_plan_up(outcome: str) -> None:
    book = Playbook(known_settings={"way": MODE})
    turn_id = book.running()
    book.say(n.PlanProposed(turn_id, PLAN))
    book.say(n.TurnEnded(turn_id, outcome))
    assert not book.interactions


def test_without_a_way_to_carry_it_out_a_plan_is_text_like_any_other() -> None:
    book, turn_id = planned(Playbook(known_settings=SETTINGS))
    assert (turn_id, ASKED) not in book.interactions


@pytest.mark.parametrize(
    "answer", [OptionAnswer("else"), OptionAnswer("accept", "words"), QuestionAnswer({"q": "a"})]
)
def test_what_is_no_decision_leaves_the_plan_where_it_is(answer: object) -> None:
    book, turn_id = planned()
    assert decide(book, turn_id, answer) == Refusal("interaction.unsupported_answer")
    assert book.interactions[turn_id, ASKED].status == "pending"


def test_a_plan_that_cannot_be_carried_out_now_stays_and_can_be_later() -> None:
    book, turn_id = planned()
    book.target_refusal = Refusal("target.disabled")
    assert decide(book, turn_id, OptionAnswer("accept")) == Refusal("target.disabled")
    assert book.interactions[turn_id, ASKED].status == "pending"
    book.target_refusal = None
    assert isinstance(decide(book, turn_id, OptionAnswer("accept"), "later"), Interaction)


def test_an_actor_that_starts_anew_finds_the_plan_and_decides_it() -> None:
    book, turn_id = planned()
    pending = dict(book.state.interactions)
    again = Playbook(known_settings=book.known_settings)
    again.state = attrs.evolve(again.state, session=book.state.session, interactions=pending)
    assert isinstance(decide(again, turn_id, OptionAnswer("accept")), Interaction)
    assert again.state.session.settings["way"] == "work"
