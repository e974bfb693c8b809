"""An agent that loses a prompt sent right after a failed one is given a moment."""

import pytest

from runtime.providers.acp.failures import provider_error, runtime_error
from runtime.providers.acp.rest import RestOver
from runtime.providers.normalized import TurnAccepted, TurnEnded, TurnRejected
from runtime.providers.port import CancelTurn, CloseThread, Diagnostic, StartTimer, StartTurn, StopTimer
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, T2, A, Playbook, Sent, chunk

ENDED = {"stopReason": "end_turn"}


def rested_after_failure() -> Playbook:
    """An agent attested to lose such a prompt; one just failed."""
    book = Playbook().begin()
    info = {"name": "codex-acp", "version": "0.16.0"}
    book.reply("initialize", result={"protocolVersion": 1, "agentInfo": info}).opened().prompted()
    return book.reply("session/prompt", error={"code": -32603, "message": "no"}).expect(
        StartTimer(RestOver(A), 0.25), TurnRejected(T1, provider_error("provider.rejected"))
    )


def test_prompt_right_after_a_failed_one_waits_where_the_agent_would_lose_it() -> None:
    book = rested_after_failure().command(StartTurn(A, T2, (TextBlock("again"),))).expect()
    book.command(StartTurn(A, TurnId("t3"), (TextBlock("too"),))).expect(
        TurnRejected(TurnId("t3"), runtime_error("session.busy"))
    )
    book.receive(chunk("sa", "late words of the failed one")).expect(
        Diagnostic("update.no_turn", "ContentChunk")
    )
    prompt = {"sessionId": "sa", "prompt": [{"type": "text", "text": "again"}]}
    book.timer(RestOver(A)).expect(Sent({"id": 4, "method": "session/prompt", "params": prompt}))
    book.written().expect(TurnAccepted(T2))
    book.reply("session/prompt", result=ENDED).expect(TurnEnded(T2, "completed", "end_turn"))


def test_prompt_after_the_rest_is_sent_at_once() -> None:
    book = rested_after_failure().timer(RestOver(A)).expect().prompted(turn_id=T2)
    book.reply("session/prompt", result=ENDED).expect(TurnEnded(T2, "completed", "end_turn"))


@pytest.mark.rule("RT-008")
def test_stop_of_a_waiting_prompt_follows_it_and_the_agent_confirms_it() -> None:
    book = rested_after_failure().command(StartTurn(A, T2, (TextBlock("again"),))).expect()
    book.command(CancelTurn(A, T2)).command(CancelTurn(A, T2)).expect()
    book.timer(RestOver(A))
    assert [sent["method"] for sent in book.frames[-2:]] == ["session/prompt", "session/cancel"]
    book.skip().reply("session/prompt", result={"stopReason": "cancelled"}).expect(
        TurnAccepted(T2), TurnEnded(T2, "canceled", "cancelled")
    )


def test_conversation_that_is_left_while_a_prompt_waits_sends_nothing_more_of_it() -> None:
    book = rested_after_failure().command(StartTurn(A, T2, (TextBlock("again"),))).expect()
    book.command(CloseThread(A)).expect(StopTimer(RestOver(A)))
    book.timer(RestOver(A)).expect()
    book.opened(session_id="sa2").timer(RestOver(A)).expect()
