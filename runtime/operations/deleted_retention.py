"""Retention of what is kept without being used: deleted sessions (ST-030), and pictures that no prompt shows.

Owns the period and the size of a step. Each tree is purged as a client would, one at a time, the longest deleted first;
one that somebody works on is left to a later step.
"""

from typing import Final

import attrs
import structlog
import trio

from runtime.actors.replies import Outcome
from runtime.operations.operation import WatchedSink
from runtime.operations.session_trees import SessionTreeOperations
from runtime.ports import WallClock
from runtime.refusal import Refusal
from store.errors import RowError, StoreDamaged, StoreUnavailable
from store.port import DeletedTree, StoreReader, StoreWriter

log = structlog.get_logger(__name__)

PERIOD_SECONDS: Final = 60.0
TREES_A_STEP: Final = 16


@attrs.define(eq=False)
class _Told:
    """Nobody waits for the answer; why a tree was left is for the log."""

    refusal: Refusal | None = None

    def deliver(self, _outcome: Outcome, _commit_seq: int) -> None:
        """It is gone."""

    def refuse(self, refusal: Refusal) -> None:
        """It stays for now."""
        self.refusal = refusal


@attrs.define
class DeletedRetention:
    """The background task that keeps both within their bounds."""

    reader: StoreReader
    writer: StoreWriter
    trees: SessionTreeOperations
    clock: WallClock
    retention_seconds: float
    bytes_max: int
    unused_seconds: float

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Purge what is due now and then, until cancelled."""
        task_status.started()
        while True:
            self.writer.submit_expiry(self.clock.now_ms() - int(self.unused_seconds * 1000))
            purged = await self.step()
            await trio.sleep(0 if purged == TREES_A_STEP else PERIOD_SECONDS)

    async def step(self) -> int:
        """Purge some of what is due; how many trees went."""
        deleted_through = self.clock.now_ms() - int(self.retention_seconds * 1000)
        try:
            due = self.reader.due_deletions(deleted_through, self.bytes_max, TREES_A_STEP)
        except (StoreUnavailable, StoreDamaged) as error:
            log.warning("deleted sessions cannot be looked through now", reason=str(error))
            return 0
        purged = 0
        for tree in due:
            purged += await self._purge(tree)
        if purged:
            log.info("purged sessions that were deleted long ago", trees=purged)
        return purged

    async def _purge(self, tree: DeletedTree) -> bool:
        told = _Told()
        try:
            await self.trees.purge_if_free(tree.root, WatchedSink(told))
        except (RowError, StoreUnavailable, StoreDamaged) as error:
            log.warning("a deleted session cannot be purged", session=str(tree.root), reason=str(error))
            return False
        if told.refusal is not None:
            log.info("a deleted session is not purged yet", session=str(tree.root), code=told.refusal.code)
        return told.refusal is None
