"""The tool calls of one conversation, across its turns, and which of them sub-agents made.

Owns which turn a call belongs to and how far it has been told. What a sub-agent does is told as output of the call
that started it: it is no word of the conversation's own (ST-006). Calls left open at a turn's end are not closed here.
"""

import re
from typing import Final, TypeVar

import attrs

from runtime.providers.claude_code.plan_board import PlanBoard
from runtime.providers.claude_code.tools import changes_of, kind_of, output_of, title_of
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.normalized import ToolCallReported, ToolOutputChunk
from store.canonical.common import Json
from store.canonical.identifiers import CallId, TurnId
from store.canonical.message import ToolStatus

REMEMBERED_CALLS_MAX: Final = 1024
_EXIT_CODE: Final = re.compile(r"^Exit code (\d{1,3})\b")
_NOT_EXECUTED: Final = "non_execution_kind"
_Kept = TypeVar("_Kept")


@attrs.define
class Call:
    """One call; `ended` once its last status has been told."""

    turn_id: TurnId
    call_id: CallId
    name: str
    described: bool = False
    ended: bool = False


class CallLedger:
    """The newest calls, by id."""

    def __init__(self) -> None:
        self._calls: dict[CallId, Call] = {}
        self.board = PlanBoard()
        self._parents: dict[CallId, CallId] = {}

    def find(self, call_id: str | None) -> Call | None:
        """A call of the conversation itself."""
        return self._calls.get(CallId(call_id or ""))

    def owner(self, call_id: str) -> Call | None:
        """The call itself, or the one whose sub-agent made it."""
        parent = self._parents.get(CallId(call_id))
        return self.find(parent if parent is not None else call_id)

    def announce(self, turn_id: TurnId, call_id: str, name: str) -> list[ToolCallReported]:
        """The model begins to write a call; what it is about is not known yet."""
        if call_id in self._calls:
            return []
        call = Call(turn_id, CallId(call_id), name)
        _remember(self._calls, call.call_id, call)
        return [
            ToolCallReported(
                turn_id, call.call_id, name=name, title=name, kind=kind_of(name), status="pending"
            )
        ]

    def describe(self, turn_id: TurnId, call_id: str, name: str, given: Json) -> list[ToolCallReported]:
        """The call is written; it runs as soon as it may."""
        events = self.announce(turn_id, call_id, name)
        call = self._calls[CallId(call_id)]
        if call.described or call.turn_id != turn_id:
            return events
        call.described = True
        members = object_of(given)
        report = ToolCallReported(
            turn_id,
            call.call_id,
            title=title_of(name, members),
            status="running",
            input=given,
            changes=changes_of(name, members),
        )
        return [*events, report]

    def result(
        self, block: Members, details: Json, meta: Members, *, stopping: bool
    ) -> ToolCallReported | None:
        """A call brought something back. `stopping` says that its turn is being broken off."""
        call = self.find(text_of(block.get("tool_use_id")))
        if call is None or call.ended:
            return None
        if object_of(details).get("isAsync") is True:
            return None  # a sub-agent that works in the background has only begun
        call.ended = True
        text = output_of(block.get("content"))
        status: ToolStatus = "completed"
        if block.get("is_error") is True:
            refused = text_of(meta.get(_NOT_EXECUTED)) is not None
            status = "interrupted" if stopping else "declined" if refused else "failed"
        exit_code = _EXIT_CODE.match(text)
        return ToolCallReported(
            call.turn_id,
            call.call_id,
            status=status,
            output_text=text,
            exit_code=int(exit_code.group(1)) if exit_code is not None and status == "failed" else None,
        )

    def child(self, parent_id: str, call_id: str, name: str, given: Json) -> ToolOutputChunk | None:
        """A sub-agent calls a tool."""
        _remember(self._parents, CallId(call_id), CallId(parent_id))
        return self.child_text(parent_id, title_of(name, object_of(given)))

    def child_text(self, parent_id: str, text: str) -> ToolOutputChunk | None:
        """A sub-agent says something."""
        call = self.find(parent_id)
        if call is None or call.ended or not text:
            return None
        return ToolOutputChunk(call.turn_id, call.call_id, text + "\n")

    def task_ended(self, call_id: str | None, status: str | None, summary: str) -> ToolCallReported | None:
        """A sub-agent that worked in the background is done."""
        call = self.find(call_id)
        if call is None or call.ended:
            return None
        call.ended = True
        ending: ToolStatus = "completed" if status == "completed" else "failed"
        return ToolCallReported(call.turn_id, call.call_id, status=ending, output_text=summary)


def _remember(kept: dict[CallId, _Kept], key: CallId, value: _Kept) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > REMEMBERED_CALLS_MAX:
        del kept[next(iter(kept))]
