"""Permission requests as Interactions: what makes one exactly answerable, and what is refused before publication.

Owns the mapping of options and of the asked tool call. An ask is answered by the `optionId` the agent offered, so
two options of one kind are two options, and one the wire could not tell apart makes the whole ask unusable
(RT-014, RT-016, PR-019).
"""

import shlex
from typing import Final

from runtime.providers.acp.tool_calls import ToolCallRecord, file_change
from runtime.providers.acp.wire import PermissionRequest, ToolCallPart
from runtime.providers.jsonrpc.members import object_of, text_of
from store.canonical.common import Json
from store.canonical.interaction import ApprovalInput, InteractionOption, OptionKind

CANCELLED: Final[Json] = {"outcome": {"outcome": "cancelled"}}
REJECTING: Final[frozenset[OptionKind]] = frozenset({"reject_once", "reject_always"})

_KINDS: Final[dict[str, OptionKind]] = {
    "allow_once": "allow_once",
    "allow_always": "allow_always",
    "reject_once": "reject_once",
    "reject_always": "reject_always",
}


def selected(option_id: str) -> Json:
    """The answer that chooses this option."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def why_unusable(request: PermissionRequest) -> str | None:
    """Why this ask cannot be put to a person, or null when it can."""
    if request.tool_call is None:
        return "it does not say which tool call it is about"
    if not request.options:
        return "it offers no option"
    ids = [option.option_id for option in request.options]
    if len(set(ids)) != len(ids):
        return "two of its options have the same id"
    return None


def options_of(request: PermissionRequest) -> tuple[InteractionOption, ...]:
    """The options in the agent's order; a kind we do not know can still be chosen."""
    return tuple(
        InteractionOption(option.option_id, option.name, _KINDS.get(option.kind, "other"))
        for option in request.options
    )


def approval_of(part: ToolCallPart, record: ToolCallRecord) -> ApprovalInput:
    """What is asked, completed by what earlier frames said of the same call (RT-014). It never changes after."""
    raw = object_of(record.input)
    changes = tuple(file_change(diff) for diff in part.diffs) or record.changes
    return ApprovalInput(
        call_id=part.call_id,
        title=part.title or record.title,
        kind=part.kind or record.kind or "other",
        command=_command(raw.get("command")) or _command(raw.get("cmd")),
        cwd=text_of(raw.get("cwd")) or text_of(raw.get("workdir")),
        changes=changes,
        url=text_of(raw.get("url")),
        prompt=text_of(raw.get("prompt")) or text_of(raw.get("instruction")),
        reason=part.text,
    )


def _command(value: Json) -> str | None:
    if isinstance(value, list):
        return shlex.join(str(word) for word in value) or None
    return text_of(value)
