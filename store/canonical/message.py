"""The Message row: what a person or the agent said or did, in the order the provider produced it.

`sequence` is presentation order and never changes; `version` is the session's change cursor; `delta_seq` is the
number of deltas the row contains, null once the message ended (`contract §3`, ST-008, ST-009).
"""

from typing import Literal, TypeAlias

import attrs

from store.canonical.common import Json
from store.canonical.identifiers import CallId, ClientSubmitId, MessageId, SessionId, TurnId, WorkspaceId

MessageRole = Literal["user", "assistant", "system"]
MessageKind = Literal["text", "reasoning", "plan", "tool_call", "notice", "goal_control"]
MessageStatus = Literal["streaming", "completed", "failed", "interrupted"]
ToolKind = Literal[
    "read", "edit", "delete", "move", "search", "execute", "fetch", "think", "delegate", "other"
]
ToolStatus = Literal["pending", "running", "waiting", "completed", "failed", "declined", "interrupted"]
NoticeSeverity = Literal["info", "warning", "error"]
PlanEntryStatus = Literal["pending", "in_progress", "completed"]
DeltaField = Literal["text", "output"]


@attrs.frozen
class TextBlock:
    """Plain text, kept with its white space (ST-019)."""

    text: str
    type: Literal["text"] = "text"


@attrs.frozen
class ImageBlock:
    """A picture by reference; rows never hold base64."""

    media_type: str
    bytes: int
    attachment_id: str
    type: Literal["image"] = "image"


@attrs.frozen
class ResourceLinkBlock:
    """A link to something outside the conversation."""

    uri: str
    name: str
    type: Literal["resource_link"] = "resource_link"


@attrs.frozen
class PlanEntry:
    """One step of a plan."""

    text: str
    status: PlanEntryStatus = "pending"
    priority: str | None = None


@attrs.frozen
class PlanBlock:
    """A plan as the provider last reported it."""

    entries: tuple[PlanEntry, ...]
    type: Literal["plan"] = "plan"


@attrs.frozen
class NoticeBlock:
    """Something the runtime has to tell, typed by `code`."""

    code: str
    severity: NoticeSeverity
    text: str
    type: Literal["notice"] = "notice"


ContentBlock: TypeAlias = TextBlock | ImageBlock | ResourceLinkBlock | PlanBlock | NoticeBlock


@attrs.frozen
class FileChange:
    """One file a tool call changed."""

    path: str
    kind: Literal["add", "update", "delete", "move"]
    diff: str | None = None


@attrs.frozen
class ToolOutput:
    """What a tool call brought back; `text` is the appendable part that travels as deltas."""

    text: str = ""
    exit_code: int | None = None
    changes: tuple[FileChange, ...] | None = None


@attrs.frozen
class ToolCall:
    """One call of a tool by the agent."""

    call_id: CallId
    name: str
    title: str
    kind: ToolKind = "other"
    status: ToolStatus = "pending"
    input: Json = None
    output: ToolOutput = ToolOutput()
    child_agent_session_id: SessionId | None = None


@attrs.frozen
class Message:
    """One message as the contract shows it. `turn_id` is null only for goal audit rows and imports."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    message_id: MessageId
    sequence: int
    version: int
    role: MessageRole
    kind: MessageKind
    created_at: int
    turn_id: TurnId | None = None
    status: MessageStatus = "completed"
    content: tuple[ContentBlock, ...] = ()
    tool_call: ToolCall | None = None
    delta_seq: int | None = None
    truncated: bool = False
    client_submit_id: ClientSubmitId | None = None
    display_prompt: str | None = None
