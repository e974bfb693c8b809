"""Asking Codex what became of a turn: one whose end never came, or whose start may have been lost.

Owns the comparison of its record with what is open here. A turn that Codex keeps as ended is ended with its items, and
nothing is ever sent again (FC-01). The thread is loaded here, so the record is its owner's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from runtime.providers.codex.history import KeptTurn, find_turn
from runtime.providers.codex.items import TextItem
from runtime.providers.codex.tool_items import CallItem
from runtime.providers.codex.turn_end import ending_of
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.normalized import TurnReconciled
from runtime.providers.output_batch import OutputBatch
from store.canonical.identifiers import TurnId

if TYPE_CHECKING:
    from runtime.providers.codex.conversation import Conversation


def reconcile(
    conversation: Conversation,
    turn_id: TurnId,
    provider_turn_id: str | None,
    out: OutputBatch,
    *,
    answered: bool,
) -> None:
    """Ask; `answered` says that somebody waits for TurnReconciled."""
    read = partial(_compare, conversation, turn_id, provider_turn_id, answered)
    conversation.calls.read_turns(conversation, read, out)


def _compare(
    conversation: Conversation,
    turn_id: TurnId,
    provider_turn_id: str | None,
    answered: bool,
    turns: tuple[KeptTurn, ...] | None,
    out: OutputBatch,
) -> None:
    if conversation.phase != "open":
        return
    if turns is None:
        if answered:
            conversation.tell(TurnReconciled(turn_id, "unknown", provider_turn_id), out)
        return
    turn, pending = conversation.turn, conversation.pending
    is_open = turn is not None and turn.turn_id == turn_id
    ids = frozenset(turn.aliases if turn is not None and is_open else filter(None, (provider_turn_id,)))
    kept = find_turn(turns, ids, turn_id)
    if kept is not None and pending is not None and pending.sent and pending.command.turn_id == turn_id:
        conversation.adopt(pending, kept.provider_turn_id, out)
        turn = conversation.turn
    if kept is not None and kept.ended and turn is not None and turn.turn_id == turn_id:
        _end_as_kept(conversation, turn, kept, out)
    if answered:
        conversation.tell(_reconciled(turn_id, kept), out)


def _end_as_kept(conversation: Conversation, turn: OpenTurn, kept: KeptTurn, out: OutputBatch) -> None:
    for item in kept.items:
        if isinstance(item, TextItem) or (isinstance(item, CallItem) and item.status != "running"):
            for event in turn.normalizer.completed(item):
                conversation.tell(event, out)
    conversation.end(turn, ending_of(kept.status, kept.error), out)


def _reconciled(turn_id: TurnId, kept: KeptTurn | None) -> TurnReconciled:
    if kept is None:
        return TurnReconciled(turn_id, "absent")
    if not kept.ended:
        return TurnReconciled(turn_id, "running", kept.provider_turn_id)
    outcome = ending_of(kept.status, kept.error).outcome
    return TurnReconciled(turn_id, "ended", kept.provider_turn_id, outcome)
