"""The Operation: a durable command that outlives its request, and how far it came (RT-025, RT-094)."""

from typing import Literal

import attrs

from store.canonical.common import TurnError
from store.canonical.identifiers import SessionId, WorkspaceId

OperationKind = Literal["fork", "edit_retry", "goal", "plan"]
OperationState = Literal["prepared", "dispatching", "provider_accepted", "committed", "unknown", "failed"]


@attrs.frozen
class Operation:
    """One operation of one session."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    operation_id: str
    kind: OperationKind
    state: OperationState
    error: TurnError | None
    created_at: int
    updated_at: int

    @property
    def finished_at(self) -> int | None:
        """When nothing more of it was to come; None while something is."""
        return self.updated_at if self.state in ("committed", "failed") else None
