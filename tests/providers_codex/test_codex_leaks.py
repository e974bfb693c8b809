"""What Codex lets out of keys, tokens and places on each way an error has: nobody sees it."""

import json

import pytest

from runtime.providers.normalized import TurnEnded, TurnRejected
from runtime.providers.port import CancelTurn, GuideTurn, StartTurn
from store.canonical.message import TextBlock
from tests.doubles.leaks import leaked
from tests.doubles.secret_kinds import SAID
from tests.providers_codex.codex_playbook import T1, A, CodexPlaybook, frame, notice, turn_completed

WORDS = "\n".join(SAID.values())
ERROR = {"code": -32600, "message": WORDS, "data": {"details": WORDS, "input_error_code": WORDS}}
LETS_OUT = {
    "prompt refused": lambda book: book.command(StartTurn(A, T1, (TextBlock("go"),))).reply(
        "turn/start", error=ERROR
    ),
    "turn failed": lambda book: book.running().receive(
        turn_completed(
            "failed", error={"message": WORDS, "codexErrorInfo": "other", "additionalDetails": WORDS}
        )
    ),
    "unknown failure": lambda book: book.running().receive(
        turn_completed("failed", error={"message": WORDS, "codexErrorInfo": {"novelty": {"why": WORDS}}})
    ),
    "error": lambda book: book.running().receive(
        notice("error", turn_id="p1", error={"message": WORDS}, willRetry=True),
        notice("error", turn_id="p1", error={"message": WORDS, "codexErrorInfo": "contextWindowExceeded"}),
        turn_completed("failed", error={"message": WORDS}),
    ),
    "stop refused": lambda book: (
        book.running()
        .command(CancelTurn(A, T1))
        .reply("turn/interrupt", error=ERROR)
        .receive(turn_completed("failed", error={"message": WORDS}))
    ),
    "guidance refused": lambda book: (
        book.running()
        .command(GuideTurn(A, T1, "g1", (TextBlock("more"),)))
        .reply("turn/steer", error=ERROR)
        .receive(turn_completed("failed", error={"message": WORDS}))
    ),
    "warnings": lambda book: book.running().receive(
        notice("warning", message=WORDS),
        notice("configWarning", None, summary=WORDS, details=WORDS),
        notice("deprecationNotice", None, summary=WORDS),
        notice("mcpServer/startupStatus/updated", name=WORDS, status="failed", error=WORDS),
        notice("model/rerouted", turn_id="p1", fromModel="a", toModel="b"),
        turn_completed("failed", error={"message": WORDS}),
    ),
    "noise": lambda book: book.running().receive(
        *(json.dumps(words).encode()[1:] + b"\n" for words in SAID.values()),
        frame(method=WORDS, params={"why": WORDS}),
        frame(id=4711, result={"why": WORDS}),
        frame(id=4712, error=ERROR),
        turn_completed("failed", error={"message": WORDS}),
    ),
}


@pytest.mark.rule("PR-024")
@pytest.mark.parametrize("way", LETS_OUT)
def test_nothing_that_codex_lets_out_as_it_fails_is_seen(way: str) -> None:
    book = CodexPlaybook().opened()
    LETS_OUT[way](book)
    assert [event for event in book.events() if isinstance(event, (TurnEnded, TurnRejected))]
    assert leaked(book.everything) == []
