"""Turns what Claude Code streams within one turn into the product's own events, in the order it came.

Owns the items of a turn. Deltas come first and are provisional; the `assistant` frame of a block ends its item, and
replaces the text where it differs. That frame comes before the block's own stop event, and names no index: it belongs to
the first open block of its kind. Frames of sub-agents never come here.
"""

from typing import Final, Literal, TypeAlias

import attrs

from runtime.providers.claude_code.calls import CallLedger
from runtime.providers.claude_code.tools import plan_of
from runtime.providers.jsonrpc.members import Members, count_of, list_of, object_of, text_of
from runtime.providers.normalized import (
    ItemEnded,
    NoticeReported,
    PlanReported,
    TextChunk,
    ToolCallReported,
    TurnEvent,
)
from store.canonical.common import Json
from store.canonical.identifiers import TurnId
from store.canonical.message import NoticeSeverity, PlanEntry

BlockKind: TypeAlias = Literal["text", "reasoning"]
PLAN_ITEM: Final = "plan"
ENDS: Final = frozenset({"end_turn", "stop_sequence"})
"""Why a model stops that has said all it had to say."""
_KINDS: Final[dict[str, BlockKind]] = {"text": "text", "thinking": "reasoning"}
_DELTAS: Final = {"text_delta": "text", "thinking_delta": "thinking"}


@attrs.define
class _Block:
    item_id: str
    kind: BlockKind
    texts: list[str] = attrs.field(factory=list)
    ended: bool = False

    @property
    def text(self) -> str:
        return "".join(self.texts)


class TurnNormalizer:
    """The events of one turn. `ledger` is the conversation's and outlives it."""

    def __init__(self, turn_id: TurnId, ledger: CallLedger) -> None:
        self.turn_id = turn_id
        self.spoke = False
        """Whether any text of the model's has been told."""
        self.said_all = False
        """The model ended its answer and calls for nothing more: what is left of the response is its result."""
        self._ledger = ledger
        self._items = 0
        self._message_id: str | None = None
        self._blocks: dict[int, _Block] = {}

    def stream(self, event: Members) -> list[TurnEvent]:
        """A raw event of the model's stream."""
        index = count_of(event.get("index"))
        match event.get("type"):
            case "message_start":
                self.said_all = False
                events = self.cut()
                self._begin(text_of(object_of(event.get("message")).get("id")))
                return events
            case "message_delta":
                self.said_all = text_of(object_of(event.get("delta")).get("stop_reason")) in ENDS
                return []
            case "content_block_start" if index is not None:
                return self._block_starts(index, object_of(event.get("content_block")))
            case "content_block_delta" if index is not None:
                return self._delta(index, object_of(event.get("delta")))
            case "content_block_stop" if index is not None:
                block = self._blocks.get(index)
                return self._end(block, None) if block is not None else []
        return []

    def assistant(self, message: Members, *, aborted: bool) -> list[TurnEvent]:
        """Finished blocks of a message; those of an interrupted one are cut short."""
        message_id = text_of(message.get("id"))
        events: list[TurnEvent] = []
        if message_id != self._message_id:
            events += self.cut()
            self._begin(message_id)
        for block in map(object_of, list_of(message.get("content"))):
            name = text_of(block.get("type")) or ""
            if name in _KINDS:
                text = text_of(block.get("text" if name == "text" else "thinking")) or ""
                events += self._finished(_KINDS[name], text, cut_short=aborted)
            elif name == "tool_use":
                events += self._call(block)
        return events

    def results(self, frame: Members, *, stopping: bool) -> list[TurnEvent]:
        """What tools brought back."""
        metas = {
            text_of(meta.get("id")): meta for meta in map(object_of, list_of(frame.get("tool_result_meta")))
        }
        events: list[TurnEvent] = []
        for block in map(object_of, list_of(object_of(frame.get("message")).get("content"))):
            if block.get("type") == "tool_result":
                meta = metas.get(text_of(block.get("tool_use_id")), {})
                report = self._ledger.result(block, frame.get("tool_use_result"), meta, stopping=stopping)
                if report is not None:
                    events.append(report)
                    plan = self._ledger.board.brought(report.call_id, frame.get("tool_use_result"))
                    events += self._plan(plan)
        return events

    def said(self, text: str) -> list[TurnEvent]:
        """Words that came without a message: the answer to a command of Claude Code's own."""
        return self._finished("text", text, cut_short=False)

    def notice(self, code: str, severity: NoticeSeverity, text: str) -> list[TurnEvent]:
        """Something the user should know."""
        return [NoticeReported(self.turn_id, code, severity, text)]

    def cut(self) -> list[TurnEvent]:
        """Whatever text is open was broken off."""
        events: list[TurnEvent] = []
        for block in self._blocks.values():
            if not block.ended:
                events += self._end(block, None, cut_short=True)
        return events

    def end(self) -> list[TurnEvent]:
        """The turn is over: open text ends."""
        return [
            event for block in self._blocks.values() if not block.ended for event in self._end(block, None)
        ]

    def _begin(self, message_id: str | None) -> None:
        self._message_id = message_id
        self._blocks = {}

    def _block_starts(self, index: int, block: Members) -> list[TurnEvent]:
        name = text_of(block.get("type")) or ""
        if name in _KINDS:
            self._blocks[index] = self._new_block(_KINDS[name])
            return []
        call_id, tool = text_of(block.get("id")), text_of(block.get("name"))
        if name != "tool_use" or call_id is None or tool is None:
            return []
        return [*self._ledger.announce(self.turn_id, call_id, tool)]

    def _delta(self, index: int, delta: Members) -> list[TurnEvent]:
        block = self._blocks.get(index)
        text = text_of(delta.get(_DELTAS.get(text_of(delta.get("type")) or "", "")))
        if block is None or block.ended or text is None:
            return []
        return self._chunk(block, text)

    def _chunk(self, block: _Block, text: str) -> list[TurnEvent]:
        block.texts.append(text)
        self.spoke = self.spoke or block.kind == "text"
        return [TextChunk(self.turn_id, block.item_id, block.kind, text)]

    def _finished(self, kind: BlockKind, text: str, *, cut_short: bool) -> list[TurnEvent]:
        block = next((one for one in self._blocks.values() if one.kind == kind and not one.ended), None)
        events: list[TurnEvent] = []
        if block is None or not block.texts:
            if not text:
                return []
            if block is None:
                block = self._new_block(kind)
                self._blocks[max(self._blocks, default=-1) + 1] = block
            events = self._chunk(block, text)
        return events + self._end(block, text, cut_short=cut_short)

    def _end(self, block: _Block, text: str | None, *, cut_short: bool = False) -> list[TurnEvent]:
        if block.ended:
            return []
        block.ended = True
        if not block.texts:
            return []
        replaced = text if text is not None and text != block.text else None
        block.texts = []
        return [ItemEnded(self.turn_id, block.item_id, replaced, cut_short)]

    def _new_block(self, kind: BlockKind) -> _Block:
        self._items += 1
        return _Block(f"item-{self._items}", kind)

    def _call(self, block: Members) -> list[TurnEvent]:
        call_id, name = text_of(block.get("id")), text_of(block.get("name"))
        if call_id is None or name is None:
            return []
        given: Json = block.get("input")
        reports: list[ToolCallReported] = self._ledger.describe(self.turn_id, call_id, name, given)
        self._ledger.board.called(call_id, name, object_of(given))
        return [*reports, *self._plan(plan_of(name, object_of(given)))]

    def _plan(self, entries: tuple[PlanEntry, ...] | None) -> list[TurnEvent]:
        return [PlanReported(self.turn_id, PLAN_ITEM, entries)] if entries is not None else []
