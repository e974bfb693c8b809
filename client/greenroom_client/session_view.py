"""One session as a client shows it: its rows, its messages, what is asked of the user. Pure.

Owns which of two rows is the newer. Reading is the caller's business (`following.follow_session` does it).
"""

from typing import TypeAlias

import attrs

from greenroom_client.contract.models import (
    Change,
    Interaction,
    Message,
    Session,
    SessionGetReply,
    SessionMessagesReply,
    Turn,
)
from greenroom_client.events import SubscriptionEvent, facts_are_missing
from greenroom_client.messages import MessageAssembler, MessageKey

InteractionKey: TypeAlias = tuple[str, str, str]


def interaction_key(interaction: Interaction) -> InteractionKey:
    """Session, turn and request: together they name an Interaction of a workspace."""
    return interaction["agentSessionId"], interaction["turnId"], interaction["requestId"]


@attrs.define(eq=False)
class SessionView:
    """What is known of a session. Feed it reads and events; rows of other sessions are passed over, Interactions of
    its descendants are kept."""

    workspace_id: str
    agent_session_id: str
    session: Session | None = attrs.field(default=None, init=False)
    removed: bool = attrs.field(default=False, init=False)
    """Whether the session was deleted."""
    stale: bool = attrs.field(default=True, init=False)
    """Whether it has to be read: at first, and when committed facts are missing."""
    turns: dict[str, Turn] = attrs.field(factory=dict, init=False)
    interactions: dict[InteractionKey, Interaction] = attrs.field(factory=dict, init=False)
    _messages: MessageAssembler = attrs.field(factory=MessageAssembler, init=False)
    _known_at: dict[tuple[str, ...], int] = attrs.field(factory=dict, init=False)

    @property
    def messages(self) -> list[Message]:
        """All messages in the order they are shown, streamed text included."""
        return self._messages.of_session(self.workspace_id, self.agent_session_id)

    def message(self, message_id: str) -> Message | None:
        """One message with all its text."""
        key: MessageKey = (self.workspace_id, self.agent_session_id, message_id)
        return self._messages.get(key)

    @property
    def active_turn(self) -> Turn | None:
        """The turn that is not settled."""
        return next((turn for turn in self.turns.values() if turn["phase"] != "settled"), None)

    @property
    def pending_interactions(self) -> list[Interaction]:
        """What waits for an answer, the oldest first; of the session and of its descendants."""
        pending = (asked for asked in self.interactions.values() if asked["status"] == "pending")
        return sorted(pending, key=lambda asked: asked["createdAt"])

    def learn_session(self, reply: SessionGetReply) -> None:
        """The reply to `session/get`."""
        seq = reply["commitSeq"]
        self._session(reply["session"], seq, removed=False)
        for turn in reply["turns"]:
            self._turn(turn, seq)
        for interaction in reply["interactions"]:
            self._interaction(interaction, seq)
        self.stale = False

    def learn_messages(self, reply: SessionMessagesReply) -> None:
        """A reply to `session/messages`."""
        list(self._messages.learn(reply["messages"], reply["commitSeq"]))

    def receive(self, event: SubscriptionEvent) -> bool:
        """Take an event; whether it changed anything here."""
        if facts_are_missing(event):
            self.stale = True
            if event["type"] == "gap":
                # It may be another store, whose numbers begin anew.
                self._known_at.clear()
                self._messages.forget_order()
            return True
        changed = False
        for workspace_id, agent_session_id, _ in self._messages.receive(event):
            changed |= self._is_ours(workspace_id, agent_session_id)
        if event["type"] == "commit":
            for change in event["changes"]:
                changed |= self._change(change, event["commitSeq"])
        return changed

    def _change(self, change: Change, seq: int) -> bool:
        match change["type"]:
            case "session" | "session_restored" | "session_removed":
                return self._session(change["row"], seq, removed=change["type"] == "session_removed")
            case "turn":
                return self._turn(change["row"], seq)
            case "interaction":
                return self._interaction(change["row"], seq)
            case _:
                return False

    def _session(self, row: Session, seq: int, *, removed: bool) -> bool:
        if not self._is_ours(row["workspaceId"], row["agentSessionId"]) or not self._is_newer(
            ("session",), seq
        ):
            return False
        self.session, self.removed = row, removed
        return True

    def _turn(self, row: Turn, seq: int) -> bool:
        ours = self._is_ours(row["workspaceId"], row["agentSessionId"])
        if not ours or not self._is_newer(("turn", row["turnId"]), seq):
            return False
        self.turns[row["turnId"]] = row
        return True

    def _interaction(self, row: Interaction, seq: int) -> bool:
        key = interaction_key(row)
        if row["workspaceId"] != self.workspace_id or not self._is_newer(("interaction", *key), seq):
            return False
        self.interactions[key] = row
        return True

    def _is_ours(self, workspace_id: str, agent_session_id: str) -> bool:
        return (workspace_id, agent_session_id) == (self.workspace_id, self.agent_session_id)

    def _is_newer(self, name: tuple[str, ...], seq: int) -> bool:
        if seq <= self._known_at.get(name, -1):
            return False
        self._known_at[name] = seq
        return True
