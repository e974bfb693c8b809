"""What nearly every test with a hosted scripted app-server says: a session of it, and what it was asked."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from tests.doubles.scripted_codex import TARGET, calls, replies
from tests.end_to_end.client import WAIT_SECONDS, Client, Json
from tests.end_to_end.daemon import poll_until
from tests.end_to_end.talk import Talk, start

SECRET = "sk-proj-4711words4712of4713the4714account"
"""What the app-servers say for `{secret}`; no prompt holds it."""


@attrs.define(eq=False)
class Stage:
    """One client in its workspace, and the app-servers' home."""

    client: Client
    workspace: str
    home: Path
    target: str = TARGET

    async def talk(self, prompt: str | None = None, **params: Any) -> Talk:
        """A new session."""
        params.setdefault("clientSubmitId", f"create-{time.monotonic_ns()}")
        return await start(self.client, self.workspace, prompt, **{"target": self.target, **params})

    async def settled(self, prompt: str, **params: Any) -> tuple[Talk, Json]:
        """A new session and its first turn once that is settled."""
        talk = await self.talk(prompt, **params)
        return talk, await self.client.settled(talk.turn)

    async def thread_of(self, talk: Talk) -> str:
        """The thread of a session, once it has one."""
        rows = await self.client.wait(
            lambda: [
                row
                for row in self.client.rows("session", agentSessionId=talk.session_id)
                if row["providerSessionId"]
            ],
            "the thread",
        )
        return str(rows[-1]["providerSessionId"])

    async def calls(self, talk: Talk, method: str) -> list[Json]:
        """The params of what its thread was asked by one method."""
        return calls(self.home, method, await self.thread_of(talk))

    async def replies(self, talk: Talk) -> list[list[Json]]:
        """The answers to each request of its thread."""
        return replies(self.home, await self.thread_of(talk))

    async def one_reply_each(self, talk: Talk, count: int) -> list[Json]:
        """The one answer to each of so many requests, once all are there; no more may have come by then."""
        thread_id = await self.thread_of(talk)
        await eventually(lambda: len(replies(self.home, thread_id)) >= count, "the requests")
        await eventually(lambda: all(replies(self.home, thread_id)), "a reply to every request")
        found = replies(self.home, thread_id)
        assert [len(each) for each in found] == [1] * count, found
        return [each[0] for each in found]


async def eventually(condition: Callable[[], object], what: str) -> None:
    """Something outside this process came true in time."""
    assert poll_until(condition, WAIT_SECONDS), f"waited for {what}"
