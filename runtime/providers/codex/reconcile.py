"""Asking Codex what became of a turn: one whose end never came, or whose start may have been lost.

Owns the comparison of its record with what is open here. A turn that Codex keeps as ended is ended with its items, and
nothing is ever sent again (FC-01); of one that was not followed here all that is kept is told. The thread is loaded
here, so the record is its owner's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import attrs

from runtime.providers.codex.history import KeptTurn, find_turn
from runtime.providers.codex.items import PromptItem, TextItem
from runtime.providers.codex.normalizer import TurnNormalizer
from runtime.providers.codex.tool_items import CallItem
from runtime.providers.codex.turn_end import ending_of
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.normalized import (
    KeptItem,
    PromptKept,
    TextChunk,
    ToolCallReported,
    TurnEvent,
    TurnReconciled,
)
from runtime.providers.output_batch import OutputBatch
from store.canonical.identifiers import TurnId
from store.canonical.message import ToolStatus

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
    if pending is not None and not pending.sent and pending.command.turn_id == turn_id:
        conversation.tell(TurnReconciled(turn_id, "unknown"), out)  # it waits here, until Codex can take it
        return
    is_open = turn is not None and turn.turn_id == turn_id
    ids = frozenset(turn.aliases if turn is not None and is_open else filter(None, (provider_turn_id,)))
    kept = find_turn(turns, ids, turn_id)
    if kept is not None and pending is not None and pending.sent and pending.command.turn_id == turn_id:
        conversation.adopt(pending, kept.provider_turn_id, out)
        turn = conversation.turn
    if kept is not None and kept.ended and turn is not None and turn.turn_id == turn_id:
        _end_as_kept(conversation, turn, kept, out)
    if answered:
        told_here = is_open or kept is None or kept.provider_turn_id in conversation.past
        conversation.tell(_reconciled(turn_id, kept, () if told_here else _kept_items(turn_id, kept)), out)


def _end_as_kept(conversation: Conversation, turn: OpenTurn, kept: KeptTurn, out: OutputBatch) -> None:
    for item in kept.items:
        if isinstance(item, TextItem) or (isinstance(item, CallItem) and item.status != "running"):
            for event in turn.normalizer.completed(item):
                conversation.tell(event, out)
    conversation.end(turn, ending_of(kept.status, kept.error), out)


def _kept_items(turn_id: TurnId, kept: KeptTurn | None) -> tuple[KeptItem, ...]:
    """All that is kept of a turn nobody here followed, by the ids that it would have had."""
    items: list[KeptItem] = []
    normalizer = TurnNormalizer(turn_id)
    for item in kept.items if kept is not None else ():
        match item:
            case PromptItem(client_id=str(client_id)):
                items.append(PromptKept(turn_id, client_id, item.text))
            case TextItem():
                items += _told(normalizer.completed(item))
            case CallItem():
                # A call that is over when it is first heard of: an id that was used before is another one.
                status: ToolStatus = "interrupted" if item.status == "running" else item.status or "completed"
                items += _told(normalizer.started(attrs.evolve(item, status=status)))
            case _:
                pass
    return tuple(items)


def _told(events: list[TurnEvent]) -> list[KeptItem]:
    return [event for event in events if isinstance(event, TextChunk | ToolCallReported)]


def _reconciled(turn_id: TurnId, kept: KeptTurn | None, items: tuple[KeptItem, ...]) -> TurnReconciled:
    if kept is None:
        return TurnReconciled(turn_id, "absent")
    if not kept.ended:
        return TurnReconciled(turn_id, "running", kept.provider_turn_id, items=items)
    outcome = ending_of(kept.status, kept.error).outcome
    return TurnReconciled(turn_id, "ended", kept.provider_turn_id, outcome, items)
