"""Turns: which frames belong to which, how they end, and what happens around them."""

import pytest

from runtime.providers.claude_code.failures import provider_error
from runtime.providers.normalized import (
    CancelRefused,
    ConnectionLost,
    ItemEnded,
    TextChunk,
    TurnAccepted,
    TurnEnded,
    TurnReconciled,
    TurnRejected,
    TurnStartedByProvider,
    UsageReported,
)
from runtime.providers.port import CancelTurn, CloseThread, ReconcileTurn, StartTurn
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers_claude.claude_playbook import (
    T1,
    T2,
    A,
    ClaudePlaybook,
    aborted,
    answer,
    delta,
    frame,
    init,
    moved,
    refusal,
    result,
    said,
    streamed,
    system,
)

INTERRUPT = {"subtype": "interrupt", "cancel_queued": True}


def ends(book: ClaudePlaybook) -> list[TurnEnded]:
    return [event for event in book.events() if isinstance(event, TurnEnded)]


def texts(book: ClaudePlaybook) -> list[tuple[TurnId, str]]:
    return [(event.turn_id, event.text) for event in book.events() if isinstance(event, TextChunk)]


def test_a_prompt_is_stamped_with_its_turn_and_accepted_when_claude_has_queued_it():
    book = ClaudePlaybook().opened().prompt("hello")
    (sent,) = book.written_frames()
    assert (sent["type"], sent["uuid"]) == ("user", T1)
    assert sent["message"] == {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    book.receive(moved(T1, "queued")).expect(TurnAccepted(T1, T1))
    book.receive(moved(T1, "started")).expect()


def test_the_stamp_of_a_turn_whose_id_is_no_uuid_follows_from_it():
    stamps = set()
    for _ in range(2):
        (sent,) = ClaudePlaybook().opened().prompt(turn_id=TurnId("turn-1")).written_frames()
        stamps.add(str(sent["uuid"]))
    (stamp,) = stamps
    assert [len(part) for part in stamp.split("-")] == [8, 4, 4, 4, 12]


@pytest.mark.case("FC-01")
def test_a_turn_ends_by_its_result_and_not_by_an_idle_mark():
    book = ClaudePlaybook().opened().running()
    book.receive(streamed("m1", "Hel", "lo"), said("m1", "Hello"))
    book.expect(TextChunk(T1, "item-1", "text", "Hello"), ItemEnded(T1, "item-1"))
    book.receive(system("session_state_changed", state="idle")).expect()
    book.receive(result())
    (end,) = ends(book)
    assert (end.turn_id, end.outcome, end.stop_reason) == (T1, "completed", "end_turn")
    book.receive(moved(T1, "completed"))
    assert len(ends(book)) == 1
    assert any(isinstance(event, UsageReported) for event in book.events())


@pytest.mark.case("FC-13", "FC-24")
def test_what_comes_after_the_end_of_a_turn_is_dropped_and_never_part_of_the_next():
    book = ClaudePlaybook().opened().running()
    book.receive(streamed("m1", "old"), aborted())
    book.prompt(turn_id=T2).skip()
    book.receive(delta("late"), said("m1", "old and late"), aborted())
    book.receive(moved(T2, "queued"), moved(T2, "started"), init())
    book.receive(streamed("m2", "new"), said("m2", "new"), result(T2))
    assert texts(book) == [(T1, "old"), (T2, "new")]
    assert [end.turn_id for end in ends(book)] == [T1, T2]
    assert "content.no_turn" in book.diagnostics()


def test_a_second_prompt_is_rejected_while_one_is_open():
    book = ClaudePlaybook().opened().running()
    book.command(StartTurn(A, T2, (TextBlock("more"),)))
    (event,) = [each for each in book.events() if isinstance(each, TurnRejected)]
    assert (event.turn_id, event.error.code) == (T2, "session.busy")
    assert book.written_frames() == []


@pytest.mark.case("FC-43")
def test_a_stop_interrupts_exactly_the_turn_that_runs():
    book = ClaudePlaybook().opened().running()
    book.command(CancelTurn(A, T2))
    assert book.written_frames() == []
    book.command(CancelTurn(A, T1)).command(CancelTurn(A, T1))
    (sent,) = book.written_frames()
    assert sent["request"] == INTERRUPT
    book.receive(answer(str(sent["request_id"]), still_queued=[]), aborted())
    (end,) = ends(book)
    assert (end.outcome, end.stop_reason, end.error) == ("canceled", "aborted_streaming", None)


def test_a_prompt_that_has_not_begun_is_taken_back():
    book = ClaudePlaybook().opened().prompt().receive(moved(T1, "queued")).skip()
    book.command(CancelTurn(A, T1))
    (sent,) = book.written_frames()
    assert sent["request"] == {"subtype": "cancel_async_message", "message_uuid": T1}
    book.receive(moved(T1, "cancelled"), answer(str(sent["request_id"]), cancelled=True))
    assert [end.outcome for end in ends(book)] == ["canceled"]
    assert book.written_frames() == []


def test_a_prompt_that_began_before_it_could_be_taken_back_is_interrupted():
    book = ClaudePlaybook().opened().prompt().receive(moved(T1, "queued")).skip()
    book.command(CancelTurn(A, T1))
    (sent,) = book.written_frames()
    book.receive(moved(T1, "started"), init(), answer(str(sent["request_id"]), cancelled=False))
    assert [each["request"] for each in book.written_frames()] == [INTERRUPT]
    book.receive(aborted())
    assert [end.outcome for end in ends(book)] == ["canceled"]


def test_a_refused_interrupt_leaves_the_turn_running():
    book = ClaudePlaybook().opened().running()
    book.command(CancelTurn(A, T1))
    (sent,) = book.written_frames()
    book.receive(refusal(str(sent["request_id"])))
    assert CancelRefused(T1, provider_error("provider.rejected")) in book.events()
    assert ends(book) == []


def test_a_turn_that_nobody_prompted_is_one_of_its_own():
    book = ClaudePlaybook().opened()
    own = TurnId("10000000-0000-4000-8000-000000000009")
    book.receive(init(str(own))).expect(
        *[event for event in book.events() if not isinstance(event, TurnStartedByProvider)][1:],
        TurnStartedByProvider(own, own),
    )
    book.receive(streamed("m1", "Woken"), said("m1", "Woken"), result(None))
    assert texts(book) == [(own, "Woken")]
    assert [end.turn_id for end in ends(book)] == [own]


def test_a_turn_that_began_while_a_prompt_was_on_its_way_is_not_told_and_ends_nothing():
    book = ClaudePlaybook().opened().prompt().skip()
    book.receive(init(), streamed("m1", "Woken"), said("m1", "Woken"), moved(T1, "queued"), result(None))
    book.receive(moved(T1, "started"), init(), streamed("m2", "Mine"), said("m2", "Mine"), result())
    assert texts(book) == [(T1, "Mine")]
    assert [(end.turn_id, end.outcome) for end in ends(book)] == [(T1, "completed")]


@pytest.mark.case("FC-11")
@pytest.mark.rule("PR-023", "PR-025")
@pytest.mark.parametrize(
    ("members", "code", "http_status", "retryable"),
    [
        ({"api_error_status": 400}, "provider.rejected", 400, False),
        ({"api_error_status": 401}, "provider.auth_required", 401, False),
        ({"api_error_status": 403}, "provider.rejected", 403, False),
        ({"api_error_status": 402}, "provider.quota", 402, False),
        ({"api_error_status": 429}, "provider.rate_limited", 429, True),
        ({"api_error_status": 529}, "provider.rate_limited", 529, True),
        ({"api_error_status": 500}, "provider.rejected", 500, True),
        ({"api_error_status": None}, "provider.rejected", None, True),
        ({"api_error_type": "billing_error"}, "provider.quota", None, False),
        (
            {"api_error_status": 404, "api_error_type": "not_found_error"},
            "provider.model_unavailable",
            404,
            False,
        ),
        (
            {"api_error_status": 400, "result": "prompt is too long: 9 > 8"},
            "provider.context_full",
            400,
            False,
        ),
        ({"api_error_status": 400, "result": "please log in: unauthorized"}, "provider.rejected", 400, False),
    ],
)
def test_a_success_that_is_an_error_is_a_failure_by_its_type(members, code, http_status, retryable):
    book = ClaudePlaybook().opened().running()
    secret = "API Error: secret words"
    book.receive(said("m1", secret, is_api_error_message=True))
    book.receive(result(is_error=True, terminal_reason="api_error", **{"result": secret, **members}))
    (end,) = ends(book)
    assert end.outcome == "failed"
    assert end.error is not None
    told = (end.error.code, end.error.http_status, end.error.retryable)
    assert told == (code, http_status, retryable)
    assert secret not in str(book.events())


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"subtype": "error_max_turns", "is_error": True, "terminal_reason": None}, "provider.stopped"),
        ({"subtype": "error_max_budget_usd", "is_error": False}, "provider.stopped"),
        ({"stop_reason": "refusal"}, "provider.refused"),
        ({"stop_reason": "max_tokens"}, "provider.context_full"),
    ],
)
def test_a_turn_that_stopped_short_failed(members, code):
    book = ClaudePlaybook().opened().running().receive(result(**members))
    (end,) = ends(book)
    assert (end.outcome, end.error and end.error.code) == ("failed", code)


def test_what_a_command_of_claudes_own_answers_is_told_though_no_message_came():
    book = ClaudePlaybook().opened().running().receive(result(result="Total cost: 0"))
    assert texts(book) == [(T1, "Total cost: 0")]


def test_a_retry_is_told_once_a_turn_and_unknown_frames_are_counted():
    book = ClaudePlaybook().opened().running()
    book.receive(system("api_retry", attempt=1), system("api_retry", attempt=2))
    book.receive(frame("novelty"), system("novelty"), b"no json\n", b'["no frame"]\n')
    notices = [event for event in book.events() if type(event).__name__ == "NoticeReported"]
    assert [notice.code for notice in notices] == ["provider.retrying"]
    assert book.diagnostics() == ["frame.unknown", "system.unknown", "line.noise", "line.noise"]


def test_of_a_turn_the_process_knows_what_it_saw_and_nothing_else():
    book = ClaudePlaybook().opened().running()
    book.command(ReconcileTurn(A, T1)).expect(TurnReconciled(T1, "running"))
    book.receive(aborted()).skip()
    book.command(ReconcileTurn(A, T1)).expect(TurnReconciled(T1, "ended", outcome="canceled"))
    book.command(ReconcileTurn(A, T2)).expect(TurnReconciled(T2, "unknown"))


def test_a_scope_that_leaves_stops_what_runs_and_hears_nothing_more():
    book = ClaudePlaybook().opened().running()
    book.command(CloseThread(A))
    assert [each["request"] for each in book.written_frames()] == [INTERRUPT]
    told = len(book.events())
    book.receive(aborted(), streamed("m", "x"))
    assert len(book.events()) == told


def test_a_lost_process_is_told_once():
    book = ClaudePlaybook().opened().running()
    error = provider_error("provider.protocol")
    book._note(book.adapter.lost(error))
    assert book.events()[-1] == ConnectionLost(error)
    book.receive(result())
    assert book.events()[-1] == ConnectionLost(error)
