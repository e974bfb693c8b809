"""One session that can be forked and all that there is of Sides, small enough to walk through all schedules.

Operations, actor, registry and locks are the real ones; the connection is a double that counts what is done with it.
"""

from types import SimpleNamespace
from typing import Any

import attrs
import trio

from runtime.actors.replies import SideReply
from runtime.actors.side import SideServices
from runtime.lifecycle.live_tail import Delta, TailLimits
from runtime.lifecycle.state import Policy
from runtime.operations.operation import WatchedSink
from runtime.operations.sides import AskedSide, SideBounds, SideOperations
from runtime.providers import normalized as n
from runtime.providers.port import ConnectionCommand, OpenSide, Scope
from runtime.providers.routes import ScopeSink
from runtime.providers.side_facts import SideFacts
from runtime.refusal import Refusal
from runtime.side.rows import Side, SideFact
from runtime.simulation.small_ports import CountedIdentifiers, SimulatedClock
from store.canonical.common import TurnError
from store.canonical.identifiers import SessionId, SessionKey, TargetId, WorkspaceId
from store.canonical.session import LifecycleCapabilities, Session
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks
from supervisor.mailbox import MailboxLimits

W = WorkspaceId("w")
SOURCE = SessionKey(W, SessionId("source"))
SIDE = SessionKey(W, SessionId("side"))
LOST = TurnError("provider.lost", "gone", "runtime")
BOUNDS = SideBounds(
    sides_max=4,
    tombstones_max=4,
    open_timeout_seconds=20,
    owner_grace_seconds=2,
    lifecycle_timeout_seconds=30,
    early_bytes_max=100_000,
)


@attrs.define(eq=False)
class Caller:
    """Whoever asked, and the one answer."""

    answer: object = None
    answered: trio.Event = attrs.field(factory=trio.Event)

    def deliver(self, outcome: object, commit_seq: int) -> None:
        assert self.answer is None, "one answer only"
        self.answer = outcome
        self.answered.set()

    def refuse(self, refusal: Refusal) -> None:
        self.deliver(refusal, 0)

    @property
    def word(self) -> str:
        """The code of a refusal, or that there is a Side."""
        if isinstance(self.answer, Refusal):
            return self.answer.code
        assert isinstance(self.answer, SideReply), self.answer
        return "side"


@attrs.define(eq=False)
class Reference:
    """A hold on the source's connection."""

    scope: Scope
    sink: ScopeSink
    nursery: trio.Nursery
    answers: bool
    told: list[ConnectionCommand] = attrs.field(factory=list)
    released: bool = False
    lost: bool = False

    def tell(self, command: ConnectionCommand) -> bool:
        if self.lost or self.released:
            return False
        self.told.append(command)
        if isinstance(command, OpenSide) and self.answers:
            self.nursery.start_soon(self._fork, command.source_session_id)
        return True

    def release(self) -> None:
        self.released = True

    async def wait_gone(self) -> None:
        await trio.lowlevel.checkpoint()

    def lose(self) -> None:
        """The process dies: the last word, once."""
        if not (self.lost or self.released):
            self.lost = True
            self.sink.put(n.ConnectionLost(LOST))

    async def _fork(self, source: str) -> None:
        if not (self.released or self.lost):
            self.sink.put(n.SideForked("child", source, ephemeral=True, shown_turns=0, settings={}))


@attrs.define(eq=False)
class SideStage:
    """One session that can be forked, and all that there is of Sides."""

    nursery: trio.Nursery
    answers: bool = True
    deleted: bool = False
    references: list[Reference] = attrs.field(factory=list)
    told: list[tuple[int, str]] = attrs.field(factory=list)
    locks: LifecycleLocks = attrs.field(factory=LifecycleLocks)
    sides: SideOperations = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        services = SideServices(
            hub=self,
            clock=SimulatedClock(0),
            identifiers=CountedIdentifiers(),
            policy=Policy(),
            tail_limits=TailLimits(),
            lane_limits=MailboxLimits(),
            turns_max=8,
            spawn=self.nursery.start_soon,
            count=lambda _: None,
            head_commit_seq=lambda: 0,
        )
        reader: Any = SimpleNamespace(session=self._session)
        self.sides = SideOperations(reader, self.locks, self, self, services, BOUNDS)

    def _session(self, key: SessionKey) -> Any:
        if key != SOURCE:
            return SimpleNamespace(value=None)
        row = Session(W, SOURCE.agent_session_id, TargetId("codex"), "codex", "/w", 0, 0)
        can = LifecycleCapabilities(side=True)
        deleted_at = 1 if self.deleted else None
        return SimpleNamespace(
            value=attrs.evolve(
                row, provider_session_id="thread", lifecycle_capabilities=can, deleted_at=deleted_at
            )
        )

    # --- what operations use ----------------------------------------------------------------------------------

    def publish_side(self, side: Side, sequence: int, told: SideFact | Delta) -> None:
        assert not isinstance(told, Delta)
        self.told.append((sequence, told.type))

    def refusal_for(self, target_id: TargetId) -> Refusal | None:
        return None

    def side_facts(self, session: Session) -> SideFacts:
        return SideFacts(*(True,) * 7)

    def join(self, session: Session, scope: Scope, sink: ScopeSink) -> Any:
        reference = Reference(scope, sink, self.nursery, self.answers)
        self.references.append(reference)
        return reference

    def forks_apart(self, session: Session) -> bool:
        return False

    async def acquire_own(self, session: Session, scope: Scope, sink: ScopeSink, _: str | None) -> Any:
        raise AssertionError("the source is live")

    async def left(self, scope: Scope) -> None:
        raise AssertionError("it never had a connection")

    # --- what happens -----------------------------------------------------------------------------------------

    def open(self, owner: int = 1) -> Caller:
        """A client asks for the Side."""
        caller = Caller()
        asked = AskedSide(key=SIDE, source=SOURCE, surface_id="pane", owner=owner, instructions=None)
        refusal = self.sides.reserve(asked)
        if refusal is not None:
            caller.refuse(refusal)
            return caller
        reached = trio.Event()
        reached.set()
        mark: Any = SimpleNamespace(reached=reached, release=lambda: None)
        self.nursery.start_soon(self.sides.open, asked, mark, WatchedSink(caller))
        return caller

    async def delete(self) -> None:
        """The source is deleted, under its lock, its Sides first."""
        identity = LifecycleIdentity("session", W, SOURCE.agent_session_id)
        async with self.locks.hold(identity, holder="delete", deadline_seconds=30):
            await self.sides.end_sides_of([SOURCE])
            assert not self.sides.registry.of_source(SOURCE) or all(
                entry.live.actor is None for entry in self.sides.registry.of_source(SOURCE)
            ), "no open Side outlives its source"
            self.deleted = True

    def check(self) -> None:
        """Nothing is left over, and what was told was told in order, its end last."""
        assert self.locks.holders() == {}
        live = [reference for reference in self.references if not (reference.released or reference.lost)]
        is_open = self.sides.actor(SIDE) is not None
        assert len(live) == is_open, "a hold for an open Side, and for nothing else"
        assert len(self.sides.registry) == is_open
        numbers = [sequence for sequence, _ in self.told]
        assert numbers == list(range(1, len(numbers) + 1))
        ends = [kind for _, kind in self.told if kind in ("closed", "expired")]
        assert len(ends) <= 1
        if ends:
            assert self.told[-1][1] == ends[0]
            assert self.told[0] == (1, "opened")
