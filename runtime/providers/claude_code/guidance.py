"""Guidance of a running turn: what runs is interrupted, then the new words are queued in its place.

Owns the order. The canonical turn stays open while what it said so far is settled; guidance is taken only after the
interrupt was confirmed and Claude Code has queued the words, and a refused interrupt is a refused guidance with nothing
sent (PR-017, PR-018). One at a time, and only of the exact turn that runs (RT-078).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from runtime.providers.claude_code.control import ControlAnswer, OpenRequests
from runtime.providers.claude_code.failures import provider_error, runtime_error
from runtime.providers.claude_code.turns import Guide, OpenTurn, stamp_of
from runtime.providers.claude_code.wire import user_message
from runtime.providers.normalized import GuideAccepted, GuideRefused
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import GuideTurn, Scope, Write
from store.canonical.common import TurnError

if TYPE_CHECKING:
    from runtime.providers.claude_code.conversation import Conversation


def refuse(scope: Scope, command: GuideTurn, error: TurnError, out: OutputBatch) -> None:
    """Nothing of it was said."""
    out.deliver(scope, GuideRefused(command.turn_id, command.guide_id, error))


def guide(conversation: Conversation, requests: OpenRequests, command: GuideTurn, out: OutputBatch) -> None:
    """Interrupt what runs in the turn; the words follow when it has ended."""
    turn = conversation.find(command.turn_id)
    if turn is None and conversation.goes_on(command.turn_id):
        conversation.go_on(command, out)
    elif turn is None:
        refuse(conversation.scope, command, runtime_error("turn.settled"), out)
    elif turn is not conversation.turn or not turn.started or turn.stopping:
        refuse(conversation.scope, command, runtime_error("turn.mismatch"), out)
    else:
        turn.guide = Guide(command, stamp_of(command.guide_id))
        if turn.normalizer.said_all and conversation.children.works_for(turn.turn_id):
            return  # nothing is left to interrupt but the sub-agents: it is said in the next response (`overtaken`)
        answered = partial(_interrupted, conversation, turn, turn.guide)
        requests.send({"subtype": "interrupt"}, answered, out)


def overtaken(conversation: Conversation, turn: OpenTurn, *, aborted: bool) -> GuideTurn | None:
    """Guidance whose response had ended before the interrupt came to it, in a turn for which sub-agents still work: it
    is said in the next response of that turn (PR-013)."""
    given = turn.guide
    if given is None or given.sent or aborted or turn.cancel_asked:
        return None
    if not conversation.children.works_for(turn.turn_id):
        return None
    turn.guide = None
    return given.command


def broken_off(conversation: Conversation, turn: OpenTurn, *, aborted: bool, out: OutputBatch) -> bool:
    """A result came for a turn with guidance: whether the turn goes on by it."""
    given = turn.guide
    if given is None or given.sent:
        return False
    if not aborted or turn.cancel_asked:
        give_up(conversation, turn, out)
        return False
    for event in turn.normalizer.cut():
        conversation.tell(event, out)
    conversation.asks.confirm_all(out)
    conversation.asks.withdraw_all(out)
    given.broken_off = True
    _say(turn, given, out)
    return True


def taken(conversation: Conversation, turn: OpenTurn, stamp: str, out: OutputBatch) -> None:
    """Claude Code has queued something: if it is the guidance, that is its answer."""
    given = turn.guide
    if given is not None and stamp == given.stamp:
        turn.guide = None
        accepted = GuideAccepted(turn.turn_id, given.command.guide_id, continued=given.continues)
        conversation.tell(accepted, out)


def give_up(conversation: Conversation, turn: OpenTurn, out: OutputBatch) -> None:
    """The turn ends: guidance that was not said is refused; whether said one was heard is not known."""
    given, turn.guide = turn.guide, None
    if given is not None and not given.sent:
        refuse(conversation.scope, given.command, runtime_error("turn.settled"), out)
    elif given is not None:
        refuse(conversation.scope, given.command, provider_error("provider.rejected"), out)


def _interrupted(
    conversation: Conversation, turn: OpenTurn, given: Guide, answer: ControlAnswer, out: OutputBatch
) -> None:
    if turn.guide is not given or conversation.find(turn.turn_id) is not turn:
        return
    if answer.accepted:
        given.interrupted = True
        _say(turn, given, out)
        return
    turn.guide = None
    refuse(conversation.scope, given.command, provider_error("provider.rejected"), out)


def _say(turn: OpenTurn, given: Guide, out: OutputBatch) -> None:
    if given.interrupted and given.broken_off and not given.sent:
        given.sent = True
        turn.current = given.stamp
        turn.stamps.add(given.stamp)
        out.add(Write(user_message(given.stamp, given.command.content)))
