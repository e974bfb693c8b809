"""Complete messages out of rows, snapshots and deltas. Pure: it takes events and reads, and asks for nothing.

Owns the rules of `contract §5`: a row whose commit is not newer than the one held is dropped, a delta counts only
when it is the next one, a message that has ended is never reopened by a snapshot.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import attrs

from greenroom_client.contract.models import (
    ContentBlock,
    DeltaBody,
    Message,
    MessageDelta,
    TextBlock,
    ToolOutput,
)
from greenroom_client.events import SubscriptionEvent

MessageKey: TypeAlias = tuple[str, str, str]


def message_key(row: Message | MessageDelta | DeltaBody) -> MessageKey:
    """Workspace, session and message: together they name a message."""
    return row["workspaceId"], row["agentSessionId"], row["messageId"]


def text_of(message: Message) -> str:
    """The text of a message; the output of a tool call."""
    call = message["toolCall"]
    if call is not None:
        return call["output"]["text"]
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


@attrs.define(eq=False)
class _Held:
    """The newest row, and the deltas after it."""

    row: Message
    commit_seq: int
    next_delta: int | None
    """The number of the delta that comes next; None for a message that has ended."""
    pieces: list[str] = attrs.field(factory=list)
    field: str = "text"


class MessageAssembler:
    """Messages of any number of sessions, by their key."""

    def __init__(self) -> None:
        self._held: dict[MessageKey, _Held] = {}

    def __getitem__(self, key: MessageKey) -> Message:
        held = self._held[key]
        if held.pieces:
            held.row = _with_text(held.row, held.field, "".join(held.pieces))
            held.pieces.clear()
        return held.row

    def get(self, key: MessageKey) -> Message | None:
        """One message; None while it is not known."""
        return self[key] if key in self._held else None

    def __contains__(self, key: MessageKey) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)

    def of_session(self, workspace_id: str, agent_session_id: str) -> list[Message]:
        """All messages of a session in the order they are shown."""
        found = [self[key] for key in list(self._held) if key[:2] == (workspace_id, agent_session_id)]
        return sorted(found, key=lambda message: message["sequence"])

    def receive(self, event: SubscriptionEvent) -> Iterator[MessageKey]:
        """Take an event; the messages that are other than before."""
        if event["type"] == "commit":
            rows = (change["row"] for change in event["changes"] if change["type"] == "message")
            yield from self.learn(rows, event["commitSeq"], from_event=True)
        elif event["type"] == "message_delta":
            if self._delta(event):
                yield message_key(event)
        elif event["type"] == "message_snapshot" and self._snapshot(event["message"]):
            yield message_key(event["message"])

    def learn(
        self, rows: Iterable[Message], commit_seq: int, *, from_event: bool = False
    ) -> Iterator[MessageKey]:
        """Take rows as of a commit, from an event or from a read; those that are other than before.

        A read holds the text streamed up to its reply, so one of the same commit may say more than the event.
        """
        for row in rows:
            key = message_key(row)
            held = self._held.get(key)
            if held is not None:
                older = commit_seq <= held.commit_seq if from_event else commit_seq < held.commit_seq
                if older or self._says_less(row, held, commit_seq):
                    continue
            self._held[key] = _Held(row, commit_seq, _next_delta(row))
            yield key

    def forget_order(self) -> None:
        """Numbers of commits held so far mean nothing any more: what comes next is the newer."""
        for held in self._held.values():
            held.commit_seq = -1

    def _says_less(self, row: Message, held: _Held, commit_seq: int) -> bool:
        """Whether a row of the same commit lacks deltas that came meanwhile."""
        next_delta = _next_delta(row)
        if commit_seq > held.commit_seq or next_delta is None:
            return False
        return held.next_delta is None or next_delta < held.next_delta

    def _snapshot(self, row: Message) -> bool:
        """It carries no commit: it is as new as the deltas it holds."""
        held, next_delta = self._held.get(message_key(row)), _next_delta(row)
        if held is None:
            self._held[message_key(row)] = _Held(row, 0, next_delta)
            return True
        if held.next_delta is None or next_delta is None or next_delta < held.next_delta:
            return False
        self._held[message_key(row)] = _Held(row, held.commit_seq, next_delta)
        return True

    def _delta(self, delta: MessageDelta) -> bool:
        held = self._held.get(message_key(delta))
        # An earlier one is in the row already; a later one means that some are lost, and a snapshot follows.
        if held is None or held.next_delta is None or delta["deltaSeq"] != held.next_delta:
            return False
        held.next_delta += 1
        held.field = delta["field"]
        held.pieces.append(delta["text"])
        return True


def _next_delta(row: Message) -> int | None:
    return (row["deltaSeq"] or 0) if row["status"] == "streaming" else None


def _with_text(row: Message, field: str, more: str) -> Message:
    """A copy with more text: rows and events that were handed out stay as they are."""
    call = row["toolCall"]
    if field == "output" and call is not None:
        output: ToolOutput = {**call["output"], "text": text_of(row) + more}
        return {**row, "toolCall": {**call, "output": output}}
    text: TextBlock = {"type": "text", "text": text_of(row) + more}
    others: list[ContentBlock] = [block for block in row["content"] if block["type"] != "text"]
    return {**row, "content": [text, *others]}
