"""One simulated client: stays connected as well as it can, and keeps what it learned across connections and crashes.

It connects anew after every loss, subscribes from where it was, and repeats what it does not know the outcome of with
the same ids. What it wants is decided by its operations (`operations.py`); it answers approvals on its own.
"""

import random
from collections import deque
from collections.abc import Callable
from typing import Final

import attrs
import trio

from runtime.simulation.history import History, Json, Request, SessionName
from runtime.simulation.link import Link, LinkLost
from runtime.simulation.network import ClientNetwork, ConnectionRefused
from runtime.simulation.pipes import on_tick
from runtime.simulation.subscription_watch import SubscriptionWatch

TOPIC: Final = "agent.activity.updated"
_ATTEMPTS_MAX: Final = 400
_OF_NO_WORKSPACE: Final = frozenset({"health/read", "target/list", "workspace/list"})
_AGAIN: Final = frozenset({"overloaded", "shutdown.in_progress", "store.full", "store.unavailable"})


@attrs.frozen(kw_only=True)
class ClientHabits:
    """What one client is like."""

    sessions: frozenset[str] | None = None
    """What it subscribes to; None is everything of its workspace."""
    replays: bool = True
    """Whether it asks for what it missed."""
    answers: float = 0.8
    """The chance that it answers an approval it sees."""
    patience_seconds: float = 0.05
    """How long it waits before it connects again."""


@attrs.define(eq=False)
class SimulatedClient:
    """A person's program, or a bot."""

    name: str
    workspace_id: str
    habits: ClientHabits
    network: ClientNetwork
    history: History
    chance: random.Random
    token: str
    note: Callable[[str], None]
    all_watches: list[SubscriptionWatch]
    """Where the watches of all clients are gathered."""
    link: Link | None = attrs.field(default=None, init=False)
    watches: list[SubscriptionWatch] = attrs.field(factory=list, init=False)
    """One for each connection that subscribed, the present one last."""
    store_id: str | None = attrs.field(default=None, init=False)
    _linked: trio.Event = attrs.field(factory=trio.Event, init=False)
    _news: trio.Event = attrs.field(factory=trio.Event, init=False)
    _reread: deque[str | None] = attrs.field(factory=deque, init=False)
    """Sessions whose rows were not shown by events; None for all of them."""
    _approvals: deque[Json] = attrs.field(factory=deque, init=False)
    """What agents ask and this client has not looked at yet."""
    _asked: trio.Event = attrs.field(factory=trio.Event, init=False)
    _links: int = attrs.field(default=0, init=False)

    async def stay_connected(self) -> None:
        """Connect again and again, until cancelled."""
        while True:
            try:
                connection = await self.network.connect()
            except ConnectionRefused:
                await trio.sleep(self.habits.patience_seconds * (0.5 + self.chance.random()))
                continue
            self._links += 1
            link = Link(self.name, self._links, connection, self.token, self.history)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(link.read)
                try:
                    await self._introduce(link)
                    self.link = link
                    self._linked.set()
                    await link.lost.wait()
                except LinkLost:
                    pass
                self.link = None
                if self._linked.is_set():
                    self._linked = trio.Event()
                self._stir()
                nursery.cancel_scope.cancel()
            await trio.sleep(self.habits.patience_seconds * self.chance.random())

    async def _introduce(self, link: Link) -> None:
        hello = {"protocolVersion": 1, "clientInfo": {"name": self.name}}
        answer = await link.call("initialize", hello)
        held_of, self.store_id = self.store_id, answer.result.get("storeId")
        params: Json = {"workspaceId": self.workspace_id, "topics": [TOPIC]}
        if self.habits.sessions is not None:
            params["agentSessionIds"] = sorted(self.habits.sessions)
        before = self.watches[-1] if self.watches else None
        if before is not None and self.habits.replays:
            params |= {"afterCommitSeq": before.last, "storeId": held_of}
        link.on_event = self._heard
        await link.call(
            "events/subscribe", params, on_answer=lambda result: self._subscribed(link, params, result)
        )

    def _subscribed(self, link: Link, params: Json, result: Json) -> None:
        replayed = "afterCommitSeq" in params and not result["gap"]
        watch = SubscriptionWatch(
            label=f"{self.name} on connection {link.number}",
            workspace_id=self.workspace_id,
            sessions=self.habits.sessions,
            base=params["afterCommitSeq"] if replayed else result["commitSeq"],
            head=result["commitSeq"],
            violated=self.history.violated,
            now=trio.current_time,
            told_by=link.connection.listener,
        )
        if self.watches:
            watch.rows.update(self.watches[-1].rows)
            if not replayed:
                self._reread.append(None)
        self.watches.append(watch)
        self.all_watches.append(watch)
        link.watches[result["subscriptionId"]] = watch

    # --- asking -----------------------------------------------------------------------------------------------

    async def linked(self) -> Link:
        """The present connection; waits for one."""
        while True:
            link = self.link
            if link is None:
                await self._linked.wait()
            elif link.lost.is_set():
                await trio.lowlevel.checkpoint()
            else:
                return link

    async def once(
        self, method: str, params: Json, on_answer: Callable[[Json], None] | None = None
    ) -> Request:
        """Ask once, on the present connection or the next one. Raises LinkLost."""
        link = await self.linked()
        if method not in _OF_NO_WORKSPACE:
            params = {"workspaceId": self.workspace_id, **params}
        return await link.call(method, params, on_answer)

    async def ask(self, method: str, params: Json) -> Request:
        """Ask until there is an answer that stands: a result, or a refusal that repeating would not change."""
        for _ in range(_ATTEMPTS_MAX):
            try:
                request = await self.once(method, params)
            except LinkLost:
                await trio.sleep(self.chance.random() * 0.02)
                continue
            if request.state == "answered" or not _is_worth_repeating(request):
                return request
            await trio.sleep(0.02 + self.chance.random() * 0.1)
        self.history.violated("every command gets an answer that stands", f"{self.name}: {method} {params}")
        return Request(self.name, 0, method, params, state="unknown")

    # --- what it sees -----------------------------------------------------------------------------------------

    def row(self, kind: str, session: SessionName, *name: str) -> Json | None:
        """The newest row it holds."""
        return self.watches[-1].rows.get((kind, *session, *name)) if self.watches else None

    async def wait_for_news(self) -> None:
        """Until an event has come, or the connection is lost."""
        await self._news.wait()

    async def wait_settled(self, session: SessionName, turn_id: str, seconds: float) -> bool:
        """Whether it has seen that turn settle within so many seconds."""
        with trio.move_on_after(seconds):
            while True:
                row = self.row("turn", session, turn_id)
                if row is not None and row["phase"] == "settled":
                    return True
                await self.wait_for_news()
        return False

    def _heard(self, event: Json) -> None:
        if event["type"] in ("session_reset", "resync"):
            self._reread.append(event.get("agentSessionId"))
            self._stir()
        if event["type"] != "commit":
            return
        self._stir()
        for change in event["changes"]:
            row = change["row"]
            if change["type"] == "interaction":
                self._look_at(row)

    def _look_at(self, interaction: Json) -> None:
        if interaction["status"] == "pending":
            self._approvals.append(interaction)
            self._asked.set()
            self._asked = trio.Event()

    def _stir(self) -> None:
        self._news.set()
        self._news = trio.Event()

    async def read_what_was_not_shown(self) -> None:
        """Read sessions whose events said no more than that there is something to read, until cancelled."""
        while True:
            while not self._reread:
                await self.wait_for_news()
            session = self._reread.popleft()
            if session is None:
                listed = await self.pages("session/list", {})
                self._reread.extend(item["agentSessionId"] for item, _ in listed)
            else:
                await self._learn(session)
                self._stir()

    async def pages(self, method: str, params: Json, cursor: str | None = None) -> list[tuple[Json, int]]:
        """All items of a list from `cursor` on, each with the number of the page it came with."""
        found: list[tuple[Json, int]] = []
        while True:
            read = await self.ask(method, {**params, "cursor": cursor, "limit": 200})
            if read.state != "answered":
                return found
            found += [(item, read.result["commitSeq"]) for item in read.result["items"]]
            cursor = read.result["nextCursor"]
            if cursor is None:
                return found

    async def _learn(self, session: str) -> None:
        read = await self.ask("session/get", {"agentSessionId": session})
        if read.state != "answered":
            return
        rows, commit_seq = read.result, read.result["commitSeq"]
        name = self.workspace_id, session
        watch = self.watches[-1]
        watch.learn(("session", *name), rows["session"], commit_seq)
        turns = [(turn, commit_seq) for turn in rows["turns"]]
        asked = [(row, commit_seq) for row in rows["interactions"]]
        if rows["turnsCursor"] is not None:
            turns += await self.pages("turn/list", {"agentSessionId": session}, rows["turnsCursor"])
        if rows["turnsCursor"] is not None or rows["incomplete"]:
            listed = await self.pages("interaction/list", {})
            asked += [(row, number) for row, number in listed if row["agentSessionId"] == session]
        for turn, number in turns:
            watch.learn(("turn", *name, turn["turnId"]), turn, number)
        for row, number in asked:
            watch.learn(("interaction", *name, row["turnId"], row["requestId"]), row, number)
            self._look_at(row)

    async def answer_approvals(self) -> None:
        """Answer what agents ask, by chance, until cancelled. Others may be quicker."""
        while True:
            while not self._approvals:
                await self._asked.wait()
            row = self._approvals.popleft()
            if self.chance.random() < self.habits.answers:
                await trio.sleep_until(on_tick(trio.current_time() + self.chance.random() * 0.05))
                await self._respond(row)

    async def _respond(self, row: Json) -> None:
        option = self.chance.choice(row["options"])
        params = {
            "agentSessionId": row["agentSessionId"],
            "turnId": row["turnId"],
            "requestId": row["requestId"],
            "answer": {"optionId": option["optionId"]},
        }
        request = await self.ask("interaction/respond", params)
        self.note(
            f"{self.name} answered {row['requestId']} with {option['optionId']}: {request.state} {request.code}"
        )


def _is_worth_repeating(request: Request) -> bool:
    return request.delivery == "unknown" or request.code in _AGAIN
