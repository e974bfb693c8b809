"""One group: the units that were waiting, in one transaction and one synchronisation (`architecture §2`).

Both writers call it, one on a thread and one in the loop. Each unit has a savepoint of its own, so that a bad one
fails alone; what an error of the transaction itself means is decided here and nowhere else. It tells nobody.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, assert_never

import apsw
import attrs

from store import commit_log
from store.canonical.attachment import Attachment, AttachmentNotStored, AttachmentOutcome, AttachmentStored
from store.canonical.change import (
    Committed,
    NotCommitted,
    OutcomeUnknown,
    StreamPiece,
    Unit,
    UnitOutcome,
    publication_order,
)
from store.canonical.worktree import WorktreeChange, WorktreeNotStored, WorktreeOutcome, WorktreeStored
from store.commit_log import LogEnd
from store.errors import (
    PROGRAM_ERRORS,
    AttachmentGone,
    ClaimTaken,
    SessionIsDeleted,
    SessionMoved,
    StoreError,
    TooManyUnused,
    WorktreeTaken,
    is_damage,
    is_full,
    is_passing,
)
from store.fault_points import NO_FAULTS
from store.port import CommitEncoder, FaultSeam, LoggedCommit
from store.statements import attachments, messages, worktrees
from store.statements.units import write_unit

GroupFailure = Literal["full", "unavailable", "unknown"]

_UNIT_FAULTS: Final[tuple[type[Exception], ...]] = (StoreError, apsw.Error, *PROGRAM_ERRORS)
_SAVE_HEAD = "UPDATE meta SET commit_seq = ?"


@attrs.frozen
class UnitJob:
    """A submitted unit and whom to tell."""

    unit: Unit
    complete: Callable[[UnitOutcome], None]
    submitted_at_seconds: float = 0.0
    """On trio's clock."""


@attrs.frozen
class PiecesJob:
    """Submitted written-behind text and whom to tell whether it is durable, or void."""

    pieces: tuple[StreamPiece, ...]
    complete: Callable[[bool], None]


@attrs.frozen
class UnitsJob:
    """Units of several sessions that are all kept or none, each under a number of its own, and whom to tell."""

    units: tuple[Unit, ...]
    complete: Callable[[tuple[UnitOutcome, ...]], None]
    submitted_at_seconds: float = 0.0
    """On trio's clock."""


@attrs.frozen
class AttachmentJob:
    """A picture to store, and whom to tell."""

    attachment: Attachment
    unused_bytes_max: int
    complete: Callable[[AttachmentOutcome], None]


@attrs.frozen
class ExpiryJob:
    """A step of dropping pictures that nothing uses; `complete` is told whether any went."""

    put_before: int
    complete: Callable[[bool], None]


@attrs.frozen
class WorktreeJob:
    """A change of the record of a checkout, and whom to tell."""

    change: WorktreeChange
    complete: Callable[[WorktreeOutcome], None]


Job: TypeAlias = UnitJob | UnitsJob | PiecesJob | AttachmentJob | ExpiryJob | WorktreeJob
JobOutcome: TypeAlias = UnitOutcome | tuple[UnitOutcome, ...] | AttachmentOutcome | WorktreeOutcome | bool


@attrs.frozen
class GroupResult:
    """What became of each job, in their order, and what ailed the group as a whole."""

    outcomes: tuple[JobOutcome, ...]
    failure: GroupFailure | None = None


class _GroupLost(Exception):
    """The transaction cannot go on: nothing of the group is kept."""

    def __init__(self, error: apsw.Error) -> None:
        super().__init__(str(error))
        self.error = error


class GroupWriter:
    """Writes groups on the one writing connection and owns the numbers: `commitSeq` and the log's totals.

    A number once given is never given again while this object lives, whether its unit was kept or not; the newest
    one is stored with every group, so that no number anybody was told is given again after a restart either.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        encode: CommitEncoder,
        clock_ms: Callable[[], int],
        faults: FaultSeam = NO_FAULTS,
    ) -> None:
        self._connection = connection
        self._faults = faults
        self._encode = encode
        self._clock_ms = clock_ms
        self._stored_commit_seq, _ = commit_log.head_and_trimmed(connection)
        self._last_commit_seq = self._stored_commit_seq
        self._log_end = commit_log.newest(connection)

    @property
    def log_end(self) -> LogEnd:
        """The totals of the log at the newest commit."""
        return self._log_end

    @property
    def last_commit_seq(self) -> int:
        """The newest number given to a unit."""
        return self._last_commit_seq

    def write(self, jobs: Sequence[Job]) -> GroupResult:
        """Write all jobs in one transaction. Raises nothing that the disk or a unit can cause."""
        log_end = self._log_end
        try:
            outcomes = self._fill(jobs)
        except _GroupLost as lost:
            self._log_end = log_end
            return _refused(jobs, lost.error)
        if not any(_keeps(outcome) for outcome in outcomes):
            self._roll_back()
            self._log_end = log_end
            return GroupResult(tuple(outcomes))
        try:
            if self._faults.on:
                self._faults.reach_now("store.commit.before")
            self._connection.execute("COMMIT")
            if self._faults.on:
                self._faults.reach_now("store.commit.after")
        except apsw.Error as error:
            self._roll_back()
            self._log_end = log_end
            # A frame that could not be written whole can never be recovered; a failed synchronisation leaves
            # complete frames in the page cache, and a restart may find them (`OutcomeUnknown`).
            return _refused(jobs, error) if is_full(error) else _unknown(jobs, error)
        self._stored_commit_seq = self._last_commit_seq
        return GroupResult(tuple(outcomes))

    def _fill(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            outcomes = [self._write_job(job) for job in jobs]
            if self._last_commit_seq != self._stored_commit_seq:
                self._connection.execute(_SAVE_HEAD, (self._last_commit_seq,))
        except apsw.Error as error:
            self._roll_back()
            raise _GroupLost(error) from error
        except BaseException:
            self._roll_back()
            raise
        return outcomes

    def _write_job(self, job: Job) -> JobOutcome:
        log_end = self._log_end
        self._connection.execute("SAVEPOINT job")
        outcome: JobOutcome
        try:
            outcome = self._perform(job)
        except _UNIT_FAULTS as error:
            self._log_end = log_end
            if isinstance(error, apsw.Error) and self._ends_group(error):
                self._roll_back()
                raise _GroupLost(error) from error
            self._connection.execute("ROLLBACK TO job")
            outcome = _rejected(job, error)
        self._connection.execute("RELEASE job")
        return outcome

    def _perform(self, job: Job) -> JobOutcome:
        match job:
            case UnitJob(unit):
                return self._write_unit(unit)
            case UnitsJob(units):
                return tuple([self._write_unit(unit) for unit in units])
            case PiecesJob(pieces):
                return self._add(pieces)
            case AttachmentJob(attachment, unused_bytes_max):
                return AttachmentStored(attachments.put(self._connection, attachment, unused_bytes_max))
            case ExpiryJob(put_before):
                return attachments.drop_unused(self._connection, put_before) > 0
            case WorktreeJob(change):
                worktrees.change(self._connection, change)
                return WorktreeStored()
            case _:
                assert_never(job)

    def _ends_group(self, error: apsw.Error) -> bool:
        """Whether the others of the group cannot be written either. A damaged page concerns its unit alone."""
        if not self._connection.in_transaction:
            return True
        return (is_full(error) or is_passing(error)) and not is_damage(error)

    def _write_unit(self, unit: Unit) -> Committed:
        self._last_commit_seq += 1
        commit_seq = self._last_commit_seq
        rows = publication_order(unit.rows)
        if self._faults.on:
            self._faults.reach_now("store.unit.before")
        write_unit(self._connection, unit, rows)
        if self._faults.on:
            self._faults.reach_now("store.unit.after")
        if not rows:
            return Committed(unit, commit_seq, b"")  # claims and counters alone are never published
        body = self._encode(commit_seq, rows)
        key = unit.session_key
        entry = LoggedCommit(
            commit_seq, key.workspace_id, key.agent_session_id, unit.root_agent_session_id, body
        )
        self._log_end = commit_log.append(self._connection, entry, self._clock_ms(), self._log_end)
        return Committed(unit, commit_seq, body)

    def _add(self, pieces: Sequence[StreamPiece]) -> bool:
        if self._faults.on:
            self._faults.reach_now("store.pieces.before")
        for piece in pieces:
            messages.add_piece(self._connection, piece)
        if self._faults.on:
            self._faults.reach_now("store.pieces.after")
        return True

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def refusal(job: Job, code: str, detail: str) -> JobOutcome:
    """The outcome of a job of which certainly nothing is stored."""
    if isinstance(job, AttachmentJob):
        return AttachmentNotStored(code)
    if isinstance(job, WorktreeJob):
        return WorktreeNotStored(code)
    return _of_each(job, lambda unit: NotCommitted(unit, code, detail))


def last_committed(outcome: JobOutcome) -> Committed | None:
    """The newest commit among what became of a job."""
    newest = outcome[-1] if isinstance(outcome, tuple) and outcome else outcome
    return newest if isinstance(newest, Committed) else None


def _keeps(outcome: JobOutcome) -> bool:
    kept = isinstance(outcome, AttachmentStored | WorktreeStored)
    return outcome is True or kept or last_committed(outcome) is not None


def _of_each(job: Job, make: Callable[[Unit], UnitOutcome]) -> JobOutcome:
    """The outcome of a job all of whose units have the same one; text that is not stored is sent again."""
    match job:
        case UnitJob(unit):
            return make(unit)
        case UnitsJob(units):
            return tuple([make(unit) for unit in units])
        case AttachmentJob():
            return AttachmentNotStored("store.unavailable")
        case WorktreeJob():
            return WorktreeNotStored("store.unavailable")
        case PiecesJob() | ExpiryJob():
            return False
        case _:
            assert_never(job)


def _rejected(job: Job, error: Exception) -> JobOutcome:
    code, detail = "internal", f"{type(error).__name__}: {error}"
    match error:
        case ClaimTaken():
            code, detail = "submit.conflict", str(error)
        case SessionIsDeleted():
            code, detail = "session.deleted", str(error)
        case SessionMoved():
            code, detail = "session.busy", str(error)
        case AttachmentGone():
            code, detail = "attachment.not_found", str(error)
        case WorktreeTaken():
            code, detail = "session.exists", str(error)
        case TooManyUnused():
            code, detail = "limit.exceeded", str(error)
        case apsw.Error() if is_damage(error):
            code = "store.unavailable"
    return refusal(job, code, detail)


def _refused(jobs: Sequence[Job], error: apsw.Error) -> GroupResult:
    full = is_full(error)
    code = "store.full" if full else "store.unavailable"
    outcomes = tuple(refusal(job, code, str(error)) for job in jobs)
    return GroupResult(outcomes, "full" if full else "unavailable")


def _unknown(jobs: Sequence[Job], error: apsw.Error) -> GroupResult:
    return GroupResult(unknown_outcomes(jobs, str(error)), "unknown")


def unknown_outcomes(
    jobs: Sequence[Job], detail: str, code: str = "store.unavailable"
) -> tuple[JobOutcome, ...]:
    """For jobs that may or may not be durable; text that may not be is sent again."""
    return tuple([_of_each(job, lambda unit: OutcomeUnknown(unit, detail, code)) for job in jobs])
