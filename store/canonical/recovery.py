"""What a restart settles in one session, decided purely (`contract §6` promise 5, RT-076).

Nothing runs any more when this is asked, so everything unfinished ends: turns are interrupted with what is
known of their delivery, text is kept, pending interactions are superseded. Finding the sessions and writing
the units is the task of `store.recovery`.
"""

from typing import assert_never

import attrs

from store.canonical.change import Row, SessionState, Unit
from store.canonical.interaction import Interaction
from store.canonical.message import Message, ToolCall, ToolStatus
from store.canonical.session import Session, SessionCounters
from store.canonical.turn import Delivery, Turn


@attrs.frozen
class UnfinishedSession:
    """One session and everything in it that a crash may have left open; nothing else of it is loaded."""

    session: Session
    counters: SessionCounters
    turns: tuple[Turn, ...] = ()
    """Turns that are not settled."""
    messages: tuple[Message, ...] = ()
    """Messages still streaming, their written-behind pieces joined in, ascending by sequence."""
    interactions: tuple[Interaction, ...] = ()
    """Interactions that are pending, or whose answer was being delivered."""


def recover_session(unfinished: UnfinishedSession, now_ms: int) -> Unit | None:
    """The one unit that ends everything open in this session, or None when there is nothing to end."""
    turns = [_settle(turn, now_ms) for turn in unfinished.turns if not turn.settled]
    version = unfinished.session.message_version
    messages: list[Message] = []
    for message in unfinished.messages:
        if message.status == "streaming":
            version += 1
            messages.append(_interrupt(message, version))
    interactions = [
        ended
        for interaction in unfinished.interactions
        if (ended := _end_interaction(interaction, now_ms)) is not None
    ]
    rows: list[Row] = [*turns, *messages, *interactions]
    session = unfinished.session
    if session.active_turn_id is not None:
        released = attrs.evolve(session, active_turn_id=None, message_version=version, updated_at=now_ms)
        rows.insert(0, released)
    if not rows:
        return None
    return Unit(
        session_key=session.key,
        root_agent_session_id=session.root_agent_session_id,
        rows=tuple(rows),
        session_state=SessionState(version, now_ms, unfinished.counters),
    )


def _settle(turn: Turn, now_ms: int) -> Turn:
    return attrs.evolve(
        turn,
        phase="settled",
        outcome="interrupted",
        delivery=_known_delivery(turn.delivery),
        settled_at=now_ms,
    )


def _known_delivery(delivery: Delivery) -> Delivery:
    """A delivery that was under way may have reached the provider: only that it is unknown is known."""
    match delivery:
        case "dispatching":
            return "unknown"
        case "not_dispatched" | "accepted" | "rejected" | "unknown":
            return delivery
        case _:
            assert_never(delivery)


def _interrupt(message: Message, version: int) -> Message:
    tool_call = message.tool_call
    return attrs.evolve(
        message,
        version=version,
        status="interrupted",
        delta_seq=None,
        tool_call=None if tool_call is None else _interrupt_tool_call(tool_call),
    )


def _interrupt_tool_call(tool_call: ToolCall) -> ToolCall:
    unfinished: tuple[ToolStatus, ...] = ("pending", "running", "waiting")
    return attrs.evolve(tool_call, status="interrupted") if tool_call.status in unfinished else tool_call


def _end_interaction(interaction: Interaction, now_ms: int) -> Interaction | None:
    delivery = "unknown" if interaction.answer_delivery == "dispatching" else interaction.answer_delivery
    if interaction.status == "pending":
        return attrs.evolve(interaction, status="superseded", answer_delivery=delivery, resolved_at=now_ms)
    if interaction.answer_delivery == "dispatching":
        return attrs.evolve(interaction, answer_delivery="unknown")
    return None
