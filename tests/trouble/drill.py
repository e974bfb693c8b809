"""Lives of a daemon that is killed at a random moment each: what clients were told by then is held against what is left.

Everything is chosen by one seeded source; when the kill comes is counted in frames received, so that it falls into
all states alike. The promises are those of `runtime.simulation.checkers`; here they meet real processes and a real
disk.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import attrs
import trio

from runtime.simulation import checkers
from runtime.simulation.agent_notes import AgentNotes
from runtime.simulation.commit_record import CommitRecord
from runtime.simulation.contents import Contents, read_contents, read_log
from runtime.simulation.history import History, Json, Request, Violation
from store.connection import open_for_reading
from store.open import DATABASE_FILE_NAME
from store.port import LoggedCommit
from store.reader import SqliteReader
from tests.end_to_end.client import Client, Sent, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import answer_params, text, text_of
from tests.trouble.agents import heard

WORKSPACE = "drill"
TARGET = "logged"
SESSIONS = 8
FRAMES_MAX = 260
LIFE_SECONDS_MAX = 1.5
WRITE_BEHIND_MS = 100
DISK_SECONDS = 0.4
"""How much later than promised text may be on the disk of a busy machine."""
LIMITS = {"writeBehindMs": WRITE_BEHIND_MS, "maxLiveConnections": 5, "maxConcurrentStarts": 2}
"""Fewer places than sessions: some turns wait for one when the kill comes."""
ACTIONS = {
    "stream": "[[stream 100000 size=30 delay=15]]",
    "think": "[[think 3 delay=20]][[tool build status=running]][[stream 100000 size=20 delay=25]]",
    "ask": "[[say asking]][[ask allow_once,reject_once]][[say allowed]][[hang]]",
    "defy": "[[say defying]][[cancel-late 60000]][[hang]]",
    "quick": "[[say quick]][[plan a;b]]",
    "crash": "[[say crashing]][[die]]",
    "nothing": "",
}
"""What a session is doing when the kill comes. Asks are answered and the defiant are stopped, each by chance."""


@attrs.define(eq=False)
class Drill:
    """All lives of one daemon."""

    daemon: Daemon
    chance: random.Random
    history: History = attrs.field(factory=History, init=False)
    states: Counter[str] = attrs.field(factory=Counter, init=False)
    """In which states turns were when a kill came."""
    lives: int = attrs.field(default=0, init=False)
    _numbers: Iterator[int] = attrs.field(factory=lambda: count(1), init=False)

    async def live_and_die(self) -> None:
        """One life, its end, and everything that must be true before the next life has served anybody."""
        self.lives += 1
        frames = self.chance.randrange(FRAMES_MAX)
        print(f"life {self.lives}: killed after {frames} frames", end="; ")
        async with connected(self.daemon) as client:
            life = _Life(client, self.lives, self.history)
            await self._begin(life)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(life.watch_the_clock)
                nursery.start_soon(self._meddle, life)
                with trio.move_on_after(LIFE_SECONDS_MAX):
                    await client.wait(
                        lambda: len(client.received) >= frames, "the moment", LIFE_SECONDS_MAX * 2
                    )
                nursery.cancel_scope.cancel()
            self.daemon.kill()
            died_at = trio.current_time()
            await client.end()
            life.settle_requests()
        self.states.update(phase for phase in life.phases())
        left = self.daemon.providers_left()
        assert not left, f"agents outlived the daemon: {left}"
        self.daemon.start()
        with self._reader() as reader:
            contents = read_contents(reader, WORKSPACE)
            log = {logged.commit_seq: logged for logged in read_log(reader, 0)}
            self._hold(checkers.nothing_is_open(contents, "when the API opens"))
            self._hold(checkers.acknowledged_is_durable(self.history, contents))
            self._hold(checkers.rows_agree_with_log(contents, CommitRecord(log)))
            self._hold(life.commits_are_in(log))
            self._hold(life.shown_is_stored(contents, died_at - WRITE_BEHIND_MS / 1000 - DISK_SECONDS))
            self._hold(checkers.told_only_what_is_marked(self._notes(), contents))
        self._hold(checkers.same_submit_same_effect(self.history))
        self._hold(checkers.told_at_most_once(self._notes()))
        self._hold(checkers.answered_once(self.history, AgentNotes()))

    async def recall(self) -> None:
        """The last life: every session takes a prompt, and its agent knows what it once answered."""
        async with connected(self.daemon) as client:
            await client.subscribe(WORKSPACE)
            listed = await client.request("session/list", workspaceId=WORKSPACE, active=True)
            assert listed["items"] == []
            for session in self._created():
                key = {"workspaceId": WORKSPACE, "agentSessionId": session}
                with self._reader() as reader:
                    contents = read_contents(reader, WORKSPACE)
                answered = {
                    contents.turns[(*name[:2], message["turnId"])]["clientSubmitId"]
                    for name, message in contents.messages.items()
                    if name[1] == session and message["role"] == "assistant"
                }
                reply = await client.request(
                    "session/send", **key, clientSubmitId=f"recall-{session}", content=text("[[recall]]")
                )
                turn = await client.settled(reply["turn"])
                assert turn["outcome"] == "completed", turn
                said = await client.row(
                    "message", turnId=turn["turnId"], role="assistant", status="completed"
                )
                missing = {submit_id for submit_id in answered if f"<<{submit_id}>>" not in text_of(said)}
                assert not missing, f"{session} no longer knows {missing}"

    # --- what is asked --------------------------------------------------------------------------------------------

    async def _begin(self, life: "_Life") -> None:
        await life.client.subscribe(WORKSPACE)
        active = await life.client.request("session/list", workspaceId=WORKSPACE, active=True)
        assert active["items"] == []
        for earlier in self._worth_repeating():
            await life.ask(earlier.method, **earlier.params)
        created = self._created()
        for number in range(SESSIONS):
            action = self.chance.choice(list(ACTIONS))
            submit_id = f"submit-{next(self._numbers)}"
            content = text(f"<<{submit_id}>> {ACTIONS[action]}") if ACTIONS[action] else None
            key = {"workspaceId": WORKSPACE, "agentSessionId": f"session-{number}"}
            if f"session-{number}" not in created:
                first = {"initialContent": content} if content else {}
                await life.ask(
                    "session/create", **key, agentTargetId=TARGET, clientSubmitId=submit_id, **first
                )
            elif content is not None:
                await life.ask("session/send", **key, clientSubmitId=submit_id, content=content)

    def _worth_repeating(self) -> list[Request]:
        """What nobody knows the outcome of, and a few whose outcome is known."""
        submits = [r for r in self.history.requests if r.method in ("session/create", "session/send")]
        unknown = [request for request in submits if request.state == "unknown"]
        answered = [request for request in submits if request.state == "answered"]
        return unknown + self.chance.sample(answered, min(3, len(answered)))

    def _created(self) -> list[str]:
        return sorted({request.session[1] for request in self.history.answered("session/create")})

    async def _meddle(self, life: "_Life") -> None:
        """Answer some approvals as they come, stop some turns, close some sessions."""
        seen: set[str] = set()
        while True:
            await trio.sleep(0.01)
            for row in life.client.rows("interaction", status="pending"):
                if row["requestId"] not in seen and self.chance.random() < 0.5:
                    option = self.chance.choice(["allow-once", "reject-once"])
                    await life.ask("interaction/respond", **answer_params(row, option))
                seen.add(row["requestId"])
            for row in life.client.rows("turn", phase="running"):
                names = ("workspaceId", "agentSessionId", "turnId")
                key = {name: row[name] for name in names}
                fate = self.chance.random() if row["turnId"] not in seen else 1.0
                if fate < 0.2:
                    await life.ask("turn/cancel", **key)
                elif fate < 0.3:
                    await life.ask("session/close", **{name: key[name] for name in names[:2]})
                seen.add(row["turnId"])

    # --- what is found --------------------------------------------------------------------------------------------

    @contextmanager
    def _reader(self) -> Iterator[SqliteReader]:
        path = self.daemon.data_dir / DATABASE_FILE_NAME
        connection = open_for_reading(path)
        try:
            yield SqliteReader(connection, path)
        finally:
            connection.close()

    def _notes(self) -> AgentNotes:
        notes = AgentNotes()
        for frame in heard(self.daemon, TARGET):
            if frame.get("method") == "session/prompt":
                notes.take(0, json.dumps(frame).encode(), 0.0)
        return notes

    def _hold(self, violations: Iterator[Violation]) -> None:
        found = list(violations)
        assert not found, f"life {self.lives}: " + "\n".join(map(str, found))


@attrs.define(eq=False)
class _Life:
    """What one client asked and was told in one life."""

    client: Client
    number: int
    history: History
    _open: list[tuple[Request, Sent]] = attrs.field(factory=list, init=False)
    _received_by: list[tuple[float, int]] = attrs.field(factory=list, init=False)
    """Moments, and how many frames were there by then."""

    async def ask(self, method: str, **params: Any) -> None:
        """Ask, and wait for nothing."""
        request = Request("drill", self.number, method, dict(params))
        self.history.requests.append(request)
        self._open.append((request, await self.client.send(method, **params)))

    async def watch_the_clock(self) -> None:
        while True:
            self._received_by.append((trio.current_time(), len(self.client.received)))
            await trio.sleep(0.01)

    def settle_requests(self) -> None:
        """The connection is gone: what has no answer by now is unknown for ever."""
        for request, sent in self._open:
            answer = sent.answer
            if answer is None:
                request.state = "unknown"
            elif "result" in answer:
                request.state, request.result = "answered", answer["result"]
            else:
                request.state, request.error = "refused", answer["error"]

    def phases(self) -> Iterator[str]:
        """The last that was seen of each turn."""
        last = {row["turnId"]: row for row in self.client.rows("turn")}
        for row in last.values():
            yield f"{row['phase']}/{row['delivery']}"

    def commits_are_in(self, log: Mapping[int, LoggedCommit]) -> Iterator[Violation]:
        """Promise 1: a commit that was shown is there, unchanged."""
        for event in self.client.events("commit"):
            logged = log.get(event["commitSeq"])
            if logged is None:
                yield Violation("a published commit is durable", f"{event['commitSeq']} is gone")
                continue
            stored = json.loads(b"{" + logged.body.removesuffix(b"}"))
            if stored["changes"] != event["changes"]:
                yield Violation("a published commit is durable", f"{event['commitSeq']} is another one now")

    def shown_is_stored(self, contents: Contents, until: float) -> Iterator[Violation]:
        """Promise 4: the text received until that moment, and every message in its place."""
        frames = max((frames for moment, frames in self._received_by if moment <= until), default=0)
        texts = _texts(self.client.received[:frames])
        print(f"{sum(map(len, texts.values()))} characters shown in time, in {len(texts)} messages")
        for name, shown in texts.items():
            stored = contents.messages.get(name)
            if stored is None:
                yield Violation("text once shown is kept", f"message {name} is gone")
            elif not text_of(stored).startswith(shown):
                yield Violation("text once shown is kept", f"{name}: {len(text_of(stored))} of {len(shown)}")
        for row in self.client.rows("message"):
            stored = contents.messages[_name(row)]
            if (stored["sequence"], stored["turnId"]) != (row["sequence"], row["turnId"]):
                yield Violation("order is kept", f"{_name(row)} is elsewhere")


def _texts(received: list[Json]) -> dict[tuple[str, str, str], str]:
    """What a client had on its screen after these frames."""
    texts: dict[tuple[str, str, str], str] = {}
    for frame in received:
        if frame.get("type") == "message_delta":
            texts[_name(frame)] = texts.get(_name(frame), "") + frame["text"]
        elif frame.get("type") == "commit":
            for change in frame["changes"]:
                if change["type"] == "message" and change["row"]["kind"] in (
                    "text",
                    "reasoning",
                    "tool_call",
                ):
                    texts[_name(change["row"])] = text_of(change["row"])
    return texts


def _name(row: Json) -> tuple[str, str, str]:
    return row["workspaceId"], row["agentSessionId"], row["messageId"]
