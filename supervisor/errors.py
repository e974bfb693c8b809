"""Every error the kernel raises by intent, in one file.

Each docstring says when the error is raised and which sibling it is not. Errors of the code that runs inside
a cell are not here: they are caught by the cell guard and handed to the owner's hooks as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from supervisor.lifecycle_locks import LifecycleIdentity
    from supervisor.restart_intensity import RestartIntensity


class SupervisorError(Exception):
    """Root of what the kernel raises by intent; never raised itself."""


class MailboxFull(SupervisorError):
    """A client's command was refused because its lane is at its bound; nothing was taken in.

    The actor is there and busy. Not `ActorStopped`: there, nobody reads any more.
    """

    def __init__(self, lane: Literal["work", "control", "marks"], waiting: int) -> None:
        super().__init__(f"the mailbox is full: {waiting} waiting in {lane}")
        self.lane = lane
        self.waiting = waiting


class ActorStopped(SupervisorError):
    """A message found no actor, or its actor ended before it answered.

    Not `AskTimedOut`: there, the actor may still carry the message out and answer.
    """


class AskTimedOut(SupervisorError):
    """No answer came before the asker's deadline. The outcome is unknown, and the message may yet take effect.

    Not `ActorStopped`: there, it is known that no answer will come.
    """

    def __init__(self, deadline_seconds: float) -> None:
        super().__init__(f"no answer within {deadline_seconds:g} s")
        self.deadline_seconds = deadline_seconds


class StopTimedOut(SupervisorError):
    """A behaviour's `stop()` took longer than its grace and was cancelled. Reported as a crash, never raised."""

    def __init__(self, grace_seconds: float) -> None:
        super().__init__(f"stop() was cancelled after {grace_seconds:g} s")
        self.grace_seconds = grace_seconds


class ChildStartFailed(SupervisorError):
    """A child of a `Supervisor` failed before it was initialised for the first time; the cause is its own error.

    Not `RestartIntensityExceeded`: that is a child that had been running.
    """

    def __init__(self, child_id: str) -> None:
        super().__init__(f"child {child_id!r} could not be started")
        self.child_id = child_id


class RestartIntensityExceeded(SupervisorError):
    """A permanent child ended more often than its intensity allows; the cause is its last crash, if it crashed.

    Not `ChildStartFailed`: that child was never there.
    """

    def __init__(self, child_id: str, intensity: RestartIntensity) -> None:
        super().__init__(
            f"child {child_id!r} needed more than {intensity.restarts_max} restarts"
            f" in {intensity.window_seconds:g} s"
        )
        self.child_id = child_id
        self.intensity = intensity


class LifecycleTimeout(SupervisorError):
    """A lifecycle identity did not come free before the deadline; none of the identities asked for is held.

    Not `LifecycleOrderViolation`: waiting longer, or again, may help.
    """

    def __init__(self, identity: LifecycleIdentity, holder: str | None, deadline_seconds: float) -> None:
        held_by = "free again just now" if holder is None else f"held by {holder!r}"
        super().__init__(f"{identity} not obtained within {deadline_seconds:g} s: {held_by}")
        self.identity = identity
        self.holder = holder
        self.deadline_seconds = deadline_seconds


class LifecycleOrderViolation(SupervisorError):
    """A task asked for an identity it holds, or for one that sorts before one it holds: a bug, refused at once.

    Not `LifecycleTimeout`: no other task is involved, and waiting could only deadlock.
    """

    def __init__(self, asked: LifecycleIdentity, held: LifecycleIdentity) -> None:
        relation = "again" if asked == held else f"after {held}"
        super().__init__(f"this task may not take {asked} {relation}; take all identities in one hold")
        self.asked = asked
        self.held = held
