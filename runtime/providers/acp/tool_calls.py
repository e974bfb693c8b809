"""Tool calls of one conversation: upserted by id from whichever frame names them first, and told only by change.

Owns what is known of each call and which turn it belongs to, so that an update after the turn's end still finds its
old turn (ST-006). Calls left open at a turn's end are not closed here: that is the Session's decision.
"""

from typing import Final, Literal

import attrs

from runtime.providers.acp.wire import DiffPart, ToolCallPart
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.normalized import ProviderEvent, ToolCallReported, ToolOutputChunk
from runtime.providers.unified_diff import unified_diff
from store.canonical.common import Json
from store.canonical.identifiers import CallId, TurnId
from store.canonical.message import FileChange, ToolKind, ToolStatus

REMEMBERED_CALLS_MAX = 1024
"""Calls whose turn is still known, newest kept; a later word about an older one counts as a new call."""

_RANKS: Final[dict[ToolStatus, int]] = {"pending": 0, "running": 1}
_ENDED: Final = 2
_OUTPUT_NAMES: Final = ("aggregated_output", "output", "text")
_STREAM_NAMES: Final = ("stdout", "stderr")


@attrs.define
class ToolCallRecord:
    """What has been told of one call. Texts are dropped once it ended, since nothing is compared any more."""

    turn_id: TurnId
    call_id: CallId
    name: str
    title: str
    kind: ToolKind | None = None
    status: ToolStatus = "pending"
    input: Json = None
    changes: tuple[FileChange, ...] | None = None
    exit_code: int | None = None
    _text: str | None = None
    _diffs: tuple[DiffPart, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether its last status has been told."""
        return self.status not in _RANKS

    def update(self, part: ToolCallPart) -> list[ProviderEvent]:
        """Take over what a frame says; tell only what is new."""
        text, exit_code = _output_of(part)
        events: list[ProviderEvent] = []
        grown = self._growth(text)
        if grown:
            # Growing output travels as appendable text, so that a long one costs no row a frame.
            events.append(ToolOutputChunk(self.turn_id, self.call_id, grown))
        changes = self._changes(part.diffs)
        known = self._input(part)
        report = ToolCallReported(
            self.turn_id,
            self.call_id,
            name=_news(part.name, self.name),
            title=_news(part.title, self.title),
            kind=part.kind if part.kind != self.kind else None,
            status=self._advance(part.progress),
            input=known if known not in (None, {}, self.input) else None,
            output_text=text if text != self._text and grown is None else None,
            exit_code=exit_code if exit_code != self.exit_code else None,
            changes=changes,
        )
        self._take(report, text)
        if report != ToolCallReported(self.turn_id, self.call_id):
            events.append(report)
        return events

    def announce(self, part: ToolCallPart) -> list[ProviderEvent]:
        """The first word about this call: name, title and status are always said."""
        events = self.update(part)
        told = events.pop() if events else ToolCallReported(self.turn_id, self.call_id)
        assert isinstance(told, ToolCallReported)
        return [attrs.evolve(told, name=self.name, title=self.title, status=self.status)]

    def decline(self) -> list[ProviderEvent]:
        """A person refused it. Agents then say `failed`, or nothing at all; neither changes this any more."""
        if self.ended:
            return []
        self.status = "declined"
        return [ToolCallReported(self.turn_id, self.call_id, status="declined")]

    def _advance(self, status: ToolStatus | None) -> ToolStatus | None:
        """The status to tell: only forward, since asks repeat an old one and frames overtake each other."""
        if status is None or _RANKS.get(status, _ENDED) <= _RANKS.get(self.status, _ENDED):
            return None
        self.status = status
        return status

    def _growth(self, text: str | None) -> str | None:
        if text is None or not self._text or len(text) <= len(self._text) or not text.startswith(self._text):
            return None
        return text[len(self._text) :]

    def _input(self, part: ToolCallPart) -> Json:
        """The call's input with what was said beside it; what stands in the input itself wins (RT-027)."""
        known = part.raw_input if part.raw_input not in (None, {}) else self.input
        if not part.details or not (known is None or isinstance(known, dict)):
            return known
        return {**part.details, **object_of(known)}

    def _changes(self, diffs: tuple[DiffPart, ...]) -> tuple[FileChange, ...] | None:
        if not diffs or diffs == self._diffs:
            return None
        self._diffs = diffs
        return tuple(file_change(diff) for diff in diffs)

    def _take(self, report: ToolCallReported, text: str | None) -> None:
        self.name = report.name or self.name
        self.title = report.title or self.title
        self.kind = report.kind or self.kind
        self.input = self.input if report.input is None else report.input
        self.exit_code = self.exit_code if report.exit_code is None else report.exit_code
        self.changes = self.changes if report.changes is None else report.changes
        self._text = self._text if text is None else text
        if self.ended:
            self.input = self.changes = self._text = None
            self._diffs = ()


class ToolCallLedger:
    """The calls of one conversation by id, across its turns."""

    def __init__(self, remembered_max: int = REMEMBERED_CALLS_MAX) -> None:
        self._remembered_max = remembered_max
        self._records: dict[CallId, ToolCallRecord | None] = {}

    def __contains__(self, call_id: CallId) -> bool:
        """Whether anything was ever said of this call, in a turn or in a replayed history."""
        return call_id in self._records

    def find(self, call_id: CallId) -> ToolCallRecord | None:
        """The call, unless it is unknown or belongs to a replayed history."""
        return self._records.get(call_id)

    def begin(self, turn_id: TurnId, part: ToolCallPart) -> ToolCallRecord:
        """A call of this turn, not told yet."""
        name = part.name or part.kind or "tool"
        record = ToolCallRecord(turn_id, part.call_id, name, part.title or name)
        self._remember(part.call_id, record)
        return record

    def replayed(self, call_id: CallId) -> None:
        """A call of the history that a loading agent repeats: no turn of ours, ever (FC-26)."""
        self._remember(call_id, None)

    def _remember(self, call_id: CallId, record: ToolCallRecord | None) -> None:
        self._records.pop(call_id, None)
        self._records[call_id] = record
        if len(self._records) > self._remembered_max:
            del self._records[next(iter(self._records))]


def file_change(diff: DiffPart) -> FileChange:
    """A file before and after as a change. Agents write both null and "" for a file that was not there."""
    kind: Literal["add", "update", "delete"] = "update" if diff.old_text else "add"
    if diff.new_text is None:
        kind = "delete"
    return FileChange(diff.path, kind, unified_diff(diff.path, diff.old_text or "", diff.new_text or ""))


def _news(value: str | None, known: str) -> str | None:
    return value if value != known else None


def _output_of(part: ToolCallPart) -> tuple[str | None, int | None]:
    """Output text and exit code, from the content and what the raw output holds under usual names."""
    raw = part.raw_output
    if isinstance(raw, str):
        return part.text or text_of(raw), None
    members = object_of(raw)
    codes = (
        members.get("exit_code"),
        members.get("exitCode"),
        object_of(members.get("metadata")).get("exit"),
    )
    exit_code = next((code for code in codes if type(code) is int), None)
    return _text_of_command(part.text, members), exit_code


def _text_of_command(content: str | None, members: Members) -> str | None:
    """The content when there is any, unless it is one of the streams over again: then both, as they are (ST-018)."""
    text = content or next((text for name in _OUTPUT_NAMES if (text := text_of(members.get(name)))), None)
    streams = [stream for name in _STREAM_NAMES if (stream := text_of(members.get(name)))]
    if streams and (text is None or text.strip() in [stream.strip() for stream in streams]):
        first, *rest = streams
        return "".join((first, *("" if first.endswith("\n") else "\n" for _ in rest), *rest))
    return text or text_of(members.get("error"))
