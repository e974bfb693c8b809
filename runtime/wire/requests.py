"""What a client may send: one params class for each method served, and nothing beside it is accepted.

A member with a default may be left out; null means the same. Bounds on single values hang on their types, the
rules over several members are in `runtime.wire.members`. What needs knowledge of a session, a target or a token
is not checked here.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import attrs

from runtime.wire.constraints import AtLeast, CappedAt, Characters, Items, Members, SaysSomething
from runtime.wire.rows import Answer, Count
from store.canonical.identifiers import (
    ClientSubmitId,
    MessageId,
    RequestId,
    SessionId,
    SessionKey,
    TargetId,
    TurnId,
    WorkspaceId,
)
from store.canonical.interaction import InteractionStatus
from store.canonical.message import ImageBlock, ResourceLinkBlock, TextBlock
from store.canonical.session import TITLE_CHARACTERS_MAX

PROTOCOL_VERSION = 1
"""The one version spoken."""
PAGE_ITEMS_DEFAULT = 50
PAGE_ITEMS_MAX = 200
TREES_MAX = 200
"""Sessions named in one delete, restore or purge."""

PageLimit: TypeAlias = Annotated[int, AtLeast(1), CappedAt(PAGE_ITEMS_MAX)]
ShortText: TypeAlias = Annotated[str, Characters(1, 200)]
Title: TypeAlias = Annotated[str, Characters(0, TITLE_CHARACTERS_MAX)]
FilePath: TypeAlias = Annotated[str, Characters(1, 4096)]
PromptBlock: TypeAlias = TextBlock | ImageBlock | ResourceLinkBlock
Content: TypeAlias = Annotated[tuple[PromptBlock, ...], Items(1, 1000), SaysSomething()]
SettingText: TypeAlias = Annotated[str, Characters(0, 1000)]
SettingsParam: TypeAlias = Annotated[Mapping[str, SettingText | bool], Members(100)]
SettingChanges: TypeAlias = Annotated[Mapping[str, SettingText | bool | None], Members(100)]

SessionIds: TypeAlias = Annotated[tuple[SessionId, ...], Items(0, 10_000)]

Topic = Literal["agent.activity.updated", "agent.side.updated", "host.updated"]
TOPICS: tuple[Topic, ...] = ("agent.activity.updated", "agent.side.updated", "host.updated")


# --- what several methods take ----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class WorkspaceParams:
    """Params of a method that belongs to a workspace."""

    workspace_id: WorkspaceId


@attrs.frozen(kw_only=True)
class SessionParams(WorkspaceParams):
    """Params that name a session."""

    agent_session_id: SessionId

    @property
    def session_key(self) -> SessionKey:
        """The whole identity of the session named."""
        return SessionKey(self.workspace_id, self.agent_session_id)


@attrs.frozen(kw_only=True)
class TurnParams(SessionParams):
    """Params that name a turn of a session."""

    turn_id: TurnId


# Without slots, so that it can stand beside another base.
@attrs.frozen(kw_only=True, slots=False)
class PageParams:
    """Params of a list."""

    cursor: Annotated[str, Characters(1, 1000)] | None = None
    """`nextCursor` of the page before; without it, the first page."""
    limit: PageLimit = PAGE_ITEMS_DEFAULT


# --- the connection ---------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class ClientInfo:
    """Who connects; for logs and health alone."""

    name: ShortText
    version: ShortText | None = None


@attrs.frozen(kw_only=True)
class InitializeParams:
    """The first request of a connection."""

    protocol_version: int
    """The version the client speaks: 1."""
    client_info: ClientInfo


@attrs.frozen(kw_only=True)
class HealthReadParams:
    """No params."""


@attrs.frozen(kw_only=True)
class MetricsReadParams:
    """No params."""


@attrs.frozen(kw_only=True)
class DebugSessionParams(SessionParams):
    """Look into a session, a deleted one too. Nothing is woken."""


@attrs.frozen(kw_only=True)
class TargetListParams(PageParams):
    """Which page of the targets."""


@attrs.frozen(kw_only=True)
class WorkspaceListParams(PageParams):
    """Which page of the workspaces."""


# --- sessions ---------------------------------------------------------------------------------------------------


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


# --- turns and interactions -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class TurnGetParams(TurnParams):
    """Read one turn."""


@attrs.frozen(kw_only=True)
class TurnListParams(PageParams, SessionParams):
    """List the turns of a session, newest first."""


@attrs.frozen(kw_only=True)
class TurnGuideParams(TurnParams):
    """Say more within exactly this turn, without ending it (RT-078)."""

    client_submit_id: ClientSubmitId
    content: Content


@attrs.frozen(kw_only=True)
class TurnCancelParams(TurnParams):
    """Stop exactly this turn (RT-007). A settled one is returned as it is."""


@attrs.frozen(kw_only=True)
class InteractionRespondParams(TurnParams):
    """Answer a pending interaction; the first valid answer wins."""

    request_id: RequestId
    answer: Answer


@attrs.frozen(kw_only=True)
class InteractionListParams(PageParams, WorkspaceParams):
    """List the interactions of all sessions of the workspace, children included."""

    status: InteractionStatus | None = None


# --- Sides ------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class SideParams(WorkspaceParams):
    """Params that name a Side."""

    side_agent_session_id: SessionId

    @property
    def side_key(self) -> SessionKey:
        """The whole identity of the Side named."""
        return SessionKey(self.workspace_id, self.side_agent_session_id)


@attrs.frozen(kw_only=True)
class SideCapabilitiesParams(SessionParams):
    """Whether a Side of this session can be opened, as far as is known without starting anything (RT-110)."""


@attrs.frozen(kw_only=True)
class SideOpenParams(SessionParams):
    """Fork the conversation of a session, in the middle of a turn too, into one that is never stored."""

    side_agent_session_id: SessionId
    """A name of the caller's choice, that no session and no other Side has."""
    surface_id: ShortText
    """The place in the client that shows it; it ends with that place."""
    instructions: Annotated[str, Characters(1, 20_000)] | None = None
    """What its agent is to keep to, beside the rules every Side has."""


@attrs.frozen(kw_only=True)
class SideSendParams(SideParams):
    """Start a turn of a Side; text alone."""

    client_submit_id: ClientSubmitId
    """Repeating it answers with the same turn as long as the Side lives; it binds nothing outside of it (RT-116)."""
    content: Content


@attrs.frozen(kw_only=True)
class SideCancelParams(SideParams):
    """Stop exactly this turn of a Side. A settled one is returned as it is."""

    turn_id: TurnId


@attrs.frozen(kw_only=True)
class SideRespondParams(SideParams):
    """Answer a pending interaction of a Side."""

    turn_id: TurnId
    request_id: RequestId
    answer: Answer


@attrs.frozen(kw_only=True)
class SideCloseParams(SideParams):
    """End a Side; its source goes on."""


@attrs.frozen(kw_only=True)
class SideGetParams(SideParams):
    """Read a Side."""


@attrs.frozen(kw_only=True)
class SideListParams(PageParams, WorkspaceParams):
    """List the Sides of a workspace that are open, the oldest first."""

    agent_session_id: SessionId | None = None
    """Only those forked from this session."""


@attrs.frozen(kw_only=True)
class SurfaceParams(WorkspaceParams):
    """Params that name a place in a client where Sides are shown."""

    surface_id: ShortText


@attrs.frozen(kw_only=True)
class SurfaceDisposeParams(SurfaceParams):
    """Close the Sides of this place that this connection owns."""


@attrs.frozen(kw_only=True)
class SurfaceAttachParams(SurfaceParams):
    """Take over the Sides of this place: from now on they end with this connection."""


# --- attachments ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class AttachmentPutParams(WorkspaceParams):
    """Store a picture. The same content again is the same attachment."""

    media_type: ShortText
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: Annotated[str, Characters(1, 64 * 1024 * 1024)]
    """Base64, with its padding."""


@attrs.frozen(kw_only=True)
class AttachmentGetParams(WorkspaceParams):
    """Read a picture."""

    attachment_id: ShortText
    agent_session_id: SessionId | None = None
    """Only if this session shows it (RT-137)."""


# --- events -----------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class EventsSubscribeParams:
    """Hear of what happens in a workspace, or in all of them."""

    workspace_id: WorkspaceId | Literal["*"]
    topics: Annotated[tuple[Topic, ...], Items(1, 100)]
    agent_session_ids: SessionIds | None = None
    """Only these sessions; a root includes its descendants."""
    deltas: Literal["all", "none"] | SessionIds = "all"
    """Of which sessions streamed text is sent; where none is, no snapshots are either."""
    store_id: Annotated[str, Characters(1, 200)] | None = None
    """The store `afterCommitSeq` belongs to."""
    after_commit_seq: Count | None = None
    """The newest commit the client holds; what came after it is replayed."""


@attrs.frozen(kw_only=True)
class EventsUpdateParams:
    """Change what a subscription follows, in place. A member that is left out stays as it is."""

    subscription_id: Count
    agent_session_ids: Literal["all"] | SessionIds | None = None
    """From now on only these sessions, a root with its descendants; `all` follows the whole workspace again."""
    deltas: Literal["all", "none"] | SessionIds | None = None
    """Of which sessions streamed text is sent from now on."""


@attrs.frozen(kw_only=True)
class EventsUnsubscribeParams:
    """End a subscription of this connection."""

    subscription_id: Count
