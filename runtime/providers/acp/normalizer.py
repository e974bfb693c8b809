"""Turns the updates of one open prompt into the product's own events, in the order the agent produced them.

Owns item ids and item boundaries of one turn: a text or reasoning item ends when the kind changes, the agent names
another message, or another item comes between. Pure; it knows neither the wire's framing nor which turn is next.
"""

from typing import Literal

import attrs

from runtime.providers.acp.tool_calls import ToolCallLedger, ToolCallRecord
from runtime.providers.acp.wire import (
    CompactionUpdate,
    ContentChunk,
    NoticeUpdate,
    PlanUpdate,
    ToolCallPart,
)
from runtime.providers.normalized import (
    ItemEnded,
    NoticeReported,
    PlanReported,
    ProviderEvent,
    TextChunk,
)
from runtime.providers.redaction import hide_tokens
from store.canonical.identifiers import TurnId

TurnUpdate = ContentChunk | ToolCallPart | PlanUpdate | NoticeUpdate | CompactionUpdate
PLAN_ITEM = "plan"
_COMPACTED = NoticeUpdate(
    "info", "The agent shortened the conversation it remembers.", "provider.context_compacted"
)


@attrs.frozen
class _OpenItem:
    item_id: str
    kind: Literal["text", "reasoning"]
    message_id: str | None


class TurnNormalizer:
    """The events of one turn. `ledger` is the conversation's and outlives it."""

    def __init__(self, turn_id: TurnId, ledger: ToolCallLedger) -> None:
        self.turn_id = turn_id
        self._ledger = ledger
        self._item: _OpenItem | None = None
        self._items = 0
        self._plan_told = False

    def update(self, update: TurnUpdate) -> list[ProviderEvent]:
        """The events of one update; empty chunks and echoes of the prompt give none."""
        match update:
            case ContentChunk():
                return self._text(update)
            case ToolCallPart():
                return self.tool_call(update)
            case PlanUpdate():
                return self._plan(update)
            case NoticeUpdate():
                return self._notice(update)
            case CompactionUpdate():
                return self._notice(_COMPACTED) if update.status == "completed" else []

    def tool_call(self, part: ToolCallPart) -> list[ProviderEvent]:
        """A tool call or the mention of one in an ask, whichever comes first (FC-53)."""
        record = self._own(part)
        if record is not None:
            return record.update(part)
        events = self._end_item()
        return events + self._ledger.begin(self.turn_id, part).announce(part)

    def end(self) -> list[ProviderEvent]:
        """The turn is over: the open item ends."""
        return self._end_item()

    def _own(self, part: ToolCallPart) -> ToolCallRecord | None:
        record = self._ledger.find(part.call_id)
        return record if record is not None and record.turn_id == self.turn_id else None

    def _text(self, chunk: ContentChunk) -> list[ProviderEvent]:
        if chunk.kind == "user" or not chunk.text:
            return []
        item = self._item
        if item is not None and item.kind == chunk.kind and chunk.message_id in (None, item.message_id):
            return [TextChunk(self.turn_id, item.item_id, item.kind, chunk.text)]
        events = self._end_item()
        self._items += 1
        self._item = _OpenItem(f"item-{self._items}", chunk.kind, chunk.message_id)
        return [*events, TextChunk(self.turn_id, self._item.item_id, chunk.kind, chunk.text)]

    def _plan(self, plan: PlanUpdate) -> list[ProviderEvent]:
        # One plan a turn, told again as a whole; only its first word comes between two pieces of text.
        events = [] if self._plan_told else self._end_item()
        self._plan_told = True
        return [*events, PlanReported(self.turn_id, PLAN_ITEM, plan.entries)]

    def _notice(self, notice: NoticeUpdate) -> list[ProviderEvent]:
        text = hide_tokens(notice.text)
        return [*self._end_item(), NoticeReported(self.turn_id, notice.code, notice.severity, text)]

    def _end_item(self) -> list[ProviderEvent]:
        if self._item is None:
            return []
        ended, self._item = self._item, None
        return [ItemEnded(self.turn_id, ended.item_id)]
