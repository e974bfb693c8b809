"""Whatever order a provider speaks in, the promises about turns and Interactions hold."""

import attrs
import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from runtime.lifecycle import inputs as i
from runtime.lifecycle.turn import TRANSITIONS
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, GuideTurn, StartTurn
from runtime.simulation.protocols.rows import GUIDED
from store.canonical.common import TurnError
from store.canonical.identifiers import CallId, RequestId, TurnId
from store.canonical.interaction import Interaction
from store.canonical.turn import Turn
from tests.lifecycle.playbook import Playbook

LOST = TurnError("provider.lost", "gone", "provider")
MOVES = {(t.source, t.target) for t in TRANSITIONS.transitions} | {(s, s) for s in TRANSITIONS.states}


def move(book: Playbook, what: str, number: int) -> None:
    """One of the things that can happen, whether it fits or not."""
    active = book.state.turn.turn_id if book.state.turn else TurnId("nobody")
    turns = [*book.turns, "nobody"]
    some = TurnId(turns[number % len(turns)])
    request = RequestId(f"r{number % 3}")
    match what:
        case "send":
            if book.state.turn is None and not book.state.stopping:
                submit = f"c{len(book.claims)}"
                try:
                    book.send("p", submit, submit)
                except AssertionError:
                    assert book.answers[submit][-1].code in ("session.not_resumable", "session.quarantined")
        case "acquired":
            book.give(i.ConnectionAcquired(book.generation - number % 2))
        case "unavailable":
            book.give(i.ConnectionUnavailable(book.generation, LOST))
        case "released":
            book.give(i.ConnectionReleased(book.generation - number % 2))
        case "opened":
            book.say(n.ThreadOpened("thread", bool(number % 2), (None, GUIDED)[number % 2]))
        case "open_failed":
            book.say(n.ThreadOpenFailed(LOST, not_resumable=bool(number % 2)))
        case "accepted":
            book.say(n.TurnAccepted(some))
        case "rejected":
            book.say(n.TurnRejected(some, LOST))
        case "text":
            book.say(n.TextChunk(active, f"i{number % 2}", "text", "x"))
        case "tool":
            statuses = ("pending", "running", "completed", "failed")
            book.say(n.ToolCallReported(some, CallId(f"k{number % 2}"), "run", status=statuses[number % 4]))
        case "ask":
            book.ask(active, request)
        case "withdraw":
            book.say(n.InteractionWithdrawn(some, request))
        case "answer":
            book.answer(active, ("yes", "no")[number % 2], f"a{len(book.answers)}", request)
        case "delivered":
            book.say(n.AnswerDelivered(active, request))
        case "cancel":
            book.cancel(some, f"x{len(book.answers)}")
        case "ended":
            outcomes = ("completed", "canceled", "failed")
            book.say(n.TurnEnded(some, outcomes[number % 3], "end_turn"))
        case "lost":
            book.give(i.FromProvider(book.generation - number % 2, n.ConnectionLost(LOST)))
        case "timer":
            if book.timers:
                timer = sorted(book.timers, key=repr)[number % len(book.timers)]
                del book.timers[timer]
                book.give(i.TimerFired(timer))
        case "guide":
            book.guides_asked += 1
            book.guide(some, f"g{number % 3}", f"guide{book.guides_asked}")
        case "guide_answered":
            guides = [c for c in book.told if isinstance(c, GuideTurn)]
            if guides:
                guide = guides[number % len(guides)]
                mismatch = TurnError("turn.mismatch", "no", "provider")
                answers = (
                    n.GuideAccepted(guide.turn_id, guide.guide_id),
                    n.GuideRefused(guide.turn_id, guide.guide_id, mismatch),
                )
                book.say(answers[number % 2])
        case "reconciled":
            states = ("running", "ended", "absent", "unknown")
            outcomes = ("completed", "canceled", "failed")
            items = (n.TextChunk(some, "k", "text", "xx"),) if number % 2 else ()
            event = n.TurnReconciled(some, states[number % 4], "p1", outcomes[number % 3], items)
            book.reconciled(event)
        case "close":
            book.give(i.CloseSession(f"close{len(book.answers)}"))


KINDS = [
    "send",
    "acquired",
    "unavailable",
    "released",
    "opened",
    "open_failed",
    "accepted",
    "rejected",
    "text",
    "tool",
    "ask",
    "withdraw",
    "answer",
    "delivered",
    "cancel",
    "ended",
    "lost",
    "timer",
    "guide",
    "guide_answered",
    "reconciled",
    "close",
]


@pytest.mark.rule("RT-002", "RT-003", "RT-004", "RT-005", "RT-008")
@pytest.mark.case("FC-49")
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 11)), min_size=10, max_size=60))
def test_any_order_of_words_keeps_phases_outcomes_and_answers(moves: list[tuple[str, int]]) -> None:
    book = Playbook()
    for what, number in moves:
        move(book, what, number)
        check(book)
    converge(book)


def as_it_was(turn: Turn, before: Turn) -> Turn:
    """A settled turn without what a reconcile may have filled in."""
    assert before.provider_turn_id in (None, turn.provider_turn_id)
    assert turn.delivery == before.delivery or before.delivery == "unknown"
    assert turn.delivery in ("accepted", "rejected", "unknown", "not_dispatched")
    return attrs.evolve(turn, provider_turn_id=before.provider_turn_id, delivery=before.delivery)


def check(book: Playbook) -> None:
    history: dict[str, Turn] = {}
    for turn in book.turn_history:
        before = history.get(turn.turn_id)
        if before is not None:
            assert (before.phase, turn.phase) in MOVES
            assert not before.settled or before in (turn, as_it_was(turn, before))
        assert (turn.outcome is not None) == (turn.phase == "settled")
        history[turn.turn_id] = turn
    unsettled = [turn for turn in history.values() if not turn.settled]
    assert len(unsettled) <= 1
    assert unsettled == ([book.state.turn] if book.state.turn else [])
    assert book.state.session.active_turn_id == (book.state.turn.turn_id if book.state.turn else None)
    starts = [command.turn_id for command in book.told if isinstance(command, StartTurn)]
    assert len(starts) == len(set(starts))
    told = [(c.turn_id, c.request_id) for c in book.told if isinstance(c, AnswerInteraction)]
    assert len(told) == len(set(told))
    for submit_id, guide in book.state.guides.items():
        assert book.claims[submit_id].turn_id == guide.turn.turn_id, "what is open is bound"
    said = book.said()
    assert len(said) == len(set(said)), "nothing a person said is there twice"
    assert set(said) <= set(book.claims)
    for row in book.interactions.values():
        assert isinstance(row, Interaction)
        if row.turn_id in history and history[row.turn_id].settled:
            assert row.status != "pending"
            assert row.answer_delivery != "dispatching"
    if book.state.turn is None:
        assert not book.state.items
        assert all(m.status != "streaming" for m in book.messages.values())


def converge(book: Playbook) -> None:
    """The way back: whatever happened, a quiet world ends everything and takes the next prompt."""
    for _ in range(6):
        if book.state.link.phase == "closing":
            book.give(i.ConnectionReleased(book.generation))
        elif book.state.link.phase == "acquiring":
            book.give(i.ConnectionUnavailable(book.generation, LOST))
        elif book.state.link.phase in ("opening", "open"):
            book.give(i.FromProvider(book.generation, n.ConnectionLost(LOST)))
    assert book.state.turn is None
    assert not book.state.closers
    assert not book.state.interactions
    assert not book.state.guides
    assert not [timer for timer in book.timers if timer.kind in ("guide", "reconcile", "cancel_grace")]
    assert book.state.asked_as is None
    asked = {f"guide{number + 1}" for number in range(book.guides_asked)}
    assert all(len(book.answers[reply]) == 1 for reply in asked), "whoever guides is answered, once"
    book.give(i.ResumeSession("resume", fresh=True))
    book.connect()
    assert book.send("after all", "last", "last")
    check(book)
