"""What the writing connection does, group by group and between groups. It runs wherever its writer runs it.

Owns the policy for a full disk (a reserve that lets running work end), checkpoints of the write-ahead log and the
retention of the commit log. One caller at a time; it knows no loop and waits for nothing but the disk.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

import apsw
import attrs
import structlog

from store import commit_log
from store.canonical.worktree import WorktreeBegun
from store.commit_log import LogLimits
from store.fault_points import NO_FAULTS
from store.files import DatabaseFiles
from store.group import (
    AttachmentJob,
    GroupResult,
    GroupWriter,
    Job,
    JobOutcome,
    PiecesJob,
    UnitJob,
    UnitsJob,
    WorktreeJob,
    refusal,
)
from store.port import CommitEncoder, FaultSeam, StoreHealth
from store.statements import deleted_sessions

_logger = structlog.get_logger(__name__)

CHECKPOINT_PAGES: Final = 2_000
"""Pages in the write-ahead log above which they are moved into the main file, about 8 MB."""

CLEANING_STEPS: Final = 8
"""Small steps of taking away what was purged, between two groups."""

FAILURES_UNTIL_FAILING: Final = 3
"""Groups in a row that the disk refused before the store is reported as failing instead of degraded."""


class Committer:
    """The writing side of an open store. Raises nothing that the disk or a unit can cause."""

    def __init__(
        self,
        connection: apsw.Connection,
        files: DatabaseFiles,
        encode: CommitEncoder,
        clock_ms: Callable[[], int],
        log_limits: LogLimits,
        faults: FaultSeam = NO_FAULTS,
    ) -> None:
        self.faults: Final = faults
        self._connection = connection
        self._files = files
        self._clock_ms = clock_ms
        self._log_limits = log_limits
        self._group = GroupWriter(connection, encode, clock_ms, faults)
        self._log_oldest = commit_log.oldest(connection)
        self._oldest_commit_seq = commit_log.head_and_trimmed(connection)[1] + 1
        self._wal_pages = 0
        self._log_emptied = True
        """Whether nothing was written since the log was last cut to nothing."""
        self._checkpoint_at_pages = CHECKPOINT_PAGES
        self._short_of_space = not files.hold_reserve()
        self._failures = 0
        self._purged = deleted_sessions.purged(connection) is not None
        connection.set_wal_hook(self._note_wal_pages)

    @property
    def connection(self) -> apsw.Connection:
        """For recovery and closing, while no writer runs."""
        return self._connection

    @property
    def last_commit_seq(self) -> int:
        """The newest number given to a unit."""
        return self._group.last_commit_seq

    @property
    def needs_upkeep(self) -> bool:
        """Whether `upkeep` should run before the next group."""
        return (
            self._short_of_space
            or self._purged
            or self._wal_pages >= self._checkpoint_at_pages
            or self._log_too_long()
        )

    @property
    def is_cleaning(self) -> bool:
        """Whether `upkeep` has more to take away of what was purged: it goes on without waiting for a rest."""
        return self._purged

    @property
    def wants_rest(self) -> bool:
        """Whether `rest` has anything to do once nothing is waiting."""
        return not self._log_emptied or self.needs_upkeep or self._failures > 0

    def commit(self, jobs: Sequence[Job]) -> GroupResult:
        """Write one group.

        On a full disk the reserve is given back and the group is written once more. While it is out, units
        that claim a submit id (new work) and written-behind text are refused, so that what runs can end (FC-34). New
        work looks for itself whether there is room again: nobody waits for the next upkeep to be let in.
        """
        if self._short_of_space and any(_is_new_work(job) for job in jobs):
            self._short_of_space = not self._files.hold_reserve()
        result = self._write_admitted(jobs)
        if result.failure == "full" and self._files.release_reserve():
            self._short_of_space = True
            _logger.warning("store.full", reserve="released")
            result = self._write_admitted(jobs)
        if result.failure is None:
            self._failures = 0
            self._purged = self._purged or any(_purges(job) for job in jobs)
        else:
            self._failures += 1
            _logger.error("store.group_failed", failure=result.failure, jobs=len(jobs))
        if self._log_oldest is None and self._group.log_end.entries:
            self._log_oldest = self._group.log_end
        return result

    def upkeep(self) -> None:
        """Small steps that keep bounds, taken between groups."""
        if self._short_of_space:
            self._short_of_space = not self._files.hold_reserve()
        if self._wal_pages >= self._checkpoint_at_pages:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
        if self._log_too_long():
            self._trim_log()
        if self._purged:
            self._clean()

    def rest(self) -> None:
        """What is done when nothing is waiting: upkeep, a look whether the disk takes a commit again, an empty log."""
        self.upkeep()
        if self._failures:
            self._try_again()
        if not self._log_emptied and not self._log_too_long():
            self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def health(self, head_commit_seq: int) -> StoreHealth:
        """Present figures; may be called while a group is written elsewhere."""
        sizes = self._files.sizes()
        return StoreHealth(
            state=self._state(),
            bytes=sizes.database,
            wal_bytes=sizes.wal,
            free_bytes=sizes.free,
            head_commit_seq=head_commit_seq,
            oldest_commit_seq=self._oldest_commit_seq,
        )

    def close(self) -> None:
        """Leave the file clean: with an empty log, as the next start recognises it."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._connection.close()

    def _try_again(self) -> None:
        """Without this the store stays reported as failing until somebody writes, and whoever looks sends nobody."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            # There and back: SQLite writes no page for a value that stays as it is.
            self._connection.execute("UPDATE meta SET commit_seq = commit_seq + 1")
            self._connection.execute("UPDATE meta SET commit_seq = commit_seq - 1")
            self._connection.execute("COMMIT")
        except apsw.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        else:
            self._failures = 0
            _logger.info("store.recovered")

    def _write_admitted(self, jobs: Sequence[Job]) -> GroupResult:
        if not self._short_of_space:
            return self._group.write(jobs)
        admitted = [job for job in jobs if not _is_new_work(job)]
        written = self._group.write(admitted)
        outcomes = iter(written.outcomes)
        merged: list[JobOutcome] = [
            refusal(job, "store.full", "the disk is nearly full") if _is_new_work(job) else next(outcomes)
            for job in jobs
        ]
        return attrs.evolve(written, outcomes=tuple(merged))

    def _state(self) -> Literal["ok", "degraded", "failing"]:
        if self._failures >= FAILURES_UNTIL_FAILING:
            return "failing"
        return "degraded" if self._failures or self._short_of_space else "ok"

    def _note_wal_pages(self, _connection: apsw.Connection, _schema: str, pages: int) -> int:
        self._wal_pages = pages
        self._log_emptied = False
        return apsw.SQLITE_OK

    def _checkpoint(self, mode: int) -> None:
        """Move pages into the main file. Never waits for a reader: what one still needs is moved later."""
        waits = self._connection.pragma("busy_timeout")
        self._connection.set_busy_timeout(0)
        try:
            if self.faults.on:
                self.faults.reach_now("store.checkpoint.before")
            in_log, moved = self._connection.wal_checkpoint(mode=mode)
            if self.faults.on:
                self.faults.reach_now("store.checkpoint.after")
        except apsw.BusyError:
            self._checkpoint_at_pages = self._wal_pages + CHECKPOINT_PAGES
        except apsw.Error as error:
            self._checkpoint_at_pages = self._wal_pages + CHECKPOINT_PAGES
            _logger.warning("store.checkpoint_failed", error=str(error))
        else:
            if moved == in_log:
                self._wal_pages = 0
                self._log_emptied = mode == apsw.SQLITE_CHECKPOINT_TRUNCATE
            self._checkpoint_at_pages = CHECKPOINT_PAGES + (in_log if moved < in_log else 0)
        finally:
            self._connection.set_busy_timeout(waits)

    def _log_too_long(self) -> bool:
        return commit_log.over_limits(
            self._log_oldest, self._group.log_end, self._log_limits, self._clock_ms()
        )

    def _trim_log(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            commit_log.trim(self._connection, self._group.log_end, self._log_limits, self._clock_ms())
            oldest = commit_log.oldest(self._connection)
            _, trimmed = commit_log.head_and_trimmed(self._connection)
            if self.faults.on:
                self.faults.reach_now("store.trim.before")
            self._connection.execute("COMMIT")
            if self.faults.on:
                self.faults.reach_now("store.trim.after")
        except apsw.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._failures += 1
            _logger.warning("store.log_not_trimmed", error=str(error))
        else:
            self._log_oldest = oldest
            self._oldest_commit_seq = trimmed + 1

    def _clean(self) -> None:
        """Take away a bounded part of what was purged. What it cannot take away now is left to the next purge."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for _ in range(CLEANING_STEPS):
                reference = deleted_sessions.purged(self._connection)
                if reference is None:
                    break
                deleted_sessions.take_away(self._connection, reference)
            left = deleted_sessions.purged(self._connection) is not None
            if self.faults.on:
                self.faults.reach_now("store.purge.before")
            self._connection.execute("COMMIT")
            if self.faults.on:
                self.faults.reach_now("store.purge.after")
        except apsw.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            left = False
            self._failures += 1
            _logger.warning("store.purge_not_finished", error=str(error))
        self._purged = left


def _is_new_work(job: Job) -> bool:
    if isinstance(job, UnitJob):
        return bool(job.unit.claims_added)
    if isinstance(job, WorktreeJob):
        return isinstance(job.change, WorktreeBegun)
    return isinstance(job, PiecesJob | AttachmentJob)


def _purges(job: Job) -> bool:
    return isinstance(job, UnitsJob) and any(unit.purges for unit in job.units)
