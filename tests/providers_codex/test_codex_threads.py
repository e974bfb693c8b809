"""A thread beside its prompts: turns Codex begins by itself, figures, its name, its loss, and other threads."""

import pytest

from runtime.providers.normalized import (
    TextChunk,
    ThreadOpenFailed,
    TitleReported,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
    TurnStartedByProvider,
    UsageReported,
)
from runtime.providers.port import StartTurn
from store.canonical.common import Usage
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, T2, B
from tests.providers_codex.codex_playbook import (
    A,
    CodexPlaybook,
    completed,
    delta,
    notice,
    started,
    turn_completed,
    turn_started,
)

GOAL = "01a22d38-b4f0-7ec0-a05a-d599ec11d2b2"


def a_prompt() -> CodexPlaybook:
    """A prompt whose request is not answered yet."""
    return CodexPlaybook().opened().command(StartTurn(A, T1, (TextBlock("go"),)))


def kinds(book: CodexPlaybook) -> list[str]:
    return [type(event).__name__ for event in book.events()]


# --- turns nobody sent a prompt for -----------------------------------------------------------------------------


def test_goals_begin_turns_by_themselves_back_to_back() -> None:
    book = CodexPlaybook().opened()
    second = GOAL[:-1] + "3"
    for turn_id in (GOAL, second):
        book.receive(
            turn_started(turn_id), delta("step", turn_id=turn_id), turn_completed("completed", turn_id)
        )
    assert kinds(book)[1:] == ["TurnStartedByProvider", "TextChunk", "ItemEnded", "TurnEnded"] * 2
    assert book.events()[1] == TurnStartedByProvider(GOAL, GOAL)  # type: ignore[arg-type]
    assert book.prompted().events()[-1] == TurnAccepted(T1, "p1")


def test_a_review_is_one_turn_though_it_is_announced_under_another_id() -> None:
    book = CodexPlaybook().opened()
    book.receive(started("enteredReviewMode", "e", "r1"), completed("enteredReviewMode", "e", "r1"))
    book.receive(turn_started("r2"), started("agentMessage", "inner", "r1"), delta("half", "inner", "r1"))
    book.receive(completed("agentMessage", "m2", "r1", text="fine"), turn_completed("completed", "r1"))
    assert kinds(book)[1:] == [
        "TurnStartedByProvider",
        "NoticeReported",
        "TextChunk",
        "TextChunk",
        "ItemEnded",
        "ItemEnded",
        "TurnEnded",
    ]
    book.skip().receive(delta("late", turn_id="r2"))
    assert book.diagnostics() == ["update.late"]


@pytest.mark.parametrize(
    "heard", [turn_completed("completed", "p7"), delta("x", turn_id="p7"), turn_started("no id: a/b")]
)
def test_a_turn_is_not_begun_by_its_end_nor_by_pieces_nor_under_an_impossible_name(heard: bytes) -> None:
    book = CodexPlaybook().opened().receive(heard)
    assert kinds(book) == ["ThreadOpened"]
    assert book.diagnostics() == ["turn.unknown"]


# --- the thread as a whole --------------------------------------------------------------------------------------


def test_usage_is_the_threads_total_and_a_turns_share_of_it() -> None:
    def used(total: int, last: int, turn_id: str) -> bytes:
        figures = {"inputTokens": total, "outputTokens": 1, "totalTokens": total}
        newest = {"inputTokens": last, "outputTokens": 0, "totalTokens": last}
        usage = {"total": figures, "last": newest, "modelContextWindow": 1000}
        return notice("thread/tokenUsage/updated", "th", turn_id, tokenUsage=usage)

    book = CodexPlaybook().running().receive(used(100, 100, "p1"), used(100, 7900, "p1"), turn_completed())
    reported, end = book.events()[-2:]
    assert reported == UsageReported(
        Usage(input_tokens=100, output_tokens=1, total_tokens=100, context_tokens=7900, context_window=1000),
        T1,
    )
    assert isinstance(end, TurnEnded)
    assert end.usage == Usage(input_tokens=100, output_tokens=1, total_tokens=100)

    book = CodexPlaybook().opened(resumes=True).receive(used(500, 60, "old")).prompted()
    book.receive(used(560, 60, "p1"), turn_completed())
    end = book.events()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage is not None
    assert end.usage.total_tokens == 60

    book = CodexPlaybook().opened(resumes=True).prompted().receive(used(560, 60, "p1"), turn_completed())
    end = book.events()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage is not None
    assert end.usage.total_tokens == 60, (
        "without an earlier figure, what the first request used is subtracted"
    )


def test_a_title_is_told_and_an_empty_one_is_not() -> None:
    book = (
        CodexPlaybook()
        .opened()
        .receive(notice("thread/name/updated", threadName="Oaks"), notice("thread/name/updated"))
    )
    book.expect(TitleReported("Oaks"))


def test_a_thread_codex_unloads_ends_its_turn_and_must_be_loaded_again() -> None:
    book = CodexPlaybook().running().receive(notice("thread/closed"))
    end, gone = book.events()[-2:]
    assert isinstance(end, TurnEnded)
    assert isinstance(gone, ThreadOpenFailed)
    assert (end.outcome, gone.error.code, gone.not_resumable) == ("failed", "provider.lost", False)
    book.opened(session_id="th", resumes=True)
    assert book.prompted(turn_id=T2).events()[-1] == TurnAccepted(T2, "p1")


def test_a_prompt_for_a_thread_that_was_unloaded_in_silence_finds_that_out() -> None:
    book = a_prompt().reply("turn/start", error={"code": -32600, "message": "thread not found: th"})
    rejected, gone = book.events()[-2:]
    assert isinstance(rejected, TurnRejected)
    assert isinstance(gone, ThreadOpenFailed)
    assert rejected.error.code == gone.error.code == "provider.lost"


@pytest.mark.case("FC-24")
def test_threads_of_one_connection_share_nothing() -> None:
    book = CodexPlaybook().opened(A, "ta").opened(B, "tb").prompted(A, T1, provider_turn_id="p1")
    book.prompted(B, T2, provider_turn_id="p1").skip()
    book.receive(
        delta("for a", thread_id="ta"),
        delta("for b", thread_id="tb"),
        turn_completed("completed", "p1", "tb"),
        delta(" and on", thread_id="ta"),
    )
    assert [type(event).__name__ for event in book.events(B)][-3:] == ["TextChunk", "ItemEnded", "TurnEnded"]
    assert "".join(event.text for event in book.events(A) if isinstance(event, TextChunk)) == "for a and on"
    params = [frame["params"] for frame in book.frames if frame["method"] in ("thread/start", "turn/start")]
    assert all("tb" not in str(each) or each["threadId"] == "tb" for each in params)
