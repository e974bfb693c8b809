"""Deleting, restoring and purging whole trees of sessions, many at once and all or none (ST-023..ST-029).

Owns the order: locks of all members, then a hold on each that may be running, then one commit of them all, which tells
the caller, the subscribers and the sessions. Until that commit nothing is changed that a repetition would not do again,
so an operation that a crash cut off is simply done again.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Literal, Protocol

import attrs
import trio

from runtime.actors.holds import SessionHold
from runtime.actors.replies import Outcome, PurgedReply, SessionsReply
from runtime.actors.session import SessionDirectory
from runtime.lifecycle.inputs import HoldLifted, HoldSession, SessionInput, SessionPurged
from runtime.operations.create_session import WorkDirectories
from runtime.operations.operation import WatchedSink
from runtime.operations.place_marks import PlaceMarks
from runtime.operations.tree_plan import TreePlan, plan_trees
from runtime.operations.worktrees import Worktrees
from runtime.ports import WallClock
from runtime.refusal import Refusal
from store.canonical.change import (
    Committed,
    NotCommitted,
    SessionRemoved,
    SessionReread,
    SessionRestored,
    Unit,
    UnitOutcome,
)
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.session import Session, SessionRuntime
from store.port import StoreReader, StoreWriter
from supervisor.errors import ActorStopped
from supervisor.failpoints import failpoints
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks

PLANS_MAX: Final = 5
"""How often a tree may have changed under the hands of an operation before it gives up."""

Decided = Literal["answered", "plan again"]


class CommitHub(Protocol):
    """The part of the event hub an operation uses."""

    def publish_commit(self, committed: Committed) -> None:
        """A durable unit, to all who follow it."""


@attrs.frozen
class AskedTrees:
    """The sessions a client named, and the places it keeps in their mailboxes."""

    workspace_id: WorkspaceId
    session_ids: tuple[SessionId, ...]
    marks: PlaceMarks


@attrs.frozen(kw_only=True)
class SessionTreeOperations:
    """Ends sessions, and brings them back."""

    reader: StoreReader
    writer: StoreWriter
    hub: CommitHub
    sessions: SessionDirectory
    locks: LifecycleLocks
    directories: WorkDirectories
    clock: WallClock
    runtime_of: Callable[[SessionKey], SessionRuntime]
    end_sides_of: Callable[[Iterable[SessionKey]], Awaitable[None]]
    """Ends what was forked from these sessions and is not theirs to keep."""
    worktrees: Worktrees | None
    """Who takes the checkouts of purged sessions away."""
    sessions_max: int
    deadline_seconds: float

    async def delete(self, asked: AskedTrees, sink: WatchedSink) -> None:
        """End what runs in the trees, then mark them deleted. A tree that is deleted already stays as it is."""
        await self._decide(asked, sink, self._delete)

    async def restore(self, asked: AskedTrees, sink: WatchedSink) -> None:
        """Bring the trees back as they were. It starts nothing."""
        await self._decide(asked, sink, self._restore)

    async def purge(self, asked: AskedTrees, sink: WatchedSink) -> None:
        """Take deleted trees away for good. One that is not there is purged already."""
        await self._decide(asked, sink, self._purge)

    async def purge_if_free(self, root: SessionKey, sink: WatchedSink) -> None:
        """Purge one deleted tree unless somebody works on it: what retention does, which never waits.

        It needs no row: one that cannot be read must not keep what is deleted for ever (ST-028).
        """
        keys = self.reader.tree_keys(root)
        held = self.locks.try_hold(*_identities((root, *keys)), holder=f"retention of {root}")
        if held is None:
            sink.refuse(Refusal("session.busy"))
            return
        with held:
            if await self._purge_all(keys, (), sink) == "plan again":
                sink.refuse(Refusal("session.exists"))

    async def _decide(
        self,
        asked: AskedTrees,
        sink: WatchedSink,
        body: Callable[[AskedTrees, TreePlan, WatchedSink], Awaitable[Decided]],
    ) -> None:
        """Carry out `body` under the locks of all that is in the trees; anew when they changed meanwhile."""
        # Before any lock: what the same client asked earlier may have to take one first.
        await asked.marks.reached()
        for _ in range(PLANS_MAX):
            keys = plan_trees(self.reader, asked.workspace_id, asked.session_ids).keys
            holder = f"{body.__name__.strip('_')} of {len(keys)} sessions in {asked.workspace_id}"
            async with self.locks.hold(
                *_identities(keys), holder=holder, deadline_seconds=self.deadline_seconds
            ):
                plan = plan_trees(self.reader, asked.workspace_id, asked.session_ids)
                if plan.keys != keys:
                    continue
                if failpoints.on:
                    await failpoints.reach(f"operation.{body.__name__.strip('_')}.before")
                if await body(asked, plan, sink) == "answered":
                    if failpoints.on:
                        await failpoints.reach(f"operation.{body.__name__.strip('_')}.after")
                    return
        sink.refuse(Refusal("overloaded"))

    async def _delete(self, asked: AskedTrees, plan: TreePlan, sink: WatchedSink) -> Decided:
        refusal = plan.refusal(unknown=True)
        if refusal is not None:
            sink.refuse(refusal)
            return "answered"
        doomed = [session for session in plan.members if session.deleted_at is None]
        if not doomed:
            self._answer(sink, plan.members)
            return "answered"
        holds: dict[SessionKey, SessionHold] = {}
        await self.end_sides_of([session.key for session in doomed])
        try:
            held = await self._hold(asked, doomed, holds)
            if held is not None:
                sink.refuse(held)
                return "answered"
            now = plan_trees(self.reader, asked.workspace_id, asked.session_ids)
            if now.keys != plan.keys:
                return "plan again"
            return await self._remove(now, sink, holds)
        finally:
            for key, hold in holds.items():
                if not hold.over:
                    hold.over = True
                    self._tell(key, HoldLifted())

    async def _remove(
        self, plan: TreePlan, sink: WatchedSink, holds: dict[SessionKey, SessionHold]
    ) -> Decided:
        now_ms = self.clock.now_ms()
        rows = {session.key: session for session in plan.members}
        removed = [
            attrs.evolve(session, deleted_at=now_ms) for session in plan.members if session.deleted_at is None
        ]
        rows.update({session.key: session for session in removed})

        def told() -> None:
            for session in removed:
                if session.key in holds:
                    holds[session.key].over = True
                self._tell(session.key, HoldLifted(session))

        units = [_unit(session, SessionRemoved(session)) for session in removed]
        return await self._commit(units, tuple(rows.values()), sink, told)

    async def _restore(self, _asked: AskedTrees, plan: TreePlan, sink: WatchedSink) -> Decided:
        back = [attrs.evolve(session, deleted_at=None) for session in plan.members if session.deleted_at]
        refusal = plan.refusal(unknown=True)
        if refusal is None and back and self.reader.session_count() + len(back) > self.sessions_max:
            refusal = Refusal("limit.exceeded", details={"limit": "maxSessions"})
        if refusal is not None:
            sink.refuse(refusal)
            return "answered"
        rows = {session.key: session for session in (*plan.members, *back)}

        def told() -> None:
            for session in back:
                self._tell(session.key, HoldLifted(session))

        units = [
            unit
            for session in back
            for unit in (_unit(session, SessionRestored(session)), _unit(session, SessionReread(session)))
        ]
        return await self._commit(units, tuple(rows.values()), sink, told)

    async def _purge(self, _asked: AskedTrees, plan: TreePlan, sink: WatchedSink) -> Decided:
        refusal = plan.refusal(unknown=False)
        alive = [session.agent_session_id for session in plan.members if session.deleted_at is None]
        if refusal is None and alive:
            refusal = Refusal("session.exists", details={"agentSessionIds": alive})
        if refusal is not None:
            sink.refuse(refusal)
            return "answered"
        return await self._purge_all([session.key for session in plan.members], plan.members, sink)

    async def _purge_all(
        self, keys: Sequence[SessionKey], shown: tuple[Session, ...], sink: WatchedSink
    ) -> Decided:
        purged: list[SessionKey] = []
        kept = await self.worktrees.kept_of(keys) if self.worktrees is not None else ()

        def told() -> None:
            purged.extend(keys)
            for key in keys:
                self._tell(key, SessionPurged())

        units = [Unit(key, key.agent_session_id, (), session_state=None, purges=True) for key in keys]
        decided = await self._commit(units, shown, sink, told, PurgedReply(self._observed(shown), kept))
        for key in purged:
            self.directories.release(key)
        if self.worktrees is not None:
            self.worktrees.let_go(purged)
        return decided

    async def _hold(
        self, asked: AskedTrees, doomed: Sequence[Session], holds: dict[SessionKey, SessionHold]
    ) -> Refusal | None:
        """Wait until none of these runs; why one of them cannot be held. `holds` has each from the step it is told."""
        for session in doomed:
            hold = holds[session.key] = SessionHold()
            self.sessions.reference(session.key).tell(HoldSession(hold), control=True)
        for hold in holds.values():
            await hold.settled.wait()
        return next((hold.refusal for hold in holds.values() if hold.refusal is not None), None)

    async def _commit(
        self,
        units: Sequence[Unit],
        shown: tuple[Session, ...],
        sink: WatchedSink,
        told: Callable[[], None],
        outcome: Outcome | None = None,
    ) -> Decided:
        """Commit all, and tell in one step: the caller, the subscribers, then the sessions (`architecture rule 2`)."""
        result = outcome or SessionsReply(self._observed(shown))
        if not units:
            sink.deliver(result, self.writer.head_commit_seq)
            return "answered"
        outcomes: list[UnitOutcome] = []
        written = trio.Event()

        def complete(all_outcomes: tuple[UnitOutcome, ...]) -> None:
            outcomes[:] = all_outcomes  # again, where telling failed half-way: then nothing is known
            committed = [one for one in all_outcomes if isinstance(one, Committed)]
            if committed:
                sink.deliver(result, committed[-1].commit_seq)
                for one in committed:
                    self.hub.publish_commit(one)
                told()
            written.set()

        self.writer.submit_together(units, complete)
        with trio.CancelScope(shield=True):
            await written.wait()
        first = outcomes[0]
        if isinstance(first, NotCommitted):
            if first.code == "session.busy":
                return "plan again"
            sink.refuse(Refusal(first.code))
        elif not isinstance(first, Committed):
            sink.refuse(Refusal(first.code, delivery="unknown"))
        return "answered"

    def _answer(self, sink: WatchedSink, shown: Sequence[Session]) -> None:
        """There is nothing to do: what was asked for is so."""
        sink.deliver(SessionsReply(self._observed(shown)), self.writer.head_commit_seq)

    def _observed(self, shown: Sequence[Session]) -> tuple[Session, ...]:
        return tuple(attrs.evolve(session, runtime=self.runtime_of(session.key)) for session in shown)

    def _tell(self, key: SessionKey, fact: SessionInput) -> None:
        """A session without a cell learns it when it is loaded."""
        cell = self.sessions.find(key)
        if cell is not None:
            try:
                cell.mailbox.put_first(fact)
            except ActorStopped:
                return  # it ends in this moment, and what comes after it loads what is stored


def _identities(keys: Iterable[SessionKey]) -> list[LifecycleIdentity]:
    return [LifecycleIdentity("session", key.workspace_id, key.agent_session_id) for key in keys]


def _unit(session: Session, *rows: SessionRemoved | SessionRestored | SessionReread) -> Unit:
    return Unit(session.key, session.root_agent_session_id, rows, session_state=None)
