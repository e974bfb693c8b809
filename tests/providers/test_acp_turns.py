"""ACP turns: what belongs to a turn, in which order it is told, and how it ends."""

import pytest

from runtime.providers.acp.adapter import HandshakeDeadline
from runtime.providers.acp.failures import provider_error, runtime_error
from runtime.providers.acp.opening import OpenDeadline
from runtime.providers.catalogue import ProviderFacts
from runtime.providers.normalized import (
    ItemEnded,
    NoticeReported,
    TextChunk,
    TitleReported,
    ToolCallReported,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
    UsageReported,
)
from runtime.providers.port import (
    AdapterLimits,
    CancelTurn,
    CloseThread,
    Diagnostic,
    ImageData,
    Learned,
    StartTimer,
    StartTurn,
)
from store.canonical.common import Usage
from store.canonical.identifiers import CallId
from store.canonical.message import ResourceLinkBlock, TextBlock
from tests.providers.adapter_playbook import (
    T1,
    T2,
    A,
    B,
    Deliver,
    Playbook,
    Sent,
    ask,
    chunk,
    frame,
    update,
)

CALL = CallId("c1")
ENDED = {"stopReason": "end_turn"}


def prompted() -> Playbook:
    return Playbook().opened().prompted()


# --- acceptance ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-034")
def test_prompt_is_accepted_once_its_frame_is_out_whole() -> None:
    book = (
        Playbook()
        .opened()
        .command(StartTurn(A, T1, (TextBlock(" hi \n"), ResourceLinkBlock("file:///x", "x"))))
    )
    prompt = [{"type": "text", "text": " hi \n"}, {"type": "resource_link", "uri": "file:///x", "name": "x"}]
    params = {"sessionId": "sa", "prompt": prompt}
    book.expect(Sent({"id": 3, "method": "session/prompt", "params": params}))
    book.written().expect(TurnAccepted(T1))


def test_words_of_the_turn_prove_its_acceptance_when_the_write_is_reported_later() -> None:
    book = Playbook().opened().command(StartTurn(A, T1, (TextBlock("go"),))).skip()
    book.receive(chunk("sa", "x")).expect(TurnAccepted(T1), TextChunk(T1, "item-1", "text", "x"))
    book.written().expect()
    book.command(StartTurn(A, T2, (TextBlock("go"),))).expect(
        Deliver(A, TurnRejected(T2, runtime_error("session.busy")))
    )


def test_session_facts_between_two_turns_do_not_accept_the_next_one() -> None:
    book = Playbook().opened().command(StartTurn(A, T1, (TextBlock("go"),))).skip()
    book.receive(
        update("sa", "available_commands_update", availableCommands=[]),
        update("sa", "session_info_update", title="T"),
        update("sa", "usage_update", used=5, size=10),
    ).expect(
        Learned(ProviderFacts(skills=())),
        TitleReported("T"),
        UsageReported(Usage(context_tokens=5, context_window=10), T1),
    )


def test_second_prompt_is_refused_while_one_is_open_and_nothing_is_sent() -> None:
    book = prompted().command(StartTurn(A, T2, (TextBlock("more"),)))
    book.expect(TurnRejected(T2, runtime_error("session.busy")))


def test_picture_for_an_agent_that_takes_none_is_refused_and_not_dropped() -> None:
    content = (TextBlock("see"), ImageData("image/png", "aGk="))
    book = Playbook().opened().command(StartTurn(A, T1, content))
    book.expect(TurnRejected(T1, runtime_error("attachment.unsupported")))
    able = Playbook().opened(promptCapabilities={"image": True}).command(StartTurn(A, T1, content))
    prompt = [{"type": "text", "text": "see"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}]
    able.expect(Sent({"id": 3, "method": "session/prompt", "params": {"sessionId": "sa", "prompt": prompt}}))


def test_prompt_without_an_open_conversation_is_refused() -> None:
    book = Playbook().ready().command(StartTurn(A, T1, (TextBlock("x"),)))
    book.expect(TurnRejected(T1, runtime_error("provider.unavailable")))


# --- the end -------------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-11", "FC-42")
@pytest.mark.parametrize(
    ("stop_reason", "outcome", "code"),
    [
        ("end_turn", "completed", None),
        ("cancelled", "canceled", None),
        ("refusal", "failed", "provider.refused"),
        ("max_tokens", "failed", "provider.context_full"),
        ("max_turn_requests", "failed", "provider.stopped"),
        ("something_new", "failed", "provider.stopped"),
    ],
)
def test_stop_reasons_follow_the_contract_and_are_kept_verbatim(
    stop_reason: str, outcome: str, code: str | None
) -> None:
    error = provider_error(code) if code else None
    prompted().reply("session/prompt", result={"stopReason": stop_reason}).expect(
        TurnEnded(T1, outcome, stop_reason, error)  # type: ignore[arg-type]
    )


@pytest.mark.case("FC-11")
@pytest.mark.parametrize("result", [None, {}, 5, {"stopReason": 7}, {"stopReason": ""}])
def test_answer_without_a_stop_reason_is_never_a_success(result: object) -> None:
    prompted().reply("session/prompt", result=result).expect(
        TurnEnded(T1, "failed", None, provider_error("provider.protocol"))
    )


def test_end_is_told_after_the_last_words_of_the_same_read_with_the_usage_of_the_turn() -> None:
    usage = {
        "inputTokens": 20,
        "outputTokens": 10,
        "cachedReadTokens": 1,
        "thoughtTokens": 2,
        "totalTokens": 30,
    }
    prompted().receive(
        chunk("sa", "last"),
        frame(id=3, result={"stopReason": "end_turn", "usage": usage}),
        chunk("sa", "late"),
    ).expect(
        TextChunk(T1, "item-1", "text", "last"),
        ItemEnded(T1, "item-1"),
        TurnEnded(
            T1,
            "completed",
            "end_turn",
            usage=Usage(
                input_tokens=20, cached_input_tokens=1, output_tokens=10, reasoning_tokens=2, total_tokens=30
            ),
        ),
        Diagnostic("update.no_turn", "ContentChunk"),
    )


@pytest.mark.case("FC-54")
def test_second_and_foreign_answers_settle_nothing() -> None:
    prompted().receive(
        frame(id=999, result=ENDED),
        frame(id="3", result=ENDED),
        frame(id=None, result=ENDED),
        b'[{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}]\n',
        frame(id=3, result=ENDED),
        frame(id=3, result={"stopReason": "refusal"}),
    ).expect(
        Diagnostic("answer.unknown_response", "999"),
        Diagnostic("answer.unknown_response", '"3"'),
        Diagnostic("answer.unaddressed_error", "null"),
        Diagnostic("line.noise", 'a batch: [{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}]'),
        TurnEnded(T1, "completed", "end_turn"),
        Diagnostic("answer.second_response", "3"),
    )


def test_error_answer_before_any_word_rejects_the_prompt_with_a_text_of_ours() -> None:
    error = {"code": -32603, "message": "SECRET provider text", "data": {"details": "400 scripted failure"}}
    prompted().reply("session/prompt", error=error).expect(
        TurnRejected(T1, provider_error("provider.rejected", http_status=400))
    )


@pytest.mark.rule("PR-023", "PR-025")
@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        ({"code": -32000, "message": "Authentication required"}, "provider.auth_required", None),
        ({"code": -32603, "message": "Internal error: API Error: 401 no"}, "provider.auth_required", 401),
        ({"code": -32603, "message": "x", "data": {"status": 401}}, "provider.auth_required", 401),
        ({"code": -32603, "message": "Unauthorized: not logged in"}, "provider.rejected", None),
        ({"code": -32603, "message": "API Error: 403 forbidden"}, "provider.rejected", 403),
        ({"code": -32603, "message": "HTTP 504 gateway timeout"}, "provider.rejected", 504),
        ({"code": -32000, "message": "credit balance is too low"}, "provider.quota", None),
        ({"code": -32000, "message": "API Error: 502"}, "provider.rejected", 502),
        ({"code": 429, "message": "slow down"}, "provider.rate_limited", 429),
        (
            {"code": -32603, "message": "x", "data": {"details": "Rate limit reached"}},
            "provider.rate_limited",
            None,
        ),
        ({"code": -32603, "message": "You exceeded your current quota"}, "provider.quota", None),
        (
            {"code": -32603, "message": "x", "data": {"error": {"type": "insufficient_quota"}}},
            "provider.quota",
            None,
        ),
        (
            {"code": -32603, "message": "x", "data": {"codex_error_info": "usage_limit_exceeded"}},
            "provider.quota",
            None,
        ),
        ({"code": -32603, "message": "prompt is too long: 9 tokens"}, "provider.context_full", None),
        ({"code": 400, "message": "line 429 of the file"}, "provider.rejected", 400),
        ({"code": "odd"}, "provider.rejected", None),
        (None, "provider.rejected", None),
    ],
)
def test_error_answer_after_words_fails_the_turn_by_its_kind_and_leaves_the_text_cut_off(
    error: object, code: str, status: int | None
) -> None:
    book = prompted().receive(chunk("sa", "part")).skip()
    book.reply("session/prompt", error=error).expect(
        TurnEnded(T1, "failed", None, provider_error(code, http_status=status))
    )


def test_text_of_a_turn_that_was_stopped_is_not_told_as_ended() -> None:
    book = prompted().receive(chunk("sa", "once upon")).command(CancelTurn(A, T1)).skip()
    book.reply("session/prompt", result={"stopReason": "cancelled"}).expect(
        TurnEnded(T1, "canceled", "cancelled")
    )


@pytest.mark.case("FC-01", "FC-09")
def test_quiet_turn_has_no_deadline_here_and_stays_open_until_the_agent_ends_it() -> None:
    book = prompted().receive(update("sa", "tool_call", toolCallId="c1", title="x", status="in_progress"))
    assert not [output for output in book.outputs if isinstance(output, StartTimer)]
    book.skip().timer(HandshakeDeadline()).timer(OpenDeadline(A)).timer(OpenDeadline(B)).expect()
    book.reply("session/prompt", result=ENDED).expect(TurnEnded(T1, "completed", "end_turn"))


# --- cancel --------------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-02")
def test_cancel_is_sent_once_and_the_end_is_what_the_agent_says() -> None:
    book = prompted().command(CancelTurn(A, T1))
    book.expect(Sent({"method": "session/cancel", "params": {"sessionId": "sa"}}))
    book.command(CancelTurn(A, T1)).expect()
    book.receive(chunk("sa", "still")).expect(TextChunk(T1, "item-1", "text", "still"))
    book.reply("session/prompt", result=ENDED).expect(
        ItemEnded(T1, "item-1"), TurnEnded(T1, "completed", "end_turn")
    )


@pytest.mark.case("FC-12")
@pytest.mark.parametrize("code", [-32800, -32603, 400])
def test_error_answer_to_a_cancelled_prompt_is_its_cancellation(code: int) -> None:
    book = prompted().command(CancelTurn(A, T1)).skip()
    book.reply("session/prompt", error={"code": code, "message": "aborted"}).expect(TurnEnded(T1, "canceled"))


@pytest.mark.case("FC-43")
def test_cancel_of_a_turn_that_is_over_sends_nothing() -> None:
    book = prompted().reply("session/prompt", result=ENDED).skip()
    book.command(CancelTurn(A, T1)).expect(Diagnostic("cancel.not_open", str(A)))
    book.prompted(turn_id=T2).command(CancelTurn(A, T1)).expect(Diagnostic("cancel.not_open", str(A)))


# --- what comes outside a turn -------------------------------------------------------------------------------------


@pytest.mark.rule("ST-006")
@pytest.mark.case("FC-13")
def test_late_words_of_a_known_message_stay_out_of_the_next_turn() -> None:
    long_id = "message-0123456789"
    book = prompted().receive(chunk("sa", "old", messageId=long_id)).reply("session/prompt", result=ENDED)
    book.prompted(turn_id=T2).receive(
        chunk("sa", "late", messageId=long_id), chunk("sa", "new", messageId="m-0123456789-x")
    )
    book.expect(Diagnostic("update.late", f"message {long_id}"), TextChunk(T2, "item-1", "text", "new"))


def test_agents_that_number_their_messages_in_each_turn_lose_nothing() -> None:
    book = prompted().receive(chunk("sa", "old", messageId="1")).reply("session/prompt", result=ENDED)
    book.prompted(turn_id=T2).receive(chunk("sa", "new", messageId="1"))
    book.expect(TextChunk(T2, "item-1", "text", "new"))


@pytest.mark.rule("ST-006")
@pytest.mark.case("FC-13")
def test_late_tool_update_goes_to_its_settled_turn_only() -> None:
    book = prompted().receive(update("sa", "tool_call", toolCallId="c1", title="x", status="in_progress"))
    book.reply("session/prompt", result=ENDED).skip()
    book.receive(update("sa", "tool_call_update", toolCallId="c1", status="completed"))
    book.expect(ToolCallReported(T1, CALL, status="completed"))
    book.prompted(turn_id=T2).receive(update("sa", "tool_call_update", toolCallId="c1", title="y"))
    book.expect(ToolCallReported(T1, CALL, title="y"))
    book.receive(update("sa", "tool_call", toolCallId="c1", title="again"))
    book.expect(ToolCallReported(T2, CALL, name="tool", title="again", status="pending"))


@pytest.mark.rule("ST-006")
def test_content_without_a_turn_is_counted_and_never_shown_later() -> None:
    book = (
        Playbook()
        .opened()
        .receive(
            chunk("sa", "hello"),
            chunk("sa", ""),
            update("sa", "tool_call", toolCallId="c1", title="x"),
            update("sa", "plan", entries=[]),
        )
    )
    book.expect(
        Diagnostic("update.no_turn", "ContentChunk"),
        Diagnostic("update.no_turn", "ToolCallPart"),
        Diagnostic("update.no_turn", "PlanUpdate"),
    )
    book.prompted().receive(update("sa", "tool_call_update", toolCallId="c1", status="completed"))
    book.expect(Diagnostic("update.late", "replayed call c1"))


@pytest.mark.case("FC-24")
def test_two_conversations_on_one_connection_hear_only_their_own() -> None:
    book = Playbook().opened().opened(B, "sb").prompted(A, T1).prompted(B, T1)
    book.receive(chunk("sb", "b1"), chunk("sa", "a1"), chunk("sb", "b2"), chunk("sa", "a2"))
    book.expect(
        Deliver(B, TextChunk(T1, "item-1", "text", "b1b2")),
        Deliver(A, TextChunk(T1, "item-1", "text", "a1a2")),
    )
    book.reply("session/prompt", result=ENDED)
    book.expect(Deliver(B, ItemEnded(T1, "item-1")), Deliver(B, TurnEnded(T1, "completed", "end_turn")))
    book.receive(chunk("sa", "on")).expect(TextChunk(T1, "item-1", "text", "on"))


@pytest.mark.case("FC-24")
def test_strangers_are_dropped_and_counted_and_their_asks_refused() -> None:
    prompted().receive(
        chunk("zz", "x"), ask("zz", 0, "c", "allow_once"), frame(method="session/update", params={})
    ).expect(
        Diagnostic("update.stray_session", "zz"),
        Sent({"id": 0, "error": {"code": -32602, "message": "Unknown session"}}),
        Diagnostic("ask.stray_session", "session/request_permission"),
        Diagnostic("update.malformed", "no session or no update"),
    )


@pytest.mark.case("FC-31")
def test_unknown_requests_are_refused_at_once_and_unknown_notifications_ignored() -> None:
    prompted().receive(
        frame(id=0, method="fs/write_text_file", params={"sessionId": "sa"}),
        frame(id="u", method="craft/drain", params={}),
        frame(method="_vendor/notify", params={}),
    ).expect(
        Sent({"id": 0, "error": {"code": -32601, "message": "Method not found"}}),
        Diagnostic("request.refused", "fs/write_text_file"),
        Sent({"id": "u", "error": {"code": -32601, "message": "Method not found"}}),
        Diagnostic("request.refused", "craft/drain"),
        Diagnostic("notification.ignored", "_vendor/notify"),
    )


def test_closed_conversation_is_stopped_on_the_wire_and_says_nothing_more() -> None:
    book = Playbook().opened(sessionCapabilities={"close": {}}).prompted()
    book.receive(ask("sa", 0, "c1", "allow_once")).skip().command(CloseThread(A))
    book.expect(
        Sent({"method": "session/cancel", "params": {"sessionId": "sa"}}),
        Sent({"id": 0, "result": {"outcome": {"outcome": "cancelled"}}}),
        Sent({"id": 4, "method": "session/close", "params": {"sessionId": "sa"}}),
    )
    book.receive(chunk("sa", "x"), frame(id=3, result=ENDED), frame(id=4, error={"code": 1})).expect(
        Diagnostic("update.stray_session", "sa"), Diagnostic("answer.after_close", str(A))
    )
    book.command(CloseThread(A)).expect()


@pytest.mark.case("FC-08")
def test_line_over_the_limit_is_skipped_with_its_size_and_the_user_is_told() -> None:
    limits = AdapterLimits(max_provider_line_bytes=1000, max_provider_discard_bytes=1000)
    book = Playbook(limits=limits).opened().prompted()
    line = chunk("sa", "x" * 1500)
    sizes = f"{len(line) - 1} bytes, the limit is 1000"
    book.receive(line, chunk("sa", "next")).expect(
        Diagnostic("line.discarded", sizes),
        NoticeReported(
            T1,
            "provider.message_skipped",
            "warning",
            f"A message of the agent was too large and was skipped ({sizes}).",
        ),
        TextChunk(T1, "item-1", "text", "next"),
    )
