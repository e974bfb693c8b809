"""The Turn row: one submission or provider continuation. Phase, outcome and delivery are independent facts."""

from typing import Literal

import attrs

from store.canonical.common import TurnError, Usage
from store.canonical.identifiers import ClientSubmitId, SessionId, TurnId, WorkspaceId

TurnPhase = Literal["submitted", "running", "waiting", "settling", "settled"]
TurnOutcome = Literal["completed", "failed", "canceled", "interrupted"]
Delivery = Literal["not_dispatched", "dispatching", "accepted", "rejected", "unknown"]
TurnOrigin = Literal["user_prompt", "provider", "goal", "edit_retry"]


@attrs.frozen
class TurnTimings:
    """Where the time before the first sign of the provider went, in milliseconds."""

    queued_ms: int | None = None
    start_ms: int | None = None


@attrs.frozen
class Turn:
    """One turn as the contract shows it. `cancel_confirmed_at` null on a canceled turn means it was forced."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    turn_id: TurnId
    sequence: int
    submitted_at: int
    phase: TurnPhase = "submitted"
    outcome: TurnOutcome | None = None
    delivery: Delivery = "not_dispatched"
    origin: TurnOrigin = "user_prompt"
    client_submit_id: ClientSubmitId | None = None
    provider_turn_id: str | None = None
    cancel_requested_at: int | None = None
    cancel_confirmed_at: int | None = None
    stop_reason: str | None = None
    forkable: bool = False
    usage: Usage | None = None
    timings: TurnTimings = TurnTimings()
    error: TurnError | None = None
    started_at: int | None = None
    settled_at: int | None = None
    retracted_at: int | None = None

    @property
    def settled(self) -> bool:
        """Whether this turn has ended; its outcome then stands (RT-003, RT-004)."""
        return self.phase == "settled"
