"""Reads and events put together: a turn followed to its end, a session kept up to date.

Owns the order (subscribe first, then read) and what is read again when facts are missing. What rows mean is decided
by `turn_view` and `session_view`.
"""

import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio

from greenroom_client.client import Client
from greenroom_client.contract.models import (
    Interaction,
    Message,
    OptionAnswerInput,
    PromptBlock,
    Turn,
)
from greenroom_client.errors import ConnectionLost, GreenroomError
from greenroom_client.events import SubscriptionEvent, facts_are_missing
from greenroom_client.session_view import SessionView
from greenroom_client.subscription import Subscription
from greenroom_client.turn_view import Piece, ReadAgain, TurnView

T = TypeVar("T")

PAGE_ITEMS: Final = 200
"""The most a page may hold (`contract §4`)."""
SEQUENCE_MAX: Final = 2**53 - 1
REPEATS_MAX: Final = 5
REPEAT_PAUSE_SECONDS: Final = 0.5
_PASSING: Final = frozenset({"overloaded", "shutdown.in_progress", "store.unavailable"})


def new_submit_id() -> str:
    """An id for one command: keep it and repeat it, and the command takes effect once."""
    return str(uuid.uuid4())


def prompt(text: str) -> list[PromptBlock]:
    """A prompt of one text block."""
    return [{"type": "text", "text": text}]


async def repeat_until_answered(call: Callable[[], Awaitable[T]]) -> T:
    """What `call` gives, called again after a lost connection or a daemon that has no time just now.

    `call` must be harmless to repeat: a command with a fixed `client_submit_id`, a cancel, an answer. Raises what the
    last of `REPEATS_MAX` calls raised, and every other refusal at once.
    """
    for _ in range(REPEATS_MAX - 1):
        try:
            return await call()
        except ConnectionLost:
            continue  # the next call waits for the next connection
        except GreenroomError as refused:
            if refused.code not in _PASSING:
                raise
            await anyio.sleep(refused.retry_after_seconds or REPEAT_PAUSE_SECONDS)
    return await call()


# --- a turn -----------------------------------------------------------------------------------------------------


class TurnStream(AsyncIterator[Piece]):
    """The pieces of a turn as they come; iteration ends when the turn is settled. Never yields `ReadAgain`.

    `events` is a subscription to its session that stood before the turn was begun or read, or one that somebody
    looks into on the way.
    """

    def __init__(
        self, client: Client, workspace_id: str, events: AsyncIterator[SubscriptionEvent], view: TurnView
    ) -> None:
        self._client = client
        self._workspace_id = workspace_id
        self._events = events
        self._view = view
        self._pieces: deque[Piece] = deque()
        # A turn that nothing has happened to yet needs no reading: all of it comes as events.
        self._stale = view.turn is None or view.turn["phase"] != "submitted"

    @property
    def turn_id(self) -> str:
        """The turn that is followed."""
        return self._view.turn_id

    @property
    def turn(self) -> Turn:
        """Its newest row: after the iteration, how it ended."""
        assert self._view.turn is not None, "a stream is handed out with a row of its turn"
        return self._view.turn

    async def __anext__(self) -> Piece:
        while not self._pieces:
            if self._stale:
                await self._read()
            elif self._view.ended:
                raise StopAsyncIteration
            else:
                self._pieces += self._view.receive(await anext(self._events))
                self._stale = ReadAgain() in self._pieces
                self._pieces = deque(piece for piece in self._pieces if not isinstance(piece, ReadAgain))
        return self._pieces.popleft()

    async def _read(self) -> None:
        """The turn as it stands, through the same eyes."""
        view, workspace_id, session_id = self._view, self._workspace_id, self._view.session_id
        session = await self._client.session_get(workspace_id=workspace_id, agent_session_id=session_id)
        # Before its messages: if it is settled now, none of them is missing then.
        turn = await self._client.turn_get(
            workspace_id=workspace_id, agent_session_id=session_id, turn_id=view.turn_id
        )
        for message, commit_seq in await self._messages():
            self._pieces += view.see_message(message, commit_seq)
        for interaction in session["interactions"]:
            self._pieces += view.see_interaction(interaction, session["commitSeq"])
        view.see_turn(turn["turn"], turn["commitSeq"])
        self._stale = False

    async def _messages(self) -> list[tuple[Message, int]]:
        """The messages of the turn with the commit they were read at, as far back as it goes."""
        found: list[tuple[Message, int]] = []
        before, more = SEQUENCE_MAX, True
        while more:
            page = await self._client.session_messages(
                workspace_id=self._workspace_id,
                agent_session_id=self._view.session_id,
                before_sequence=before,
                limit=PAGE_ITEMS,
            )
            found[:0] = [(message, page["commitSeq"]) for message in page["messages"]]
            before = page["oldestSequence"] or 0
            more = page["hasMore"] and page["messages"][0]["turnId"] == self._view.turn_id
        return found


@asynccontextmanager
async def stream_turn(
    client: Client, *, workspace_id: str, agent_session_id: str, turn_id: str, view: TurnView | None = None
) -> AsyncIterator[TurnStream]:
    """A turn from its beginning to its end, whenever one comes to it; with the `view` of an earlier stream of it that
    was left or lost, what that one has not given. Raises what reads raise.
    """
    if view is None:
        view = TurnView(agent_session_id, turn_id)
    view.begin_again()
    async with client.subscribe(workspace_id, agent_session_ids=[agent_session_id]) as events:
        reply = await client.turn_get(
            workspace_id=workspace_id, agent_session_id=agent_session_id, turn_id=turn_id
        )
        view.see_turn(reply["turn"], reply["commitSeq"])
        yield TurnStream(client, workspace_id, events, view)


@asynccontextmanager
async def send_and_stream(
    client: Client,
    *,
    workspace_id: str,
    agent_session_id: str,
    content: str | Sequence[PromptBlock],
    client_submit_id: str | None = None,
) -> AsyncIterator[TurnStream]:
    """Send a prompt and follow its turn. A lost connection repeats the send with the same id.

    Raises what `session_send` raises, such as `session.busy`; nothing has been started then.
    """
    blocks = prompt(content) if isinstance(content, str) else content
    submit_id = client_submit_id or new_submit_id()
    async with client.subscribe(workspace_id, agent_session_ids=[agent_session_id]) as events:
        reply = await repeat_until_answered(
            lambda: client.session_send(
                workspace_id=workspace_id,
                agent_session_id=agent_session_id,
                client_submit_id=submit_id,
                content=blocks,
            )
        )
        view = TurnView(agent_session_id, reply["turn"]["turnId"])
        view.see_turn(reply["turn"], reply["commitSeq"])
        yield TurnStream(client, workspace_id, events, view)


async def wait_for_turn(client: Client, *, workspace_id: str, agent_session_id: str, turn_id: str) -> Turn:
    """The turn once it is settled. Put `anyio.fail_after` around it for a deadline. Raises what `turn_get` raises."""
    key = {"workspace_id": workspace_id, "agent_session_id": agent_session_id, "turn_id": turn_id}
    async with client.subscribe(workspace_id, agent_session_ids=[agent_session_id], deltas="none") as events:
        turn = (await client.turn_get(**key))["turn"]
        while turn["phase"] != "settled":
            event = await anext(events)
            if facts_are_missing(event):
                turn = (await client.turn_get(**key))["turn"]
            elif event["type"] == "commit":
                rows = (change["row"] for change in event["changes"] if change["type"] == "turn")
                turn = next((row for row in rows if _is_turn(row, agent_session_id, turn_id)), turn)
    return turn


def _is_turn(row: Turn, agent_session_id: str, turn_id: str) -> bool:
    return row["agentSessionId"] == agent_session_id and row["turnId"] == turn_id


async def answer_option(
    client: Client, interaction: Interaction, option_id: str, *, feedback: str | None = None
) -> Interaction:
    """Answer an approval by one of its options; `feedback` goes with a reject_once only. Repeated after a loss.

    Raises what `interaction_respond` raises: `interaction.not_pending` when somebody else was first.
    """
    answer: OptionAnswerInput = {"optionId": option_id}
    if feedback is not None:
        answer["feedback"] = feedback
    reply = await repeat_until_answered(
        lambda: client.interaction_respond(
            workspace_id=interaction["workspaceId"],
            agent_session_id=interaction["agentSessionId"],
            turn_id=interaction["turnId"],
            request_id=interaction["requestId"],
            answer=answer,
        )
    )
    return reply["interaction"]


# --- a session --------------------------------------------------------------------------------------------------


class FollowedSession(AsyncIterator[SubscriptionEvent]):
    """A session kept up to date: each event is in `view` when it is yielded, and what was missing has been read."""

    def __init__(self, client: Client, events: Subscription, view: SessionView) -> None:
        self._client = client
        self._events = events
        self.view = view

    async def __anext__(self) -> SubscriptionEvent:
        event = await anext(self._events)
        self.view.receive(event)
        await self.refresh()
        return event

    async def refresh(self) -> None:
        """Read what the view does not know. A cancelled read is done again with the next event."""
        view = self.view
        if not view.stale:
            return
        workspace_id, session_id = view.workspace_id, view.agent_session_id
        after, more = 0, True
        while more:
            page = await self._client.session_messages(
                workspace_id=workspace_id, agent_session_id=session_id, after_version=after, limit=PAGE_ITEMS
            )
            view.learn_messages(page)
            after = max([after, *(message["version"] for message in page["messages"])])
            more = page["hasMore"]
        view.learn_session(
            await self._client.session_get(workspace_id=workspace_id, agent_session_id=session_id)
        )


@asynccontextmanager
async def follow_session(
    client: Client, *, workspace_id: str, agent_session_id: str
) -> AsyncIterator[FollowedSession]:
    """A session with all its messages, kept up to date for as long as the body iterates. Raises what reads raise."""
    async with client.subscribe(workspace_id, agent_session_ids=[agent_session_id]) as events:
        followed = FollowedSession(client, events, SessionView(workspace_id, agent_session_id))
        await followed.refresh()
        yield followed
