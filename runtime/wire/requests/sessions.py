"""Params of the methods about sessions."""

from typing import Annotated, Literal

import attrs

from runtime.wire.constraints import Characters, Items
from runtime.wire.requests.shared import (
    PAGE_ITEMS_DEFAULT,
    PAGE_ITEMS_MAX,
    TREES_MAX,
    Content,
    FilePath,
    PageLimit,
    PageParams,
    SessionParams,
    SettingChanges,
    SettingsParam,
    Title,
    WorkspaceParams,
)
from runtime.wire.rows import Count
from store.canonical.identifiers import ClientSubmitId, MessageId, SessionId, TargetId


@attrs.frozen(kw_only=True)
class WorktreeIsolation:
    """Give the session a checkout of its own."""

    type: Literal["worktree"]


@attrs.frozen(kw_only=True)
class ConversationsPlacement:
    """Show the session among the conversations without a project."""

    type: Literal["conversations"]
    version: Literal[1]


@attrs.frozen(kw_only=True)
class ProjectPlacement:
    """Show the session under a project (AP-008)."""

    type: Literal["project"]
    version: Literal[1]
    path: FilePath


@attrs.frozen(kw_only=True)
class InitialGoalControl:
    """Start the session with a goal and without a turn (AP-007)."""

    action: Literal["set"]
    objective: Annotated[str, Characters(1, 100_000)]
    """Taken literally, whatever it looks like."""


@attrs.frozen(kw_only=True)
class SessionCreateParams(WorkspaceParams):
    """Create a session, with its first prompt or without. Nothing is started before this is durable."""

    agent_target_id: TargetId
    client_submit_id: ClientSubmitId
    """Repeating it with equal params answers with the same session and creates nothing."""
    agent_session_id: SessionId | None = None
    """A name of the caller's choice; without it the server makes one."""
    cwd: FilePath | None = None
    """The working directory; without it the session gets one of its own."""
    title: Title | None = None
    settings: SettingsParam | None = None
    isolation: WorktreeIsolation | None = None
    rail_placement: ConversationsPlacement | ProjectPlacement | None = None
    initial_content: Content | None = None
    initial_goal_control: InitialGoalControl | None = None


@attrs.frozen(kw_only=True)
class SessionGetParams(SessionParams):
    """Read a session with its newest turns."""

    projection: Literal["full", "summary"] = "full"
    """A summary has the session, its newest turn and what waits for an answer in its tree: no older turns, no children."""


@attrs.frozen(kw_only=True)
class SessionListParams(PageParams, WorkspaceParams):
    """List the root sessions of a workspace, pinned ones first."""

    order: Literal["recent", "created"] = "recent"
    """By the start of the newest turn, or by creation; newest first."""
    agent_target_id: TargetId | None = None
    active: bool | None = None
    """Only those with an unsettled turn, or only those without."""
    pinned: bool | None = None


@attrs.frozen(kw_only=True)
class SessionMessagesParams(SessionParams):
    """Read messages by exactly one of: what changed after a version, a window before a sequence, ids."""

    after_version: Count | None = None
    before_sequence: Count | None = None
    message_ids: Annotated[tuple[MessageId, ...], Items(1, PAGE_ITEMS_MAX)] | None = None
    include_retracted: bool = False
    """Also the messages of turns that were retracted."""
    limit: PageLimit = PAGE_ITEMS_DEFAULT


@attrs.frozen(kw_only=True)
class SessionSendParams(SessionParams):
    """Start a turn with a prompt."""

    client_submit_id: ClientSubmitId
    content: Content
    display_prompt: Annotated[str, Characters(0, 1_000_000)] | None = None
    """What clients show in place of the content."""


@attrs.frozen(kw_only=True)
class SessionCloseParams(SessionParams):
    """End the session's runtime, a running turn first. The session stays."""


@attrs.frozen(kw_only=True)
class SessionResumeParams(SessionParams):
    """Make the session live now."""

    mode: Literal["fresh"] | None = None
    """`fresh` starts an empty conversation where the provider lost the old one."""


@attrs.frozen(kw_only=True)
class SessionRenameParams(SessionParams):
    """Give the session a title of the user's; no title of a provider takes its place (RT-047)."""

    title: Title
    """Empty takes the title away: the provider may give one again."""


@attrs.frozen(kw_only=True)
class SessionPinParams(SessionParams):
    """Keep the session at the top of lists, or no longer. Repeating it changes nothing."""

    pinned: bool


@attrs.frozen(kw_only=True)
class SessionUpdateSettingsParams(SessionParams):
    """Change settings of a session; those not named stay as they are."""

    settings: SettingChanges
    """Null unsets: what holds then is up to the target and its agent."""


@attrs.frozen(kw_only=True)
class SessionTreesParams(WorkspaceParams):
    """Whole trees, named by their roots: all are treated or none."""

    agent_session_ids: Annotated[tuple[SessionId, ...], Items(1, TREES_MAX)]
    """Naming one twice is naming it once."""


@attrs.frozen(kw_only=True)
class SessionSearchParams(PageParams, WorkspaceParams):
    """Find the sessions of a workspace that hold all of these words; deleted ones are left out."""

    query: Annotated[str, Characters(1, 500)]
    """Words as a person types them; one of three letters or more finds what begins with it. There is no syntax."""


@attrs.frozen(kw_only=True)
class SessionListDeletedParams(PageParams, WorkspaceParams):
    """List the deleted sessions of a workspace, the newest deletion first."""

    agent_session_ids: Annotated[tuple[SessionId, ...], Items(1, TREES_MAX)] | None = None
    """Only these."""
    title: Annotated[str, Characters(1, 500)] | None = None
    """Only those whose title has these words as they stand, in any case."""
    rail_placement: ConversationsPlacement | ProjectPlacement | None = None
    """Only those of this project, or of none. The project need not be there any more."""
