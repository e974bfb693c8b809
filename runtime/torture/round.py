"""One round: several lives of one daemon on one data directory, each ended in its way, and what must hold in between.

Owns the order of a life (start, hold what was promised against what is there, let clients work, end it, look for what
is left) and the last life, which is left in peace and has to settle. Which faults there are is the campaign's.
"""

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import attrs
import trio

from runtime.providers.demo import demo_command
from runtime.simulation import checkers
from runtime.simulation.agent_notes import AgentNotes
from runtime.simulation.audit import settle, use_once_more
from runtime.simulation.client import ClientHabits, SimulatedClient
from runtime.simulation.commit_record import CommitRecord
from runtime.simulation.contents import read_contents
from runtime.simulation.edits import edits_stand
from runtime.simulation.history import History, Violation
from runtime.simulation.operations import DEMO, Operation
from runtime.simulation.removals import removals_stand, restore_all
from runtime.simulation.subscription_watch import SubscriptionWatch
from runtime.torture.daemon import DaemonUnderTest
from runtime.torture.network import DaemonNetwork
from store.connection import open_for_reading
from store.open import DATABASE_FILE_NAME
from store.reader import SqliteReader

WORKSPACE: Final = "torture"
KILLED: Final = -signal.SIGKILL
WRITE_BEHIND_SECONDS: Final = 0.1
AUDIT_SECONDS_MAX: Final = 300.0
DISK_SECONDS: Final = 2.0
"""How much later than promised text may be on the disk of a busy machine."""
LIMITS: Final[Mapping[str, Any]] = {
    "writeBehindMs": int(WRITE_BEHIND_SECONDS * 1000),
    "cancelGraceSeconds": 2,
    "shutdownGraceSeconds": 5,
    "pingSeconds": 60,
}

Plans = Sequence[Sequence[Operation]]


@attrs.frozen
class LifeEnding:
    """How one life of the daemon ends."""

    kind: Literal["kill", "stop"]
    """SIGKILL or SIGTERM, when clients are done or time is up."""
    after_seconds: float
    """Of serving."""
    failpoints: str = ""
    """What it is started with; it may end the life earlier, at a start or at a stop too."""


@attrs.define(eq=False)
class Round:
    """Lives of one daemon, the record of what its clients were told, and what was found wrong."""

    folder: Path
    chance: random.Random
    targets: Sequence[Mapping[str, Any]] = ()
    """Further targets, beside the demo agent that notes what it is told."""
    limits: Mapping[str, Any] = attrs.field(factory=dict)
    environment: Mapping[str, str] = attrs.field(factory=dict)
    history: History = attrs.field(factory=History, init=False)
    faults: Counter[str] = attrs.field(factory=Counter, init=False)
    """How lives ended."""
    lives: int = attrs.field(default=0, init=False)
    hindered: int = attrs.field(default=0, init=False)
    """Lives with faults that a daemon goes on with."""
    enough: trio.Event = attrs.field(factory=trio.Event, init=False)
    """To be set by whoever works in the present life and needs no more of it: it ends in its way then."""
    daemon: DaemonUnderTest = attrs.field(init=False)
    network: DaemonNetwork = attrs.field(factory=DaemonNetwork, init=False)
    watches: list[SubscriptionWatch] = attrs.field(factory=list, init=False)
    _log: CommitRecord = attrs.field(factory=CommitRecord, init=False)
    _written_behind: dict[tuple[str, str, str], str] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        demo = {
            "id": DEMO,
            "provider": "acp",
            "command": demo_command(str(self.folder / "agents")),
            "env": {"DEMO_LOG": str(self._notes_file)},
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        self.daemon = DaemonUnderTest(
            self.folder, [demo, *self.targets], {**LIMITS, **self.limits}, self.environment
        )

    @property
    def _notes_file(self) -> Path:
        return self.folder / "told.jsonl"

    def client(self, name: str, habits: ClientHabits | None = None) -> SimulatedClient:
        """A client of this round. The daemon has been started once."""
        return SimulatedClient(
            name=name,
            workspace_id=WORKSPACE,
            habits=habits or ClientHabits(),
            network=self.network,
            history=self.history,
            chance=random.Random(self.chance.random()),  # noqa: S311 -- a plan, no secret
            token=self.daemon.token,
            note=self.note,
            all_watches=self.watches,
        )

    async def live(self, ending: LifeEnding, serve: Callable[[trio.Nursery], None]) -> str:
        """One life and its end. `serve` starts what clients do; it is cancelled with the life. How it ended."""
        self.lives += 1
        self.enough = trio.Event()
        self.note(f"life {self.lives} begins: {ending}")
        code = await self.daemon.start(ending.failpoints)
        where = f"at a start by {ending.failpoints}"
        if code is None:
            self._check_start()
            where = await self._serve(ending, serve)
            code = await self.daemon.ended()
        self._check_end(code, ending, where)
        left = await self.daemon.providers_left()
        if left:
            self.history.violated("no agent outlives the daemon", f"life {self.lives}: {left}")
        how = f"{'killed' if code == KILLED else f'ended with {code}'} {where}"
        self.note(f"life {self.lives} {how}")
        self.faults[how] += 1
        self.hindered += bool(ending.failpoints) and "kill" not in ending.failpoints
        return how

    async def _serve(self, ending: LifeEnding, serve: Callable[[trio.Nursery], None]) -> str:
        """Until the daemon ends; where that was."""
        self.network.life, self.network.port = self.lives, self.daemon.port
        where = f"by {ending.failpoints}" if ending.failpoints else "at a stop"
        async with trio.open_nursery() as people:
            serve(people)
            await self._ended_or_enough(ending.after_seconds)
            if self.daemon.running:
                armed = f" by {ending.failpoints}" if ending.failpoints else ""
                where = "at a random moment" if ending.kind == "kill" else f"at a stop{armed}"
                self.daemon.signal(signal.SIGKILL if ending.kind == "kill" else signal.SIGTERM)
                await self.daemon.wait()
            self.network.port = None
            self._remember_written_text()
            people.cancel_scope.cancel()
        return where

    async def _ended_or_enough(self, seconds: float) -> None:
        """Until the daemon has ended by itself, whoever works has done enough, or time is up."""
        with trio.move_on_after(seconds) as patience:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch_daemon, patience)
                await self.enough.wait()
                nursery.cancel_scope.cancel()

    async def _watch_daemon(self, patience: trio.CancelScope) -> None:
        await self.daemon.wait()
        patience.cancel()

    async def last_life(self, serve: Callable[[trio.Nursery], None]) -> None:
        """Left in peace: everything settles, every session takes one more prompt and is closed, the stop is clean."""

        def audited(nursery: trio.Nursery) -> None:
            serve(nursery)
            nursery.start_soon(self._audit, self.client("auditor"))

        await self.live(LifeEnding("stop", after_seconds=AUDIT_SECONDS_MAX), audited)
        if not self.enough.is_set():
            self.history.violated("everything settles", "the last life ended before its audit did")
        self._check_rest()

    async def _audit(self, auditor: SimulatedClient) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(auditor.stay_connected)
            nursery.start_soon(auditor.read_what_was_not_shown)
            await auditor.linked()
            await restore_all(auditor)
            await settle(self.history, auditor)
            await use_once_more(self.history, auditor, WORKSPACE)
            nursery.cancel_scope.cancel()
        self.enough.set()

    # --- what has to hold -------------------------------------------------------------------------------------

    def _check_start(self) -> None:
        """Before any client of this life: everything promised is there, and nothing is open."""
        history = self.history
        with self._reader() as reader:
            contents = read_contents(reader, WORKSPACE)
            self._log.read_on(reader)
        notes = self.notes()
        self._hold(checkers.nothing_is_open(contents, "when the API opens"))
        self._hold(checkers.acknowledged_is_durable(history, contents))
        self._hold(edits_stand(history, contents))
        self._hold(removals_stand(history, contents))
        self._hold(checkers.rows_agree_with_log(contents, self._log))
        self._hold(checkers.published_is_durable(self.watches, self._log))
        self._hold(checkers.told_only_what_is_marked(notes, contents))
        self._hold(checkers.streamed_text_survives(self._written_behind, contents))
        self._hold(checkers.same_submit_same_effect(history))
        self._hold(checkers.told_at_most_once(notes))
        self._hold(checkers.answered_once(history, AgentNotes()))
        self._written_behind.clear()

    def _check_rest(self) -> None:
        """After the last life: the log is whole, and no connection missed anything of it."""
        with self._reader() as reader:
            contents = read_contents(reader, WORKSPACE)
            self._log.read_on(reader)
        self._hold(checkers.nothing_is_open(contents, "in the end"))
        self._hold(checkers.acknowledged_is_durable(self.history, contents))
        self._hold(checkers.nothing_is_missed(self.watches, self._log))

    def _check_end(self, code: int, ending: LifeEnding, where: str) -> None:
        expected = {KILLED} if "kill" in ending.failpoints else set()
        expected.add(KILLED if where == "at a random moment" else 0)
        if code not in expected:
            self.history.violated(
                "the daemon ends as it is told",
                f"life {self.lives} ended with {code} {where}\n{self.daemon.log_tail()}",
            )

    def _remember_written_text(self) -> None:
        written_by = trio.current_time() - WRITE_BEHIND_SECONDS - DISK_SECONDS
        for watch in self.watches:
            if watch.told_by == self.lives:
                for name, text in watch.heard_until(written_by).items():
                    self._written_behind[name] = max(self._written_behind.get(name, ""), text, key=len)

    def notes(self) -> AgentNotes:
        """What the demo agents were told, over all lives."""
        notes = AgentNotes()
        lines = self._notes_file.read_bytes().splitlines() if self._notes_file.exists() else []
        for line in lines:
            try:
                notes.take(0, line, 0.0)
            except ValueError:
                continue  # its writer was killed in the middle of it
        return notes

    def note(self, text: str) -> None:
        """For the last events that a failing round prints."""
        self.history.events.append(text)

    @contextmanager
    def _reader(self) -> Iterator[SqliteReader]:
        path = self.daemon.data_dir / DATABASE_FILE_NAME
        connection = open_for_reading(path)
        try:
            yield SqliteReader(connection, path)
        finally:
            connection.close()

    def _hold(self, violations: Iterable[Violation]) -> None:
        for violation in violations:
            self.history.violated(violation.promise, f"life {self.lives}: {violation.detail}")


def work(client: SimulatedClient, plans: Plans, answers: bool) -> Callable[[trio.Nursery], None]:
    """What lets a client do its plans side by side, and answer what agents ask on its own or not."""

    def serve(nursery: trio.Nursery) -> None:
        nursery.start_soon(client.stay_connected)
        nursery.start_soon(client.read_what_was_not_shown)
        if answers:
            nursery.start_soon(client.answer_approvals)
        for plan in plans:
            nursery.start_soon(_perform, client, plan)

    return serve


async def _perform(client: SimulatedClient, plan: Sequence[Operation]) -> None:
    await client.linked()
    for operation in plan:
        await operation.perform(client)
