"""The items of a turn as Codex sends them, read tolerantly into the few shapes that matter to us.

Owns the step from an item's JSON to one of these shapes: text that streams, a call of a tool, a notice, an echo of a
prompt. A kind this program does not know is kept as such, for the caller to count (FC-53).
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import attrs

from runtime.providers.codex.tool_items import READERS as TOOL_READERS
from runtime.providers.codex.tool_items import CallItem
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.message import NoticeSeverity

TextPart: TypeAlias = Literal["text", "plan", "summary", "content"]
"""Which text of an item: an answer, a plan, or a part of its reasoning."""

PART_SEPARATOR: Final = "\n\n"
"""Between the parts of a reasoning summary, which Codex tells one by one."""


@attrs.frozen
class TextItem:
    """Text of the agent; `parts` hold it as it stands, which is final once the item is completed."""

    item_id: str
    parts: tuple[tuple[TextPart, str], ...]


@attrs.frozen
class NoticeItem:
    """Something that happened in the conversation beside what was said."""

    item_id: str
    code: str
    severity: NoticeSeverity
    text: str


@attrs.frozen
class CompactionItem:
    """The agent shortens what it remembers of the conversation."""

    item_id: str


@attrs.frozen
class PromptItem:
    """What was said to the agent, back again; `client_id` is the name we gave it."""

    item_id: str
    client_id: str | None
    text: str = ""


@attrs.frozen
class UnknownItem:
    """A kind this program does not know, or one without its identity."""

    kind: str


Item: TypeAlias = TextItem | CallItem | NoticeItem | CompactionItem | PromptItem | UnknownItem


def read_item(value: Json) -> Item:
    """Read the `item` of a frame."""
    members = object_of(value)
    kind, item_id = text_of(members.get("type")) or "", text_of(members.get("id"))
    if item_id is None:
        return UnknownItem(f"{kind[:40]} without its identity")
    if kind in TOOL_READERS:
        return TOOL_READERS[kind](item_id, members)
    reader = _READERS.get(kind)
    return UnknownItem(kind[:40]) if reader is None else reader(item_id, members)


def _read_message(item_id: str, members: Members) -> Item:
    return TextItem(item_id, (("text", _string(members.get("text"))),))


def _read_plan(item_id: str, members: Members) -> Item:
    return TextItem(item_id, (("plan", _string(members.get("text"))),))


def _read_reasoning(item_id: str, members: Members) -> Item:
    summary = PART_SEPARATOR.join(_string(part) for part in list_of(members.get("summary")))
    content = PART_SEPARATOR.join(_string(part) for part in list_of(members.get("content")))
    return TextItem(item_id, (("summary", summary), ("content", content)))


def _read_prompt(item_id: str, members: Members) -> Item:
    parts = [_string(object_of(part).get("text")) for part in list_of(members.get("content"))]
    return PromptItem(item_id, text_of(members.get("clientId")), "\n".join(filter(None, parts)))


def _read_hook_prompt(item_id: str, members: Members) -> Item:
    texts = [_string(object_of(part).get("text")) for part in list_of(members.get("fragments"))]
    return NoticeItem(
        item_id, "provider.hook_prompt", "info", "\n".join(texts) or "A hook spoke to the agent."
    )


def _read_review_begin(item_id: str, members: Members) -> Item:
    return NoticeItem(item_id, "provider.review_started", "info", "The agent began a review.")


def _read_review_end(item_id: str, members: Members) -> Item:
    return NoticeItem(item_id, "provider.review_ended", "info", "The agent ended its review.")


def _read_compaction(item_id: str, members: Members) -> Item:
    return CompactionItem(item_id)


_READERS: Final[dict[str, Callable[[str, Members], Item]]] = {
    "agentMessage": _read_message,
    "plan": _read_plan,
    "reasoning": _read_reasoning,
    "userMessage": _read_prompt,
    "hookPrompt": _read_hook_prompt,
    "enteredReviewMode": _read_review_begin,
    "exitedReviewMode": _read_review_end,
    "contextCompaction": _read_compaction,
}


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""
