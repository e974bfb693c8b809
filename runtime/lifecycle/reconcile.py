"""Reconciling: the provider is asked what became of a turn, and its record decides (`architecture rule 15`).

Owns when that is asked, and what an answer changes. A turn is never ended for being quiet; what has settled keeps its
outcome, and only gains what was missing: messages, the provider's id, and a delivery that was unknown (`contract §3`).
"""

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import settlement, transcript
from runtime.lifecycle import turn as turns
from runtime.lifecycle.guidance import submit_id_of
from runtime.lifecycle.live_tail import TRUNCATION_MARKER, cut_text
from runtime.lifecycle.state import Step
from runtime.lifecycle.turn import Settlement
from runtime.providers.normalized import KeptItem, PromptKept, TextChunk, ToolCallReported, TurnReconciled
from runtime.providers.port import ReconcileTurn
from store.canonical.common import TurnError
from store.canonical.message import Message, TextBlock
from store.canonical.turn import Delivery, Turn

LOOKED_BACK_MAX: Final = 8
"""How many of the newest turns are looked at for some whose end the provider has not told."""
ASKED_MAX: Final = 4

_SHORTEST_WAIT_SECONDS: Final = 0.1


# --- when it is asked -------------------------------------------------------------------------------------------


def watch(step: Step, turn: Turn) -> None:
    """The provider has, or may have, this turn: look after it when nothing is heard for long (FC-01)."""
    seconds = step.context.policy.turn_reconcile_seconds
    step.do(fx.ArmTimer(i.Timer("reconcile", turn_id=turn.turn_id), seconds))


def due(step: Step, timer: i.Timer) -> None:
    """Time to look: ask, if the provider has been silent for so long and nobody is waited for."""
    turn, wait_seconds = step.state.turn, step.context.policy.turn_reconcile_seconds
    if turn is None or turn.turn_id != timer.turn_id:
        return
    left_seconds = wait_seconds - step.context.silent_seconds
    # A turn whose response has ended is known: it waits for its sub-agents alone.
    may_ask = step.state.link.phase == "open" and step.state.response_end is None
    may_ask = may_ask and turn.phase in ("submitted", "running")
    if may_ask and left_seconds <= 0 and step.state.asked_as is None:
        step.change(asked_as=turn.delivery)
        _ask(step, turn)
    seconds = left_seconds if left_seconds > 0 else wait_seconds
    step.do(fx.ArmTimer(timer, max(seconds, _SHORTEST_WAIT_SECONDS)))


def reopened(step: Step, given: i.Reopened) -> None:
    """The old conversation is here again: ask for the turns that ended without the provider's word."""
    link = step.state.link
    if given.generation == link.generation and link.phase == "open":
        for turn in given.unsure:
            _ask(step, turn)


def unsure_turns(newest_first: Iterable[Turn]) -> tuple[Turn, ...]:
    """Turns that settled without the provider's word on it, the oldest first: those after the last it did end."""
    unsure: list[Turn] = []
    for turn in newest_first:
        if not turn.settled or turn.delivery in ("not_dispatched", "rejected"):
            continue
        if turn.stop_reason is not None or len(unsure) == ASKED_MAX:
            break
        unsure.append(turn)
    return tuple(reversed(unsure))


def _ask(step: Step, turn: Turn) -> None:
    told_as = step.told_as(turn.turn_id)
    provider_turn_id = turn.provider_turn_id if told_as == turn.turn_id else told_as
    command = ReconcileTurn(step.state.scope, told_as, provider_turn_id)
    step.do(fx.TellConnection(step.state.link.generation, command))


# --- the turn that is open --------------------------------------------------------------------------------------


def answered(step: Step, event: TurnReconciled) -> None:
    """What the provider keeps of the open turn. An end has been told right before, where the provider can."""
    turn, asked_as = step.state.turn, step.state.asked_as
    if turn is None or step.told_as(turn.turn_id) != event.turn_id or turn.delivery == "not_dispatched":
        step.do(fx.Count("answer_nobody_waits_for"))
        return
    step.change(asked_as=None)
    match event.state:
        case "unknown":
            pass
        case "running":
            step.set_turn(turns.accepted(turn, step.now_ms, event.provider_turn_id))
        case "ended":
            accepted = turns.accepted(turn, step.now_ms, event.provider_turn_id)
            step.set_turn(accepted)
            outcome = event.outcome or "failed"
            error = None if outcome in ("completed", "canceled") else _error("provider.lost", "it had ended")
            settlement.settle(step, Settlement(outcome, error=error, confirmed=outcome == "canceled"))
        case "absent" if turn.delivery == asked_as:
            _never_came(step, turn)
        case "absent":
            pass  # it was accepted while the question was on its way
        case _:
            assert_never(event.state)


def _never_came(step: Step, turn: Turn) -> None:
    """The provider has no such turn. A start it has not answered must not take effect later."""
    if turn.delivery == "dispatching":
        settlement.force(step, "a prompt was not answered and is not in the agent's record")
        settlement.settle(step, Settlement("failed", error=_error("provider.timeout", "it did not begin")))
    else:
        settlement.settle(
            step, Settlement("failed", error=_error("provider.lost", "it is not in its record"))
        )


def _error(code: str, why: str) -> TurnError:
    return TurnError(code, f"the agent was asked about the turn: {why}", "runtime")


# --- a turn that has settled ------------------------------------------------------------------------------------


def kept(step: Step, given: i.Reconciled) -> None:
    """What the provider keeps of a turn that settled here: what is missing is added, the outcome stands (RT-003)."""
    link = step.state.link
    if given.generation != link.generation or link.phase != "open":
        step.do(fx.Count("late_event"))
        return
    event, turn = given.event, given.turn
    for item in missing(event.items, given.messages):
        step.do(fx.PersistMessage(_message(step, turn, item)))
    known = attrs.evolve(
        turn,
        delivery=_delivery(turn.delivery, event),
        provider_turn_id=turn.provider_turn_id or event.provider_turn_id,
    )
    if known != turn:
        step.do(fx.PersistTurn(known))


def missing(kept_items: Sequence[KeptItem], stored: Sequence[Message]) -> list[KeptItem]:
    """What of the record no row stands for. Texts have no name in common: they are compared in their order."""
    said = {message.client_submit_id for message in stored}
    calls = {message.tool_call.call_id for message in stored if message.tool_call is not None}
    texts = [message for message in stored if message.role == "assistant" and message.tool_call is None]
    found: list[KeptItem] = []
    for item in kept_items:
        match item:
            case PromptKept():
                submit_id = submit_id_of(item.client_id)
                is_new = submit_id is not None and submit_id not in said
            case ToolCallReported():
                is_new = item.call_id not in calls
            case TextChunk():
                place = next((k for k, message in enumerate(texts) if _begins(message, item)), None)
                is_new = place is None
                if place is not None:
                    del texts[: place + 1]
        if is_new:
            found.append(item)
    return found


def _begins(message: Message, item: TextChunk) -> bool:
    """Whether the row is this text, as far as it came."""
    text = "".join(block.text for block in message.content if isinstance(block, TextBlock))
    if message.truncated:
        text = text.removesuffix(TRUNCATION_MARKER)
    return message.kind == item.kind and text != "" and item.text.startswith(text)


def _message(step: Step, turn: Turn, item: KeptItem) -> Message:
    match item:
        case PromptKept():
            content = (TextBlock(item.text),)
            message = transcript.new_message(step, turn.turn_id, "user", "text", content=content)
            return attrs.evolve(message, client_submit_id=submit_id_of(item.client_id))
        case TextChunk():
            text = cut_text(item.text, step.context.policy.max_message_bytes)
            text = text if text == item.text else text + TRUNCATION_MARKER
            message = transcript.new_message(
                step, turn.turn_id, "assistant", item.kind, content=(TextBlock(text),)
            )
            return attrs.evolve(message, truncated=text != item.text)
        case ToolCallReported():
            return transcript.ended_call(step, attrs.evolve(item, turn_id=turn.turn_id))
        case _:
            assert_never(item)


def _delivery(delivery: Delivery, event: TurnReconciled) -> Delivery:
    if delivery != "unknown" or event.state == "unknown":
        return delivery
    return "rejected" if event.state == "absent" else "accepted"
