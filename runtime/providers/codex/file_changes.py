"""Changes of files as Codex tells them, brought into one form: a path, what becomes of it, and a unified diff.

Codex gives the plain content in place of a diff for files that are added or deleted, and hangs a line of prose at the
end of one that moves.
"""

from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.unified_diff import unified_diff
from store.canonical.common import Json
from store.canonical.message import FileChange


def read_changes(value: Json) -> tuple[FileChange, ...]:
    """Read a `changes` member; one without a path is left out."""
    return tuple(change for item in list_of(value) if (change := _read_change(object_of(item))) is not None)


def _read_change(members: Members) -> FileChange | None:
    path = text_of(members.get("path"))
    if path is None:
        return None
    kind = object_of(members.get("kind"))
    told = text_of(members.get("diff")) or ""
    moved_to = text_of(kind.get("move_path"))
    match kind.get("type"):
        case "add":
            return FileChange(path, "add", unified_diff(path, "", told))
        case "delete":
            return FileChange(path, "delete", unified_diff(path, told, ""))
        case _ if moved_to is not None:
            told = told.removesuffix(f"\n\nMoved to: {moved_to}")
            return FileChange(path, "move", _with_head(path, moved_to, told))
        case _:
            return FileChange(path, "update", _with_head(path, path, told))


def _with_head(old_path: str, new_path: str, hunks: str) -> str:
    return hunks if hunks.startswith("--- ") else f"--- {old_path}\n+++ {new_path}\n{hunks}"
