"""Which turns a session has from now on: the one that runs, then each as it begins, whoever began it."""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from greenroom_client import Client, Subscription, facts_are_missing
from greenroom_client.contract.models import Turn

TURNS_REMEMBERED: Final = 1000


class SessionTurns(AsyncIterator[str]):
    """The ids of the turns, each once; never ends by itself. Made by `session_turns`."""

    def __init__(self, client: Client, workspace_id: str, session_id: str, events: Subscription) -> None:
        self._client = client
        self._workspace_id = workspace_id
        self._session_id = session_id
        self._events = events
        self._seen: deque[str] = deque(maxlen=TURNS_REMEMBERED)
        self._next: deque[str] = deque()

    @property
    def running(self) -> str | None:
        """The first turn that nobody has taken yet."""
        return self._next[0] if self._next else None

    async def __anext__(self) -> str:
        while not self._next:
            event = await anext(self._events)
            if facts_are_missing(event):
                await self.look()
            elif event["type"] == "commit":
                for change in event["changes"]:
                    if change["type"] == "turn" and change["row"]["agentSessionId"] == self._session_id:
                        self.is_there(change["row"])
        return self._next.popleft()

    async def look(self) -> None:
        """The turn that runs now, by reading."""
        reply = await self._client.session_get(
            workspace_id=self._workspace_id, agent_session_id=self._session_id, projection="summary"
        )
        if reply["activeTurn"] is not None:
            self.is_there(reply["activeTurn"])

    def is_there(self, turn: Turn) -> None:
        """It was begun, as somebody else has heard."""
        if turn["turnId"] not in self._seen:
            self._seen.append(turn["turnId"])
            self._next.append(turn["turnId"])


@asynccontextmanager
async def session_turns(
    client: Client, workspace_id: str, session_id: str, *, known: Turn | None = None
) -> AsyncIterator[SessionTurns]:
    """The turns of a session for as long as the body iterates; first the one that is known already, ended or not.

    Raises what subscribing and reading raise.
    """
    async with client.subscribe(workspace_id, agent_session_ids=[session_id], deltas="none") as events:
        turns = SessionTurns(client, workspace_id, session_id, events)
        if known is not None:
            turns.is_there(known)
        await turns.look()
        yield turns
