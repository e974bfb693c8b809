"""The submit claim: what makes a `clientSubmitId` take effect at most once, across restarts (RT-034, RT-037).

A claim holds the submitted content without loss, so that nothing depends on the caller's request living on
(RT-035). What became of the delivery stands on the Turn, in one place.
"""

from typing import Literal

import attrs

from store.canonical.common import Json
from store.canonical.identifiers import ClientSubmitId, SessionId, SessionKey, TurnId, WorkspaceId

ClaimScope = Literal["workspace", "session"]
SubmitMethod = Literal["session/create", "session/send", "turn/guide", "goal/control", "interaction/respond"]


@attrs.frozen
class SubmitClaim:
    """One used submit id. Scope `workspace` belongs to creates, `session` to send, guide and goal together."""

    scope: ClaimScope
    workspace_id: WorkspaceId
    agent_session_id: SessionId
    client_submit_id: ClientSubmitId
    method: SubmitMethod
    digest: str
    """SHA-256 of the method's parameters in canonical JSON: equal means the same request."""
    created_at: int
    turn_id: TurnId | None = None
    content: Json = None

    @property
    def session_key(self) -> SessionKey:
        """The session this claim took effect in."""
        return SessionKey(self.workspace_id, self.agent_session_id)
