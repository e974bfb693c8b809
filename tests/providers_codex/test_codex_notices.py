"""What happens beside the conversation: told as a notice, noted, or deliberately left."""

import pytest

from runtime.providers.codex.quiet import QUIET
from runtime.providers.normalized import (
    NoticeReported,
    TurnEnded,
)
from runtime.providers.port import Diagnostic
from tests.providers_codex.codex_playbook import (
    CodexPlaybook,
    completed,
    notice,
    started,
    turn_completed,
)


def running(*frames: bytes) -> CodexPlaybook:
    """A turn in which Codex says this."""
    book = CodexPlaybook().running()
    book.receive(*frames)
    return book


@pytest.mark.rule("RT-046")
def test_a_conversation_too_long_even_to_be_shortened_is_said_exactly_once() -> None:
    failed = {"message": "m", "codexErrorInfo": "contextWindowExceeded"}
    error = notice("error", "th", "p1", willRetry=False, error=failed)
    book = running(started("contextCompaction", "k"), error, error, turn_completed("failed", error=failed))
    notices = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert [(each.code, each.severity) for each in notices] == [
        ("provider.context_handoff_required", "error")
    ]
    assert isinstance(book.events()[-1], TurnEnded)
    assert book.calls().count("turn/start") == 1, "nothing is sent again"

    book = running(started("contextCompaction", "k"), completed("contextCompaction", "k"), error)
    notices = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert [each.code for each in notices] == ["provider.context_compacted"], "it was shortened well"


@pytest.mark.parametrize(
    ("heard", "code", "text"),
    [
        (notice("warning", message="Mind the step."), "provider.notice", "Mind the step."),
        (notice("model/rerouted", "th", "p1", fromModel="a", toModel="b"), "provider.model_rerouted", None),
        (completed("hookPrompt", "h", fragments=[{"text": "Be kind."}]), "provider.hook_prompt", "Be kind."),
        (completed("enteredReviewMode", "e", review="x"), "provider.review_started", None),
        (completed("exitedReviewMode", "e", review="x"), "provider.review_ended", None),
    ],
)
def test_what_happens_beside_the_conversation_is_a_notice(heard: bytes, code: str, text: str | None) -> None:
    (told,) = [event for event in running(heard).events() if isinstance(event, NoticeReported)]
    assert told.code == code
    assert text is None or told.text == text


def test_a_warning_with_no_turn_is_noted_and_a_long_one_cut() -> None:
    book = CodexPlaybook().opened().receive(notice("warning", message="w" * 3000))
    book.expect(Diagnostic("warning", "w" * 2000))


def test_what_is_known_and_not_shown_is_not_even_counted() -> None:
    book = CodexPlaybook().running()
    for method in sorted(QUIET):
        book.receive(notice(method, "th", "p1", itemId="x", delta="d", status="failed"), notice(method, None))
    assert book.outputs == []
    book.receive(notice("tomorrow/news"), notice("tomorrow/news", None))
    assert book.diagnostics() == ["notification.unknown"] * 2


def test_a_tool_server_that_does_not_start_is_noted() -> None:
    book = CodexPlaybook().opened()
    for status in ("starting", "failed"):
        book.receive(notice("mcpServer/startupStatus/updated", name="toy", status=status))
    book.expect(Diagnostic("mcp.not_started", "toy"))


@pytest.mark.case("FC-53")
@pytest.mark.parametrize(
    "heard",
    [
        started("odd", "o1"),
        completed("odd", "o1"),
        notice("item/started", "th", "p1", item={"type": "agentMessage"}),
        notice("item/completed", "th", "p1", item=[1]),
    ],
)
def test_an_item_of_an_unknown_kind_is_counted(heard: bytes) -> None:
    assert running(heard).diagnostics() == ["item.unknown"]
