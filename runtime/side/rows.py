"""The row of a Side and what is told of it, as `contract §3` and `§5` name them. Nothing here is ever stored.

Rows inside a payload (turns, messages, interactions) have the Side's id as their session.
"""

from typing import Literal, TypeAlias

import attrs

from store.canonical.common import Settings
from store.canonical.identifiers import SessionId, SessionKey, TurnId, WorkspaceId
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.turn import Turn

SideState = Literal["opening", "open", "closing", "closed", "expired"]
CloseReason: TypeAlias = Literal["closed", "surface_disposed", "owner_lost", "source_deleted", "shutdown"]
ExpiryReason: TypeAlias = Literal["provider_lost", "overflow"]


@attrs.frozen
class Side:
    """An ephemeral branch of a live conversation; never stored. Its rows carry the Side's id as their session."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    """The same as `sideAgentSessionId`."""
    source_agent_session_id: SessionId
    side_agent_session_id: SessionId
    surface_id: str
    """The place in a client that shows this Side."""
    state: SideState
    active_turn_id: TurnId | None
    settings: Settings
    """Captured when the Side was opened; read-only."""
    opened_at: int

    @property
    def key(self) -> SessionKey:
        """The whole identity of this Side."""
        return SessionKey(self.workspace_id, self.side_agent_session_id)

    @property
    def source(self) -> SessionKey:
        """The session it was forked from."""
        return SessionKey(self.workspace_id, self.source_agent_session_id)


@attrs.frozen(kw_only=True)
class SideOpened:
    """The Side is open; `sequence` counts from here."""

    type: Literal["opened"] = "opened"
    side: Side


@attrs.frozen(kw_only=True)
class SideTurn:
    """A turn of the Side as it is now."""

    type: Literal["turn"] = "turn"
    turn: Turn


@attrs.frozen(kw_only=True)
class SideMessage:
    """A message of the Side as it is now."""

    type: Literal["message"] = "message"
    message: Message


@attrs.frozen(kw_only=True)
class SideInteraction:
    """An interaction of the Side as it is now."""

    type: Literal["interaction"] = "interaction"
    interaction: Interaction


@attrs.frozen(kw_only=True)
class SideError:
    """Something of the Side failed; the Side goes on."""

    type: Literal["error"] = "error"
    code: str
    turn_id: TurnId | None = None


@attrs.frozen(kw_only=True)
class SideClosed:
    """The Side was closed. Nothing of it follows."""

    type: Literal["closed"] = "closed"
    reason: CloseReason


@attrs.frozen(kw_only=True)
class SideExpired:
    """The Side ended by itself. Nothing of it follows."""

    type: Literal["expired"] = "expired"
    reason: ExpiryReason


SideFact: TypeAlias = (
    SideOpened | SideTurn | SideMessage | SideInteraction | SideError | SideClosed | SideExpired
)
"""Everything told of a Side, but for its text."""
