"""The rows of the contract: those of `store.canonical` as they are, and what exists on the wire alone.

Every row carries `workspace_id` and `agent_session_id` (`contract §3`). Times are integer milliseconds since the
epoch; sizes are bytes.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import attrs

from runtime.observability.metrics import MetricFamily as MetricFamily
from runtime.observability.metrics import MetricSample as MetricSample
from runtime.providers.side_facts import SideFacts as SideFacts
from runtime.side.rows import Side as Side
from runtime.wire.constraints import AtLeast
from store.canonical.change import Row as Row
from store.canonical.common import Settings as Settings
from store.canonical.common import TurnError as TurnError
from store.canonical.common import Usage as Usage
from store.canonical.identifiers import MessageId, SessionId, TargetId, TurnId, WorkspaceId
from store.canonical.identifiers import SessionKey as SessionKey
from store.canonical.interaction import Answer as Answer
from store.canonical.interaction import ApprovalInput as ApprovalInput
from store.canonical.interaction import Interaction as Interaction
from store.canonical.interaction import InteractionInput as InteractionInput
from store.canonical.interaction import OptionAnswer as OptionAnswer
from store.canonical.interaction import PlanInput as PlanInput
from store.canonical.interaction import Question as Question
from store.canonical.interaction import QuestionAnswer as QuestionAnswer
from store.canonical.interaction import QuestionInput as QuestionInput
from store.canonical.interaction import QuestionOption as QuestionOption
from store.canonical.interaction import RedactedAnswer as RedactedAnswer
from store.canonical.message import ContentBlock as ContentBlock
from store.canonical.message import ImageBlock as ImageBlock
from store.canonical.message import Message as Message
from store.canonical.message import NoticeBlock as NoticeBlock
from store.canonical.message import PlanBlock as PlanBlock
from store.canonical.message import PlanEntry as PlanEntry
from store.canonical.message import ResourceLinkBlock as ResourceLinkBlock
from store.canonical.message import TextBlock as TextBlock
from store.canonical.message import ToolCall as ToolCall
from store.canonical.message import ToolOutput as ToolOutput
from store.canonical.operation import Operation as Operation
from store.canonical.session import Session as Session
from store.canonical.session import SessionCapabilities as SessionCapabilities
from store.canonical.session import SessionIsolation as SessionIsolation
from store.canonical.turn import Turn as Turn
from store.canonical.turn import TurnPhase
from store.canonical.worktree import KeptWorktree as KeptWorktree
from store.port import ListedSession, SearchHit
from store.port import StoreHealth as StoreHealth

Count: TypeAlias = Annotated[int, AtLeast(0)]
SettingValue: TypeAlias = str | bool


# --- lists of sessions ----------------------------------------------------------------------------------------


@attrs.frozen
class SessionActivity:
    """What a list tells of a session at a glance."""

    turn_id: TurnId | None
    """The turn that is not settled yet."""
    phase: TurnPhase | None
    pending_interactions: Count
    """Of this session and its descendants."""


@attrs.frozen
class SessionListItem(Session):
    """A Session row with its activity."""

    activity: SessionActivity = attrs.field(kw_only=True)


def session_list_item(listed: ListedSession) -> SessionListItem:
    """The list item of a session as the store lists it."""
    turn = listed.active_turn
    activity = SessionActivity(
        turn_id=turn.turn_id if turn else None,
        phase=turn.phase if turn else None,
        pending_interactions=listed.pending_interactions,
    )
    row = {field.name: getattr(listed.session, field.name) for field in attrs.fields(Session)}
    return SessionListItem(**row, activity=activity)


@attrs.frozen
class SearchMatch:
    """What in a session has the words of a search."""

    kind: Literal["title", "message"]
    snippet: str
    """The title, or the text around the words; plain text."""
    message_id: MessageId | None
    """Null for a title."""
    turn_id: TurnId | None


@attrs.frozen
class SessionSearchItem(Session):
    """A Session row with what was found in it."""

    match: SearchMatch = attrs.field(kw_only=True)


def session_search_item(hit: SearchHit) -> SessionSearchItem:
    """The item of a session as the store found it."""
    kind: Literal["title", "message"] = "title" if hit.message_id is None else "message"
    row = {field.name: getattr(hit.session, field.name) for field in attrs.fields(Session)}
    return SessionSearchItem(**row, match=SearchMatch(kind, hit.snippet, hit.message_id, hit.turn_id))


# --- goals and operations ------------------------------------------------------------------------------------


@attrs.frozen
class Goal:
    """What a session works towards beyond single turns."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    objective: str
    status: str
    revision: Count
    sync: str
    operation_id: str | None


# --- targets --------------------------------------------------------------------------------------------------

SettingEffect = Literal["read_only", "asks", "edits", "unrestricted"]


@attrs.frozen
class TargetSettingValue:
    """One value a setting may take."""

    value: SettingValue
    label: str
    effect: SettingEffect | None
    """What the agent may do under it without being asked; null when the value has no bearing on that."""


@attrs.frozen
class TargetSetting:
    """One setting of a target's sessions."""

    key: str
    values: tuple[TargetSettingValue, ...] | None
    """Null when any value may be given."""
    default: SettingValue | None
    """Null when the provider chooses."""
    change: Literal["launch", "next_turn", "now"]
    """When a change takes effect; a `launch` setting cannot change once the session has been started."""


@attrs.frozen
class TargetProgram:
    """The program that is started for a target."""

    found: bool
    version: str | None


@attrs.frozen
class Target:
    """One agent that can be talked to, as `target/list` shows it."""

    agent_target_id: TargetId
    provider: str
    name: str
    enabled: bool
    program: TargetProgram
    auth: Literal["authenticated", "configured", "required", "unknown"]
    """How its sign-in stands, as far as is known without asking: see `provider/status`."""
    capabilities: SessionCapabilities | None
    """Null when not known yet."""
    settings: tuple[TargetSetting, ...]


# --- workspaces -----------------------------------------------------------------------------------------------


@attrs.frozen
class Workspace:
    """A label that sessions stand under, as `workspace/list` shows it; one without sessions is not known."""

    workspace_id: WorkspaceId
    sessions: Count
    """Root sessions, as `session/list` shows them."""
    active_turns: Count
    """Unsettled turns, those of children included."""
    pending_interactions: Count
    """Those of children included."""


# --- the service itself ---------------------------------------------------------------------------------------


@attrs.frozen
class ServerInfo:
    """Which server this is."""

    name: str
    version: str
    instance_id: str
    """New at every start of the daemon."""
    started_at: int


@attrs.frozen
class ServerCapabilities:
    """What this server can do."""

    methods: tuple[str, ...]
    topics: tuple[str, ...]
    features: tuple[str, ...]
    deprecated: tuple[str, ...]
    """Names that stay for two more minor releases."""


@attrs.frozen
class HealthProblem:
    """Something that wants attention."""

    code: str
    since: int
    workspace_id: WorkspaceId | None = None
    agent_session_id: SessionId | None = None


@attrs.frozen
class LiveCounts:
    """How much is alive right now."""

    connections: Count
    """Provider connections."""
    sessions: Count
    sides: Count
    turns: Count


@attrs.frozen
class SweeperHealth:
    """Resources whose closing failed and is tried again."""

    pending: Count


Queues: TypeAlias = Mapping[str, Count]
