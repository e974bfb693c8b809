"""What Codex keeps of turns that nobody here followed: told as it would have been, by the same ids."""

import pytest

from runtime.providers.normalized import PromptKept, TextChunk, ToolCallReported, TurnReconciled, TurnRejected
from runtime.providers.port import CancelTurn, GuideTurn, ReconcileTurn, StartTurn
from store.canonical.message import TextBlock
from tests.providers_codex.codex_playbook import T1, T2, A, CodexPlaybook, command, notice, turn_completed


def item(kind: str, item_id: str, **members: object) -> dict[str, object]:
    return {"type": kind, "id": item_id, **members}


def command_item(item_id: str, **members: object) -> dict[str, object]:
    told = command(item_id, **members)
    return {"type": told.pop("kind"), "id": told.pop("item_id"), **told}


def record(turn_id: str, status: str, *items: dict[str, object]) -> dict[str, object]:
    return {"data": [{"id": turn_id, "status": status, "items": list(items)}], "nextCursor": None}


def told(book: CodexPlaybook) -> TurnReconciled:
    event = book.events()[-1]
    assert isinstance(event, TurnReconciled)
    return event


@pytest.mark.case("FC-06")
def test_all_that_is_kept_of_an_interrupted_turn_is_told_in_its_order() -> None:
    book = CodexPlaybook().opened(resumes=True).command(ReconcileTurn(A, T1, "p1"))
    kept = record(
        "p1",
        "interrupted",
        item("userMessage", "u1", clientId="t1", content=[{"type": "text", "text": "go"}]),
        item("reasoning", "r1", summary=["First.", "Then."], content=[]),
        item("agentMessage", "m1", text="I build."),
        command_item("c1", status="completed", exitCode=0, aggregatedOutput="done"),
        item("userMessage", "u2", clientId="guide:g1", content=[{"type": "text", "text": "rather oaks"}]),
        item("userMessage", "u3", clientId=None, content=[{"type": "text", "text": "of another client"}]),
        command_item("c1", status="inProgress"),
        item("unheardOf", "x1"),
    )
    book.reply("thread/turns/list", result=kept)
    event = told(book)
    assert (event.state, event.outcome) == ("ended", "canceled")
    prompt, reasoning, text, call, guide, running = event.items
    assert prompt == PromptKept(T1, "t1", "go")
    assert reasoning == TextChunk(T1, "item-1", "reasoning", "First.\n\nThen.")
    assert text == TextChunk(T1, "item-2", "text", "I build.")
    assert isinstance(call, ToolCallReported)
    assert (call.call_id, call.status, call.output_text, call.exit_code) == ("c1", "completed", "done", 0)
    assert guide == PromptKept(T1, "guide:g1", "rather oaks")
    assert isinstance(running, ToolCallReported)
    assert (running.call_id, running.status) == ("c1~2", "interrupted"), (
        "an id used again is made another one"
    )


def test_of_a_turn_that_was_followed_here_nothing_is_told_again() -> None:
    kept = record("p1", "completed", item("agentMessage", "m1", text="I build."))
    book = CodexPlaybook().running().receive(turn_completed()).command(ReconcileTurn(A, T1, "p1"))
    book.reply("thread/turns/list", result=kept)
    assert told(book).items == ()
    book = CodexPlaybook().running().command(ReconcileTurn(A, T1, "p1"))
    book.reply("thread/turns/list", result=kept)
    assert told(book).items == (), "told as words of the turn, right before"
    assert TextChunk(T1, "item-1", "text", "I build.") in book.events()


def test_a_prompt_that_waits_for_a_turn_of_somebody_else_is_not_missing() -> None:
    busy = {"id": "th", "status": {"type": "active", "activeFlags": []}}
    book = CodexPlaybook().opened(resumes=True, thread=busy)
    book.command(StartTurn(A, T2, (TextBlock("next"),))).command(ReconcileTurn(A, T2))
    book.reply("thread/turns/list", result=record("p0", "inProgress"))
    assert told(book) == TurnReconciled(T2, "unknown")
    book.receive(notice("turn/completed", turn={"id": "p0", "status": "completed", "items": []}))
    assert book.calls()[-1] == "turn/start"


@pytest.mark.rule("RT-007", "RT-008")
def test_a_prompt_that_waits_for_a_turn_of_somebody_else_is_stopped_without_a_word_to_codex() -> None:
    busy = {"id": "th", "status": {"type": "active", "activeFlags": []}}
    book = CodexPlaybook().opened(resumes=True, thread=busy)
    book.command(StartTurn(A, T2, (TextBlock("next"),))).skip().command(CancelTurn(A, T2))
    (rejected,) = [event for event in book.events() if isinstance(event, TurnRejected)]
    assert (rejected.turn_id, rejected.error.code) == (T2, "session.busy")
    book.receive(notice("turn/completed", turn={"id": "p0", "status": "completed", "items": []}))
    assert not {"turn/start", "turn/interrupt"} & set(book.calls()), (
        "neither is told, nor the other turn stopped"
    )
    book.prompted(turn_id=T1)
    assert book.calls()[-1] == "turn/start"


def test_guidance_found_in_the_record_goes_by_the_name_it_was_given() -> None:
    book = CodexPlaybook().running().command(GuideTurn(A, T1, "guide:g1", (TextBlock("rather oaks"),)))
    assert book.frames[-1]["params"]["clientUserMessageId"] == "guide:g1"
