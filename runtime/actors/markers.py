"""The durable markers: what a unit of a session makes true for ever, by the name of the failpoints around its commit.

Pure, and so is what a connection is told, which has failpoints too. A marker is a fact that a restart goes by, so the moments right before and right after it is durable are those
in which a crash is worth trying (RT-143). A marker that this page does not know has no failpoints: add it here.
"""

from typing import Final

from runtime.actors.units import Segment
from runtime.lifecycle import effects as fx
from runtime.providers.port import (
    AnswerInteraction,
    ApplySettings,
    CancelTurn,
    ConnectionCommand,
    GuideTurn,
    OpenThread,
    StartTurn,
)
from store.canonical.change import Row
from store.canonical.interaction import Interaction
from store.canonical.session import Session
from store.canonical.turn import Turn

MARKERS: Final = {
    "created": "a session and what claims its submit id",
    "submitted": "a turn, its prompt, and the claim of its submit id",
    "dispatching": "that a prompt is about to be told to a provider",
    "accepted": "that a provider took a prompt",
    "cancel": "that a stop was asked for",
    "settled": "the end of a turn",
    "asked": "a question of an agent",
    "answered": "an answer, about to be told to a provider",
    "delivered": "what became of an answer's delivery",
    "superseded": "that a question is not open any more",
    "guided": "the claim of a guidance's submit id, about to be told to a provider",
    "session": "a change of a session's own row",
}
"""Each marker, and what it makes durable."""

TOLD: Final[dict[type[ConnectionCommand], str]] = {
    OpenThread: "open",
    StartTurn: "start",
    AnswerInteraction: "answer",
    GuideTurn: "guide",
    CancelTurn: "cancel",
    ApplySettings: "settings",
}
"""What a connection is told between failpoints: things that a provider does for it."""


def told_by(effect: fx.Effect) -> str | None:
    """The name of what an effect tells a connection, if it is among them."""
    return TOLD.get(type(effect.command)) if isinstance(effect, fx.TellConnection) else None


def markers_of(segment: Segment) -> tuple[str, ...]:
    """The markers of the unit that a segment commits, in the order of its rows, each once."""
    found: list[str] = []
    if segment.tentative is not None:
        found.append("guided")
    if any(claim.scope == "workspace" for claim in segment.claims):
        found.append("created")
    for row in segment.rows.values():
        found += _of_row(row)
    return tuple(dict.fromkeys(found))


def _of_row(row: Row) -> list[str]:
    match row:
        case Turn():
            return _of_turn(row)
        case Interaction(status="pending"):
            return ["asked"]
        case Interaction(answer_delivery="dispatching"):
            return ["answered"]
        case Interaction(status="answered"):
            return ["delivered"]
        case Interaction():
            return ["superseded"]
        case Session():
            return ["session"]
        case _:
            return []


def _of_turn(turn: Turn) -> list[str]:
    if turn.settled:
        return ["settled"]
    marks: list[str] = []
    if turn.phase == "submitted":
        marks.append("submitted" if turn.delivery == "not_dispatched" else turn.delivery)
    elif turn.delivery == "accepted":
        marks.append("accepted")
    if turn.cancel_requested_at is not None:
        marks.append("cancel")
    return [mark for mark in marks if mark in MARKERS]
