"""Permission requests over ACP: published when exactly answerable, answered exactly once, withdrawn with their turn."""

import pytest

from runtime.providers.acp.failures import runtime_error
from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    InteractionWithdrawn,
    ItemEnded,
    NoticeReported,
    TextChunk,
    ToolCallReported,
    TurnAccepted,
    TurnEnded,
)
from runtime.providers.port import AnswerInteraction, CancelTurn, Deliver, Diagnostic, RefuseAsk, StartTurn
from store.canonical.identifiers import CallId, RequestId
from store.canonical.interaction import (
    Answer,
    ApprovalInput,
    InteractionOption,
    OptionAnswer,
    QuestionAnswer,
)
from store.canonical.message import FileChange, TextBlock
from tests.providers.adapter_playbook import T1, T2, A, Playbook, Sent, ask, chunk, frame, update

CALL, ASK = CallId("c1"), RequestId("ask-1")
CANCELLED = {"outcome": {"outcome": "cancelled"}}
ENDED = {"stopReason": "end_turn"}


def prompted() -> Playbook:
    return Playbook().opened().prompted()


def asked(*kinds: str) -> Playbook:
    return (
        prompted().receive(ask("sa", 0, "c1", *(kinds or ("allow_once", "reject_once")), title="Run")).skip()
    )


def answer(option_id: str, feedback: str | None = None, request_id: RequestId = ASK) -> AnswerInteraction:
    return AnswerInteraction(A, T1, request_id, OptionAnswer(option_id, feedback))


# --- publication --------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-014")
def test_ask_is_published_complete_joined_from_the_frames_before_it() -> None:
    diff = {"type": "diff", "path": "/w/f", "oldText": None, "newText": "x\n"}
    change = FileChange("/w/f", "add", "--- /w/f\n+++ /w/f\n@@ -0,0 +1 @@\n+x\n")
    raw = {"command": ["/bin/sh", "-c", "make it"], "cwd": "/w"}
    why = [{"type": "content", "content": {"type": "text", "text": "because"}}]
    prompted().receive(
        chunk("sa", "hm"),
        update("sa", "tool_call", toolCallId="c1", title="Run", kind="execute", rawInput=raw, content=[diff]),
        ask("sa", 0, "c1", "allow_once", "allow_always", "reject_once", "odd", content=why),
    ).expect(
        TextChunk(T1, "item-1", "text", "hm"),
        ItemEnded(T1, "item-1"),
        ToolCallReported(
            T1,
            CALL,
            name="execute",
            title="Run",
            kind="execute",
            status="pending",
            input=raw,
            changes=(change,),
        ),
        InteractionRequested(
            T1,
            ASK,
            "approval",
            ApprovalInput(
                CALL,
                "Run",
                "execute",
                command="/bin/sh -c 'make it'",
                cwd="/w",
                changes=(change,),
                reason="because",
            ),
            (
                InteractionOption("o0", "allow_once", "allow_once"),
                InteractionOption("o1", "allow_always", "allow_always"),
                InteractionOption("o2", "reject_once", "reject_once"),
                InteractionOption("o3", "odd", "other"),
            ),
        ),
    )


def test_first_mention_of_a_call_may_be_the_ask_and_two_options_of_a_kind_stay_two() -> None:
    prompted().receive(
        ask(
            "sa",
            "u-1",
            "c1",
            "allow_always",
            "allow_always",
            title="mkdir x",
            kind="execute",
            status="pending",
        )
    ).expect(
        ToolCallReported(T1, CALL, name="execute", title="mkdir x", kind="execute", status="pending"),
        InteractionRequested(
            T1,
            ASK,
            "approval",
            ApprovalInput(CALL, "mkdir x", "execute"),
            (
                InteractionOption("o0", "allow_always", "allow_always"),
                InteractionOption("o1", "allow_always", "allow_always"),
            ),
        ),
    )


@pytest.mark.rule("RT-027")
@pytest.mark.parametrize("early", [True, False], ids=["announced before", "with the ask"])
@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        ({"rawInput": {"url": "https://a.example", "prompt": "Sum it up"}}, "prompt"),
        ({"rawInput": {"url": "https://a.example"}, "prompt": "Sum it up"}, "prompt"),
        ({"url": "https://a.example", "prompt": "Sum it up"}, "prompt"),
        ({"url": "https://a.example", "instruction": "Sum it up", "rawInput": {}}, "instruction"),
        ({"rawInput": {"url": "https://a.example", "prompt": "Sum it up"}, "url": "other"}, "prompt"),
    ],
    ids=["nested", "both", "root", "instruction", "nested wins"],
)
def test_what_a_call_says_beside_its_input_is_shown_as_if_it_stood_in_it(
    said: dict[str, object], prompt: str, early: bool
) -> None:
    book = prompted()
    if early:
        book.receive(update("sa", "tool_call", toolCallId="c1", title="Fetch", kind="fetch", **said))
    book.receive(ask("sa", 0, "c1", "allow_once", title="Fetch", kind="fetch", **({} if early else said)))
    events = [output.event for output in book.outputs if isinstance(output, Deliver)]
    [told] = [event for event in events if isinstance(event, ToolCallReported)]
    assert told.input == {"url": "https://a.example", prompt: "Sum it up"}
    [shown] = [event for event in events if isinstance(event, InteractionRequested)]
    assert shown.input == ApprovalInput(CALL, "Fetch", "fetch", url="https://a.example", prompt="Sum it up")


@pytest.mark.rule("RT-017")
def test_later_updates_of_the_call_do_not_touch_a_published_ask() -> None:
    asked().receive(
        update("sa", "tool_call_update", toolCallId="c1", title="Other", rawInput={"a": 1})
    ).expect(ToolCallReported(T1, CALL, title="Other", input={"a": 1}))


@pytest.mark.rule("RT-018")
def test_open_ask_does_not_hold_up_the_stream() -> None:
    book = asked()
    for _ in range(1000):
        book.receive(chunk("sa", "x"))
    assert sum(isinstance(event, TextChunk) for event in book.events()) == 1000


@pytest.mark.rule("RT-016", "PR-019")
@pytest.mark.case("FC-31")
@pytest.mark.parametrize(
    ("params", "why"),
    [
        (
            {"options": [{"optionId": "a", "name": "A", "kind": "allow_once"}]},
            "it does not say which tool call it is about",
        ),
        ({"toolCall": {}, "options": [{"optionId": "a"}]}, "it does not say which tool call it is about"),
        ({"toolCall": {"toolCallId": "c1"}}, "it offers no option"),
        ({"toolCall": {"toolCallId": "c1"}, "options": [{"name": "no id"}, 5]}, "it offers no option"),
        (
            {"toolCall": {"toolCallId": "c1"}, "options": [{"optionId": "a"}, {"optionId": "a"}]},
            "two of its options have the same id",
        ),
    ],
)
def test_ask_that_cannot_be_answered_exactly_is_cancelled_before_publication(
    params: dict[str, object], why: str
) -> None:
    request = frame(id=0, method="session/request_permission", params={"sessionId": "sa", **params})
    text = "The agent asked for something in a form that cannot be answered here; it was told so."
    prompted().receive(request).expect(
        Sent({"id": 0, "result": CANCELLED}),
        Diagnostic("ask.unusable", why),
        NoticeReported(T1, "interaction.unsupported", "warning", text),
    )


def test_option_without_an_id_is_left_out_and_counted() -> None:
    options = [{"optionId": "a", "kind": "allow_once"}, {"name": "broken"}]
    params = {"sessionId": "sa", "toolCall": {"toolCallId": "c1"}, "options": options}
    book = prompted().receive(frame(id=0, method="session/request_permission", params=params))
    assert book.diagnostics() == ["ask.malformed_options"]
    (requested,) = [event for event in book.events() if isinstance(event, InteractionRequested)]
    assert requested.options == (InteractionOption("a", "a", "allow_once"),)


@pytest.mark.case("FC-54")
@pytest.mark.parametrize("request_id", [0, "0", "", False, 1.5, [1], {"a": 1}])
def test_ids_of_any_type_are_answered_exactly(request_id: object) -> None:
    book = prompted().receive(ask("sa", request_id, "c1", "allow_once")).skip()
    book.command(answer("o0")).expect(
        Sent({"id": request_id, "result": {"outcome": {"outcome": "selected", "optionId": "o0"}}})
    )


@pytest.mark.case("FC-54")
def test_ids_that_differ_only_in_type_are_two_asks() -> None:
    book = prompted().receive(ask("sa", 0, "c1", "allow_once"), ask("sa", "0", "c2", "allow_once")).skip()
    book.receive(frame(method="$/cancel_request", params={"requestId": "0"})).expect(
        Sent({"id": "0", "result": CANCELLED}), InteractionWithdrawn(T1, RequestId("ask-2"))
    )
    book.command(answer("o0")).expect(
        Sent({"id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "o0"}}})
    )


def test_ask_repeated_under_an_open_id_is_one_ask() -> None:
    asked().receive(ask("sa", 0, "c1", "allow_once")).expect(Diagnostic("ask.repeated_id", "sa"))


@pytest.mark.rule("ST-006")
def test_ask_without_a_turn_is_cancelled() -> None:
    Playbook().opened().receive(ask("sa", 0, "c1", "allow_once")).expect(
        Sent({"id": 0, "result": CANCELLED}), Diagnostic("ask.cancelled", "no open turn")
    )


def test_ask_proves_the_prompt_accepted() -> None:
    book = Playbook().opened().command(StartTurn(A, T1, (TextBlock("go"),))).skip()
    book.receive(ask("sa", 0, "c1", "allow_once"))
    assert [type(event) for event in book.events()[1:]] == [
        TurnAccepted,
        ToolCallReported,
        InteractionRequested,
    ]


# --- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-019")
def test_answer_is_delivered_once_its_frame_is_out_whole() -> None:
    book = asked().command(answer("o0"))
    book.expect(Sent({"id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "o0"}}}))
    book.written().expect(AnswerDelivered(T1, ASK))
    book.written().expect()


@pytest.mark.rule("RT-019")
def test_answer_counts_as_delivered_before_the_end_it_caused() -> None:
    book = asked().command(answer("o1")).skip().reply("session/prompt", result={"stopReason": "cancelled"})
    book.expect(
        AnswerDelivered(T1, ASK),
        ToolCallReported(T1, CALL, status="declined"),
        TurnEnded(T1, "canceled", "cancelled"),
    )
    book.written().expect()


@pytest.mark.rule("RT-020")
def test_refused_call_is_declined_and_the_words_that_cannot_travel_are_not_lost_silently() -> None:
    book = asked().command(answer("o1", "use make instead"))
    text = "The agent was given the refusal, but its protocol cannot carry the words that came with it."
    book.expect(
        Sent({"id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "o1"}}}),
        Diagnostic("answer.feedback_not_carried", "ask-1"),
        NoticeReported(T1, "interaction.feedback_not_carried", "warning", text),
    )
    book.written().expect(AnswerDelivered(T1, ASK), ToolCallReported(T1, CALL, status="declined"))
    book.receive(
        update("sa", "tool_call_update", toolCallId="c1", status="failed", rawOutput="refused")
    ).expect(ToolCallReported(T1, CALL, output_text="refused"))


@pytest.mark.case("FC-45")
@pytest.mark.parametrize(
    "wrong", [OptionAnswer("never offered"), OptionAnswer("allow_once"), QuestionAnswer({"q": "a"})]
)
def test_answer_that_was_not_offered_fails_and_the_ask_stays_open(wrong: Answer) -> None:
    book = asked().command(AnswerInteraction(A, T1, ASK, wrong))
    book.expect(AnswerFailed(T1, ASK, runtime_error("interaction.unsupported_answer")))
    book.command(answer("o0")).expect(
        Sent({"id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "o0"}}})
    )


@pytest.mark.case("FC-45")
def test_second_answer_and_answers_to_nothing_send_nothing() -> None:
    book = asked().command(answer("o0")).skip().command(answer("o1"))
    gone = runtime_error("interaction.not_pending")
    book.expect(AnswerFailed(T1, ASK, gone))
    book.command(answer("o0", request_id=RequestId("ask-9"))).expect(
        AnswerFailed(T1, RequestId("ask-9"), gone)
    )
    other_turn = AnswerInteraction(A, T2, ASK, OptionAnswer("o0"))
    asked().command(other_turn).expect(AnswerFailed(T2, ASK, gone))
    Playbook().ready().command(answer("o0")).expect(AnswerFailed(T1, ASK, gone))


# --- withdrawal ---------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-04")
def test_cancel_answers_every_open_ask_at_once_and_a_late_answer_sends_nothing() -> None:
    book = asked().receive(ask("sa", 1, "c2", "allow_once")).skip().command(CancelTurn(A, T1))
    book.expect(
        Sent({"method": "session/cancel", "params": {"sessionId": "sa"}}),
        Sent({"id": 0, "result": CANCELLED}),
        InteractionWithdrawn(T1, ASK),
        Sent({"id": 1, "result": CANCELLED}),
        InteractionWithdrawn(T1, RequestId("ask-2")),
    )
    book.command(answer("o0")).expect(AnswerFailed(T1, ASK, runtime_error("interaction.not_pending")))
    book.receive(ask("sa", 2, "c3", "allow_once")).expect(
        Sent({"id": 2, "result": CANCELLED}), Diagnostic("ask.cancelled", "the turn is being stopped")
    )
    book.reply("session/prompt", result={"stopReason": "cancelled"}).expect(
        TurnEnded(T1, "canceled", "cancelled")
    )


@pytest.mark.case("FC-04")
def test_what_nobody_is_asked_gets_its_one_reply_and_nobody_is_told() -> None:
    book = asked().command(RefuseAsk(A, T2, ASK)).expect()
    book.command(RefuseAsk(A, T1, ASK)).expect(Sent({"id": 0, "result": CANCELLED}))
    book.command(RefuseAsk(A, T1, ASK)).expect()
    book.command(answer("o0")).expect(AnswerFailed(T1, ASK, runtime_error("interaction.not_pending")))
    answered = asked().command(answer("o0")).skip()
    answered.command(RefuseAsk(A, T1, ASK)).expect()


def test_settled_turn_takes_its_open_asks_with_it() -> None:
    asked().reply("session/prompt", result=ENDED).expect(
        Sent({"id": 0, "result": CANCELLED}),
        InteractionWithdrawn(T1, ASK),
        TurnEnded(T1, "completed", "end_turn"),
    )


@pytest.mark.case("FC-46")
def test_agent_withdraws_its_own_ask_and_still_gets_its_one_answer() -> None:
    book = asked().receive(frame(method="$/cancel_request", params={"requestId": 0}))
    book.expect(Sent({"id": 0, "result": CANCELLED}), InteractionWithdrawn(T1, ASK))
    book.receive(
        frame(method="$/cancel_request", params={"requestId": 0}), frame(method="$/cancel_request", params=5)
    ).expect()
    book.command(answer("o0")).expect(AnswerFailed(T1, ASK, runtime_error("interaction.not_pending")))
