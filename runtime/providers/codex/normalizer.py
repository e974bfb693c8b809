"""Turns the items of one turn into the product's own events, in the order Codex produced them.

Owns the item ids and call ids of the turn, which Codex's are not good for: they are only as unique as the model server
makes them. Deltas are hints and the completed item is the word: what was streamed is made up to it. Pure.
"""

from typing import Final, Literal

import attrs

from runtime.providers.codex.items import (
    PART_SEPARATOR,
    CompactionItem,
    Item,
    NoticeItem,
    TextItem,
    TextPart,
)
from runtime.providers.codex.tool_items import CallItem
from runtime.providers.normalized import (
    ItemEnded,
    NoticeReported,
    PlanReported,
    TextChunk,
    ToolCallReported,
    ToolOutputChunk,
    TurnEvent,
)
from runtime.providers.redaction import hide_tokens
from store.canonical.identifiers import CallId, SessionId, TurnId
from store.canonical.message import FileChange, NoticeSeverity, PlanEntry, ToolStatus

PLAN_ITEM: Final = "plan"
COMPACTED_TEXT: Final = "The agent shortened the conversation it remembers."

_KINDS: Final[dict[TextPart, Literal["text", "reasoning", "plan"]]] = {
    "text": "text",
    "plan": "plan",
    "summary": "reasoning",
    "content": "reasoning",
}
_ENDED: Final[frozenset[ToolStatus]] = frozenset({"completed", "failed", "declined", "interrupted"})


@attrs.define
class _Stream:
    """A text that is being told. `index` counts the parts of a summary."""

    item_id: str
    kind: Literal["text", "reasoning", "plan"]
    told: list[str] = attrs.field(factory=list)
    index: int = 0


@attrs.define
class Call:
    """What has been told of one call."""

    call_id: CallId
    item: CallItem
    status: ToolStatus = "running"
    rejected: bool = False
    """A person refused it."""

    @property
    def ended(self) -> bool:
        """Whether its last status has been told."""
        return self.status in _ENDED


class TurnNormalizer:
    """The events of one turn."""

    def __init__(self, turn_id: TurnId) -> None:
        self.turn_id = turn_id
        self.proposed_plan: str | None = None
        """The whole plan of planning, not the list of steps of a turn that works."""
        self.compacting = False
        """The agent is shortening its memory right now."""
        self._items = 0
        self._streams: dict[tuple[str, TextPart], _Stream] = {}
        self._ended_texts: set[tuple[str, TextPart]] = set()
        self._calls: dict[str, Call] = {}
        self._call_ids: set[str] = set()

    # --- whole items ------------------------------------------------------------------------------------------

    def started(self, item: Item) -> list[TurnEvent]:
        """An item begins. Its id may have been used before: then this is another one."""
        match item:
            case TextItem():
                return self._text_begins(item)
            case CallItem():
                return self._call_begins(item)
            case CompactionItem():
                self.compacting = True
                return []
            case _:
                return []

    def completed(self, item: Item) -> list[TurnEvent]:
        """An item as it finally is."""
        match item:
            case TextItem():
                return [event for part, text in item.parts for event in self._text_ends(item, part, text)]
            case CallItem():
                return self._call_ends(item)
            case NoticeItem():
                return [self.notice(item.code, item.severity, item.text)]
            case CompactionItem():
                self.compacting = False
                return [self.notice("provider.context_compacted", "info", COMPACTED_TEXT)]
            case _:
                return []

    def call(self, item_id: str) -> Call | None:
        """The newest call of this id."""
        return self._calls.get(item_id)

    def running_of(self, server: str) -> Call | None:
        """The call of a tool of this MCP server that is running, if there is exactly one."""
        running = [
            call
            for call in self._calls.values()
            if not call.ended and call.item.name.startswith(f"{server}/")
        ]
        return running[0] if len(running) == 1 else None

    def going_on(self) -> list[Call]:
        """Commands that have not ended."""
        return [call for call in self._calls.values() if not call.ended and call.item.outlives_turn]

    # --- pieces -----------------------------------------------------------------------------------------------

    def text(self, item_id: str, part: TextPart, delta: str, index: int = 0) -> list[TurnEvent]:
        """More text of an item; none once it is completed."""
        key = (item_id, part)
        if not delta or key in self._ended_texts:
            return []
        stream = self._streams.get(key)
        if stream is None:
            self._items += 1
            stream = self._streams[key] = _Stream(f"item-{self._items}", _KINDS[part], index=index)
        elif index > stream.index:
            delta = PART_SEPARATOR + delta
            stream.index = index
        return [self._told(stream, delta)]

    def output(self, item_id: str, delta: str) -> list[TurnEvent]:
        """More output of a call. Codex leaves the first of it out; the completed item has all."""
        call = self._calls.get(item_id)
        if not delta or (call is not None and call.ended):
            return []
        events: list[TurnEvent] = []
        if call is None:
            item = CallItem(item_id=item_id, name="command", title="command", kind="execute")
            events = self._call_begins(attrs.evolve(item, outlives_turn=True))
            call = self._calls[item_id]
        return [*events, ToolOutputChunk(self.turn_id, call.call_id, delta)]

    def patched(self, item_id: str, changes: tuple[FileChange, ...]) -> list[TurnEvent]:
        """The changes of a patch as they stand now."""
        call = self._calls.get(item_id)
        if call is None or call.ended or call.item.changes == changes:
            return []
        call.item = attrs.evolve(call.item, changes=changes)
        return [ToolCallReported(self.turn_id, call.call_id, changes=changes)]

    def plan(self, entries: tuple[PlanEntry, ...]) -> TurnEvent:
        """The whole plan as it stands now: one a turn."""
        return PlanReported(self.turn_id, PLAN_ITEM, entries)

    def notice(self, code: str, severity: NoticeSeverity, text: str) -> TurnEvent:
        """Something worth telling the user; words of Codex among it may hold what nobody should see (PR-024)."""
        return NoticeReported(self.turn_id, code, severity, hide_tokens(text))

    # --- ends -------------------------------------------------------------------------------------------------

    def cut_texts(self) -> list[TurnEvent]:
        """What is half said will not be finished: the model's request was broken off."""
        cut: list[TurnEvent] = [
            ItemEnded(self.turn_id, stream.item_id, cut_short=True) for stream in self._streams.values()
        ]
        self._ended_texts.update(self._streams)
        self._streams.clear()
        return cut

    def end(self) -> list[TurnEvent]:
        """The turn is over. Commands are left open: they may go on, and it is not ours to end their rows."""
        events = self.cut_texts()
        for call in self._calls.values():
            if call.ended or (call.item.outlives_turn and not call.rejected):
                continue
            call.status = "declined" if call.rejected else "interrupted"
            events.append(ToolCallReported(self.turn_id, call.call_id, status=call.status))
        return events

    # --- texts ------------------------------------------------------------------------------------------------

    def _text_begins(self, item: TextItem) -> list[TurnEvent]:
        events: list[TurnEvent] = []
        for part, _ in item.parts:
            key = (item.item_id, part)
            self._ended_texts.discard(key)
            if (left := self._streams.pop(key, None)) is not None:
                events.append(ItemEnded(self.turn_id, left.item_id, cut_short=True))
        return events

    def _text_ends(self, item: TextItem, part: TextPart, text: str) -> list[TurnEvent]:
        key = (item.item_id, part)
        stream = self._streams.pop(key, None)
        if stream is None:
            if not text or key in self._ended_texts:
                return []
            self._items += 1
            stream = _Stream(f"item-{self._items}", _KINDS[part])
        self._ended_texts.add(key)
        if part == "plan" and text:
            self.proposed_plan = text
        told = "".join(stream.told)
        if told == text:
            return [ItemEnded(self.turn_id, stream.item_id)]
        if text.startswith(told):
            rest = self._told(stream, text[len(told) :])
            return [rest, ItemEnded(self.turn_id, stream.item_id)]
        return [ItemEnded(self.turn_id, stream.item_id, text=text)]

    def _told(self, stream: _Stream, delta: str) -> TurnEvent:
        stream.told.append(delta)
        return TextChunk(self.turn_id, stream.item_id, stream.kind, delta)

    # --- calls ------------------------------------------------------------------------------------------------

    def _call_begins(self, item: CallItem) -> list[TurnEvent]:
        known = self._calls.get(item.item_id)
        if known is not None and not known.ended:
            return self._update(known, item, item.status)
        call = Call(self._new_call_id(item.item_id), item)
        self._calls[item.item_id] = call
        call.status = item.status or "running"
        return [self._announce(call)]

    def _call_ends(self, item: CallItem) -> list[TurnEvent]:
        call = self._calls.get(item.item_id)
        status = item.status if item.status in _ENDED else "completed"
        if call is None:
            call = Call(self._new_call_id(item.item_id), item, status)
            self._calls[item.item_id] = call
            return [self._announce(call)]
        if call.ended:
            return []
        # A refused call of an MCP tool ends as failed.
        return self._update(call, item, "declined" if call.rejected and status == "failed" else status)

    def _announce(self, call: Call) -> TurnEvent:
        """The first word about a call: name, title and status are always said."""
        item = call.item
        _forget_content(call)
        return ToolCallReported(
            self.turn_id,
            call.call_id,
            name=item.name,
            title=item.title,
            kind=item.kind,
            status=call.status,
            input=item.input,
            output_text=item.output_text,
            exit_code=item.exit_code,
            changes=item.changes,
            child_id=_child_id(item),
        )

    def _update(self, call: Call, item: CallItem, status: ToolStatus | None) -> list[TurnEvent]:
        """Tell what is new. The output is told again as a whole, since what was streamed of it had holes."""
        was, call.item = call.item, item
        changed = status if status is not None and status != call.status else None
        report = ToolCallReported(
            self.turn_id,
            call.call_id,
            name=item.name if item.name != was.name else None,
            title=item.title if item.title != was.title else None,
            kind=item.kind if item.kind != was.kind else None,
            status=changed,
            input=item.input if item.input != was.input else None,
            output_text=item.output_text,
            exit_code=item.exit_code,
            changes=item.changes if item.changes != was.changes else None,
            child_id=_child_id(item) if item.child != was.child else None,
        )
        call.status = changed or call.status
        _forget_content(call)
        return [] if report == ToolCallReported(self.turn_id, call.call_id) else [report]

    def _new_call_id(self, item_id: str) -> CallId:
        """Codex's id, made unique within the turn: some model servers count calls anew in every request."""
        call_id, number = item_id, 1
        while call_id in self._call_ids:
            number += 1
            call_id = f"{item_id}~{number}"
        self._call_ids.add(call_id)
        return CallId(call_id)


def _child_id(item: CallItem) -> SessionId | None:
    return SessionId(item.child.thread_id) if item.child is not None else None


def _forget_content(call: Call) -> None:
    """Nothing is compared any more with what an ended call held, and an output may have a megabyte."""
    if call.ended:
        call.item = attrs.evolve(call.item, input=None, output_text=None, changes=None)
