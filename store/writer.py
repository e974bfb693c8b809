"""The store's writers: who waits for what is queued, has it written, and tells what became of it.

`QueuedWriter` is the half in the loop: one queue, groups without a timer, and one completion step a group that
nothing can interrupt (`architecture` rule 2). `ThreadedWriter` performs the writing on a thread of its own;
`store.inline_writer` performs it in the loop, for simulation. No SQL here.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import structlog
import trio

from store.canonical.attachment import Attachment, AttachmentNotStored, AttachmentOutcome
from store.canonical.change import Committed, NotCommitted, OutcomeUnknown, StreamPiece, Unit, UnitOutcome
from store.canonical.worktree import WorktreeChange, WorktreeOutcome
from store.committer import Committer
from store.errors import PROGRAM_ERRORS
from store.group import (
    AttachmentJob,
    ExpiryJob,
    GroupResult,
    Job,
    JobOutcome,
    PiecesJob,
    UnitJob,
    UnitsJob,
    WorktreeJob,
    last_committed,
    refusal,
    unknown_outcomes,
)
from store.port import StoreHealth, WriterFigures

_logger = structlog.get_logger(__name__)

GROUP_JOBS_MAX: Final = 1_000
"""More than this waits for the next group, so that one group stays well under a second."""

REST_AFTER_SECONDS: Final = 2.0
"""Without work for this long, the writer empties the write-ahead log."""

COMMIT_GRACE_SECONDS: Final = 10.0
"""How long a cancelled writer waits for the commit under way before its outcome counts as unknown."""

STUCK_AFTER_SECONDS: Final = 10.0
"""A group that takes longer is reported by `health` as a failing store."""

_COMPLETION_FAULTS: Final[tuple[type[Exception], ...]] = (
    *PROGRAM_ERRORS,
    trio.BrokenResourceError,
    trio.ClosedResourceError,
    trio.WouldBlock,
)


class QueuedWriter(ABC):
    """Implements `store.port.StoreWriter` but for where the writing is performed."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._queue: deque[Job] = deque()
        self._in_flight: tuple[Job, ...] = ()
        self._group_started_at: float | None = None
        self._untold: deque[tuple[Job, JobOutcome]] = deque()
        self._wake = trio.Event()
        self._drained = trio.Event()
        self._stopped = False
        self._epoch = 0
        self._head_commit_seq = committer.last_commit_seq
        self._figures = WriterFigures()

    @property
    def head_commit_seq(self) -> int:
        """See `StoreWriter`."""
        return self._head_commit_seq

    @property
    def epoch(self) -> int:
        """See `StoreWriter`."""
        return self._epoch

    @property
    def figures(self) -> WriterFigures:
        """See `StoreWriter`."""
        return self._figures

    @property
    def waiting(self) -> int:
        """See `StoreWriter`."""
        return len(self._queue) + len(self._in_flight)

    def submit(self, unit: Unit, complete: Callable[[UnitOutcome], None]) -> None:
        """See `StoreWriter`. Once the writer has stopped, `complete` is called at once: nothing is stored."""
        self._enqueue(UnitJob(unit, complete, trio.current_time()))

    def submit_together(
        self, units: Sequence[Unit], complete: Callable[[tuple[UnitOutcome, ...]], None]
    ) -> None:
        """See `StoreWriter`."""
        self._enqueue(UnitsJob(tuple(units), complete, trio.current_time()))

    def submit_attachment(
        self, attachment: Attachment, unused_bytes_max: int, complete: Callable[[AttachmentOutcome], None]
    ) -> None:
        """See `StoreWriter`. What waits to be written is bounded as what waits to be used is."""
        waiting = sum(
            len(job.attachment.data)
            for job in (*self._in_flight, *self._queue)
            if isinstance(job, AttachmentJob)
        )
        if waiting and waiting + len(attachment.data) > unused_bytes_max:
            complete(AttachmentNotStored("overloaded"))
            return
        self._enqueue(AttachmentJob(attachment, unused_bytes_max, complete))

    def submit_expiry(self, put_before: int) -> None:
        """See `StoreWriter`. A step that found something is followed by another, behind what waits by then."""

        def again(dropped: bool) -> None:
            if dropped:
                self.submit_expiry(put_before)

        self._enqueue(ExpiryJob(put_before, again))

    def submit_worktree(self, change: WorktreeChange, complete: Callable[[WorktreeOutcome], None]) -> None:
        """See `StoreWriter`."""
        self._enqueue(WorktreeJob(change, complete))

    def submit_pieces(self, pieces: Sequence[StreamPiece], complete: Callable[[bool], None]) -> None:
        """See `StoreWriter`. `complete(False)` asks for the same text again: it is not known to be durable."""
        self._enqueue(PiecesJob(tuple(pieces), complete))

    def health(self) -> StoreHealth:
        """See `StoreWriter`."""
        health = self._committer.health(self._head_commit_seq)
        started_at = self._group_started_at
        stuck = started_at is not None and trio.current_time() - started_at > STUCK_AFTER_SECONDS
        return attrs.evolve(health, state="failing") if stuck else health

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Write until cancelled. What is under way is finished and told; what only waited is refused.

        May be started again after an unexpected error: nothing that was submitted is forgotten.
        """
        self._stopped = False
        self._tell()
        task_status.started()
        try:
            while True:
                await trio.lowlevel.checkpoint_if_cancelled()
                if self._queue:
                    await self._write_group()
                else:
                    await self._rest()
        except trio.Cancelled:
            self._stopped = True
            self._refuse_queue()
            raise

    async def drain(self) -> None:
        """Wait until everything submitted so far has been written and told."""
        while self._queue or self._in_flight:
            if self._drained.is_set():
                self._drained = trio.Event()
            await self._drained.wait()

    @abstractmethod
    async def _perform(self, work: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        """Do `work` where this writer works, then `finish(result)` in the loop, in the same step.

        When cancelled on the way: `finish` is called if the result came, and `Cancelled` is raised.
        """

    def _enqueue(self, job: Job) -> None:
        if self._stopped:
            self._untold.append((job, refusal(job, "store.unavailable", "the writer has stopped")))
            self._tell()
            return
        self._queue.append(job)
        self._wake.set()

    async def _write_group(self) -> None:
        count = min(len(self._queue), GROUP_JOBS_MAX)
        jobs = tuple(self._queue.popleft() for _ in range(count))
        self._in_flight = jobs
        self._group_started_at = trio.current_time()
        begun = False

        def commit() -> GroupResult:
            nonlocal begun
            begun = True
            return self._committer.commit(jobs)

        try:
            await self._perform(commit, self._finish)
        finally:
            self._group_started_at = None
            if self._in_flight and begun:
                # Abandoned, or ended by an error nobody foresaw: what reached the disk cannot be told.
                self._finish(GroupResult(unknown_outcomes(jobs, "the commit was abandoned"), "unknown"))
            elif self._in_flight:
                self._queue.extendleft(reversed(jobs))
                self._in_flight = ()
        if self._committer.needs_upkeep:
            await self._perform(self._committer.upkeep, _nothing)

    def _finish(self, result: GroupResult) -> None:
        """The completion step of a group: everything is told in commit order before anybody else runs."""
        self._figures.groups += 1
        if result.failure == "unknown":
            self._epoch += 1
        self._untold.extend(zip(self._in_flight, result.outcomes, strict=True))
        self._in_flight = ()
        self._tell()
        if not self._queue:
            self._drained.set()

    def _tell(self) -> None:
        faults = self._committer.faults
        while self._untold:
            job, outcome = self._untold.popleft()
            self._count(job, outcome)
            told = False
            try:
                if faults.on:
                    faults.reach_now("store.telling.before")
                job.complete(outcome)  # type: ignore[arg-type]
                told = True
                if faults.on:
                    faults.reach_now("store.telling.after")
            except _COMPLETION_FAULTS:
                # What is committed stays committed, and the others of the group are told (ST-003).
                _logger.exception("store.completion_failed")
                if not told:
                    _tell_unknown(job)
            newest = last_committed(outcome)
            if newest is not None:
                self._head_commit_seq = newest.commit_seq

    def _count(self, job: Job, outcome: JobOutcome) -> None:
        figures = self._figures
        match outcome:
            case Committed() if isinstance(job, UnitJob | UnitsJob):
                figures.commit.observe(trio.current_time() - job.submitted_at_seconds)
            case NotCommitted() | OutcomeUnknown():
                code = outcome.code if isinstance(outcome, NotCommitted) else "unknown"
                figures.refused[code] = figures.refused.get(code, 0) + 1
            case (first, *_):  # units that commit together have one outcome
                self._count(job, first)
            case True if isinstance(job, PiecesJob):
                figures.pieces += len(job.pieces)
            case _:
                pass  # text that was not written behind: the flusher counts that

    async def _rest(self) -> None:
        self._wake = trio.Event()
        if self._committer.is_cleaning:
            await self._perform(self._committer.upkeep, _nothing)
            return
        if not self._committer.wants_rest:
            await self._wake.wait()
            return
        with trio.move_on_after(REST_AFTER_SECONDS):
            await self._wake.wait()
            return
        await self._perform(self._committer.rest, _nothing)

    def _refuse_queue(self) -> None:
        while self._queue:
            job = self._queue.popleft()
            self._untold.append((job, refusal(job, "store.unavailable", "the writer has stopped")))
        self._tell()
        self._drained.set()


class ThreadedWriter(QueuedWriter):
    """Writes on a thread. Its limiter is its own, so that no other blocking work can hold it up (FC-48)."""

    def __init__(self, committer: Committer) -> None:
        super().__init__(committer)
        self._limiter = trio.CapacityLimiter(1)

    @property
    def abandoned(self) -> bool:
        """Whether a thread is still writing though its writer was cancelled; the connection must be left alone."""
        return self._limiter.borrowed_tokens > 0

    async def _perform(self, work: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        results: list[Any] = []
        ended = trio.Event()
        loop = trio.lowlevel.current_trio_token()

        def work_in_thread() -> None:
            try:
                results.append(work())
            finally:
                loop.run_sync_soon(ended.set)

        try:
            await trio.to_thread.run_sync(
                work_in_thread, limiter=self._limiter, abandon_on_cancel=True, thread_name="store writer"
            )
        except trio.Cancelled:
            # A commit is not cancelled: it is waited for, but not for ever (`architecture` rule 14).
            with trio.CancelScope(shield=True, deadline=trio.current_time() + COMMIT_GRACE_SECONDS):
                if self.abandoned:
                    await ended.wait()
            if results:
                finish(results[0])
            raise
        finish(results[0])


def _tell_unknown(job: Job) -> None:
    """Whoever waits does not wait for ever: it is told that nothing is known, and reads what is so."""
    (outcome,) = unknown_outcomes((job,), "the code that was told of it failed", "internal")
    try:
        job.complete(outcome)  # type: ignore[arg-type]
    except _COMPLETION_FAULTS:
        _logger.exception("store.completion_failed_again")


def _nothing(_result: Any) -> None:
    """For work whose result interests nobody."""
