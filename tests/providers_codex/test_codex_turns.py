"""Turns of a thread: which frames are of which turn, whoever began it, and that nothing but its own end ends it."""

import pytest

from runtime.providers.normalized import (
    BackgroundReported,
    ItemEnded,
    TextChunk,
    ToolCallReported,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
)
from runtime.providers.port import Deliver, Diagnostic, ImageData, StartTurn
from store.canonical.message import ResourceLinkBlock, TextBlock
from tests.providers.adapter_playbook import T1, T2, Sent
from tests.providers_codex.codex_playbook import (
    A,
    CodexPlaybook,
    command,
    completed,
    delta,
    notice,
    request,
    started,
    turn_completed,
    turn_started,
)

GOAL = "01a22d38-b4f0-7ec0-a05a-d599ec11d2b2"
IDLE = notice("thread/status/changed", status={"type": "idle"})


def a_prompt() -> CodexPlaybook:
    """A prompt whose request is not answered yet."""
    return CodexPlaybook().opened().command(StartTurn(A, T1, (TextBlock("go"),)))


def kinds(book: CodexPlaybook) -> list[str]:
    return [type(event).__name__ for event in book.events()]


def test_a_prompt_goes_out_with_its_name_and_is_accepted_by_codex_alone() -> None:
    book = CodexPlaybook().opened()
    content = (
        TextBlock("look  "),
        ResourceLinkBlock("file:///a.md", "a.md"),
        ImageData("image/png", "QUJD"),
    )
    book.command(StartTurn(A, T1, content))
    book.expect(
        Sent(
            {
                "id": 4,
                "method": "turn/start",
                "params": {
                    "threadId": "th",
                    "clientUserMessageId": "t1",
                    "input": [
                        {"type": "text", "text": "look  ", "text_elements": []},
                        {"type": "text", "text": "[a.md](file:///a.md)", "text_elements": []},
                        {"type": "image", "url": "data:image/png;base64,QUJD"},
                    ],
                },
            }
        )
    )
    assert book.written().outputs == [], "that it was written proves nothing"
    book.reply("turn/start", result={"turn": {"id": "p1", "status": "inProgress"}})
    book.expect(TurnAccepted(T1, "p1"))
    book.receive(turn_started(), started("userMessage", "u1", clientId="t1"), delta("hello"))
    book.expect(TextChunk(T1, "item-1", "text", "hello"))
    book.receive(completed("agentMessage", "m1", text="hello"), IDLE)
    book.expect(ItemEnded(T1, "item-1"))
    book.receive(turn_completed())
    book.expect(TurnEnded(T1, "completed", "completed"))


@pytest.mark.case("FC-13")
def test_what_overtakes_the_answer_of_its_prompt_waits_for_it() -> None:
    """The rare order: `turn/started`, and more, before the answer of `turn/start`."""
    book = a_prompt().skip()
    book.receive(
        notice("warning", message="Some model."),
        turn_started(),
        delta("early"),
        request(0, "item/commandExecution/requestApproval", itemId="c1", command="make"),
        notice("thread/tokenUsage/updated", "th", "p1", tokenUsage={"total": {}, "last": {}}),
    )
    assert book.outputs == []
    book.reply("turn/start", result={"turn": {"id": "p1"}})
    assert kinds(book)[1:] == [
        "TurnAccepted",
        "NoticeReported",
        "TextChunk",
        "ToolCallReported",
        "InteractionRequested",
        "UsageReported",
    ]
    book.skip().receive(turn_completed())
    assert isinstance(book.events()[-2], TurnEnded)


@pytest.mark.case("FC-28")
def test_a_turn_that_began_by_itself_just_before_takes_the_prompt_in() -> None:
    """Codex makes a prompt that meets an active turn a part of that turn, and answers with its id."""
    book = a_prompt().skip()
    book.receive(turn_started(GOAL), delta("goal", turn_id=GOAL))
    book.reply("turn/start", result={"turn": {"id": GOAL}})
    book.receive(turn_completed("completed", GOAL))
    assert kinds(book)[1:] == ["TurnAccepted", "TextChunk", "ItemEnded", "TurnEnded"]


@pytest.mark.case("FC-24")
def test_a_turn_that_ended_before_the_prompts_own_is_not_taken_for_it() -> None:
    book = a_prompt().skip()
    book.receive(turn_started(GOAL), delta("goal", turn_id=GOAL), turn_completed("completed", GOAL))
    book.reply("turn/start", result={"turn": {"id": "p1"}})
    book.receive(turn_started(), delta("ours"), turn_completed())
    texts = [event.text for event in book.events() if isinstance(event, TextChunk)]
    assert texts == ["ours"]
    assert book.diagnostics() == ["turn.stray"] * 3


def test_much_of_a_turn_whose_request_is_never_answered_is_heard_all_the_same() -> None:
    book = a_prompt().skip()
    book.receive(turn_started(), *[delta("x") for _ in range(256)])
    assert kinds(book)[1:3] == ["TurnAccepted", "TextChunk"]
    book.reply("turn/start", result={"turn": {"id": "p9"}})
    book.receive(delta("y"), turn_completed("completed", "p9"))
    text = "".join(event.text for event in book.events() if isinstance(event, TextChunk))
    assert text == "x" * 256 + "y"
    assert isinstance(book.events()[-1], TurnEnded)


def test_warnings_that_wait_for_a_prompt_are_bounded() -> None:
    book = a_prompt().skip().receive(*[notice("warning", message="w") for _ in range(300)])
    assert book.diagnostics() == ["update.early_dropped"] * 44


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": -32600, "message": "no"}, "provider.rejected"),
        (
            {
                "code": -32602,
                "message": "big",
                "data": {"input_error_code": "input_too_large", "max_chars": 9},
            },
            "request.too_large",
        ),
    ],
)
def test_a_prompt_codex_does_not_take_is_rejected_and_the_next_one_works(
    error: dict[str, object], code: str
) -> None:
    book = a_prompt().reply("turn/start", error=error)
    rejected = book.events()[-1]
    assert isinstance(rejected, TurnRejected)
    assert rejected.error.code == code
    book.prompted(turn_id=T2)
    assert book.events()[-1] == TurnAccepted(T2, "p1")


def test_a_prompt_that_is_answered_with_no_turn_is_rejected() -> None:
    book = a_prompt().reply("turn/start", result={"turn": {}})
    assert isinstance(book.events()[-1], TurnRejected)


@pytest.mark.case("FC-28")
def test_a_second_prompt_is_never_sent_while_a_turn_is_open() -> None:
    for book in (a_prompt(), CodexPlaybook().running()):
        sent = len(book.frames)
        book.skip().command(StartTurn(A, T2, (TextBlock("more"),)))
        (rejected,) = book.events()[-1:]
        assert isinstance(rejected, TurnRejected)
        assert rejected.error.code == "session.busy"
        assert len(book.frames) == sent


# --- the end ----------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-01", "FC-09")
def test_neither_idleness_nor_an_error_that_is_retried_nor_silence_ends_a_turn() -> None:
    book = CodexPlaybook().running()
    book.receive(IDLE, notice("error", "th", "p1", willRetry=True, error={"message": "m"}), IDLE)
    book.receive(notice("error", "th", "p1", willRetry=False, error={"message": "m"}))
    assert not [event for event in book.events() if isinstance(event, TurnEnded)]
    book.receive(turn_completed("failed", error={"message": "secret", "codexErrorInfo": "other"}))
    end = book.events()[-1]
    assert isinstance(end, TurnEnded)
    assert end.error is not None
    assert (end.outcome, end.error.code) == ("failed", "provider.rejected")
    assert "secret" not in end.error.message


@pytest.mark.rule("PR-023", "PR-025")
@pytest.mark.parametrize(
    ("info", "code", "http_status", "retryable"),
    [
        ("contextWindowExceeded", "provider.context_full", None, False),
        ("usageLimitExceeded", "provider.quota", None, False),
        ("serverOverloaded", "provider.rate_limited", None, True),
        ("modelNotFound", "provider.model_unavailable", None, False),
        ("cyberPolicy", "provider.refused", None, False),
        ("tooManyDenials", "provider.stopped", None, False),
        ("unauthorized", "provider.auth_required", None, False),
        ("internalServerError", "provider.rejected", None, True),
        ("a word of tomorrow", "provider.rejected", None, False),
        (None, "provider.rejected", None, False),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, "provider.auth_required", 401, False),
        ({"httpConnectionFailed": {"httpStatusCode": 403}}, "provider.rejected", 403, False),
        ({"httpConnectionFailed": {"httpStatusCode": 503}}, "provider.rejected", 503, True),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "provider.rate_limited", 429, True),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, "provider.rejected", None, True),
        ({"new": 7}, "provider.rejected", None, False),
    ],
)
def test_failures_are_typed_and_only_a_typed_one_means_signing_in(
    info: object, code: str, http_status: int | None, retryable: bool
) -> None:
    error = {"message": "unexpected status 403 Forbidden: log in at http://x", "codexErrorInfo": info}
    book = CodexPlaybook().running().receive(turn_completed("failed", error=error))
    end = book.events()[-1]
    assert isinstance(end, TurnEnded)
    assert end.error is not None
    assert (end.error.code, end.error.http_status, end.error.retryable) == (code, http_status, retryable)
    assert end.error.origin == "provider"


@pytest.mark.case("FC-11")
@pytest.mark.parametrize(("status", "code"), [("paused", "provider.stopped"), (None, "provider.protocol")])
def test_an_end_with_an_unknown_word_is_no_success(status: str | None, code: str) -> None:
    book = CodexPlaybook().running().receive(notice("turn/completed", turn={"id": "p1", "status": status}))
    end = book.events()[-1]
    assert isinstance(end, TurnEnded)
    assert (end.outcome, end.stop_reason) == ("failed", status)
    assert end.error is not None
    assert end.error.code == code


def test_the_last_words_that_only_the_end_tells_are_told() -> None:
    last = {"type": "agentMessage", "id": "m1", "text": "all of it"}
    book = CodexPlaybook().running().receive(delta("all "), turn_completed(items=[last]))
    assert book.events()[-3:-1] == [TextChunk(T1, "item-1", "text", "all of it"), ItemEnded(T1, "item-1")]
    book = CodexPlaybook().running()
    book.receive(completed("agentMessage", "m1", text="all of it"), turn_completed(items=[last]))
    assert len([event for event in book.events() if isinstance(event, TextChunk)]) == 1


@pytest.mark.case("FC-13", "FC-24")
def test_late_and_foreign_frames_neither_show_in_a_turn_nor_end_it() -> None:
    book = CodexPlaybook().running().receive(turn_completed("interrupted"))
    book.prompted(turn_id=T2, provider_turn_id="p2").receive(turn_started("p2")).skip()
    book.receive(
        delta("late", turn_id="p1"),
        turn_completed("interrupted", "p1"),
        delta("of another", turn_id="p7"),
        turn_started("p7"),
        turn_completed("completed", "p7"),
        delta("of a stranger", thread_id="zz"),
        turn_completed("completed", "p2", "zz"),
        notice("item/agentMessage/delta", delta="of nobody", itemId="m1"),
    )
    assert not [output for output in book.outputs if not isinstance(output, Diagnostic)]
    assert book.diagnostics() == [
        "update.late",
        "update.late",
        "turn.stray",
        "turn.stray",
        "turn.stray",
        "thread.stray",
        "thread.stray",
        "update.malformed",
    ]


@pytest.mark.rule("ST-006", "RT-003")
def test_a_command_that_goes_on_ends_in_its_settled_turn() -> None:
    book = CodexPlaybook().running().receive(started(**command()), turn_completed())
    assert isinstance(book.events()[-2], TurnEnded)
    assert book.events()[-1] == BackgroundReported(frozenset({T1}))
    book.prompted(turn_id=T2, provider_turn_id="p2").skip()
    book.receive(notice("item/commandExecution/outputDelta", "th", "p1", itemId="c1", delta="x"))
    assert book.outputs == [], "the whole output comes with the end"
    book.receive(completed(**command(status="completed", aggregatedOutput="a\nx", exitCode=0)))
    book.expect(
        ToolCallReported(T1, "c1", status="completed", output_text="a\nx", exit_code=0),  # type: ignore[arg-type]
        Deliver(A, BackgroundReported(frozenset())),
    )
    book.receive(completed(**command(status="completed")))
    assert book.diagnostics() == ["update.late"]
