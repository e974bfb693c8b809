"""The Session row: identity, target, settings and resume data. It copies no Turn fact (RT-001)."""

from collections.abc import Mapping
from typing import Literal

import attrs

from store.canonical.common import Settings, SettingSource, Usage
from store.canonical.identifiers import SessionId, SessionKey, TargetId, TurnId, WorkspaceId

TitleSource = Literal["none", "provider", "user"]
TITLE_CHARACTERS_MAX = 500
"""The longest title; a provider's longer one is cut."""
Resumability = Literal["unknown", "resumable", "not_resumable"]
RuntimeState = Literal["absent", "activating", "live", "hibernated", "closing", "quarantined"]


@attrs.frozen
class SessionRuntime:
    """A live observation of the session's runtime; never stored, never the reason of a commit."""

    state: RuntimeState = "absent"
    last_activity_at: int | None = None


@attrs.frozen
class SessionCapabilities:
    """What the provider reported for this session; a null snapshot means not known (ST-021, PR-008)."""

    load: bool = False
    image_prompts: bool = False
    embedded_context: bool = False
    interrupt: bool = False
    guidance: bool = False
    plan: bool = False
    side: bool = False
    """Its program was attested for ephemeral forks of a live conversation."""


@attrs.frozen
class LifecycleCapabilities:
    """Which lifecycle commands may be tried on this session."""

    fork_through_turn: bool = False
    edit_retry: bool = False
    side: bool = False
    guidance: bool = False
    interrupt: bool = False


@attrs.frozen
class SessionParent:
    """Where a provider-native child came from (RT-132)."""

    root_agent_session_id: SessionId
    root_turn_id: TurnId
    parent_agent_session_id: SessionId
    parent_turn_id: TurnId
    parent_tool_call_id: str | None = None


@attrs.frozen
class SessionLineage:
    """Which session and turn a forked session was made from (RT-105)."""

    source_agent_session_id: SessionId
    source_turn_id: TurnId


@attrs.frozen
class SessionIsolation:
    """The checkout that was made for this session. Canonical: it is never inferred from `cwd` (RT-063)."""

    type: Literal["worktree"]
    path: str
    """The top of the checkout; `cwd` is this or below it (RT-062)."""
    branch: str
    """Made for it, and checked out when it began."""
    base_commit: str
    """What the branch began at."""


@attrs.frozen
class Session:
    """One hosted conversation as the contract shows it (`contract §3`)."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    agent_target_id: TargetId
    provider: str
    cwd: str
    created_at: int
    updated_at: int
    provider_session_id: str | None = None
    title: str | None = None
    title_source: TitleSource = "none"
    settings: Settings = attrs.field(factory=dict)
    settings_source: Mapping[str, SettingSource] = attrs.field(factory=dict)
    isolation: SessionIsolation | None = None
    rail_section_key: str | None = None
    """`project:` and a path, as given at creation; null: among the conversations without a project. It never changes
    (ST-034)."""
    pinned: bool = False
    goal: None = None
    active_turn_id: TurnId | None = None
    capabilities: SessionCapabilities | None = None
    lifecycle_capabilities: LifecycleCapabilities = LifecycleCapabilities()
    lineage: SessionLineage | None = None
    parent: SessionParent | None = None
    resumability: Resumability = "unknown"
    runtime: SessionRuntime = SessionRuntime()
    usage: Usage | None = None
    history_revision: int = 0
    message_version: int = 0
    deleted_at: int | None = None

    @property
    def key(self) -> SessionKey:
        """The whole identity of this session."""
        return SessionKey(self.workspace_id, self.agent_session_id)

    @property
    def root_agent_session_id(self) -> SessionId:
        """The root of this session's tree: itself, unless it is a provider-native child."""
        return self.parent.root_agent_session_id if self.parent else self.agent_session_id


@attrs.frozen
class SessionCounters:
    """The last numbers given inside a session; kept beside the row, not shown (ST-008, ST-009).

    `message_version` lives in the row itself, since the contract shows it.
    """

    turn_sequence: int = 0
    message_sequence: int = 0
