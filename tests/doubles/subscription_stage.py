"""A subscription on a small queue, the log behind it, and its client, who reads when told to: pure, step by step."""

import json
from typing import Any

import attrs

from runtime.actors.tails import TailRegistry
from runtime.api.outbound_queue import OutboundQueue
from runtime.api.subscription import Subscription, SubscriptionFilter
from runtime.lifecycle.live_tail import TailLimits
from store.canonical.identifiers import MessageId, SessionId, SessionKey, WorkspaceId
from store.canonical.message import Message
from store.port import LoggedCommit

KEY = SessionKey(WorkspaceId("w"), SessionId("s"))
QUEUE_BYTES = 4000


def a_message(name: str, key: SessionKey = KEY) -> Message:
    return Message(
        workspace_id=key.workspace_id,
        agent_session_id=key.agent_session_id,
        message_id=MessageId(name),
        sequence=1,
        version=1,
        role="assistant",
        kind="text",
        status="streaming",
        delta_seq=0,
        created_at=0,
    )


def body(kind: str, size: int = 100, **members: Any) -> bytes:
    """The rest of an event's frame, padded to about that size."""
    event = {"type": kind, **members}
    event["padding"] = "." * max(0, size - len(json.dumps(event)) - 20)
    return json.dumps(event, separators=(",", ":")).encode()[1:] + b"}"


@attrs.define(eq=False)
class Stage:
    """A subscription on a small queue, the log behind it, and its client, who reads when told to."""

    commits: list[LoggedCommit] = attrs.field(factory=list)
    oldest: int = 0
    queue: OutboundQueue = attrs.field(factory=lambda: OutboundQueue(QUEUE_BYTES))
    tails: TailRegistry = attrs.field(factory=lambda: TailRegistry(TailLimits()))
    subscription: Subscription = attrs.field(init=False)
    _unparsed: bytes = b""

    def __attrs_post_init__(self) -> None:
        self.subscription = Subscription(1, "w", SubscriptionFilter(), self.queue, self, self.tails, cursor=0)
        self.queue.on_drained(self.subscription.catch_up)

    def log_after(self, commit_seq: int, upto: int, bytes_max: int) -> tuple[LoggedCommit, ...] | None:
        if commit_seq < self.oldest:
            return None
        return tuple(c for c in self.commits if commit_seq < c.commit_seq <= upto)[:3]

    def root_of(self, key: SessionKey) -> SessionId:
        return key.agent_session_id

    def log(self, commit_seq: int, size: int = 100, key: SessionKey = KEY) -> bytes:
        """A commit in the log; its body."""
        content = body("commit", size, commitSeq=commit_seq)
        root = key.agent_session_id
        self.commits.append(LoggedCommit(commit_seq, key.workspace_id, root, root, content))
        return content

    def commit(self, commit_seq: int, size: int = 100, key: SessionKey = KEY) -> None:
        """A commit as the hub publishes it: to who follows its session."""
        content = self.log(commit_seq, size, key)
        if self.subscription.wants(key.agent_session_id, key.agent_session_id):
            self.subscription.commit(commit_seq, content)

    def open(self, name: str, key: SessionKey = KEY) -> Message:
        message = a_message(name, key)
        self.tails.of(key).open(message)
        return message

    def stream(self, message: Message, size: int) -> None:
        """More text, as the session publishes it."""
        session = message.agent_session_id
        key = SessionKey(message.workspace_id, session)
        for delta in self.tails.of(key).append(message.message_id, "x" * size):
            content = body("message_delta", size, messageId=message.message_id, deltaSeq=delta.delta_seq)
            if self.subscription.wants_deltas(session, session):
                self.subscription.delta(message, content)

    def end(self, message: Message) -> None:
        self.tails.of(SessionKey(message.workspace_id, message.agent_session_id)).close(message.message_id)

    def read(self, bytes_max: int = 1 << 20) -> list[str]:
        """What the client reads, in short: `c7` a commit, `d:m.0` a delta, `gap:m`, `snap:m.3`, `resync7`."""
        taken = b"".join(self.queue.take(bytes_max))
        self.queue.written(len(taken))
        self._unparsed += taken
        told = []
        while self._unparsed:
            size, start = self._unparsed[1], 2
            if size == 126:
                size, start = int.from_bytes(self._unparsed[2:4], "big"), 4
            event = json.loads(self._unparsed[start : start + size])["params"]
            self._unparsed = self._unparsed[start + size :]
            told.append(short(event))
        return told

    def read_all(self) -> list[str]:
        """Until nothing more comes."""
        told = []
        for _ in range(100):
            told += self.read()
        return told


def short(event: dict[str, Any]) -> str:
    match event["type"]:
        case "message_delta":
            return f"d:{event['messageId']}.{event['deltaSeq']}"
        case "stream_gap":
            return f"gap:{event['messageId']}"
        case "message_snapshot":
            return f"snap:{event['message']['messageId']}.{event['message']['deltaSeq']}"
        case "commit":
            return f"c{event['commitSeq']}"
        case other:
            return f"{other}{event['commitSeq']}"
