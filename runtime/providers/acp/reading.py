"""Reads what an ACP agent sends, tolerantly: what is understood is kept, the rest becomes a placeholder (FC-53).

Owns the step from JSON to the shapes of `wire`. Nothing raises; a shape without its identity is null, so that the
caller can refuse or count it.
"""

from collections.abc import Callable
from typing import Final

from runtime.providers.acp.wire import (
    CommandsUpdate,
    CompactionUpdate,
    ConfigUpdate,
    ContentChunk,
    DiffPart,
    ModeUpdate,
    NoticeUpdate,
    OfferedOption,
    PermissionRequest,
    PlanUpdate,
    QuietUpdate,
    SessionUpdate,
    TitleUpdate,
    ToolCallPart,
    ToolProgress,
    UnknownUpdate,
    UsageUpdate,
)
from runtime.providers.jsonrpc.members import Members, count_of, list_of, object_of, text_of
from store.canonical.common import Json, Usage
from store.canonical.identifiers import CallId
from store.canonical.message import NoticeSeverity, PlanEntry, PlanEntryStatus, ToolKind

_TOOL_KINDS: Final[dict[str, ToolKind]] = {
    "read": "read",
    "edit": "edit",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "execute": "execute",
    "think": "think",
    "fetch": "fetch",
}
_TOOL_PROGRESS: Final[dict[str, ToolProgress]] = {
    "pending": "pending",
    "in_progress": "running",
    "completed": "completed",
    "failed": "failed",
}
_PLAN_STATUS: Final[dict[str, PlanEntryStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
_SEVERITIES: Final[dict[str, NoticeSeverity]] = {"info": "info", "warning": "warning", "error": "error"}


def read_update(update: Members) -> SessionUpdate:
    """Read the `update` member of a `session/update` notification."""
    kind = update.get("sessionUpdate")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return UnknownUpdate(str(kind)[:80])
    return reader(update) or UnknownUpdate(f"{kind} without its identity")


def read_permission(params: Json) -> PermissionRequest | None:
    """Read the params of `session/request_permission`; null when they do not even name a session."""
    members = object_of(params)
    session_id = text_of(members.get("sessionId"))
    if not session_id:
        return None
    tool_call = members.get("toolCall")
    offered = list_of(members.get("options"))
    options = tuple(option for item in offered if (option := _read_option(item)) is not None)
    return PermissionRequest(
        session_id,
        read_tool_call(tool_call) if isinstance(tool_call, dict) else None,
        options,
        malformed_options=len(offered) - len(options),
    )


_INPUT_DETAILS: Final = ("url", "prompt", "instruction")


def read_tool_call(update: Members, created: bool = False) -> ToolCallPart | None:
    """Read a tool call or an update of one; null without an id."""
    call_id = text_of(update.get("toolCallId"))
    if not call_id:
        return None
    meta = object_of(update.get("_meta"))
    text, diffs = _read_tool_content(update.get("content"))
    kind = text_of(update.get("kind"))
    progress = text_of(update.get("status"))
    return ToolCallPart(
        call_id=CallId(call_id),
        created=created,
        name=text_of(update.get("name")) or text_of(meta.get("toolName")),
        title=text_of(update.get("title")),
        kind=_TOOL_KINDS.get(kind, "other") if kind else None,
        progress=_TOOL_PROGRESS.get(progress) if progress else None,
        text=text,
        diffs=diffs,
        raw_input=update.get("rawInput"),
        details={name: update[name] for name in _INPUT_DETAILS if text_of(update.get(name))},
        raw_output=update.get("rawOutput"),
    )


def block_text(block: Json) -> str:
    """The text of a content block, or a placeholder for what cannot be shown as text (FC-53)."""
    if isinstance(block, list):
        return "".join(block_text(item) for item in block)
    members = object_of(block)
    match members.get("type"):
        case "text":
            return text_of(members.get("text")) or ""
        case "resource_link":
            uri = text_of(members.get("uri")) or ""
            return f"[{text_of(members.get('title')) or text_of(members.get('name')) or uri}]({uri})"
        case "resource":
            resource = object_of(members.get("resource"))
            return text_of(resource.get("text")) or f"[resource {text_of(resource.get('uri')) or ''}]"
        case "image" | "audio" as kind:
            return f"[{kind} {text_of(members.get('mimeType')) or ''}]"
        case str(kind):
            return f"[{kind[:40]}]"
        case _:
            return "[unreadable content]"


def _read_text(update: Members) -> SessionUpdate:
    return ContentChunk("text", block_text(update.get("content")), text_of(update.get("messageId")))


def _read_reasoning(update: Members) -> SessionUpdate:
    return ContentChunk("reasoning", block_text(update.get("content")), text_of(update.get("messageId")))


def _read_echo(update: Members) -> SessionUpdate:
    return ContentChunk("user", "", text_of(update.get("messageId")))


def _read_created_tool_call(update: Members) -> SessionUpdate | None:
    return read_tool_call(update, created=True)


def _read_plan(update: Members) -> SessionUpdate:
    return PlanUpdate(tuple(_read_plan_entry(entry) for entry in list_of(update.get("entries"))))


def _read_plan_entry(entry: Json) -> PlanEntry:
    members = object_of(entry)
    return PlanEntry(
        text=text_of(members.get("content")) or "[unreadable step]",
        status=_PLAN_STATUS.get(text_of(members.get("status")) or "", "pending"),
        priority=text_of(members.get("priority")),
    )


def _read_usage(update: Members) -> SessionUpdate:
    cost = object_of(update.get("cost"))
    amount = cost.get("amount")
    in_dollars = cost.get("currency") == "USD" and isinstance(amount, int | float) and amount is not True
    return UsageUpdate(
        Usage(
            context_tokens=count_of(update.get("used")),
            context_window=count_of(update.get("size")),
            cost_usd=float(amount) if in_dollars and isinstance(amount, int | float) else None,
        )
    )


def _read_title(update: Members) -> SessionUpdate:
    title = text_of(update.get("title"))
    return TitleUpdate(title) if title else QuietUpdate("session_info_update")


def _read_mode(update: Members) -> SessionUpdate | None:
    mode = text_of(update.get("currentModeId"))
    return ModeUpdate(mode) if mode else None


def _read_config(update: Members) -> SessionUpdate:
    return ConfigUpdate(update.get("configOptions"))


def _read_notice(update: Members) -> SessionUpdate | None:
    parts = (text_of(update.get("title")), text_of(update.get("description")))
    text = "\n".join(part for part in parts if part)
    severity = _SEVERITIES.get(text_of(update.get("severity")) or "", "info")
    return NoticeUpdate(severity, text) if text else None


def _read_compaction(update: Members) -> SessionUpdate:
    return CompactionUpdate(text_of(update.get("status")) or "")


def _read_quiet(update: Members) -> SessionUpdate:
    return QuietUpdate(str(update.get("sessionUpdate")))


def _read_commands(update: Members) -> SessionUpdate:
    return CommandsUpdate(update.get("availableCommands"))


_READERS: Final[dict[str, Callable[[Members], SessionUpdate | None]]] = {
    "agent_message_chunk": _read_text,
    "agent_thought_chunk": _read_reasoning,
    "user_message_chunk": _read_echo,
    "tool_call": _read_created_tool_call,
    "tool_call_update": read_tool_call,
    "plan": _read_plan,
    "usage_update": _read_usage,
    "session_info_update": _read_title,
    "current_mode_update": _read_mode,
    "config_option_update": _read_config,
    "notice": _read_notice,
    "compaction_update": _read_compaction,
    "compaction_summary_chunk": _read_quiet,
    "available_commands_update": _read_commands,
}


def _read_tool_content(content: Json) -> tuple[str | None, tuple[DiffPart, ...]]:
    """Text and diffs of a tool call's content; no text at all is null, since agents send `[]` as a filler."""
    texts: list[str] = []
    diffs: list[DiffPart] = []
    for item in list_of(content):
        members = object_of(item)
        match members.get("type"):
            case "content":
                texts.append(block_text(members.get("content")))
            case "diff":
                diffs.append(
                    DiffPart(
                        path=text_of(members.get("path")) or "[no path]",
                        old_text=text_of(members.get("oldText")),
                        new_text=new if isinstance(new := members.get("newText"), str) else None,
                    )
                )
            case str(kind):
                texts.append(f"[{kind[:40]}]")
            case _:
                texts.append("[unreadable content]")
    return ("\n".join(texts) if texts else None), tuple(diffs)


def _read_option(item: Json) -> OfferedOption | None:
    members = object_of(item)
    option_id = text_of(members.get("optionId"))
    if option_id is None:
        return None
    kind = text_of(members.get("kind")) or ""
    return OfferedOption(option_id, text_of(members.get("name")) or option_id, kind)
