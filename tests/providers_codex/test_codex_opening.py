"""Opening threads: what is sent each time, what an answer must say, and what came before a thread had its name."""

import pytest

from runtime.providers.codex.attestation import attest
from runtime.providers.codex.opening import OpenDeadline
from runtime.providers.normalized import ThreadOpened, ThreadOpenFailed, TurnAccepted
from runtime.providers.port import CloseThread, OpenThread, StartTimer, StartTurn, StopTimer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, B, Sent
from tests.providers_codex.codex_playbook import (
    CWD,
    A,
    CodexPlaybook,
    frame,
    notice,
    opened_result,
    request,
    turn_completed,
)

CAPABILITIES = attest("0.171.0", None).capabilities()

GONE = {"code": -32600, "message": "no rollout found for thread id 01a22d36-9679-7b52-8182-149417c49406"}


def opens(settings: dict[str, object] | None = None, thread_id: str | None = None) -> CodexPlaybook:
    """An attempt whose request is not answered yet."""
    return CodexPlaybook().ready().command(OpenThread(A, CWD, settings or {}, thread_id))


def failure(book: CodexPlaybook) -> ThreadOpenFailed:
    (failed,) = [event for event in book.events() if isinstance(event, ThreadOpenFailed)]
    return failed


def test_a_new_thread_is_told_every_setting_and_reports_what_holds() -> None:
    book = opens()
    book.expect(
        StartTimer(OpenDeadline(A), 60.0),
        Sent(
            {
                "id": 3,
                "method": "thread/start",
                "params": {
                    "cwd": CWD,
                    "approvalPolicy": "on-request",
                    "approvalsReviewer": "user",
                    "sandbox": "workspace-write",
                },
            }
        ),
    )
    book.reply("thread/start", result=opened_result("th", reasoningEffort="medium"))
    told = {
        "approvalPolicy": "on-request",
        "sandbox": "workspace-write",
        "model": "gpt-5.5",
        "reasoningEffort": "medium",
    }
    book.expect(StopTimer(OpenDeadline(A)), ThreadOpened("th", False, CAPABILITIES, told))
    assert CAPABILITIES.load
    assert CAPABILITIES.guidance


def test_a_resumed_thread_is_told_them_all_again() -> None:
    chosen = {"sandbox": "read-only", "approvalPolicy": "never", "model": "m", "reasoningEffort": "high"}
    book = opens(chosen, "old")
    assert book.frames[-1]["params"] == {
        "threadId": "old",
        "excludeTurns": True,
        "cwd": CWD,
        "approvalPolicy": "never",
        "approvalsReviewer": "user",
        "sandbox": "read-only",
        "model": "m",
        "config": {"model_reasoning_effort": "high"},
    }
    answer = {
        "sandbox": {"type": "readOnly"},
        "approvalPolicy": "never",
        "model": "m",
        "reasoningEffort": "high",
    }
    book.reply("thread/resume", result=opened_result("old", **answer))
    assert book.events()[-1] == ThreadOpened("old", True, CAPABILITIES, chosen)


@pytest.mark.parametrize(
    ("chosen", "answer", "code"),
    [
        pytest.param({"sandbox": "read-only"}, {}, "settings.invalid", id="a wider sandbox"),
        pytest.param({}, {"sandbox": {"type": "dangerFullAccess"}}, "settings.invalid", id="no sandbox"),
        pytest.param({}, {"sandbox": {"type": "externalSandbox"}}, "settings.invalid", id="another sandbox"),
        pytest.param({}, {"sandbox": {"type": "new"}}, "settings.invalid", id="an unknown sandbox"),
        pytest.param({}, {"sandbox": None}, "settings.invalid", id="no word of a sandbox"),
        pytest.param({"approvalPolicy": "untrusted"}, {}, "settings.invalid", id="asks less often"),
        pytest.param({}, {"approvalPolicy": "never"}, "settings.invalid", id="never asks"),
        pytest.param({}, {"approvalPolicy": {"granular": {}}}, "settings.invalid", id="a policy in parts"),
        pytest.param({}, {"approvalsReviewer": "auto_review"}, "settings.invalid", id="a model reviews"),
        pytest.param({}, {"cwd": "/elsewhere"}, "settings.invalid", id="another directory"),
        pytest.param({"model": "m"}, {}, "provider.model_unavailable", id="another model"),
        pytest.param({"reasoningEffort": "high"}, {}, "settings.invalid", id="another effort"),
    ],
)
@pytest.mark.parametrize("thread_id", [None, "th"], ids=["started", "resumed"])
def test_an_answer_that_is_not_what_was_asked_fails_and_the_thread_is_left(
    chosen: dict[str, object], answer: dict[str, object], code: str, thread_id: str | None
) -> None:
    book = opens(chosen, thread_id)
    book.reply("thread/start" if thread_id is None else "thread/resume", result=opened_result("th", **answer))
    assert failure(book).error.code == code
    assert not failure(book).not_resumable
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    assert book.frames[-1]["params"] == {"threadId": "th"}
    book.skip().receive(notice("thread/status/changed", "th", status={"type": "idle"}))
    assert book.diagnostics()[-1] == "thread.left"
    again = book.skip().command(OpenThread(A, CWD, {}, "th"))
    assert again.frames[-1]["method"] == "thread/resume", "the scope may try again"


def test_a_narrower_answer_is_taken_and_reported() -> None:
    book = opens({"sandbox": "danger-full-access", "approvalPolicy": "never"})
    book.reply(
        "thread/start",
        result=opened_result(sandbox={"type": "readOnly"}, approvalPolicy="untrusted", cwd="/w/"),
    )
    opened = book.events()[-1]
    assert isinstance(opened, ThreadOpened)
    assert opened.settings == {"approvalPolicy": "untrusted", "sandbox": "read-only", "model": "gpt-5.5"}


@pytest.mark.parametrize(
    "settings", [{"sandbox": "none"}, {"approvalPolicy": "sometimes"}, {"model": True}, {"sandbox": False}]
)
def test_a_setting_codex_does_not_know_is_not_sent(settings: dict[str, object]) -> None:
    book = opens(settings)
    assert failure(book).error.code == "settings.invalid"
    assert book.calls() == ["initialize", "thread/loaded/list"]


@pytest.mark.case("FC-07")
@pytest.mark.rule("RT-042")
@pytest.mark.parametrize(
    "message",
    [GONE["message"], "invalid session id: invalid character: found `n` at 1", "thread not found: th"],
)
def test_a_rollout_that_is_gone_is_not_resumable_and_said_once(message: str) -> None:
    book = opens(thread_id="th").reply("thread/resume", error={"code": -32600, "message": message})
    assert failure(book).not_resumable
    assert failure(book).error.code == "session.not_resumable"
    assert book.calls().count("thread/resume") == 1
    assert "thread/start" not in book.calls(), "no other thread in its place"


def test_a_thread_another_process_holds_is_not_gone() -> None:
    error = {"code": -32600, "message": "thread th already has an active writer"}
    failed = failure(opens(thread_id="th").reply("thread/resume", error=error))
    assert (failed.error.code, failed.error.retryable, failed.not_resumable) == (
        "provider.unavailable",
        True,
        False,
    )


def test_any_other_refusal_is_not_taken_for_a_lost_conversation() -> None:
    failed = failure(
        opens(thread_id="th").reply("thread/resume", error={"code": -32600, "message": "not now"})
    )
    assert (failed.error.code, failed.not_resumable) == ("provider.rejected", False)


def test_an_answer_without_a_thread_or_with_another_one_is_no_answer() -> None:
    assert failure(opens().reply("thread/start", result={})).error.code == "provider.protocol"
    book = opens(thread_id="th").reply("thread/resume", result=opened_result("other"))
    assert failure(book).error.code == "provider.protocol"


def test_an_attempt_that_is_never_answered_ends_and_a_late_answer_leaves_the_thread() -> None:
    book = opens().skip().timer(OpenDeadline(A))
    assert failure(book).error.code == "provider.timeout"
    book.skip().reply("thread/start", result=opened_result())
    book.expect(Sent({"id": 4, "method": "thread/unsubscribe", "params": {"threadId": "th"}}))
    assert book.timer(OpenDeadline(A)).outputs == []


def test_a_scope_that_leaves_while_its_thread_opens_leaves_nothing_behind() -> None:
    book = opens().skip().command(CloseThread(A))
    book.expect(StopTimer(OpenDeadline(A)))
    book.receive(request(0, "item/commandExecution/requestApproval", "th", itemId="c"))
    book.reply("thread/start", result=opened_result()).skip()
    assert book.frames[-1]["method"] == "thread/unsubscribe"
    assert book.replies() == [(0, {"decision": "decline"})]
    assert book.events() == []


@pytest.mark.case("FC-52")
def test_two_scopes_never_hold_one_thread() -> None:
    book = CodexPlaybook().opened(session_id="th").command(OpenThread(B, CWD, {}, "th"))
    (failed,) = book.events(B)
    assert isinstance(failed, ThreadOpenFailed)
    book.skip().opened(B, "tb").command(OpenThread(B, CWD, {}, "tb"))
    assert isinstance(book.events(B)[-1], ThreadOpenFailed), "nor does one scope hold two"


# --- before a thread has its name -------------------------------------------------------------------------------


@pytest.mark.rule("PR-010")
@pytest.mark.case("FC-24")
def test_what_comes_before_the_answer_that_names_the_thread_waits_for_it() -> None:
    """The rare order: a notice of the thread that is being made overtakes the answer of its request."""
    book = opens().skip()
    book.receive(
        notice("mcpServer/startupStatus/updated", "th", name="toy", status="starting"),
        notice("thread/name/updated", "th", threadName="A name"),
        notice("thread/name/updated", "zz", threadName="A stranger's"),
    )
    assert book.outputs == []
    book.reply("thread/start", result=opened_result("th"))
    names = [type(event).__name__ for event in book.events()]
    assert names == ["ThreadOpened", "TitleReported"]
    assert book.diagnostics() == ["thread.stray"], "nobody claimed the stranger's"


@pytest.mark.case("FC-31")
def test_a_request_that_nobody_claims_is_refused_once_all_names_are_known() -> None:
    book = opens().skip()
    book.receive(request(0, "mcpServer/elicitation/request", "zz"), request(1, "item/tool/call", "zz"))
    assert book.replies() == []
    book.command(OpenThread(B, CWD, {})).reply("thread/start", result=opened_result("tb"))
    assert book.replies() == [], "one more thread may still be named"
    book.receive(frame(id=3, result=opened_result("th")))
    assert [number for number, _ in book.replies()] == [0, 1]


def test_early_frames_are_bounded_and_a_request_over_the_bound_is_refused() -> None:
    book = opens().skip()
    book.receive(*[notice("thread/name/updated", "th", threadName=str(number)) for number in range(256)])
    book.receive(request(0, "item/fileChange/requestApproval", "th"))
    assert book.replies() == [(0, {"decision": "decline"})]
    book.reply("thread/start", result=opened_result("th"))
    assert len(book.events()) == 257


def test_frames_of_a_thread_that_is_resumed_are_heard_once_it_is_open() -> None:
    book = opens(thread_id="th").skip()
    book.receive(
        notice("turn/started", "th", turn={"id": "01a2-goal"}),
        request(0, "item/tool/call", "th", "01a2-goal"),
    )
    assert book.outputs == []
    book.reply("thread/resume", result=opened_result("th"))
    assert [type(event).__name__ for event in book.events()] == [
        "ThreadOpened",
        "TurnStartedByProvider",
        "NoticeReported",
    ]
    failed = opens(thread_id="th").receive(request(0, "item/fileChange/requestApproval", "th"))
    failed.reply("thread/resume", error=GONE)
    assert failed.replies() == [(0, {"decision": "cancel"})]


def test_a_prompt_waits_while_a_turn_nobody_waits_for_still_runs_in_the_thread() -> None:
    """Sent now, Codex would take it for a steer of that turn."""
    thread = {"id": "th", "status": {"type": "active", "activeFlags": []}}
    book = opens(thread_id="th").reply("thread/resume", result=opened_result("th") | {"thread": thread})
    book.skip().command(StartTurn(A, T1, (TextBlock("go"),)))
    assert "turn/start" not in book.calls()
    book.receive(
        notice("item/agentMessage/delta", "th", "old", itemId="m", delta="of the old turn"),
        request(0, "item/commandExecution/requestApproval", "th", "old", itemId="c", command="make"),
    )
    assert book.replies() == [(0, {"decision": "cancel"})]
    book.receive(turn_completed("interrupted", "old"))
    assert book.calls()[-1] == "turn/start"
    book.reply("turn/start", result={"turn": {"id": "p1"}})
    assert book.events()[-1] == TurnAccepted(T1, "p1")
    book.receive(notice("thread/status/changed", "th", status={"type": "idle"}))
    assert book.calls().count("turn/start") == 1
