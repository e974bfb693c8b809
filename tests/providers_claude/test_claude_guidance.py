"""Guidance: interrupted first, said next, taken last; and the canonical turn stays one."""

import pytest

from runtime.providers.normalized import (
    GuideAccepted,
    GuideRefused,
    InteractionWithdrawn,
    ItemEnded,
    TextChunk,
    TurnEnded,
)
from runtime.providers.port import CancelTurn, GuideTurn
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers_claude.claude_playbook import (
    T1,
    T2,
    A,
    ClaudePlaybook,
    aborted,
    answer,
    ask,
    init,
    moved,
    refusal,
    result,
    said,
    streamed,
)

GUIDE = "20000000-0000-4000-8000-000000000001"


def guiding(turn_id: TurnId = T1, guide_id: str = GUIDE) -> GuideTurn:
    return GuideTurn(A, turn_id, guide_id, (TextBlock("oaks"),))


def refusals(book: ClaudePlaybook) -> list[tuple[str, str]]:
    return [(event.guide_id, event.error.code) for event in book.events() if isinstance(event, GuideRefused)]


def ends(book: ClaudePlaybook) -> list[str]:
    return [event.outcome for event in book.events() if isinstance(event, TurnEnded)]


@pytest.mark.rule("PR-017", "PR-018", "RT-080")
@pytest.mark.parametrize("result_first", [False, True])
def test_it_is_said_after_the_interrupt_and_taken_when_it_is_queued(result_first: bool):
    book = ClaudePlaybook().opened().running().receive(streamed("m1", "Elms")).skip()
    book.command(guiding())
    (interrupt,) = book.written_frames()
    assert interrupt["request"] == {"subtype": "interrupt"}, "what else waits is left alone"
    confirmed = answer(str(interrupt["request_id"]), still_queued=[])
    first, second = (aborted(), confirmed) if result_first else (confirmed, aborted())
    book.receive(first)
    assert book.written_frames() == []
    book.receive(second)
    assert ItemEnded(T1, "item-1", cut_short=True) in book.events()
    (sent,) = book.written_frames()
    assert (sent["type"], sent["uuid"]) == ("user", GUIDE)
    assert not [event for event in book.events() if isinstance(event, GuideAccepted)]

    book.receive(moved(T1, "cancelled")).expect()
    book.receive(moved(GUIDE, "queued")).expect(GuideAccepted(T1, GUIDE))
    book.receive(moved(GUIDE, "started"), init(), streamed("m2", "Oaks"), said("m2", "Oaks"), result(GUIDE))
    assert ends(book) == ["completed"]
    texts = [(event.turn_id, event.text) for event in book.events() if isinstance(event, TextChunk)]
    assert texts == [(T1, "Elms"), (T1, "Oaks")]


@pytest.mark.rule("PR-017")
def test_a_failed_interrupt_is_a_failed_guidance_and_nothing_is_said():
    book = ClaudePlaybook().opened().running()
    book.command(guiding())
    (interrupt,) = book.written_frames()
    book.receive(refusal(str(interrupt["request_id"])))
    assert refusals(book) == [(GUIDE, "provider.rejected")]
    book.receive(result())
    assert ends(book) == ["completed"]
    assert book.written_frames() == []


def test_a_turn_that_ended_by_itself_first_takes_no_guidance():
    book = ClaudePlaybook().opened().running()
    book.command(guiding())
    (interrupt,) = book.written_frames()
    book.receive(result(), answer(str(interrupt["request_id"])))
    assert refusals(book) == [(GUIDE, "turn.settled")]
    assert ends(book) == ["completed"]
    assert book.written_frames() == []


@pytest.mark.rule("RT-078", "RT-079")
def test_only_the_exact_turn_that_runs_takes_guidance_and_one_at_a_time():
    book = ClaudePlaybook().opened().prompt().skip()
    book.command(guiding())
    assert refusals(book) == [(GUIDE, "turn.mismatch")]
    book.receive(moved(T1, "started"), init()).skip()
    book.command(guiding(T2, "other"))
    assert refusals(book)[-1] == ("other", "turn.settled")
    book.command(guiding()).command(guiding(guide_id="second"))
    assert refusals(book)[-1] == ("second", "turn.mismatch")
    assert len(book.written_frames()) == 1


def test_a_stop_overtakes_guidance_that_was_not_said():
    book = ClaudePlaybook().opened().running()
    book.command(guiding()).command(CancelTurn(A, T1))
    interrupts = book.written_frames()
    book.receive(*[answer(str(each["request_id"])) for each in interrupts], aborted())
    assert refusals(book) == [(GUIDE, "turn.settled")]
    assert ends(book) == ["canceled"]
    assert book.written_frames() == []


def test_a_stop_takes_guidance_back_that_waits_to_be_worked_on():
    book = ClaudePlaybook().opened().running()
    book.command(guiding())
    (interrupt,) = book.written_frames()
    book.receive(answer(str(interrupt["request_id"])), aborted(), moved(GUIDE, "queued")).skip()
    book.command(CancelTurn(A, T1))
    assert len(book.written_frames()) == 1
    book.receive(moved(GUIDE, "cancelled"))
    assert ends(book) == ["canceled"]


def test_an_ask_of_what_was_interrupted_is_withdrawn():
    book = ClaudePlaybook().opened().running().receive(ask("r1", input={"command": "x"}))
    book.command(guiding())
    interrupt = next(each for each in book.written_frames() if each["type"] == "control_request")
    book.receive(answer(str(interrupt["request_id"])), aborted(reason="aborted_tools"))
    assert len([event for event in book.events() if isinstance(event, InteractionWithdrawn)]) == 1
    kinds = [each["type"] for each in book.written_frames()]
    assert kinds == ["control_response", "user"]


@pytest.mark.rule("RT-090")
def test_a_version_that_is_not_attested_for_it_takes_none():
    book = ClaudePlaybook().opened("2.1.999").running()
    book.command(guiding())
    assert refusals(book) == [(GUIDE, "capability.unsupported")]
    assert book.written_frames() == []
