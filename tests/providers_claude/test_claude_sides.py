"""Sides on the wire: a process that hosts one fork, and questions beside a conversation that nothing else has."""

import pytest

from runtime.providers.claude_code.launching import launch_of
from runtime.providers.hosting import HostedConversation, HostedFork
from runtime.providers.normalized import (
    ConnectionLost,
    ItemEnded,
    ProviderEvent,
    SideForked,
    TextChunk,
    ThreadOpened,
    ThreadOpenFailed,
    TurnAccepted,
    TurnEnded,
    TurnReconciled,
    TurnRejected,
)
from runtime.providers.port import (
    CancelTurn,
    CloseThread,
    Deliver,
    GiveUp,
    OpenSide,
    ReconcileTurn,
    Scope,
    StartTurn,
)
from runtime.providers.side_words import BOUNDARY, RULES, side_rules
from store.canonical.common import Settings, TurnError
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers_claude.claude_playbook import (
    CWD,
    SESSION,
    T1,
    T2,
    A,
    ClaudePlaybook,
    answer,
    init,
    initialized,
    moved,
    refusal,
    result,
    said,
    system,
)

FORK = "00000000-0000-7000-8000-00000000000f"
SIDE = Scope("side", "w", "s")
OTHER = Scope("side", "w", "o")
NO_FORK = HostedConversation(SESSION, True, {})


def opening(scope: Scope = SIDE, source: str = SESSION, **settings: str) -> OpenSide:
    return OpenSide(scope, source, CWD, settings, "In verse.")


def forking(held: Settings | None = None, **settings: str) -> ClaudePlaybook:
    fork = HostedFork(FORK, held if held is not None else settings, "In verse.")
    return ClaudePlaybook(resumes=True, settings=settings, fork=fork).begin()


def forked(**settings: str) -> ClaudePlaybook:
    return forking(**settings).receive(initialized()).command(opening(**settings)).skip()


def saying(text: str = "Which trees?", turn_id: TurnId = T1, scope: Scope = SIDE) -> StartTurn:
    return StartTurn(scope, turn_id, (TextBlock(text),))


def told(book: ClaudePlaybook, scope: Scope = SIDE) -> list[ProviderEvent]:
    return [each.event for each in book.everything if isinstance(each, Deliver) and each.scope == scope]


def texts_sent(book: ClaudePlaybook) -> list[str]:
    (sent,) = [each for each in book.written_frames() if each["type"] == "user"]
    return [block["text"] for block in sent["message"]["content"]]  # type: ignore[index]


# --- a process for one fork -------------------------------------------------------------------------------------


@pytest.mark.rule("RT-120", "RT-127")
@pytest.mark.parametrize(
    ("chosen", "held", "mode"),
    [
        ("default", "acceptEdits", "default"),
        ("acceptEdits", "plan", "plan"),
        ("acceptEdits", "acceptEdits", "acceptEdits"),
    ],
)
def test_a_fork_begins_under_no_more_than_its_source_was_to_do_and_does(chosen: str, held: str, mode: str):
    fork = HostedFork(FORK, {"permissionMode": held}, "secret rules")
    settings = {"permissionMode": chosen, "model": "opus"}
    launch = launch_of(HostedConversation(SESSION, True, settings, fork))
    assert launch.arguments[:4] == (
        f"--resume={SESSION}",
        f"--session-id={FORK}",
        "--fork-session",
        "--no-session-persistence",
    )
    assert launch.arguments[-2:] == (f"--permission-mode={mode}", "--model=opus")
    assert "--system-prompt-snapshot=off" in launch.arguments
    assert launch.environment == {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}
    assert not any("secret" in word for word in launch.arguments), "what a process list shows"
    assert not launch_of(NO_FORK).environment


@pytest.mark.rule("RT-128", "RT-129")
def test_its_rules_stand_above_it_and_its_boundary_before_its_first_prompt_alone():
    book = forking()
    (initialize,) = book.written_frames()
    assert initialize["request"] == {
        "subtype": "initialize",
        "hooks": None,
        "appendSystemPrompt": side_rules("In verse."),
    }
    assert RULES in side_rules("In verse.")
    book.receive(initialized()).command(opening())
    assert told(book) == [
        SideForked(FORK, SESSION, ephemeral=True, shown_turns=0, settings={"permissionMode": "default"})
    ]
    book.skip().command(saying())
    assert texts_sent(book) == [BOUNDARY, "Which trees?"]
    book.receive(moved(T1, "started"), init(session=FORK), said("m1", "Elms."), result())
    assert next(event for event in told(book) if isinstance(event, TurnEnded)).outcome == "completed"
    book.skip().command(saying("And who?", T2))
    assert texts_sent(book) == ["And who?"]


def test_a_first_prompt_that_never_began_leaves_the_boundary_to_the_next():
    book = forked().command(saying())
    assert texts_sent(book)[0] == BOUNDARY
    book.receive(moved(T1, "queued")).command(CancelTurn(SIDE, T1)).receive(moved(T1, "cancelled")).skip()
    book.command(saying("Again?", T2))
    assert texts_sent(book) == [BOUNDARY, "Again?"]


@pytest.mark.rule("RT-109")
def test_a_process_that_works_on_another_conversation_than_its_fork_is_given_up():
    book = forked().command(saying()).receive(moved(T1, "started"), init(session=SESSION))
    (given_up,) = [each for each in book.everything if isinstance(each, GiveUp)]
    assert given_up.error.code == "provider.protocol"


@pytest.mark.rule("RT-109")
@pytest.mark.parametrize(("version", "source"), [("2.9.0", SESSION), ("2.1.332", "another")])
def test_an_unattested_version_and_another_source_are_no_side(version: str, source: str):
    book = forking().receive(initialized(version)).command(opening(source=source))
    (failed,) = told(book)
    assert isinstance(failed, ThreadOpenFailed)


# --- questions --------------------------------------------------------------------------------------------------


def asked_beside(book: ClaudePlaybook) -> str:
    """A question on its way; the id of the request."""
    book.command(opening()).skip().command(saying())
    (sent,) = book.written_frames()
    assert sent["request"] == {"subtype": "side_question", "question": "In verse.\n\nWhich trees?"}
    return str(sent["request_id"])


@pytest.mark.rule("RT-107", "RT-114")
def test_a_question_is_answered_beside_the_turn_that_runs():
    book = ClaudePlaybook().opened().running()
    request = asked_beside(book)
    (opened,) = told(book)
    assert isinstance(opened, SideForked)
    assert (opened.source_session_id, opened.turns_max) == (SESSION, 1)
    assert opened.provider_session_id != SESSION
    book.receive(system("control_request_progress", request_id=request, status="started"))
    assert told(book)[1:] == [TurnAccepted(T1)]
    book.command(ReconcileTurn(SIDE, T1)).receive(answer(request, response="Elms.", synthetic=False))
    assert told(book)[2:] == [
        TurnReconciled(T1, "running"),
        TextChunk(T1, "answer", "text", "Elms."),
        ItemEnded(T1, "answer"),
        TurnEnded(T1, "completed", "end_turn"),
    ]
    book.command(saying("More?", T2))
    (rejected,) = [event for event in told(book) if isinstance(event, TurnRejected)]
    assert rejected.error.code == "capability.unsupported"
    assert told(book, A) == [event for event in told(book, A) if getattr(event, "turn_id", T1) == T1]


@pytest.mark.rule("PR-025")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ({"response": "(API error: 401 sign in)", "synthetic": True}, "provider.rejected"),
        ({"response": None, "synthetic": False}, "provider.rejected"),
    ],
)
def test_words_that_claude_code_puts_in_the_models_place_are_no_answer(reply: dict[str, object], code: str):
    book = ClaudePlaybook().opened()
    book.receive(answer(asked_beside(book), **reply))
    (ended,) = [event for event in told(book) if isinstance(event, TurnEnded)]
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert ended.error.code == code
    assert not [event for event in told(book) if isinstance(event, TextChunk)]


def test_a_program_that_knows_no_questions_rejects_them():
    book = ClaudePlaybook().opened()
    book.receive(refusal(asked_beside(book)))
    (rejected,) = [event for event in told(book) if isinstance(event, TurnRejected)]
    assert rejected.error.code == "capability.unsupported"


@pytest.mark.rule("RT-114")
def test_a_question_is_withdrawn_once_and_ends_by_the_answer_to_it():
    book = ClaudePlaybook().opened()
    request = asked_beside(book)
    book.command(CancelTurn(SIDE, T2)).command(CancelTurn(SIDE, T1)).command(CancelTurn(SIDE, T1))
    assert book.written_frames() == [{"type": "control_cancel_request", "request_id": request}]
    book.receive(refusal(request, code=""))
    (ended,) = [event for event in told(book) if isinstance(event, TurnEnded)]
    assert ended.outcome == "canceled"


def test_a_side_that_is_closed_withdraws_its_question_and_hears_nothing_more():
    book = ClaudePlaybook().opened()
    request = asked_beside(book)
    book.command(CloseThread(SIDE))
    assert [each["type"] for each in book.written_frames()] == ["control_cancel_request"]
    book.receive(answer(request, response="Elms.", synthetic=False))
    assert len(told(book)) == 1


@pytest.mark.rule("RT-118", "RT-131")
def test_sides_outlive_the_close_of_their_source_and_end_with_its_process():
    book = ClaudePlaybook().opened()
    request = asked_beside(book)
    book.command(CloseThread(A)).receive(answer(request, response="Elms.", synthetic=False))
    assert isinstance(told(book)[-1], TurnEnded)
    error = TurnError("provider.lost", "gone", "runtime")
    lost = [each for each in book.adapter.lost(error) if isinstance(each, Deliver)]
    assert lost == [Deliver(SIDE, ConnectionLost(error))]


@pytest.mark.rule("RT-109")
def test_nothing_is_asked_beside_a_conversation_that_is_not_open_here():
    book = ClaudePlaybook().begin().receive(initialized()).command(opening())
    (failed,) = told(book)
    assert isinstance(failed, ThreadOpenFailed)
    other = ClaudePlaybook().opened().command(opening(OTHER, "another"))
    assert isinstance(told(other, OTHER)[0], ThreadOpenFailed)


@pytest.mark.rule("RT-109")
def test_a_conversation_that_its_targets_command_does_not_keep_is_not_told_to_be_loadable():
    book = ClaudePlaybook(command=("claude", "--no-session-persistence")).opened()
    (opened,) = [event for event in told(book, A) if isinstance(event, ThreadOpened)]
    assert opened.capabilities is not None
    assert not opened.capabilities.load
    assert opened.capabilities.side
