"""Params of the methods about Sides and the surfaces that own them."""

from typing import Annotated

import attrs

from runtime.wire.constraints import Characters
from runtime.wire.requests.shared import Content, PageParams, SessionParams, ShortText, WorkspaceParams
from runtime.wire.rows import Answer
from store.canonical.identifiers import ClientSubmitId, RequestId, SessionId, SessionKey, TurnId


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
