"""One subscription as an async iterator that outlives connections.

Owns its position in the commit log and a bounded buffer. A consumer that is too slow is cut off
at the buffer's end and subscribed anew, from that place, when it has drained half of it; so facts are never lost and
nobody else is held up (FC-14, AP-021).
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, Literal, TypeAlias

import anyio
import anyio.lowlevel
import attrs

from greenroom_client.connection import Connection, Json
from greenroom_client.errors import ClientError, ConnectionLost, GreenroomError, fresh
from greenroom_client.events import Gap, SubscriptionEvent, as_event

Topic: TypeAlias = Literal["agent.activity.updated", "agent.side.updated", "host.updated"]
Deltas: TypeAlias = Literal["all", "none"] | Sequence[str]
Reason: TypeAlias = Literal["reconnected", "slow_consumer", "not_in_log"]

ACTIVITY: Final[Topic] = "agent.activity.updated"
NUMBERED: Final = frozenset({"commit", "checkpoint", "session_reset", "resync"})
"""Events with a place in the log."""
RETRY_SECONDS: Final = 0.25
REFUSALS_MAX: Final = 20


@attrs.frozen
class Position:
    """A place in the commit log of one store: what a program keeps that wants to go on there after its own restart."""

    store_id: str
    commit_seq: int


@attrs.frozen(kw_only=True)
class SubscriptionParams:
    """What is followed."""

    workspace_id: str
    topics: Sequence[Topic]
    agent_session_ids: Sequence[str] | None
    deltas: Deltas

    def on_the_wire(self) -> Json:
        """As params of `events/subscribe`."""
        params: Json = {"workspaceId": self.workspace_id, "topics": list(self.topics)}
        return params | self.changeable()

    def changeable(self) -> Json:
        """What `events/update` may change."""
        params: Json = {"deltas": self.deltas if isinstance(self.deltas, str) else list(self.deltas)}
        if self.agent_session_ids is not None:
            params["agentSessionIds"] = list(self.agent_session_ids)
        return params


@attrs.frozen(kw_only=True)
class BufferLimits:
    """How much may wait for the consumer of one subscription."""

    events_max: int = 4096
    characters_max: int = 8 * 1024 * 1024


class Subscription(AsyncIterator[SubscriptionEvent]):
    """Made by `Client.subscribe`; iterate it. Ends with the client, or raises why it cannot go on."""

    def __init__(self, params: SubscriptionParams, limits: BufferLimits, after: Position | None) -> None:
        self.position = after
        """Everything up to here has been yielded, or is not of this subscription. Never None when it stands."""
        self._held = after
        """Everything up to here is in the buffer or has been yielded."""
        self._params = params
        self._limits = limits
        self._route: tuple[Connection, int] | None = None
        self._buffer: deque[tuple[SubscriptionEvent, int, Position | None]] = deque()
        self._characters = 0
        self._reason: Reason | None = None
        """Why the next attachment is not the first."""
        self._failure: ClientError | None = None
        self._news: anyio.Event | None = None
        """Made by who waits: most events come while nobody does."""
        self._detached = anyio.Event()
        self._room = anyio.Event()
        self._room.set()
        self.attached = anyio.Event()
        """Set when the subscription stands, or will never."""

    # --- for the consumer -----------------------------------------------------------------------------------------

    async def __anext__(self) -> SubscriptionEvent:
        await anyio.lowlevel.checkpoint_if_cancelled()
        while not self._buffer:
            if self._failure is not None:
                raise fresh(self._failure)
            if self._news is None:
                self._news = anyio.Event()
            await self._news.wait()
        event, characters, position = self._buffer.popleft()
        self._characters -= characters
        self.position = position or self.position
        if not self._is_over_half():
            self._room.set()
        return event

    @property
    def failure(self) -> ClientError | None:
        """Why it does not go on; None while it does."""
        return self._failure

    async def update(
        self,
        *,
        agent_session_ids: Sequence[str] | None = None,
        deltas: Deltas | None = None,
    ) -> None:
        """Follow other sessions, or the text of others, from now on and without a gap. Raises `GreenroomError`.

        A connection that is lost meanwhile loses nothing: the new choice holds when the subscription stands again.
        """
        before = self._params
        if agent_session_ids is not None:
            self._params = attrs.evolve(self._params, agent_session_ids=tuple(agent_session_ids))
        if deltas is not None:
            self._params = attrs.evolve(self._params, deltas=deltas)
        if self._route is None:
            return
        connection, subscription_id = self._route
        try:
            await connection.request(
                "events/update", {"subscriptionId": subscription_id, **self._params.changeable()}
            )
        except ConnectionLost:
            return
        except GreenroomError:
            self._params = before
            raise

    # --- for the client -------------------------------------------------------------------------------------------

    async def run(self, connected: Callable[[], Awaitable[Connection]]) -> None:
        """Keep the subscription standing, on one connection after the other. Run once."""
        refusals = 0
        while True:
            await self._room.wait()
            try:
                connection = await connected()
                await self._attach(connection)
            except GreenroomError as refused:
                refusals += 1
                if not self.attached.is_set() or not refused.retryable or refusals > REFUSALS_MAX:
                    self.fail(refused)
                    return
                await anyio.sleep(refused.retry_after_seconds or RETRY_SECONDS)
            except ClientError as failure:
                self.fail(failure)
                return
            else:
                refusals = 0
                await self._detached.wait()

    def close(self) -> None:
        """The consumer has left."""
        route, self._route = self._route, None
        if route is not None:
            connection, subscription_id = route
            connection.forget(subscription_id)

    def fail(self, failure: ClientError) -> None:
        """What is buffered can still be taken; then this is raised. The first failure stands."""
        self._failure = self._failure or failure
        self._tell_news()
        self.attached.set()

    # --- attaching ------------------------------------------------------------------------------------------------

    async def _attach(self, connection: Connection) -> None:
        """Subscribe from where we stand. A connection that is lost meanwhile detaches us, as any later loss does."""
        self._detached = anyio.Event()
        params = self._params.on_the_wire()
        if self._held is not None:
            params |= {"storeId": self._held.store_id, "afterCommitSeq": self._held.commit_seq}
        try:
            await connection.request("events/subscribe", params, lambda reply: self._begin(connection, reply))
        except ConnectionLost:
            self.detach()

    def _begin(self, connection: Connection, reply: Json) -> None:
        """The reply, in the reader's step: the next frame may be an event of ours already."""
        subscription_id, head = reply.get("subscriptionId"), reply.get("commitSeq")
        if not isinstance(subscription_id, int) or not isinstance(head, int):
            raise ConnectionLost("the daemon answered events/subscribe with something else")
        lost = self._held is not None and bool(reply.get("gap"))
        if self._held is None or lost:
            self._held = Position(connection.store_id, head)
        self.position = self.position or self._held
        self._route = connection, subscription_id
        connection.attach(subscription_id, self)
        if lost or self._reason is not None:
            # What is in no log is lost with the connection: Sides and hints of the host.
            unlogged = any(topic != ACTIVITY for topic in self._params.topics)
            gap = Gap(
                type="gap",
                lost="facts" if lost or unlogged else "text",
                reason="not_in_log" if lost else self._reason or "reconnected",
                commitSeq=self._held.commit_seq,
            )
            self._put(gap, 0, self._held)
        self._reason = None
        self.attached.set()

    def take(self, event: Json, size_characters: int) -> None:
        """One event, in the reader's step."""
        kind = event.get("type")
        if not isinstance(kind, str):
            raise ConnectionLost("the daemon sent an event without a type")
        position = None
        if kind in NUMBERED:
            commit_seq = event.get("commitSeq")
            if not isinstance(commit_seq, int) or self._held is None:
                raise ConnectionLost(f"the daemon sent a {kind} without its commitSeq")
            if commit_seq <= self._held.commit_seq:
                return  # held already
            position = Position(self._held.store_id, commit_seq)
        if self._is_full(size_characters):
            self._cut_off()
            return
        self._held = position or self._held
        self._put(as_event(event), size_characters, position)

    def detach(self) -> None:
        """The connection ended."""
        self._route = None
        self._reason = self._reason or "reconnected"
        self._detached.set()

    def _cut_off(self) -> None:
        self._reason = "slow_consumer"
        self._room = anyio.Event()
        self.close()
        self._detached.set()

    # --- the buffer -----------------------------------------------------------------------------------------------

    def _put(self, event: SubscriptionEvent, characters: int, position: Position | None) -> None:
        self._buffer.append((event, characters, position))
        self._characters += characters
        self._tell_news()

    def _tell_news(self) -> None:
        news, self._news = self._news, None
        if news is not None:
            news.set()

    def _is_full(self, characters: int) -> bool:
        """Whether there is no room; a single event always has some."""
        too_many = len(self._buffer) >= self._limits.events_max
        return bool(self._buffer) and (
            too_many or self._characters + characters > self._limits.characters_max
        )

    def _is_over_half(self) -> bool:
        limits = self._limits
        return len(self._buffer) * 2 > limits.events_max or self._characters * 2 > limits.characters_max
