"""Params of the methods about turns and what they ask."""

import attrs

from runtime.wire.requests.shared import Content, PageParams, SessionParams, TurnParams, WorkspaceParams
from runtime.wire.rows import Answer
from store.canonical.identifiers import ClientSubmitId, RequestId
from store.canonical.interaction import InteractionStatus


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
class OperationGetParams(SessionParams):
    """Read one durable operation of a session."""

    operation_id: ClientSubmitId


@attrs.frozen(kw_only=True)
class InteractionListParams(PageParams, WorkspaceParams):
    """List the interactions of all sessions of the workspace, children included."""

    status: InteractionStatus | None = None
