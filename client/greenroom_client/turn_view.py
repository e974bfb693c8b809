"""One turn as a person follows it: events in, pieces out. Pure (`contract §5`).

Owns what has been shown already: deltas, snapshots and rows overlap, and each character is shown once. How pieces
look is the caller's business. Of other sessions, descendants of this one, only the Interactions are looked at.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import attrs

from greenroom_client.contract.models import (
    Change,
    DeltaBody,
    Interaction,
    Message,
    MessageDelta,
    NoticeBlock,
    PlanEntry,
    ToolCall,
    Turn,
)
from greenroom_client.events import SubscriptionEvent, facts_are_missing
from greenroom_client.messages import text_of
from greenroom_client.session_view import InteractionKey, interaction_key


@attrs.frozen
class TextPiece:
    """More text of an answer, or of the reasoning before it."""

    message_id: str
    kind: Literal["text", "reasoning"]
    text: str


@attrs.frozen
class ToolPiece:
    """A tool call as it stands; told when it is new and whenever its status changes."""

    message_id: str
    call: ToolCall


@attrs.frozen
class PlanPiece:
    """The whole plan, whenever it changes."""

    message_id: str
    entries: tuple[PlanEntry, ...]


@attrs.frozen
class NoticePiece:
    """Something the runtime tells."""

    message_id: str
    notices: tuple[NoticeBlock, ...]


@attrs.frozen
class Asked:
    """An Interaction waits for an answer."""

    interaction: Interaction

    @property
    def key(self) -> InteractionKey:
        """Session, turn and request."""
        return interaction_key(self.interaction)


@attrs.frozen
class NoLongerAsked:
    """Somebody answered, or nobody has to any more."""

    key: InteractionKey


@attrs.frozen
class ReadAgain:
    """Events are missing: the turn and its messages have to be read (`see_turn`, `see_message`)."""


Piece: TypeAlias = TextPiece | ToolPiece | PlanPiece | NoticePiece | Asked | NoLongerAsked | ReadAgain


@attrs.define
class _Shown:
    """How much of a streaming message has been shown."""

    characters: int = 0
    deltas: int = 0


@attrs.define(eq=False)
class TurnView:
    """What is known of one turn of one session."""

    session_id: str
    turn_id: str
    turn: Turn | None = None
    """The newest row of the turn; None before any came."""
    _shown: dict[str, _Shown] = attrs.field(factory=dict, init=False)
    _told: dict[str, object] = attrs.field(factory=dict, init=False)
    """What was told of that which is told as a whole."""
    _known_at: dict[str, int] = attrs.field(factory=dict, init=False)
    """The commit of the newest row seen of each."""

    @property
    def ended(self) -> bool:
        """Whether the turn is settled."""
        return self.turn is not None and self.turn["phase"] == "settled"

    def begin_again(self) -> None:
        """Rows come by another way from now on, perhaps of another store; what has been shown stays shown."""
        self._known_at.clear()

    def receive(self, event: SubscriptionEvent) -> Iterator[Piece]:
        """The pieces of one event, in order; events nobody here knows have none."""
        if facts_are_missing(event):
            self.begin_again()
            yield ReadAgain()
        elif event["type"] == "commit":
            for change in event["changes"]:
                yield from self._change(change, event["commitSeq"])
        elif event["type"] == "message_delta":
            yield from self.see_delta(event)
        elif event["type"] == "message_snapshot" and self._is_ours(event["message"]):
            yield from self._message(event["message"])

    def see_turn(self, row: Turn, commit_seq: int) -> None:
        """A row of the turn, from an event or from a read, as of a commit."""
        ours = row["agentSessionId"] == self.session_id and row["turnId"] == self.turn_id
        if ours and self._is_newer("turn", commit_seq):
            self.turn = row

    def see_message(self, row: Message, commit_seq: int) -> Iterator[Piece]:
        """The pieces of a message row, from an event or from a read, as of a commit; prompts have none."""
        if self._is_ours(row) and self._is_newer(f"message {row['messageId']}", commit_seq):
            yield from self._message(row)

    def see_interaction(self, row: Interaction, commit_seq: int) -> Iterator[Piece]:
        """The piece of an Interaction row, of this session or a descendant; each is asked once."""
        key = interaction_key(row)
        name = f"interaction {key}"
        if self._is_newer(name, commit_seq) and self._is_news(name, row["status"]):
            yield Asked(row) if row["status"] == "pending" else NoLongerAsked(key)

    def see_delta(self, delta: MessageDelta | DeltaBody) -> Iterator[Piece]:
        """The piece of more text, from an event of a session or of a Side."""
        if not self._is_ours(delta) or delta["field"] != "text":
            return
        kind = _text_kind(delta["kind"])
        shown = self._shown.setdefault(delta["messageId"], _Shown())
        # An earlier one is in a row already shown; a later one means that some are lost, and a snapshot follows.
        if kind is not None and delta["deltaSeq"] == shown.deltas:
            shown.deltas += 1
            shown.characters += len(delta["text"])
            yield TextPiece(delta["messageId"], kind, delta["text"])

    def _change(self, change: Change, commit_seq: int) -> Iterator[Piece]:
        match change["type"]:
            case "turn":
                self.see_turn(change["row"], commit_seq)
            case "message":
                yield from self.see_message(change["row"], commit_seq)
            case "interaction":
                yield from self.see_interaction(change["row"], commit_seq)
            case _:
                pass

    def _message(self, row: Message) -> Iterator[Piece]:
        if row["role"] == "user":
            return
        match row["kind"]:
            case "text" | "reasoning":
                yield from self._text(row)
            case "tool_call" if row["toolCall"] is not None:
                call = row["toolCall"]
                if self._is_news(row["messageId"], call["status"]):
                    yield ToolPiece(row["messageId"], call)
            case "plan":
                entries = [
                    entry for block in row["content"] if block["type"] == "plan" for entry in block["entries"]
                ]
                if entries and self._is_news(row["messageId"], entries):
                    yield PlanPiece(row["messageId"], tuple(entries))
            case "notice":
                notices = [block for block in row["content"] if block["type"] == "notice"]
                if notices and self._is_news(row["messageId"], notices):
                    yield NoticePiece(row["messageId"], tuple(notices))
            case _:
                pass

    def _is_ours(self, row: Message | MessageDelta | DeltaBody) -> bool:
        return row["agentSessionId"] == self.session_id and row["turnId"] == self.turn_id

    def _is_newer(self, name: str, commit_seq: int) -> bool:
        if commit_seq <= self._known_at.get(name, -1):
            return False
        self._known_at[name] = commit_seq
        return True

    def _is_news(self, name: str, told: object) -> bool:
        news = self._told.get(name) != told
        self._told[name] = told
        return news

    def _text(self, row: Message) -> Iterator[Piece]:
        kind = _text_kind(row["kind"])
        shown = self._shown.setdefault(row["messageId"], _Shown())
        rest = text_of(row)[shown.characters :]
        shown.characters += len(rest)
        if row["deltaSeq"] is not None:
            shown.deltas = max(shown.deltas, row["deltaSeq"])
        if rest and kind is not None:
            yield TextPiece(row["messageId"], kind, rest)


def _text_kind(kind: str) -> Literal["text", "reasoning"] | None:
    if kind == "text":
        return "text"
    return "reasoning" if kind == "reasoning" else None
