"""What Claude Code lets out of keys, tokens and places on each way an error has: nobody sees it."""

import json

import pytest

from runtime.providers.normalized import TurnEnded
from runtime.providers.port import CancelTurn
from tests.doubles.leaks import leaked
from tests.doubles.secret_kinds import SAID
from tests.providers_claude.claude_playbook import T1, A, ClaudePlaybook, frame, result, system

WORDS = "\n".join(SAID.values())
FAILED = result(is_error=True, subtype="error_during_execution", result=WORDS, errors=[WORDS])
LETS_OUT = {
    "failed": [FAILED],
    "api error": [
        result(
            is_error=True,
            terminal_reason="api_error",
            result=WORDS,
            api_error_type=WORDS,
            api_error_status=500,
        )
    ],
    "retried": [system("api_retry", error=WORDS, message=WORDS, attempt=1), FAILED],
    "facts": [system(WORDS, message=WORDS), system("status", status=WORDS), FAILED],
    "noise": [
        *(json.dumps(words).encode()[1:] + b"\n" for words in SAID.values()),
        frame(WORDS, why=WORDS),
        frame("control_response", response={"subtype": "error", "request_id": "x", "error": WORDS}),
        frame("control_request", request_id="r9", request={"subtype": WORDS, "why": WORDS}),
        FAILED,
    ],
}


@pytest.mark.rule("PR-024")
@pytest.mark.parametrize("way", LETS_OUT)
def test_nothing_that_claude_code_lets_out_as_it_fails_is_seen(way: str) -> None:
    book = ClaudePlaybook().opened().running().receive(*LETS_OUT[way])
    assert [event for event in book.events() if isinstance(event, TurnEnded)]
    assert leaked(book.everything) == []


@pytest.mark.rule("PR-024")
def test_a_stop_that_is_refused_with_such_words_tells_none_of_them() -> None:
    book = ClaudePlaybook().opened().running().command(CancelTurn(A, T1))
    asked = next(sent for sent in book.written_frames() if sent.get("type") == "control_request")
    refused = {"subtype": "error", "request_id": asked["request_id"], "error": WORDS}
    book.receive(frame("control_response", response=refused), FAILED)
    assert leaked(book.everything) == []
