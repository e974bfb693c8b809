"""Params of the methods about the connection, the host, what is followed, and stored pictures."""

from typing import Annotated, Literal

import attrs

from runtime.wire.constraints import Characters, Items
from runtime.wire.requests.shared import (
    PageParams,
    SessionIds,
    SessionParams,
    ShortText,
    Topic,
    WorkspaceParams,
)
from runtime.wire.rows import Count
from store.canonical.identifiers import SessionId, TargetId, WorkspaceId


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
class ProviderParams:
    """Which target's agent, and whether what is known of it is enough."""

    agent_target_id: TargetId
    refresh: bool = False
    """Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an `admin` token."""


@attrs.frozen(kw_only=True)
class WorkspaceListParams(PageParams):
    """Which page of the workspaces."""


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
