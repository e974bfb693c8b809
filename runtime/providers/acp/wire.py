"""The shapes an ACP agent sends inside `session/update` and `session/request_permission`, as typed values.

Owns names and types alone: `reading` fills them tolerantly, the normalizer gives them meaning, order and turns.
"""

from typing import Literal, TypeAlias

import attrs

from runtime.providers.jsonrpc.members import Members
from store.canonical.common import Json, Usage
from store.canonical.identifiers import CallId
from store.canonical.message import NoticeSeverity, PlanEntry, ToolKind

ToolProgress: TypeAlias = Literal["pending", "running", "completed", "failed"]


@attrs.frozen
class ContentChunk:
    """More text of a message. `user` is an echo of the prompt or a replay."""

    kind: Literal["text", "reasoning", "user"]
    text: str
    message_id: str | None = None


@attrs.frozen
class DiffPart:
    """A file before and after; `old_text` null means it was not there, `new_text` null that it is gone."""

    path: str
    old_text: str | None
    new_text: str | None


@attrs.frozen
class ToolCallPart:
    """What one frame says of a tool call; null says nothing. `created` marks the frame that announces it."""

    call_id: CallId
    created: bool = False
    name: str | None = None
    title: str | None = None
    kind: ToolKind | None = None
    progress: ToolProgress | None = None
    text: str | None = None
    diffs: tuple[DiffPart, ...] = ()
    raw_input: Json = None
    details: Members = attrs.field(factory=dict)
    """What some agents say of the input beside it: `url`, `prompt`, `instruction` (RT-027)."""
    raw_output: Json = None


@attrs.frozen
class PlanUpdate:
    """The whole plan."""

    entries: tuple[PlanEntry, ...]


@attrs.frozen
class UsageUpdate:
    """Context size and cost of the conversation so far."""

    usage: Usage


@attrs.frozen
class TitleUpdate:
    """The agent's title for the conversation."""

    title: str


@attrs.frozen
class ConfigUpdate:
    """All configuration options with their present values, still in wire shape."""

    options: Json


@attrs.frozen
class ModeUpdate:
    """The conversation's mode changed."""

    mode: str


@attrs.frozen
class NoticeUpdate:
    """The agent tells the user something beside the conversation."""

    severity: NoticeSeverity
    text: str
    code: str = "provider.notice"


@attrs.frozen
class CompactionUpdate:
    """The agent shortens its context; `status` is its own word."""

    status: str


@attrs.frozen
class CommandsUpdate:
    """The commands that prompts can call for."""

    commands: Json


@attrs.frozen
class QuietUpdate:
    """Known and deliberately not shown."""

    kind: str


@attrs.frozen
class UnknownUpdate:
    """A kind this program does not know, or one without the part that identifies it."""

    kind: str


SessionUpdate: TypeAlias = (
    ContentChunk
    | ToolCallPart
    | PlanUpdate
    | UsageUpdate
    | TitleUpdate
    | ConfigUpdate
    | ModeUpdate
    | NoticeUpdate
    | CompactionUpdate
    | CommandsUpdate
    | QuietUpdate
    | UnknownUpdate
)


@attrs.frozen
class OfferedOption:
    """One option of a permission request; `kind` is the agent's word."""

    option_id: str
    name: str
    kind: str


@attrs.frozen
class PermissionRequest:
    """A permission request; `tool_call` is null when the ask does not say what it is about."""

    session_id: str
    tool_call: ToolCallPart | None
    options: tuple[OfferedOption, ...]
    malformed_options: int = 0
