"""Stops and guidance: of exactly one turn, on Codex's word, and what is found out when its word does not come."""

import pytest

from runtime.providers.normalized import (
    CancelRefused,
    GuideAccepted,
    GuideRefused,
    ItemEnded,
    TextChunk,
    TurnAccepted,
    TurnEnded,
    TurnReconciled,
)
from runtime.providers.port import (
    CancelTurn,
    CloseThread,
    Deliver,
    Diagnostic,
    GuideTurn,
    OpenThread,
    ReconcileTurn,
    StartTurn,
)
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, T2, B, Sent
from tests.providers_codex.codex_playbook import (
    CWD,
    A,
    CodexPlaybook,
    command,
    completed,
    delta,
    notice,
    opened_result,
    request,
    started,
    turn_completed,
    turn_started,
)

MORE = (TextBlock("rather oaks"),)
COMMAND = "item/commandExecution/requestApproval"


def refusal(message: str) -> dict[str, object]:
    return {"code": -32600, "message": message}


def found(turn_id: str) -> dict[str, object]:
    return refusal(f"expected active turn id p1 but found {turn_id}")


def interrupts(book: CodexPlaybook) -> list[object]:
    return [frame["params"]["turnId"] for frame in book.frames if frame["method"] == "turn/interrupt"]


def stopping() -> CodexPlaybook:
    """A turn that Codex has been asked to stop."""
    return CodexPlaybook().running().command(CancelTurn(A, T1))


def kept(*turns: dict[str, object]) -> dict[str, object]:
    return {"data": list(turns), "nextCursor": None}


# --- stops ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-006", "RT-008")
def test_a_stop_names_the_exact_turn_and_is_over_when_codex_says_so() -> None:
    book = stopping()
    book.expect(Sent({"id": 5, "method": "turn/interrupt", "params": {"threadId": "th", "turnId": "p1"}}))
    book.command(CancelTurn(A, T1)).expect()
    book.reply("turn/interrupt", result={}).expect()
    book.receive(delta("still talking")).expect(TextChunk(T1, "item-1", "text", "still talking"))
    book.receive(turn_completed("interrupted"))
    book.expect(ItemEnded(T1, "item-1", cut_short=True), TurnEnded(T1, "canceled", "interrupted"))


def test_a_turn_that_finished_first_is_told_as_it_was() -> None:
    book = stopping().receive(turn_completed("completed"))
    assert book.events()[-1] == TurnEnded(T1, "completed", "completed")
    assert book.skip().reply("turn/interrupt", error=refusal("no active turn to interrupt")).outputs == []


@pytest.mark.rule("RT-007")
@pytest.mark.case("FC-43")
def test_a_stop_of_another_turn_reaches_nobody() -> None:
    book = CodexPlaybook().running().command(CancelTurn(A, T2))
    book.expect(Diagnostic("cancel.not_open", str(A)))
    book.receive(turn_completed()).prompted(turn_id=T2, provider_turn_id="p2").command(CancelTurn(A, T1))
    book.command(CancelTurn(B, T2))
    assert interrupts(book) == []


def test_a_stop_before_the_turn_has_a_name_is_sent_when_it_has() -> None:
    book = CodexPlaybook().opened().command(StartTurn(A, T1, MORE)).command(CancelTurn(A, T1))
    assert interrupts(book) == []
    book.receive(turn_started())
    assert interrupts(book) == []
    book.reply("turn/start", result={"turn": {"id": "p1"}})
    assert interrupts(book) == ["p1"]

    book = CodexPlaybook().opened().command(StartTurn(A, T1, MORE)).command(CancelTurn(A, T1))
    book.receive(turn_started(), turn_completed()).reply("turn/start", result={"turn": {"id": "p1"}})
    assert interrupts(book) == [], "it is over already"


@pytest.mark.case("FC-02")
def test_a_wrong_id_that_names_the_active_turn_is_tried_once_more_with_that() -> None:
    book = stopping().receive(delta("on and on", turn_id="p9")).reply("turn/interrupt", error=found("p9"))
    assert interrupts(book) == ["p1", "p9"]
    assert not [event for event in book.events() if isinstance(event, TurnEnded)], "not confirmed yet"
    book.reply("turn/interrupt", result={}).receive(turn_completed("interrupted", "p9"))
    assert book.events()[-1] == TurnEnded(T1, "canceled", "interrupted")
    book.skip().receive(turn_completed("interrupted", "p1"))
    assert book.diagnostics()[-1] == "update.late"


@pytest.mark.case("FC-02")
def test_a_stop_that_is_refused_twice_is_said_and_the_turn_goes_on() -> None:
    book = stopping().reply("turn/interrupt", error=found("p9"))
    book.skip().reply("turn/interrupt", error=found("p8"))
    (refused,) = book.events()[-1:]
    assert isinstance(refused, CancelRefused)
    assert refused.turn_id == T1
    assert interrupts(book) == ["p1", "p9"]
    book.receive(delta("on"))
    assert isinstance(book.events()[-1], TextChunk)


def test_a_review_is_stopped_by_the_id_it_was_announced_under() -> None:
    book = CodexPlaybook().opened().receive(started("enteredReviewMode", "e", "r1"), turn_started("r2"))
    book.command(CancelTurn(A, TurnId("r1"))).reply(
        "turn/interrupt", error=refusal("expected active turn id r1 but found r2")
    )
    assert interrupts(book) == ["r1", "r2"]
    book.receive(turn_completed("interrupted", "r1"))
    assert book.events()[-1] == TurnEnded(TurnId("r1"), "canceled", "interrupted")


@pytest.mark.rule("RT-007")
def test_a_turn_that_is_over_is_never_stopped_in_the_name_of_another() -> None:
    book = CodexPlaybook().running().receive(turn_completed())
    book.prompted(turn_id=T2, provider_turn_id="p2").command(CancelTurn(A, T2))
    book.reply("turn/interrupt", error=refusal("expected active turn id p2 but found p1"))
    assert interrupts(book) == ["p2"]
    assert isinstance(book.events()[-1], CancelRefused)


@pytest.mark.case("FC-01", "FC-12")
def test_a_stop_that_finds_no_turn_asks_for_the_record_and_ends_as_that_says() -> None:
    book = stopping().reply("turn/interrupt", error=refusal("no active turn to interrupt"))
    assert book.frames[-1]["method"] == "thread/turns/list"
    words = {"type": "agentMessage", "id": "m1", "text": "all done"}
    running = {"type": "commandExecution", "id": "c1", "command": "make", "status": "inProgress"}
    book.reply(
        "thread/turns/list", result=kept({"id": "p1", "status": "completed", "items": [words, running]})
    )
    assert book.events()[-3:] == [
        TextChunk(T1, "item-1", "text", "all done"),
        ItemEnded(T1, "item-1"),
        TurnEnded(T1, "completed", "completed"),
    ]


@pytest.mark.parametrize("answer", ["running", "unknown", "nothing"])
def test_a_record_that_does_not_say_it_ended_ends_nothing(answer: str) -> None:
    book = stopping().reply("turn/interrupt", error=refusal("no active turn to interrupt")).skip()
    if answer == "nothing":
        book.reply("thread/turns/list", error=refusal("not materialized yet"))
    else:
        turn = {"id": "p1", "status": "inProgress", "items": []} if answer == "running" else {"id": 7}
        book.reply("thread/turns/list", result=kept(turn))
    assert not [event for event in book.events() if isinstance(event, TurnEnded)]
    book.receive(turn_completed("interrupted"))
    assert isinstance(book.events()[-1], TurnEnded)


def test_the_commands_of_a_stopped_turn_are_ended_and_no_others() -> None:
    book = CodexPlaybook().running()
    book.receive(started(**command("c0")), turn_completed()).prompted(turn_id=T2, provider_turn_id="p2")
    book.receive(started(**command("c1"), turn_id="p2"), started(**command("c2"), turn_id="p2"))
    book.receive(completed(**command("c2", status="completed"), turn_id="p2"))
    book.command(CancelTurn(A, T2)).receive(turn_completed("interrupted", "p2"))
    assert book.frames[-1]["method"] == "thread/backgroundTerminals/list"
    running = [{"itemId": f"c{number}", "processId": f"10{number}"} for number in range(3)]
    book.skip().reply("thread/backgroundTerminals/list", result={"data": [*running, {"itemId": "c1"}]})
    book.expect(
        Sent(
            {
                "id": 8,
                "method": "thread/backgroundTerminals/terminate",
                "params": {"threadId": "th", "processId": "101"},
            }
        )
    )
    book.reply("thread/backgroundTerminals/terminate", error=refusal("no such process"))
    assert book.diagnostics()[-1] == "terminals.refused"


def test_commands_of_a_turn_that_ended_by_itself_may_go_on() -> None:
    book = CodexPlaybook().running().receive(started(**command()), turn_completed("failed"))
    assert "thread/backgroundTerminals/list" not in book.calls()


def test_an_older_codex_without_a_list_of_commands_is_only_noted() -> None:
    book = CodexPlaybook().running().receive(started(**command())).command(CancelTurn(A, T1))
    book.receive(turn_completed("interrupted"))
    book.reply("thread/backgroundTerminals/list", error=refusal("Invalid request: unknown variant"))
    assert book.diagnostics()[-1] == "terminals.refused"


# --- leaving ----------------------------------------------------------------------------------------------------


def test_a_scope_that_leaves_stops_answers_and_unsubscribes() -> None:
    book = CodexPlaybook().running()
    book.receive(started(**command()), request(0, COMMAND, itemId="c1", command="make")).skip()
    book.command(CloseThread(A))
    sent = [frame.get("method", "a reply") for frame in book.frames[-4:]]
    assert sent == ["a reply", "turn/interrupt", "thread/backgroundTerminals/clean", "thread/unsubscribe"]
    assert book.replies() == [(0, {"decision": "cancel"})]
    book.skip().receive(
        notice("thread/status/changed", status={"type": "idle"}),
        turn_completed("interrupted"),
        notice("thread/closed"),
        request(1, COMMAND, itemId="c1", command="make"),
    )
    assert book.replies()[1:] == [(1, {"decision": "cancel"})]
    assert book.diagnostics() == ["thread.left"] * 3 + ["ask.stray_thread"]
    assert not [output for output in book.outputs if isinstance(output, Deliver)], "nothing is told"
    book.command(CloseThread(A)).command(CancelTurn(A, T1))
    assert book.calls()[-1] == "thread/unsubscribe"


def test_a_turn_that_is_named_after_its_scope_left_is_stopped() -> None:
    book = CodexPlaybook().opened().command(StartTurn(A, T1, MORE)).command(CloseThread(A))
    events = len(book.events())
    book.reply("turn/start", result={"turn": {"id": "p1"}})
    assert interrupts(book) == ["p1"]
    book.command(OpenThread(A, CWD, {}, "th")).reply("thread/resume", result=opened_result("th"))
    assert len(book.events()) == events + 1

    book = CodexPlaybook().opened().command(StartTurn(A, T1, MORE)).command(CloseThread(A)).skip()
    book.reply("turn/start", error=refusal("thread not found: th")).expect()


# --- guidance ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-078", "RT-080", "PR-012")
def test_guidance_goes_to_the_exact_turn_without_a_stop() -> None:
    book = CodexPlaybook().running().receive(delta("elms")).skip().command(GuideTurn(A, T1, "g1", MORE))
    book.expect(
        Sent(
            {
                "id": 5,
                "method": "turn/steer",
                "params": {
                    "threadId": "th",
                    "expectedTurnId": "p1",
                    "clientUserMessageId": "g1",
                    "input": [{"type": "text", "text": "rather oaks", "text_elements": []}],
                },
            }
        )
    )
    book.reply("turn/steer", result={"turnId": "p1"}).expect(GuideAccepted(T1, "g1"))
    book.receive(started("userMessage", "u2", clientId="g1"), delta("oaks", "m2"))
    book.expect(ItemEnded(T1, "item-1", cut_short=True), TextChunk(T1, "item-2", "text", "oaks"))
    assert interrupts(book) == []
    book.command(GuideTurn(A, T1, "g2", MORE)).reply("turn/steer", result={"turnId": "p1"})
    assert book.events()[-1] == GuideAccepted(T1, "g2")


@pytest.mark.rule("RT-079")
@pytest.mark.case("FC-27")
def test_guidance_for_another_turn_is_refused_without_a_call() -> None:
    book = CodexPlaybook().running()
    cases = [
        (book, GuideTurn(A, T2, "g", MORE), "turn.settled"),
        (book, GuideTurn(B, T1, "g", MORE), "turn.settled"),
        (stopping(), GuideTurn(A, T1, "g", MORE), "turn.mismatch"),
        (
            CodexPlaybook().opened().command(StartTurn(A, T1, MORE)),
            GuideTurn(A, T1, "g", MORE),
            "turn.mismatch",
        ),
        (CodexPlaybook().running().receive(turn_completed()), GuideTurn(A, T1, "g", MORE), "turn.settled"),
    ]
    for played, guide, code in cases:
        sent = len(played.frames)
        played.command(guide)
        refused = played.events(guide.scope)[-1]
        assert isinstance(refused, GuideRefused)
        assert (refused.guide_id, refused.error.code) == ("g", code)
        assert len(played.frames) == sent


@pytest.mark.case("FC-27")
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("no active turn to steer", "turn.mismatch"),
        ("expected active turn id `p1` but found `p2`", "turn.mismatch"),
        ("cannot steer a review", "provider.rejected"),
    ],
)
def test_guidance_codex_refuses_took_no_effect(message: str, code: str) -> None:
    book = CodexPlaybook().running().command(GuideTurn(A, T1, "g", MORE))
    book.reply("turn/steer", error=refusal(message))
    refused = book.events()[-1]
    assert isinstance(refused, GuideRefused)
    assert (refused.error.code, refused.error.origin) == (code, "provider")
    assert book.calls().count("turn/steer") == 1
    assert "turn/start" not in book.calls()[4:]


def test_an_answer_to_guidance_after_its_scope_left_is_noted() -> None:
    book = CodexPlaybook().running().command(GuideTurn(A, T1, "g", MORE)).command(CloseThread(A))
    book.reply("turn/steer", result={"turnId": "p1"})
    assert book.diagnostics()[-1] == "guide.after_close"


# --- the record -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turn", "state", "outcome"),
    [
        ({"id": "p1", "status": "interrupted"}, "ended", "canceled"),
        ({"id": "p1", "status": "failed", "error": {"message": "m"}}, "ended", "failed"),
        ({"id": "p1", "status": "inProgress"}, "running", None),
        ({"id": "p5", "status": "completed"}, "absent", None),
    ],
)
def test_a_turn_of_before_is_found_by_its_id(
    turn: dict[str, object], state: str, outcome: str | None
) -> None:
    book = CodexPlaybook().opened(resumes=True).command(ReconcileTurn(A, T1, "p1"))
    book.reply("thread/turns/list", result=kept({"id": "p6", "status": "completed"}, turn))
    told = book.events()[-1]
    assert isinstance(told, TurnReconciled)
    assert (told.state, told.outcome) == (state, outcome)
    assert not [event for event in book.events() if isinstance(event, TurnEnded)]


def test_a_turn_whose_start_was_never_answered_is_found_by_the_name_of_its_prompt() -> None:
    prompt = {"type": "userMessage", "id": "u1", "clientId": "t1"}
    book = CodexPlaybook().opened().command(StartTurn(A, T1, MORE)).command(ReconcileTurn(A, T1))
    book.reply("thread/turns/list", result=kept({"id": "p1", "status": "completed", "items": [prompt]}))
    assert book.events()[-3:] == [
        TurnAccepted(T1, "p1"),
        TurnEnded(T1, "completed", "completed"),
        TurnReconciled(T1, "ended", "p1", "completed"),
    ]
    assert book.calls().count("turn/start") == 1, "nothing is sent again"
    book.skip().reply("turn/start", result={"turn": {"id": "p1"}})
    assert book.diagnostics() == ["answer.after_end"]


def test_without_a_record_nothing_is_known() -> None:
    book = CodexPlaybook().opened().command(ReconcileTurn(A, T1, "p1"))
    book.reply("thread/turns/list", error=refusal("unknown variant"))
    assert book.events()[-1] == TurnReconciled(T1, "unknown", "p1")
    book.command(ReconcileTurn(B, T1))
    assert book.events(B) == [TurnReconciled(T1, "unknown")]
    book.command(ReconcileTurn(A, T1, "p1")).command(CloseThread(A)).skip()
    book.reply("thread/turns/list", result=kept()).expect()
