"""How asks end: by a stop, by Codex, by an answer, by the end of their turn; and words that come with a refusal."""

import pytest

from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    InteractionWithdrawn,
    NoticeReported,
    ToolCallReported,
    TurnEnded,
)
from runtime.providers.port import AnswerInteraction, CancelTurn, RefuseAsk, Write
from store.canonical.identifiers import RequestId
from store.canonical.interaction import (
    OptionAnswer,
)
from tests.providers.adapter_playbook import T1, T2, B
from tests.providers_codex.codex_asks import (
    CHANGES,
    FILES,
    INPUT,
    PERMISSIONS,
    QUESTIONS,
    answers,
    asked,
    command_ask,
    elicitation,
)
from tests.providers_codex.codex_playbook import (
    A,
    CodexPlaybook,
    notice,
    request,
    started,
    turn_completed,
)

# --- the end of an ask ------------------------------------------------------------------------------------------


@pytest.mark.case("FC-04")
@pytest.mark.parametrize(
    ("frame", "reply"),
    [
        (command_ask(), {"decision": "cancel"}),
        (elicitation(), {"action": "cancel", "content": None, "_meta": None}),
        (
            request(0, PERMISSIONS, itemId="c", permissions={"network": {"enabled": True}}),
            {"permissions": {}, "scope": "turn"},
        ),
        (request(0, INPUT, questions=QUESTIONS), {"code": -32000, "message": "Nobody can answer this here"}),
    ],
)
def test_a_stop_answers_open_asks_at_once_and_a_late_answer_reaches_nobody(
    frame: bytes, reply: object
) -> None:
    book, event = asked(frame)
    book.skip().command(CancelTurn(A, T1))
    assert book.frames[-2]["method"] == "turn/interrupt", "first the stop, then the refusals"
    assert book.replies() == [(0, reply)]
    assert book.events()[-1] == InteractionWithdrawn(T1, event.request_id)
    answers(book, event, "accept")
    failed = book.events()[-1]
    assert isinstance(failed, AnswerFailed)
    assert failed.error.code == "interaction.not_pending"
    book.receive(turn_completed("interrupted"), notice("serverRequest/resolved", requestId=0))
    assert len(book.replies()) == 1


def test_an_ask_that_comes_while_its_turn_is_being_stopped_is_not_shown() -> None:
    book = CodexPlaybook().running().command(CancelTurn(A, T1))
    book.receive(command_ask())
    assert book.replies() == [(0, {"decision": "cancel"})]
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]


def test_what_codex_takes_back_is_withdrawn_and_still_gets_its_reply() -> None:
    book, event = asked(command_ask())
    book.skip().receive(
        notice("serverRequest/resolved", requestId=0), notice("serverRequest/resolved", requestId=0)
    )
    assert book.events()[-1] == InteractionWithdrawn(T1, event.request_id)
    assert len(book.replies()) == 1


@pytest.mark.rule("RT-019")
def test_an_answer_is_delivered_before_the_end_it_causes() -> None:
    book, event = asked(command_ask())
    answers(book, event, "cancel").receive(turn_completed("interrupted"))
    assert [type(each).__name__ for each in book.events()[-3:]] == [
        "AnswerDelivered",
        "ToolCallReported",
        "TurnEnded",
    ]
    book, event = asked(command_ask())
    answers(book, event, "accept").receive(notice("serverRequest/resolved", requestId=0))
    assert book.events()[-1] == AnswerDelivered(T1, event.request_id)
    assert book.written().events()[-1] == AnswerDelivered(T1, event.request_id), "said once"


@pytest.mark.case("FC-04")
def test_what_nobody_is_asked_is_declined_once_and_nobody_is_told() -> None:
    book, event = asked(command_ask())
    book.skip().command(RefuseAsk(A, T2, event.request_id)).command(RefuseAsk(B, T1, event.request_id))
    assert book.replies() == []
    book.command(RefuseAsk(A, T1, event.request_id)).command(RefuseAsk(A, T1, event.request_id))
    assert book.replies() == [(0, {"decision": "decline"})]
    assert not [each for each in book.events() if isinstance(each, InteractionWithdrawn)]
    answers(book, event, "accept")
    assert len(book.replies()) == 1


def test_an_ask_left_open_when_its_turn_ends_is_withdrawn_before_the_end() -> None:
    book, _ = asked(command_ask())
    book.receive(turn_completed())
    ended = [type(each).__name__ for each in book.events()[-3:]]
    assert ended == ["InteractionWithdrawn", "TurnEnded", "BackgroundReported"], "its command goes on"
    assert book.replies() == [(0, {"decision": "decline"})]


def test_a_refused_call_that_codex_leaves_open_is_declined() -> None:
    book, event = asked(
        started("fileChange", "f1", changes=CHANGES, status="inProgress"), request(0, FILES, itemId="f1")
    )
    answers(book, event, "cancel").written().receive(turn_completed("interrupted"))
    assert book.events()[-2] == ToolCallReported(T1, "f1", status="declined")  # type: ignore[arg-type]


@pytest.mark.rule("RT-010", "RT-011")
def test_an_answer_names_its_turn_and_its_scope() -> None:
    book, event = asked(command_ask())
    answer = OptionAnswer("accept")
    for command_ in (
        AnswerInteraction(A, T2, event.request_id, answer),
        AnswerInteraction(B, T1, event.request_id, answer),
        AnswerInteraction(A, T1, RequestId("ask-9"), answer),
    ):
        book.skip().command(command_)
        (failed,) = book.events(command_.scope)[-1:]
        assert isinstance(failed, AnswerFailed)
        assert not [output for output in book.outputs if isinstance(output, Write)]


# --- words that come with a refusal -----------------------------------------------------------------------------


@pytest.mark.rule("RT-020", "RT-021")
def test_feedback_follows_the_refusal_once_codex_has_it() -> None:
    book, event = asked(command_ask())
    answers(book, event, OptionAnswer("decline", "use bar instead")).written()
    assert book.replies() == [(0, {"decision": "decline"})]
    assert "turn/steer" not in book.calls()
    book.receive(notice("serverRequest/resolved", requestId=0))
    steer = book.frames[-1]
    assert steer["method"] == "turn/steer"
    assert steer["params"]["expectedTurnId"] == "p1"
    assert steer["params"]["input"] == [{"type": "text", "text": "use bar instead", "text_elements": []}]
    told = len(book.events())
    book.receive(turn_completed()).reply(
        "turn/steer", error={"code": -32600, "message": "no active turn to steer"}
    )
    assert isinstance(book.events()[told], ToolCallReported | TurnEnded)
    assert not [each for each in book.events() if isinstance(each, AnswerFailed)], "the answer stands"


@pytest.mark.rule("RT-020")
def test_feedback_that_cannot_be_carried_is_not_lost_in_silence() -> None:
    book, event = asked(command_ask())
    answers(book, event, OptionAnswer("decline", "use bar")).receive(
        notice("serverRequest/resolved", requestId=0)
    )
    book.reply("turn/steer", error={"code": -32600, "message": "expected active turn id `p1` but found `p2`"})
    told = book.events()[-1]
    assert isinstance(told, NoticeReported)
    assert told.code == "interaction.feedback_not_carried"

    book, event = asked(command_ask())
    answers(book, event, OptionAnswer("decline", "use bar")).receive(turn_completed("failed"))
    codes = [each.code for each in book.events() if isinstance(each, NoticeReported)]
    assert codes == ["interaction.feedback_not_carried"]
    assert isinstance(book.events()[-1], TurnEnded)
