"""The transcript that Claude Code keeps of a conversation: what a turn came to that nobody here followed to its end.

Owns the reading of its lines. A turn begins with the line of its prompt, which has the uuid that the prompt was stamped
with, and ends before the next line that somebody else said: what was said from another place, or as guidance, is none of
it. Sub-agents' lines, repeats and what Claude Code says in the model's place are no words of the conversation.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from runtime.providers.claude_code.calls import CallLedger
from runtime.providers.claude_code.normalizer import ENDS
from runtime.providers.jsonrpc.json_text import MalformedJsonError, decode
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.normalized import KeptItem, TextChunk, ToolCallReported
from runtime.providers.records import RecordPlace
from store.canonical.identifiers import CallId, TurnId
from store.canonical.message import ToolStatus
from store.canonical.turn import TurnOutcome

HOMES: Final = (("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude"))
FOLDER: Final = "projects"
_SPOKEN: Final = (b'"type":"user"', b'"type":"assistant"')
"""Most bytes of a transcript are of other lines, which are not even decoded."""
_MADE_UP: Final = "<synthetic>"
_TEXTS: Final = {"text": "text", "thinking": "thinking"}


def place_of(session_id: str) -> RecordPlace:
    """Where the transcript of a conversation is."""
    return RecordPlace(HOMES, FOLDER, f"{session_id}.jsonl")


@attrs.frozen
class Transcript:
    """The turns of a transcript's end, by the uuids of their prompts: the lines that follow each."""

    turns: dict[str, list[Members]]


@attrs.frozen
class KeptTurn:
    """All that is kept of one turn. It is over either way: whoever wrote it is gone."""

    items: tuple[KeptItem, ...]
    outcome: TurnOutcome


def read_transcript(data: bytes) -> Transcript:
    """Every turn that begins in there."""
    turns: dict[str, list[Members]] = {}
    current: list[Members] = []
    for line in _spoken_lines(data):
        if line.get("type") == "user" and not _brings_results(line):
            uuid = text_of(line.get("uuid"))
            if line.get("isMeta") is True and uuid not in turns:
                continue
            current = []
            if uuid is not None:
                turns[uuid] = current
        else:
            current.append(line)
    return Transcript(turns)


def turn_of(transcript: Transcript, stamp: str, turn_id: TurnId) -> KeptTurn | None:
    """What is kept of this turn; None when its prompt is not in there."""
    lines = transcript.turns.get(stamp)
    if lines is None:
        return None
    ledger = CallLedger()
    items: dict[str, KeptItem] = {}
    finished = False
    for line in lines:
        message = object_of(line.get("message"))
        blocks = [object_of(block) for block in list_of(message.get("content"))]
        if line.get("type") == "assistant":
            finished = text_of(message.get("stop_reason")) in ENDS
            for block in blocks:
                _take_block(turn_id, block, ledger, items)
            continue
        finished = False
        for block in blocks:
            report = ledger.result(block, line.get("toolUseResult"), {}, stopping=False)
            if report is not None:
                _add_call(report, items)
    ended = tuple(_ended(item) for item in items.values())
    return KeptTurn(ended, "completed" if finished else "interrupted")


def _spoken_lines(data: bytes) -> Iterable[Members]:
    for raw in data.split(b"\n"):
        if not any(mark in raw for mark in _SPOKEN):
            continue
        try:
            line = object_of(decode(raw))
        except MalformedJsonError:
            continue  # cut off in the middle of a write
        spoken = line.get("type") in ("user", "assistant") and line.get("isSidechain") is not True
        made_up = object_of(line.get("message")).get("model") == _MADE_UP
        if spoken and not made_up:
            yield line


def _brings_results(line: Members) -> bool:
    blocks = list_of(object_of(line.get("message")).get("content"))
    return any(object_of(block).get("type") == "tool_result" for block in blocks)


def _take_block(turn_id: TurnId, block: Members, ledger: CallLedger, items: dict[str, KeptItem]) -> None:
    kind = text_of(block.get("type")) or ""
    call_id, name = text_of(block.get("id")), text_of(block.get("name"))
    if kind == "tool_use" and call_id is not None and name is not None:
        for report in ledger.describe(turn_id, call_id, name, block.get("input")):
            _add_call(report, items)
    elif kind in _TEXTS and (text := text_of(block.get(_TEXTS[kind]))) is not None:
        item_id = f"item-{len(items) + 1}"
        items[item_id] = TextChunk(turn_id, item_id, "text" if kind == "text" else "reasoning", text)


def _add_call(report: ToolCallReported, items: dict[str, KeptItem]) -> None:
    """What several reports say of a call, as one."""
    key = f"call {report.call_id}"
    known = items.get(key)
    if isinstance(known, ToolCallReported):
        news = {
            field.name: value
            for field in attrs.fields(ToolCallReported)
            if (value := getattr(report, field.name)) is not None
        }
        report = attrs.evolve(known, **news)
    items[key] = report


def _ended(item: KeptItem) -> KeptItem:
    if isinstance(item, ToolCallReported) and item.status in ("pending", "running", None):
        status: ToolStatus = "interrupted"
        return attrs.evolve(item, call_id=CallId(item.call_id), status=status)
    return item
