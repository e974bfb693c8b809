"""What simulated clients delete, bring back, purge and look for; and that what was acknowledged of it stands.

Sessions of the run are only ever deleted to be brought back, so that every other promise can be held to them in the end.
What is purged is made for it, under names of its own.
"""

import random
from collections.abc import Iterator
from typing import Final

import attrs
import trio

from runtime.simulation.client import SimulatedClient
from runtime.simulation.contents import Contents
from runtime.simulation.history import History, Request, SessionName, Violation
from runtime.simulation.link import LinkLost
from runtime.simulation.operations import DEMO

_NOT_NOW: Final = frozenset({"provider.timeout", "session.busy"})
"""Refusals of a delete or a restore that the same request gets over."""
_TRIES_MAX: Final = 20
_QUERIES: Final = ("hello", "say done", "titled AND", '"stream', "submit")


@attrs.frozen
class DeleteAndRestore:
    """Delete a session, whatever goes on in it, and bring it back after a while."""

    session: str
    seconds: float

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        deleted = await _insist(client, "session/delete", self.session)
        client.note(f"{client.name} deleted {self.session}: {deleted.state} {deleted.code}")
        await trio.sleep(self.seconds)
        restored = await _insist(client, "session/restore", self.session)
        client.note(f"{client.name} restored {self.session}: {restored.state} {restored.code}")


@attrs.frozen
class MakeAndPurge:
    """A session for nothing but to be purged; afterwards nothing answers to its name."""

    session: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        params = {
            "agentTargetId": DEMO,
            "clientSubmitId": f"create-{self.session}",
            "agentSessionId": self.session,
        }
        made = await client.ask("session/create", params)
        if made.state != "answered":
            return
        await _insist(client, "session/delete", self.session)
        purged = await _insist(client, "session/purge", self.session)
        if purged.state != "answered":
            return
        read = await client.ask("session/get", {"agentSessionId": self.session})
        if read.code != "session.not_found":
            client.history.violated("what was purged is gone", f"{self.session}: {read.code or read.result}")


@attrs.frozen
class Search:
    """Look for words; whatever they are, they are no mistake."""

    query: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        try:
            found = await client.once("session/search", {"query": self.query, "limit": 2})
        except LinkLost:
            return
        if found.code in ("request.invalid", "internal"):
            client.history.violated("whatever is looked for is words", f"{self.query!r}: {found.error}")
        for item in found.result.get("items", ()):
            if item["deletedAt"] is not None:
                client.history.violated("a search finds nothing deleted", f"{self.query!r}: {item}")


def some_removal(
    session: str, number: int, chance: random.Random
) -> DeleteAndRestore | MakeAndPurge | Search:
    """Any of them."""
    match chance.choice(("delete", "delete", "purge", "search")):
        case "delete":
            return DeleteAndRestore(session, chance.choice((0.0, 0.02, 0.3)))
        case "purge":
            return MakeAndPurge(f"purged-{number}")
        case _:
            return Search(chance.choice(_QUERIES))


async def restore_all(client: SimulatedClient) -> None:
    """Bring back what is deleted still: a life may have ended between a delete and its restore."""
    for session, _ in await client.pages("session/listDeleted", {}):
        await _insist(client, "session/restore", session["agentSessionId"])


def removals_stand(history: History, contents: Contents) -> Iterator[Violation]:
    """Promise 1 for deletions: what was purged stays gone, and a session is as the newest of these left it."""
    for request in history.answered("session/purge"):
        if _named(request) in contents.sessions:
            yield Violation("a purge stands", f"{_named(request)} is there again")
    for name, row in contents.sessions.items():
        asked = [
            request
            for request in history.requests
            if request.method in ("session/delete", "session/restore") and _named(request) == name
        ]
        answered = [request for request in asked if request.state == "answered"]
        if not answered or len(answered) < sum(request.state != "refused" for request in asked):
            continue
        newest = max(request.result["commitSeq"] for request in answered)
        allowed = {
            request.method == "session/delete"
            for request in answered
            if request.result["commitSeq"] == newest
        }
        timed_out = any(request.delivery == "unknown" for request in asked)
        if not timed_out and (row["deletedAt"] is not None) not in allowed:
            yield Violation("a deletion stands until its restore", f"{name}: {row['deletedAt']}")


def _named(request: Request) -> SessionName:
    return request.params.get("workspaceId", ""), request.params["agentSessionIds"][0]


async def _insist(client: SimulatedClient, method: str, session: str) -> Request:
    params = {"agentSessionIds": [session]}
    request = await client.ask(method, params)
    for _ in range(_TRIES_MAX):
        if request.code not in _NOT_NOW:
            break
        await trio.sleep(0.1 + client.chance.random() * 0.3)
        request = await client.ask(method, params)
    return request
