"""The items of Codex that are calls of a tool: commands, patches, MCP tools, sub-agents, searches and the rest.

Owns how each kind is named, titled and classified, and what of it is input and output. Only a command may outlive its
turn. Output of pictures is never taken over: rows hold no base64.
"""

import shlex
from collections.abc import Callable
from typing import Final

import attrs

from runtime.providers.codex.file_changes import read_changes
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.identifiers import is_identifier
from store.canonical.message import FileChange, ToolKind, ToolStatus

_TITLE_CHARACTERS_MAX = 200
_SHELL_FLAGS: Final = frozenset({"-c", "-lc"})

_STATUSES: Final[dict[str, ToolStatus]] = {
    "inProgress": "running",
    "completed": "completed",
    "failed": "failed",
    "declined": "declined",
    "interrupted": "interrupted",
}


@attrs.frozen
class ChildThread:
    """A sub-agent that a call began, as far as the call tells of it."""

    thread_id: str
    title: str | None = None
    prompt: str | None = None


@attrs.frozen(kw_only=True)
class CallItem:
    """A call as one frame says it stands; null says nothing.

    Without a `status` the frame decides: a call that was told as completed is.
    """

    item_id: str
    name: str
    title: str
    kind: ToolKind
    status: ToolStatus | None = None
    input: Json = None
    output_text: str | None = None
    exit_code: int | None = None
    changes: tuple[FileChange, ...] | None = None
    outlives_turn: bool = False
    """It may go on after its turn, and end then."""
    child: ChildThread | None = None
    """The sub-agent it shows to have begun."""


def shown_command(command: str, actions: Json) -> str:
    """A command as it was meant, without the shell it is wrapped in."""
    meant = [text for action in list_of(actions) if (text := text_of(object_of(action).get("command")))]
    if len(meant) == 1:
        return meant[0]
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    wrapped = len(words) == 3 and words[1] in _SHELL_FLAGS
    return words[2] if wrapped else command


def command_kind(actions: Json) -> ToolKind:
    """What a command does, as far as Codex could tell by parsing it."""
    kinds = {text_of(object_of(action).get("type")) for action in list_of(actions)}
    if kinds == {"read"}:
        return "read"
    if kinds and kinds <= {"search", "listFiles"}:
        return "search"
    return "execute"


def title_of_changes(changes: tuple[FileChange, ...]) -> str:
    """What a patch does, in a few words."""
    if len(changes) == 1:
        return f"{changes[0].kind.capitalize()} {changes[0].path}"
    return f"Change {len(changes)} files" if changes else "Change files"


def content_text(content: Json) -> str:
    """The text of content blocks; what is no text is named in its place."""
    if isinstance(content, str):
        return content
    return "\n".join(_block_text(block) for block in list_of(content))


def _read_command(item_id: str, members: Members) -> CallItem:
    command, actions = text_of(members.get("command")) or "", members.get("commandActions")
    exit_code = members.get("exitCode")
    return CallItem(
        item_id=item_id,
        name="command",
        title=_short(shown_command(command, actions)) or "command",
        kind=command_kind(actions),
        status=_status(members),
        input={"command": command, "cwd": text_of(members.get("cwd"))},
        output_text=text_of(members.get("aggregatedOutput")),
        exit_code=exit_code if type(exit_code) is int else None,
        outlives_turn=True,
    )


def _read_patch(item_id: str, members: Members) -> CallItem:
    changes = read_changes(members.get("changes"))
    kinds = {change.kind for change in changes}
    kind: ToolKind = "delete" if kinds == {"delete"} else "move" if kinds == {"move"} else "edit"
    return CallItem(
        item_id=item_id,
        name="apply_patch",
        title=_short(title_of_changes(changes)),
        kind=kind,
        status=_status(members),
        changes=changes,
    )


def _read_mcp_call(item_id: str, members: Members) -> CallItem:
    server, tool = text_of(members.get("server")) or "", text_of(members.get("tool")) or "tool"
    result, error = members.get("result"), object_of(members.get("error"))
    output = content_text(object_of(result).get("content")) if result is not None else None
    return CallItem(
        item_id=item_id,
        name=f"{server}/{tool}" if server else tool,
        title=_short(f"{tool} of {server}" if server else tool),
        kind="read" if members.get("readOnlyHint") is True else "other",
        status=_status(members),
        input=members.get("arguments"),
        output_text=text_of(error.get("message")) or output,
    )


def _read_dynamic_call(item_id: str, members: Members) -> CallItem:
    space, tool = text_of(members.get("namespace")), text_of(members.get("tool")) or "tool"
    content = members.get("contentItems")
    return CallItem(
        item_id=item_id,
        name=f"{space}/{tool}" if space else tool,
        title=_short(tool),
        kind="other",
        status=_status(members),
        input=members.get("arguments"),
        output_text=content_text(content) if content is not None else None,
    )


def _read_agent_call(item_id: str, members: Members) -> CallItem:
    tool, prompt = text_of(members.get("tool")) or "subAgent", text_of(members.get("prompt"))
    receivers = [text_of(receiver) for receiver in list_of(members.get("receiverThreadIds"))]
    spawned = receivers[0] if tool == "spawnAgent" and len(receivers) == 1 else None
    return CallItem(
        item_id=item_id,
        name=tool,
        title=_short(prompt or tool),
        kind="delegate",
        status=_status(members),
        input={"prompt": prompt, "agents": list_of(members.get("receiverThreadIds"))},
        child=_child(spawned, _short(prompt) if prompt else None, prompt),
    )


def _read_agent_activity(item_id: str, members: Members) -> CallItem:
    kind, path = text_of(members.get("kind")) or "active", text_of(members.get("agentPath")) or "an agent"
    thread_id = text_of(members.get("agentThreadId")) if kind == "started" else None
    return CallItem(
        item_id=item_id,
        name="subAgent",
        title=_short(f"{path} {kind}"),
        kind="delegate",
        child=_child(thread_id, _short(path), None),
    )


def _child(thread_id: str | None, title: str | None, prompt: str | None) -> ChildThread | None:
    return (
        ChildThread(thread_id, title, prompt) if thread_id is not None and is_identifier(thread_id) else None
    )


def _read_search(item_id: str, members: Members) -> CallItem:
    action = object_of(members.get("action"))
    url = text_of(action.get("url"))
    words = text_of(members.get("query")) or text_of(action.get("query")) or text_of(action.get("pattern"))
    return CallItem(
        item_id=item_id,
        name="web_search",
        title=_short(url or words or "Search the web"),
        kind="fetch" if url else "search",
        input=members.get("action"),
    )


def _read_picture_view(item_id: str, members: Members) -> CallItem:
    path = text_of(members.get("path"))
    return CallItem(item_id=item_id, name="view_image", title=_short(path or "View a picture"), kind="read")


def _read_picture(item_id: str, members: Members) -> CallItem:
    status: ToolStatus | None = "failed" if members.get("failure") is not None else None
    return CallItem(
        item_id=item_id,
        name="image_generation",
        title=_short(text_of(members.get("revisedPrompt")) or "Make a picture"),
        kind="other",
        status=status,
        output_text=text_of(members.get("savedPath")),
    )


def _read_sleep(item_id: str, members: Members) -> CallItem:
    return CallItem(item_id=item_id, name="sleep", title="Wait a while", kind="other")


def _read_output(item_id: str, members: Members) -> CallItem:
    space, name = text_of(members.get("namespace")), text_of(members.get("name")) or "tool"
    return CallItem(
        item_id=item_id,
        name=f"{space}/{name}" if space else name,
        title=_short(name),
        kind="other",
        output_text=content_text(members.get("output")),
    )


READERS: Final[dict[str, Callable[[str, Members], CallItem]]] = {
    "commandExecution": _read_command,
    "fileChange": _read_patch,
    "mcpToolCall": _read_mcp_call,
    "dynamicToolCall": _read_dynamic_call,
    "collabAgentToolCall": _read_agent_call,
    "subAgentActivity": _read_agent_activity,
    "webSearch": _read_search,
    "imageView": _read_picture_view,
    "imageGeneration": _read_picture,
    "sleep": _read_sleep,
    "functionCallOutput": _read_output,
}


def _status(members: Members) -> ToolStatus | None:
    return _STATUSES.get(text_of(members.get("status")) or "")


def _block_text(block: Json) -> str:
    members = object_of(block)
    if (text := text_of(members.get("text"))) is not None:
        return text
    resource = object_of(members.get("resource"))
    if (text := text_of(resource.get("text"))) is not None:
        return text
    return f"[{(text_of(members.get('type')) or 'unreadable content')[:40]}]"


def _short(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _TITLE_CHARACTERS_MAX else line[: _TITLE_CHARACTERS_MAX - 1] + "…"
