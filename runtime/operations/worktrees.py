"""Checkouts of their own for Sessions: made with a create, taken away after a purge, and never with anybody's work in it.

Owns the order: the record first, then the checkout, then the Session; the Session's end first, then the checkout, then
the record. A crash in between leaves a record without a session, which is what the keeper task goes by. What git does
is in `git`, what is to be done in `worktree_plan`.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import attrs
import structlog
import trio

from runtime.operations import worktree_plan
from runtime.operations.git import Git, GitRefused, GitTimeout
from runtime.ports import WallClock
from runtime.refusal import Refusal
from store.canonical.identifiers import SessionKey
from store.canonical.worktree import (
    KeptBecause,
    KeptWorktree,
    Worktree,
    WorktreeBegun,
    WorktreeChange,
    WorktreeCounts,
    WorktreeGone,
    WorktreeKept,
    WorktreeNotStored,
    WorktreeOutcome,
    WorktreeStored,
)
from store.errors import RowError, StoreDamaged, StoreUnavailable
from store.port import StoreReader, StoreWriter
from supervisor.failpoints import failpoints
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks

log = structlog.get_logger(__name__)

PERIOD_SECONDS: Final = 3600.0
"""How often checkouts that had to be kept are looked at again."""
BUSY_SECONDS: Final = 1.0
"""How soon one is looked at again whose session an operation was busy with."""
UNUSED_MAX: Final = 10_000


class CheckoutGround(Protocol):
    """Where checkouts lie: a port, since this is the file system."""

    def path_of(self, key: SessionKey) -> str:
        """The place of this session's checkout, absolute and without links."""

    def exists(self, path: str) -> bool:
        """Whether anything lies there."""

    def free_bytes(self) -> int:
        """What the disk has left for them."""


@attrs.frozen(kw_only=True)
class WorktreeBounds:
    """How many there may be, and what they must leave free on their disk."""

    count_max: int
    free_bytes_min: int


@attrs.define(eq=False, kw_only=True)
class Worktrees:
    """Makes checkouts and takes them away."""

    reader: StoreReader
    writer: StoreWriter
    locks: LifecycleLocks
    clock: WallClock
    git: Git
    ground: CheckoutGround
    bounds: WorktreeBounds
    _coming: set[SessionKey] = attrs.field(factory=set, init=False)
    """Creates that have no record yet and may get one."""
    _unused: dict[SessionKey, bool] = attrs.field(factory=dict, init=False)
    """Checkouts that certainly no session works in; whether one is to be looked at without waiting for the period."""
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)

    @property
    def counts(self) -> WorktreeCounts:
        """How many there are."""
        return self.reader.worktree_counts()

    async def make(self, key: SessionKey, directory: str) -> Worktree | Refusal:
        """A checkout of the working tree that `directory` is in, for a session whose lifecycle lock is held.

        Cancelled on the way, it leaves a record that the next create of this session, or the next start, deals with.
        """
        self._coming.add(key)
        try:
            refusal = self._bounds_refusal()
            if refusal is not None:
                return refusal
            wanted = await self._wanted(key, directory)
            known = self.reader.worktree(key)
            decided = worktree_plan.decide(known, wanted)
            if decided == "make again":
                # A create whose outcome is not known may still bring the session.
                if known is None or key not in self._unused:
                    return Refusal("overloaded")
                await self._discard(known)
            elif decided != "make":
                return worktree_plan.refusal(decided)
            elif self.ground.exists(wanted.path):
                return worktree_plan.refusal("path_taken")
            return await self._make(wanted)
        except GitRefused as refused:
            return worktree_plan.refusal(refused.reason)
        except GitTimeout as late:
            log.warning("a checkout is not made", session=str(key), reason=str(late))
            return Refusal("provider.timeout", details={"param": "isolation"})
        finally:
            self._coming.discard(key)

    def abandon(self, key: SessionKey) -> None:
        """Its session did not come into being, as is known for certain: nobody will work in it."""
        self._note(key)

    def let_go(self, keys: Sequence[SessionKey]) -> None:
        """These sessions are purged. Sessions without a checkout are among them."""
        for key in keys:
            if self.reader.worktree(key) is not None:
                self._note(key)

    async def kept_of(self, keys: Sequence[SessionKey]) -> tuple[KeptWorktree, ...]:
        """Which of these sessions' checkouts would stay behind a purge, and why."""
        found: list[KeptWorktree] = []
        for worktree in (self.reader.worktree(key) for key in keys):
            because = await self._work_in(worktree) if worktree is not None else None
            if worktree is not None and because is not None:
                key = worktree.key
                kept = KeptWorktree(
                    key.workspace_id, key.agent_session_id, worktree.path, worktree.branch, because
                )
                found.append(kept)
        return tuple(found)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """The keeper: takes away what no session works in, until cancelled."""
        # Before the first client: a create that is under way later has a record without a session as well.
        self._look_through(begun_now=False)
        task_status.started()
        while True:
            due = [key for key, due in self._unused.items() if due]
            busy = [key for key in due if not await self._keep(key)]
            with trio.move_on_after(BUSY_SECONDS if busy else PERIOD_SECONDS) as waited:
                await self._wake.wait()
            self._wake = trio.Event()
            if waited.cancelled_caught and not busy:
                self._look_through(begun_now=True)

    # --- making ---------------------------------------------------------------------------------------------------

    def _bounds_refusal(self) -> Refusal | None:
        if self.counts.all + len(self._coming) > self.bounds.count_max:
            return Refusal("limit.exceeded", details={"limit": "maxWorktrees"})
        if self.ground.free_bytes() < self.bounds.free_bytes_min:
            return Refusal("limit.exceeded", details={"limit": "worktreeFreeBytes"})
        return None

    async def _wanted(self, key: SessionKey, directory: str) -> Worktree:
        source = await self.git.inspect(directory)
        return Worktree(
            workspace_id=key.workspace_id,
            agent_session_id=key.agent_session_id,
            repository=source.repository,
            relative_path=source.relative_path,
            path=self.ground.path_of(key),
            branch=worktree_plan.branch_of(key),
            base_commit=source.commit,
            store_id=self.reader.store_id(),
            created_at=self.clock.now_ms(),
        )

    async def _make(self, wanted: Worktree) -> Worktree | Refusal:
        if failpoints.on:
            await failpoints.reach("worktree.marker.before")
        stored = await self._store(WorktreeBegun(wanted))
        if isinstance(stored, WorktreeNotStored):
            return Refusal(stored.code)
        self._coming.discard(wanted.key)
        if failpoints.on:
            await failpoints.reach("worktree.marker.after")
        try:
            await self.git.add(wanted)
        except (GitRefused, GitTimeout):
            self.abandon(wanted.key)
            raise
        if failpoints.on:
            await failpoints.reach("worktree.checkout.after")
        return wanted

    # --- taking away ----------------------------------------------------------------------------------------------

    def _note(self, key: SessionKey) -> None:
        self._unused[key] = True
        self._wake.set()

    def _look_through(self, *, begun_now: bool) -> None:
        """Note what there is to take away. While clients are served, one that is not purged may be about to be used."""
        try:
            unused = self.reader.unused_worktrees(UNUSED_MAX)
        except (StoreUnavailable, StoreDamaged) as error:
            log.warning("unused checkouts cannot be looked through now", reason=str(error))
            return
        self._unused.update((one.key, True) for one in unused if one.purged or not begun_now)

    async def _keep(self, key: SessionKey) -> bool:
        """Deal with one; whether that is over for now."""
        identity = LifecycleIdentity("session", key.workspace_id, key.agent_session_id)
        held = self.locks.try_hold(identity, holder=f"checkout of {key}")
        if held is None:
            return False
        self._unused[key] = False
        with held:
            try:
                await self._take_away(key)
            except (GitRefused, GitTimeout, RowError, StoreUnavailable, StoreDamaged) as error:
                log.warning("a checkout cannot be taken away now", session=str(key), reason=str(error))
        return True

    async def _take_away(self, key: SessionKey) -> None:
        worktree = self.reader.worktree(key)
        session = self.reader.session(key).value
        used = session is not None and session.isolation is not None
        if worktree is None or (used and not worktree.purged):
            self._unused.pop(key, None)
            return
        if failpoints.on:
            await failpoints.reach("worktree.removal.before")
        if worktree_plan.may_discard(worktree, self.reader.store_id()):
            await self._discard(worktree)
        else:
            await self._remove(worktree)
        if failpoints.on:
            await failpoints.reach("worktree.removal.after")

    async def _discard(self, worktree: Worktree) -> None:
        """Nobody worked in it: all of it goes, half made or whole."""
        await self.git.delete_files(worktree)
        try:
            await self.git.forget(worktree)
            await self.git.drop_branch(worktree)
        except GitRefused:
            log.info("the repository of a checkout is gone", session=str(worktree.key))
        await self._gone(worktree)

    async def _remove(self, worktree: Worktree) -> None:
        """Its session is purged: it goes if nothing is lost by that, and its branch if it has no commit of its own."""
        because = await self._work_in(worktree)
        if because is None:
            try:
                if self.ground.exists(worktree.path):
                    await self.git.remove(worktree)
                await self.git.forget(worktree)
                await self.git.drop_branch(worktree)
            except GitRefused:
                because = "git_failed" if self.ground.exists(worktree.path) else None
        if because is None:
            log.info("took a checkout away", session=str(worktree.key))
            await self._gone(worktree)
        elif because != worktree.kept_because:
            log.warning("a checkout stays", session=str(worktree.key), path=worktree.path, because=because)
            await self._store(WorktreeKept(worktree.key, because))

    async def _work_in(self, worktree: Worktree) -> KeptBecause | None:
        """What would be lost with it; nothing where it is gone already."""
        if not self.ground.exists(worktree.path):
            return None
        if not self.ground.exists(worktree.repository):
            return "repository_missing"
        try:
            return await self.git.work_in(worktree)
        except (GitRefused, GitTimeout):
            return "git_failed"

    async def _gone(self, worktree: Worktree) -> None:
        if isinstance(await self._store(WorktreeGone(worktree.key)), WorktreeStored):
            self._unused.pop(worktree.key, None)

    async def _store(self, change: WorktreeChange) -> WorktreeOutcome:
        outcomes: list[WorktreeOutcome] = []
        written = trio.Event()

        def complete(outcome: WorktreeOutcome) -> None:
            outcomes.append(outcome)
            written.set()

        self.writer.submit_worktree(change, complete)
        with trio.CancelScope(shield=True):
            await written.wait()
        return outcomes[-1]  # one that could not be told to its end is told again, as unknown
