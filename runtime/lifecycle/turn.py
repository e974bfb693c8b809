"""The Turn machine: phases, outcome and delivery as three independent facts (`contract §3`, RT-002..RT-008).

Every function takes a Turn row and gives the next one; a change the table does not allow gives the same row
back, so that late and repeated words of a provider change nothing (RT-003).
"""

from typing import Literal

import attrs

from runtime.lifecycle.transitions import Transition, TransitionTable
from store.canonical.common import TurnError, Usage
from store.canonical.turn import Turn, TurnOutcome, TurnPhase, TurnTimings

TurnEvent = Literal["accepted", "asked", "answered", "cancel_asked", "ended"]

TRANSITIONS: TransitionTable[TurnPhase, TurnEvent] = TransitionTable(
    "turn",
    "submitted",
    (
        Transition("submitted", "accepted", "running"),
        Transition("submitted", "cancel_asked", "settling"),
        Transition("submitted", "ended", "settled"),
        Transition("running", "asked", "waiting"),
        Transition("running", "cancel_asked", "settling"),
        Transition("running", "ended", "settled"),
        Transition("waiting", "asked", "waiting"),
        Transition("waiting", "answered", "running"),
        Transition("waiting", "cancel_asked", "settling"),
        Transition("waiting", "ended", "settled"),
        Transition("settling", "accepted", "settling"),
        Transition("settling", "cancel_asked", "settling"),
        Transition("settling", "ended", "settled"),
    ),
)
"""`accepted` = the provider has it; `asked` = an Interaction opened; `answered` = none is open any more;
`cancel_asked` = a person or the daemon wants it stopped; `ended` = its end is known or decided."""


def dispatching(turn: Turn) -> Turn:
    """The marker that is committed right before the provider is told (RT-034)."""
    return attrs.evolve(turn, delivery="dispatching") if turn.delivery == "not_dispatched" else turn


def accepted(turn: Turn, now_ms: int, provider_turn_id: str | None) -> Turn:
    """The provider has the prompt: delivery accepted, running unless it is being stopped already."""
    phase = TRANSITIONS.after(turn.phase, "accepted")
    if phase is None or turn.delivery == "accepted":
        return turn
    started = turn.started_at if turn.started_at is not None else now_ms
    queued = turn.timings.queued_ms if turn.timings.queued_ms is not None else 0
    return attrs.evolve(
        turn,
        phase=phase,
        delivery="accepted",
        started_at=started,
        provider_turn_id=provider_turn_id or turn.provider_turn_id,
        timings=TurnTimings(queued_ms=queued, start_ms=max(0, now_ms - turn.submitted_at - queued)),
    )


def queued_until(turn: Turn, now_ms: int) -> Turn:
    """Waiting for a live connection is over; the rest until acceptance is the start."""
    return attrs.evolve(
        turn, timings=attrs.evolve(turn.timings, queued_ms=max(0, now_ms - turn.submitted_at))
    )


def waiting(turn: Turn) -> Turn:
    """An Interaction is open."""
    phase = TRANSITIONS.after(turn.phase, "asked")
    return turn if phase is None else attrs.evolve(turn, phase=phase)


def resumed(turn: Turn) -> Turn:
    """No Interaction is open any more."""
    phase = TRANSITIONS.after(turn.phase, "answered")
    return turn if phase is None else attrs.evolve(turn, phase=phase)


def cancel_requested(turn: Turn, now_ms: int) -> Turn:
    """Someone asked to stop exactly this turn. Asked, confirmed and settled stay three facts (RT-006)."""
    phase = TRANSITIONS.after(turn.phase, "cancel_asked")
    if phase is None:
        return turn
    asked_at = turn.cancel_requested_at if turn.cancel_requested_at is not None else now_ms
    return attrs.evolve(turn, phase=phase, cancel_requested_at=asked_at)


@attrs.frozen
class Settlement:
    """How a turn ends. `confirmed` is the provider's own word that it stopped; without it a cancel was forced."""

    outcome: TurnOutcome
    error: TurnError | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    confirmed: bool = False


def settled(turn: Turn, settlement: Settlement, now_ms: int) -> Turn:
    """The end. The outcome exists from here on and never changes (RT-004)."""
    phase = TRANSITIONS.after(turn.phase, "ended")
    if phase is None:
        return turn
    confirmed_at = now_ms if settlement.outcome == "canceled" and settlement.confirmed else None
    # What was on its way when the end came is known to nobody (RT-034).
    delivery = "unknown" if turn.delivery == "dispatching" else turn.delivery
    return attrs.evolve(
        turn,
        phase=phase,
        outcome=settlement.outcome,
        delivery=delivery,
        error=settlement.error,
        stop_reason=settlement.stop_reason,
        usage=settlement.usage or turn.usage,
        cancel_confirmed_at=confirmed_at,
        settled_at=now_ms,
    )
