"""Reconciling as the Session machine decides it: when the provider is asked, and what its record changes."""

import attrs
import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.reconcile import missing, unsure_turns
from runtime.providers import normalized as n
from runtime.providers.port import ReconcileTurn, StartTurn
from runtime.simulation.protocols.rows import GUIDED
from store.canonical.common import TurnError
from store.canonical.identifiers import CallId, TurnId
from store.canonical.message import Message, TextBlock
from store.canonical.turn import Turn
from tests.lifecycle.playbook import Playbook

LOST = TurnError("provider.lost", "gone", "provider")


def silence(book: Playbook, turn_id: TurnId, seconds: float = 60.0) -> list[fx.Effect]:
    """The time to look after this turn has come, and nothing was heard for so long."""
    timer = i.Timer("reconcile", turn_id=turn_id)
    assert book.timers.pop(timer) > 0
    book.silent_seconds = seconds
    return book.give(i.TimerFired(timer))


def asked(book: Playbook) -> list[tuple[TurnId, str | None]]:
    return [(c.turn_id, c.provider_turn_id) for c in book.told if isinstance(c, ReconcileTurn)]


def interrupted(delivery: str = "unknown") -> tuple[Playbook, Turn]:
    """A session whose connection was lost in a turn, and whose conversation is open again for a new prompt."""
    book = Playbook()
    turn = book.send()
    book.connect(GUIDED)
    if delivery == "accepted":
        book.say(n.TurnAccepted(turn.turn_id, "p1"))
        book.say(n.TextChunk(turn.turn_id, "t1", "text", "So far, "))
    book.say(n.ConnectionLost(LOST))
    settled = book.turns[turn.turn_id]
    assert (settled.outcome, settled.delivery) == ("failed", delivery)
    book.send("next", "c2", "second")
    book.give(i.ConnectionAcquired(book.generation))
    opened = n.ThreadOpened("thread", True, GUIDED)
    book.give(i.Reopened(book.generation, opened, unsure_turns([settled])))
    return book, settled


# --- a turn that is open ----------------------------------------------------------------------------------------


@pytest.mark.case("FC-01")
def test_a_silent_turn_is_asked_for_and_never_ended_for_being_quiet() -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    assert book.timers[i.Timer("reconcile", turn_id=turn_id)] == book.policy.turn_reconcile_seconds
    silence(book, turn_id, seconds=12.0)
    assert asked(book) == [], "it spoke 12 seconds ago"
    assert book.timers[i.Timer("reconcile", turn_id=turn_id)] == book.policy.turn_reconcile_seconds - 12.0
    for _ in range(3):
        silence(book, turn_id)
    assert asked(book) == [(turn_id, None)], "asked once, until it is answered"
    for state in ("running", "unknown"):
        book.say(n.TurnReconciled(turn_id, state))
        assert book.state.turn is not None
        silence(book, turn_id)
    assert len(asked(book)) == 3
    assert book.state.turn is not None
    assert book.state.turn.phase == "running"


def test_a_turn_that_waits_for_a_person_or_is_being_stopped_is_not_asked_for() -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    book.ask(turn_id)
    silence(book, turn_id)
    book.cancel(turn_id)
    silence(book, turn_id)
    assert asked(book) == []


@pytest.mark.case("FC-01")
def test_an_end_that_never_came_is_settled_as_the_record_says() -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    book.say(n.TextChunk(turn_id, "t1", "text", "all of it"))
    silence(book, turn_id)
    book.say(n.TurnEnded(turn_id, "completed", "completed"))
    book.say(n.TurnReconciled(turn_id, "ended", "p1", "completed"))
    assert book.turns[turn_id].outcome == "completed"
    assert [message.status for message in book.agent_messages()] == ["completed"]
    assert sum(isinstance(command, StartTurn) for command in book.told) == 1
    assert book.send("next", "c2", "second")


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("completed", None), ("canceled", None), ("failed", "provider.lost"), (None, "provider.lost")],
)
def test_an_end_without_its_words_settles_too(outcome: str | None, code: str | None) -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    silence(book, turn_id)
    book.say(n.TurnReconciled(turn_id, "ended", "p1", outcome))
    turn = book.turns[turn_id]
    assert (turn.outcome, turn.error.code if turn.error else None) == (outcome or "failed", code)


def test_a_start_whose_answer_was_lost_is_found_by_the_record() -> None:
    book = Playbook()
    turn_id = book.send().turn_id
    book.connect(GUIDED)
    silence(book, turn_id)
    book.say(n.TurnReconciled(turn_id, "running", "p1"))
    turn = book.turns[turn_id]
    assert (turn.phase, turn.delivery, turn.provider_turn_id) == ("running", "accepted", "p1")


def test_a_start_that_is_not_in_the_record_cannot_take_effect_later() -> None:
    book = Playbook()
    turn_id = book.send().turn_id
    book.connect(GUIDED)
    silence(book, turn_id)
    book.say(n.TurnReconciled(turn_id, "absent"))
    turn = book.turns[turn_id]
    assert (turn.outcome, turn.delivery, turn.error.code) == ("failed", "unknown", "provider.timeout")
    assert book.forced, "whoever may still begin it is ended"
    assert book.send("next", "c2", "second")


def test_an_acceptance_that_crossed_the_question_wins_over_absent() -> None:
    book = Playbook()
    turn_id = book.send().turn_id
    book.connect(GUIDED)
    silence(book, turn_id)
    book.say(n.TurnAccepted(turn_id, "p1"))
    book.say(n.TurnReconciled(turn_id, "absent"))
    assert book.turns[turn_id].phase == "running"
    silence(book, turn_id)
    book.say(n.TurnReconciled(turn_id, "absent"))
    turn = book.turns[turn_id]
    assert (turn.outcome, turn.delivery, turn.error.code) == ("failed", "accepted", "provider.lost")


# --- a turn that has settled ------------------------------------------------------------------------------------


@pytest.mark.case("FC-10")
def test_a_conversation_that_is_open_again_is_asked_before_it_is_used() -> None:
    book, turn = interrupted("accepted")
    told = [type(command) for command in book.told[-2:]]
    assert told == [ReconcileTurn, StartTurn]
    assert asked(book) == [(turn.turn_id, "p1")]


@pytest.mark.rule("RT-003", "RT-034")
@pytest.mark.parametrize(
    ("state", "delivery"),
    [("ended", "accepted"), ("running", "accepted"), ("absent", "rejected"), ("unknown", "unknown")],
)
def test_a_delivery_that_was_unknown_is_known_now_and_the_outcome_stands(state: str, delivery: str) -> None:
    book, turn = interrupted()
    known = "p1" if delivery == "accepted" else None
    book.reconciled(n.TurnReconciled(turn.turn_id, state, known, "completed"))
    after = book.turns[turn.turn_id]
    assert (after.delivery, after.provider_turn_id) == (delivery, known)
    assert attrs.evolve(after, delivery=turn.delivery, provider_turn_id=turn.provider_turn_id) == turn


def test_what_the_record_has_more_is_added_once_and_nothing_is_said_twice() -> None:
    book, turn = interrupted("accepted")
    call = n.ToolCallReported(
        turn.turn_id, CallId("k1"), name="command", title="make", status="completed", output_text="ok"
    )
    record = n.TurnReconciled(
        turn.turn_id,
        "ended",
        "p1",
        "canceled",
        (
            n.PromptKept(turn.turn_id, turn.turn_id, "hello"),
            n.TextChunk(turn.turn_id, "a", "text", "So far, so good."),
            call,
            n.TextChunk(turn.turn_id, "b", "text", "Done."),
            n.PromptKept(turn.turn_id, "guide:g1", "rather oaks"),
        ),
    )
    book.reconciled(record)
    book.reconciled(record)
    rows = [row for row in book.messages.values() if row.turn_id == turn.turn_id]
    rows.sort(key=lambda row: row.sequence)
    shown = [(row.role, row.kind, row.status, book.shown(row).content) for row in rows]
    assert shown == [
        ("user", "text", "completed", (TextBlock("hello"),)),
        ("assistant", "text", "interrupted", (TextBlock("So far, "),)),
        ("assistant", "tool_call", "completed", ()),
        ("assistant", "text", "completed", (TextBlock("Done."),)),
        ("user", "text", "completed", (TextBlock("rather oaks"),)),
    ]
    assert rows[2].tool_call is not None
    assert (rows[2].tool_call.call_id, rows[2].tool_call.output.text) == ("k1", "ok")
    assert rows[4].client_submit_id == "g1"
    assert book.turns[turn.turn_id] == turn


def test_a_record_that_comes_over_an_older_connection_is_late() -> None:
    book, turn = interrupted()
    late = n.TurnReconciled(turn.turn_id, "ended", "p1", "completed")
    book.give(i.Reconciled(book.generation - 1, late, turn, ()))
    assert book.turns[turn.turn_id] == turn
    assert book.counts[-1] == "late_event"


def text_row(text: str, kind: str = "text", *, truncated: bool = False) -> Message:
    return Message(
        "w",
        "s",
        f"m-{text}",
        1,
        1,
        "assistant",
        kind,
        0,
        turn_id=TurnId("t"),
        content=(TextBlock(text),),
        truncated=truncated,
    )


@pytest.mark.parametrize(
    ("stored", "kept", "new"),
    [
        ([], ["a"], ["a"]),
        (["a", "b"], ["a", "b"], []),
        (["a"], ["a", "a"], ["a"]),
        (["broken off", "b"], ["b", "c"], ["c"]),
        ([""], ["a"], ["a"]),
        (["b", "a"], ["a", "b"], ["b"]),
    ],
)
def test_texts_are_compared_in_their_order(stored: list[str], kept: list[str], new: list[str]) -> None:
    items = [n.TextChunk(TurnId("t"), str(k), "text", text) for k, text in enumerate(kept)]
    found = missing(items, [text_row(text) for text in stored])
    assert [item.text for item in found if isinstance(item, n.TextChunk)] == new


def test_a_text_of_another_kind_is_another_text_and_a_cut_one_is_the_same() -> None:
    item = n.TextChunk(TurnId("t"), "1", "text", "long and longer")
    assert missing([item], [text_row("long and longer", "reasoning")]) == [item]
    assert missing([item], [text_row("long\n[truncated]", truncated=True)]) == []


# --- which turns are asked for ----------------------------------------------------------------------------------


def a_turn(turn_id: str, outcome: str | None, delivery: str, stop_reason: str | None = None) -> Turn:
    return Turn(
        "w",
        "s",
        TurnId(turn_id),
        1,
        0,
        phase="settled" if outcome else "running",
        outcome=outcome,
        delivery=delivery,
        stop_reason=stop_reason,
    )


def test_only_turns_after_the_last_one_the_provider_ended_are_asked_for() -> None:
    newest_first = [
        a_turn("active", None, "not_dispatched"),
        a_turn("t6", "interrupted", "accepted"),
        a_turn("t5", "canceled", "not_dispatched"),
        a_turn("t4", "failed", "rejected"),
        a_turn("t3", "interrupted", "unknown"),
        a_turn("t2", "completed", "accepted", "completed"),
        a_turn("t1", "failed", "accepted"),
    ]
    assert [turn.turn_id for turn in unsure_turns(newest_first)] == ["t3", "t6"]


def test_no_more_than_a_few_are_asked_for() -> None:
    turns = [a_turn(f"t{number}", "interrupted", "accepted") for number in range(8)]
    assert [turn.turn_id for turn in unsure_turns(turns)] == ["t3", "t2", "t1", "t0"]
