"""Claude Code's own tools in the product's words: what kind each is, what a call is called, what it changes.

Owns the table of names. A tool nobody knows is shown by its name; nothing is guessed from its input.
"""

from typing import Final, Literal

from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.unified_diff import unified_diff
from store.canonical.common import Json
from store.canonical.message import FileChange, PlanEntry, PlanEntryStatus, ToolKind

_KINDS: Final[dict[str, ToolKind]] = {
    "Bash": "execute",
    "BashOutput": "execute",
    "KillShell": "execute",
    "Read": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Write": "edit",
    "NotebookEdit": "edit",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "TodoWrite": "think",
    "Task": "delegate",
    "Agent": "delegate",
}
_SUBJECTS: Final = ("file_path", "notebook_path", "path", "pattern", "url", "query", "description")
_STATUSES: Final[dict[str, PlanEntryStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
TITLE_CHARACTERS_MAX: Final = 200


def kind_of(name: str) -> ToolKind:
    """What sort of tool this is."""
    return _KINDS.get(name, "other")


def title_of(name: str, given: Members) -> str:
    """A call in a line: a command as it is, else the tool and what it is about."""
    command = command_of(given)
    if command is not None:
        return _cut(command)
    subject = next((text for key in _SUBJECTS if (text := text_of(given.get(key))) is not None), None)
    return _cut(f"{name} {subject}") if subject is not None else name


def command_of(given: Members) -> str | None:
    """The command of a call that runs one."""
    return text_of(given.get("command"))


def changes_of(name: str, given: Members) -> tuple[FileChange, ...] | None:
    """What a call is about to change; of a file that is written whole the old text is not known."""
    path = text_of(given.get("file_path")) or text_of(given.get("notebook_path"))
    if path is None or kind_of(name) != "edit":
        return None
    if name == "Edit":
        return (_change(path, "update", given.get("old_string"), given.get("new_string")),)
    if name == "MultiEdit":
        edits = map(object_of, list_of(given.get("edits")))
        return tuple(
            _change(path, "update", edit.get("old_string"), edit.get("new_string")) for edit in edits
        )
    if name == "Write":
        return (_change(path, "add", "", given.get("content")),)
    return (FileChange(path, "update"),)


def plan_of(name: str, given: Members) -> tuple[PlanEntry, ...] | None:
    """The plan that a call writes down; None for all other calls."""
    if name != "TodoWrite":
        return None
    entries = [_entry(object_of(todo)) for todo in list_of(given.get("todos"))]
    return tuple(entry for entry in entries if entry is not None)


def plan_status_of(word: Json) -> PlanEntryStatus:
    """How far an entry of a plan is; one whose word nobody knows has not begun."""
    return _STATUSES.get(text_of(word) or "", "pending")


def output_of(content: Json) -> str:
    """What a tool brought back, as text; whatever else it is is named."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in map(object_of, list_of(content)):
        kind = text_of(block.get("type")) or "unreadable content"
        parts.append(text_of(block.get("text")) or "" if kind == "text" else f"[{kind[:40]}]")
    return "\n".join(parts)


def _change(path: str, kind: Literal["add", "update"], old: Json, new: Json) -> FileChange:
    return FileChange(path, kind, unified_diff(path, text_of(old) or "", text_of(new) or ""))


def _entry(todo: Members) -> PlanEntry | None:
    text = text_of(todo.get("content"))
    if text is None:
        return None
    return PlanEntry(text, plan_status_of(todo.get("status")))


def _cut(text: str) -> str:
    line = text.strip().replace("\n", " ")
    return line if len(line) <= TITLE_CHARACTERS_MAX else line[: TITLE_CHARACTERS_MAX - 1] + "…"
