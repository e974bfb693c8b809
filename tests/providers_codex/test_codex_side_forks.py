"""Ephemeral forks on Codex's wire: what is sent in which order, what an answer has to say, and what a failure leaves."""

import pytest

from runtime.providers.normalized import (
    ConnectionLost,
    ProviderEvent,
    SideForked,
    TextChunk,
    ThreadOpenFailed,
)
from runtime.providers.port import CancelTurn, CloseThread, Deliver, OpenSide, OpenThread, Scope, StartTurn
from runtime.providers.side_words import BOUNDARY, RULES
from store.canonical.common import TurnError
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A
from tests.providers_codex.codex_playbook import (
    CWD,
    T1,
    T2,
    CodexPlaybook,
    delta,
    frame,
    notice,
    opened_result,
    request,
    started,
    turn_completed,
    turn_started,
)

SIDE = Scope("side", "w", "side-1")
OTHER_SIDE = Scope("side", "w", "side-2")


def forked(child: str = "child", source: str = "th", **members: object) -> dict[str, object]:
    """The result of `thread/fork`."""
    thread = {
        "id": child,
        "forkedFromId": source,
        "ephemeral": True,
        "path": None,
        "turns": [],
        "status": {"type": "idle"},
    }
    changed = members.pop("thread", {})
    assert isinstance(changed, dict)
    return opened_result(child, thread={**thread, **changed}, **members)


def with_source(settings: dict[str, object] | None = None) -> CodexPlaybook:
    """A source in the middle of a turn."""
    book = CodexPlaybook().ready().command(OpenThread(A, CWD, settings or {}))
    book.reply("thread/start", result=opened_result("th"))
    book.command(StartTurn(A, T1, (TextBlock("work"),))).reply("turn/start", result={"turn": {"id": "p1"}})
    book.receive(turn_started("p1"))
    book.skip()
    return book


def opening(scope: Scope = SIDE, book: CodexPlaybook | None = None, **members: object) -> CodexPlaybook:
    """A fork whose request is not answered yet."""
    return (book or with_source()).command(OpenSide(scope, "th", CWD, {}, **members))  # type: ignore[arg-type]


def opened(book: CodexPlaybook | None = None) -> CodexPlaybook:
    """A Side that takes prompts."""
    book = opening(book=book).reply("thread/fork", result=forked()).reply("thread/inject_items", result={})
    return book.skip() or book


def told(book: CodexPlaybook) -> list[ProviderEvent]:
    """The events of all scopes, in order."""
    return [output.event for output in book.everything if isinstance(output, Deliver)]


def events(book: CodexPlaybook) -> list[ProviderEvent]:
    """Those of the Sides alone."""
    return [*book.events(SIDE), *book.events(OTHER_SIDE)]


def failures(book: CodexPlaybook) -> list[TurnError]:
    return [event.error for event in told(book) if isinstance(event, ThreadOpenFailed)]


@pytest.mark.rule("PR-009", "RT-128")
def test_a_fork_says_all_of_itself_and_gets_its_boundary_before_it_opens() -> None:
    book = opening(instructions="Be short.")
    fork = book.frames[-1]
    rules = f"{RULES}\n\nBe short."
    assert fork["method"] == "thread/fork"
    assert fork["params"] == {
        "threadId": "th",
        "ephemeral": True,
        "excludeTurns": True,
        "cwd": CWD,
        "approvalPolicy": "on-request",
        "approvalsReviewer": "user",
        "sandbox": "workspace-write",
        "model": "gpt-5.5",
        "developerInstructions": rules,
    }
    book.reply("thread/fork", result=forked())
    boundary = book.frames[-1]
    assert boundary["method"] == "thread/inject_items"
    assert boundary["params"] == {
        "threadId": "child",
        "items": [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": f"{BOUNDARY}\n\n{rules}"}],
            }
        ],
    }
    assert not [event for event in told(book) if isinstance(event, SideForked)]
    book.reply("thread/inject_items", result={})
    (opened_as,) = [event for event in told(book) if isinstance(event, SideForked)]
    assert (opened_as.provider_session_id, opened_as.source_session_id) == ("child", "th")
    assert opened_as.ephemeral
    assert opened_as.shown_turns == 0
    assert opened_as.settings == {
        "approvalPolicy": "on-request",
        "sandbox": "workspace-write",
        "model": "gpt-5.5",
    }


@pytest.mark.rule("RT-129")
def test_every_turn_of_a_side_carries_its_rules() -> None:
    book = opened()
    for turn_id, provider_id in ((T1, "c1"), (T2, "c2")):
        book.command(StartTurn(SIDE, turn_id, (TextBlock("ask"),)))
        sent = book.frames[-1]["params"]
        assert sent["threadId"] == "child"
        assert sent["collaborationMode"] == {
            "mode": "default",
            "settings": {"model": "gpt-5.5", "reasoning_effort": None, "developer_instructions": RULES},
        }
        book.reply("turn/start", result={"turn": {"id": provider_id}})
        book.receive(turn_completed(turn_id=provider_id, thread_id="child"))


def test_a_turn_of_the_source_carries_none() -> None:
    book = with_source()
    (start,) = [sent for sent in book.frames if sent.get("method") == "turn/start"]
    assert "collaborationMode" not in start["params"]


@pytest.mark.rule("RT-109", "PR-010")
@pytest.mark.parametrize(
    "answer",
    [
        forked(thread={"ephemeral": False}),
        forked(thread={"ephemeral": None}),
        forked(thread={"forkedFromId": "somebody"}),
        forked(thread={"forkedFromId": None}),
        forked(thread={"turns": [{"id": "p0"}]}),
        forked(thread={"turns": None}),
        forked(thread={"path": "/home/rollout.jsonl"}),
        forked(sandbox={"type": "dangerFullAccess"}),
        forked(approvalPolicy="never"),
        forked(cwd="/elsewhere"),
        forked(model=None),
        forked(model="another"),
    ],
)
def test_a_fork_that_is_not_what_was_asked_for_is_left_and_failed(answer: dict[str, object]) -> None:
    book = opening().reply("thread/fork", result=answer)
    assert len(failures(book)) == 1
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    assert book.frames[-1]["params"] == {"threadId": "child"}
    assert "thread/inject_items" not in book.calls()
    assert "thread/delete" not in book.calls()


@pytest.mark.rule("RT-111")
def test_a_fork_without_its_boundary_is_left_and_failed() -> None:
    book = opening().reply("thread/fork", result=forked())
    book.reply("thread/inject_items", error={"code": -32600, "message": "no"})
    assert len(failures(book)) == 1
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    book.skip()
    book.receive(delta("late", thread_id="child", turn_id="x"))
    assert not [event for event in told(book) if isinstance(event, TextChunk)]


def test_a_refused_fork_tells_why() -> None:
    book = opening().reply(
        "thread/fork", error={"code": -32600, "message": "no rollout found for thread id th"}
    )
    (error,) = failures(book)
    assert error.code == "provider.rejected"
    assert book.frames[-1]["method"] == "thread/fork"


def test_the_answer_may_not_name_the_source_itself() -> None:
    book = opening().reply("thread/fork", result=forked("th"))
    assert len(failures(book)) == 1
    assert "thread/unsubscribe" not in book.calls()


@pytest.mark.rule("RT-109")
def test_a_program_that_was_not_attested_for_it_is_not_asked() -> None:
    book = CodexPlaybook().begin()
    book.reply("initialize", result={"userAgent": "greenroom/0.1.0 (Debian; x) unknown (greenroom; 0)"})
    known = "`thread/start`, `thread/resume`, `thread/unsubscribe`, `turn/start`"
    message = f"Invalid request: unknown variant `x`, expected one of {known}"
    book.receive(_answer_to_last(book, {"code": -32600, "message": message}))
    book.reply("thread/loaded/list", result={"data": []})
    opening(book=book)
    (error,) = failures(book)
    assert error.code == "capability.unsupported"
    assert "thread/fork" not in book.calls()


def _answer_to_last(book: CodexPlaybook, error: dict[str, object]) -> bytes:
    return frame(id=book.frames[-1]["id"], error=error)


@pytest.mark.rule("RT-112", "PR-010")
def test_what_comes_before_the_answer_is_told_once_the_fork_is_open_and_strangers_are_not() -> None:
    book = opening()
    book.receive(notice("mcpServer/startupStatus/updated", "child", name="toy", status="starting"))
    book.receive(notice("thread/name/updated", "child", threadName="Early"))
    book.receive(notice("thread/name/updated", "stranger", threadName="Nobody's"))
    book.reply("thread/fork", result=forked())
    book.reply("thread/inject_items", result={})
    kinds = [type(event).__name__ for event in told(book)]
    assert kinds.index("SideForked") < kinds.index("TitleReported")
    assert kinds.count("TitleReported") == 1


@pytest.mark.rule("PR-010")
def test_what_came_early_for_a_child_of_wrong_lineage_is_dropped_and_its_asks_are_cancelled() -> None:
    book = opening()
    book.receive(request(7, "item/commandExecution/requestApproval", "child", "x", itemId="i", command="x"))
    book.reply("thread/fork", result=forked(thread={"forkedFromId": "somebody"}))
    assert book.replies() == [(7, {"decision": "cancel"})]


def test_forks_of_one_connection_wait_for_each_other() -> None:
    book = opening()
    opening(OTHER_SIDE, book)
    assert book.calls().count("thread/fork") == 1
    book.reply("thread/fork", result=forked("child"))
    assert book.calls().count("thread/fork") == 2
    book.reply("thread/fork", result=forked("child-2"))
    book.reply("thread/inject_items", result={})
    names = [event.provider_session_id for event in told(book) if isinstance(event, SideForked)]
    assert names == ["child-2"]


@pytest.mark.rule("RT-111")
def test_a_scope_that_leaves_before_the_answer_leaves_no_child_and_holds_nobody_up() -> None:
    book = opening()
    first = book.frames[-1]["id"]
    opening(OTHER_SIDE, book)
    book.command(CloseThread(SIDE))
    assert book.calls().count("thread/fork") == 2
    book.receive(frame(id=first, result=forked("child")))
    assert book.frames[-1]["params"] == {"threadId": "child"}
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    assert not events(book)
    book.receive(request(9, "item/commandExecution/requestApproval", "child", "x", itemId="i", command="x"))
    assert book.replies() == [(9, {"decision": "cancel"})]


def test_a_scope_that_leaves_while_the_boundary_is_put_in_leaves_its_child() -> None:
    book = opening().reply("thread/fork", result=forked())
    book.command(CloseThread(SIDE))
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    book.reply("thread/inject_items", result={})
    assert not events(book)


@pytest.mark.rule("RT-114", "RT-119")
def test_source_and_side_keep_to_themselves_on_one_connection() -> None:
    book = opened()
    book.command(StartTurn(SIDE, T2, (TextBlock("ask"),))).reply("turn/start", result={"turn": {"id": "c1"}})
    book.receive(started("agentMessage", "m1", "c1", "child", text=""))
    book.receive(started("agentMessage", "m1", "p1", "th", text=""))
    book.receive(delta("side", turn_id="c1", thread_id="child"))
    book.receive(delta("main", turn_id="p1"))
    chunks = [(event.turn_id, event.text) for event in told(book) if isinstance(event, TextChunk)]
    assert chunks == [(T2, "side"), (T1, "main")]
    book.command(CancelTurn(SIDE, T2))
    assert book.frames[-1]["params"] == {"threadId": "child", "turnId": "c1"}
    book.receive(turn_completed("interrupted", "c1", "child"))
    book.command(CloseThread(SIDE))
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    assert [sent["params"] for sent in book.frames if sent.get("method") == "turn/interrupt"] == [
        {"threadId": "child", "turnId": "c1"}
    ]


def test_a_fork_may_do_no_more_than_its_source_holds_now() -> None:
    book = with_source({"sandbox": "danger-full-access", "approvalPolicy": "never"})
    narrowed = {"approvalPolicy": "untrusted", "sandboxPolicy": {"type": "readOnly"}}
    book.receive(notice("thread/settings/updated", threadSettings=narrowed))
    book.command(OpenSide(SIDE, "th", CWD, {"sandbox": "danger-full-access", "approvalPolicy": "never"}))
    params = book.frames[-1]["params"]
    assert (params["sandbox"], params["approvalPolicy"]) == ("read-only", "untrusted")


def test_a_connection_that_is_lost_tells_the_fork_in_the_making() -> None:
    book = opening()
    lost = book.adapter.lost(TurnError("provider.lost", "gone", "runtime"))
    assert {output.scope for output in lost if isinstance(output, Deliver)} == {A, SIDE}
    assert all(isinstance(output, Deliver) and isinstance(output.event, ConnectionLost) for output in lost)
