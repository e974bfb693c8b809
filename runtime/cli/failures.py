"""How a command fails: what happened, to which id, what to do next, and the exit code. Pure.

Owns the advice that belongs to each error code of the contract. The words of the error itself are the daemon's.
"""

from collections.abc import Mapping
from typing import Final

import attrs

EXIT_FAILED: Final = 1
EXIT_ARGUMENTS: Final = 2
EXIT_INTERRUPTED: Final = 130


class CommandFailed(Exception):
    """Raised by a command to end with an exit code and a message; caught where commands are run, and nowhere else."""

    def __init__(
        self, what: str, next_step: str = "", *, code: str = "", exit_code: int = EXIT_FAILED
    ) -> None:
        super().__init__(what)
        self.what = what
        """What happened, to which id."""
        self.next_step = next_step
        """What to do about it; empty when `what` says so already."""
        self.code = code
        """The error code of the contract, where there is one."""
        self.exit_code = exit_code


@attrs.frozen
class Subject:
    """What a command was about, for its messages."""

    session_id: str | None = None
    workspace_id: str = "default"
    target_id: str | None = None
    cwd: str | None = None
    again: str | None = None
    """The command to repeat, where it is not `greenroom run`."""

    def __str__(self) -> str:
        if self.session_id is not None:
            return f"session {self.session_id}"
        if self.target_id is not None:
            return f"a session of target {self.target_id}"
        return f"workspace {self.workspace_id}"


_NEXT_STEPS: Mapping[str, str] = {
    "auth.forbidden": "use the data directory's own token, or ask for a token that covers this",
    "capability.unsupported": "this daemon or this agent cannot do it; `greenroom --version` names the program's version",
    "session.busy": "wait for the turn to end (greenroom tail {session} --once), or stop it: greenroom cancel {session}",
    "session.cwd_missing": "make the directory {cwd} and try again: {again}",
    "session.deleted": "have it back (greenroom undelete {session}), or choose another: greenroom sessions",
    "session.not_found": "list the sessions of workspace {workspace}: greenroom sessions --workspace {workspace}",
    "session.not_resumable": "start a new session: greenroom run without --session",
    "session.quarantined": "its history stays readable (greenroom show {session}); please report the bug in the log",
    "target.disabled": "set enabled = true for it in the configuration, or choose another with --target",
    "target.not_found": "configure it as [[targets]], or choose another with --target; greenroom doctor lists them",
    "provider.unavailable": "check that the agent's program is installed and starts by itself: greenroom doctor",
    "provider.auth_required": "log in with the agent's own program, then try again: {again}",
    "provider.timeout": "try again: {again}",
    "provider.lost": "try again: {again}",
    "provider.protocol": "update the agent; the daemon's log has what it sent",
    "provider.rate_limited": "wait a moment, then try again: {again}",
    "provider.quota": "check the account the agent uses, then try again: {again}",
    "provider.context_full": "start a new session: greenroom run without --session",
    "provider.model_unavailable": "choose another model in the agent's own configuration",
    "provider.refused": "change the prompt, then go on: {again}",
    "provider.rejected": "change the prompt or the agent's configuration, then go on: {again}",
    "provider.stopped": "look at what it did (greenroom show {session}), then go on: {again}",
    "limit.exceeded": "end something else first, or raise the limit under [limits]",
    "overloaded": "try again in a moment",
    "store.full": "make room on the disk of the data directory; the daemon goes on by itself",
    "store.unavailable": "check the disk of the data directory, then restart the daemon",
    "shutdown.in_progress": "start it again (greenroom serve), then try again",
    "submit.delivery_unknown": "look whether it arrived (greenroom show {session}) before sending it again",
    "internal": "the daemon's log has the details; please report it",
}


def next_step_for(code: str, subject: Subject) -> str:
    """What to do about an error code of `contract §7`; codes nobody here knows get general advice."""
    session = subject.session_id or "SESSION"
    advice = _NEXT_STEPS.get(code, "look at the session (greenroom show {session}) and at the daemon's log")
    return advice.format(
        session=session,
        workspace=subject.workspace_id,
        cwd=subject.cwd or f"(greenroom show {session} names it)",
        again=subject.again or _run_again(subject),
    )


def _run_again(subject: Subject) -> str:
    return f'greenroom run --session {subject.session_id} "…"' if subject.session_id else "the same command"


def leaf_errors(error: BaseException) -> list[BaseException]:
    """The errors inside nested groups, in order: nurseries wrap what their tasks raise."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaf_errors(inner)]
    return [error]
