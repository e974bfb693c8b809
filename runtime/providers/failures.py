"""The typed errors that starting, keeping and losing a provider process can end in, in words of ours.

Owns codes and wording in one place (`contract §7`). No message holds a provider's text, a path or an argument;
a program is named by its file name alone. Pure.
"""

from runtime.providers.launch import LaunchSpecification
from runtime.providers.registry import UnsupportedProvider
from runtime.providers.transport import ConnectFailed
from store.canonical.common import TurnError
from supervisor.process_guard.port import (
    LaunchError,
    ProgramNotExecutable,
    ProgramNotFound,
    WorkingDirectoryMissing,
)


def lost(reason: str) -> TurnError:
    """The process or its pipe is gone, whatever its exit code says (FC-10, FC-11)."""
    return TurnError("provider.lost", reason, "provider", retryable=True)


def not_started(launch: LaunchSpecification, fault: LaunchError) -> TurnError:
    """The program could not be launched; a missing program is named as such (FC-50)."""
    program = launch.program
    match fault:
        case ProgramNotFound():
            return TurnError("provider.unavailable", f"the program {program!r} was not found", "runtime")
        case ProgramNotExecutable():
            return TurnError("provider.unavailable", f"the program {program!r} cannot be executed", "runtime")
        case WorkingDirectoryMissing():
            return CWD_MISSING
        case _:
            return TurnError(
                "provider.unavailable",
                f"the program {program!r} could not be started",
                "runtime",
                retryable=True,
            )


def not_connected(launch: LaunchSpecification, fault: ConnectFailed) -> TurnError:
    """The server that was to run already is not there, or does not want us: its status is no word on any sign-in."""
    if fault.refused_with is None:
        text = f"no server for this target answers at {launch.program}"
    else:
        text = f"the server at {launch.program} refused the connection"
    return TurnError("provider.unavailable", text, "provider", retryable=True, http_status=fault.refused_with)


def ended_at_start(launch: LaunchSpecification, how: str) -> TurnError:
    """The process went away before it was ready."""
    return TurnError(
        "provider.unavailable", f"{launch.program} {how} while it was starting", "provider", retryable=True
    )


def start_timed_out(launch: LaunchSpecification, seconds: float) -> TurnError:
    """The handshake was not finished in time (FC-50)."""
    return TurnError(
        "provider.timeout", f"{launch.program} was not ready within {seconds:g} s", "provider", retryable=True
    )


def crash_loop(launch: LaunchSpecification, failures: int, retry_after_seconds: float) -> TurnError:
    """It failed to start so often that it is not tried again for a while (FC-30)."""
    return TurnError(
        "provider.unavailable",
        f"{launch.program} failed to start {failures} times in a row and is not tried again for now",
        "provider",
        retryable=True,
        retry_after_ms=max(1, round(retry_after_seconds * 1000)),
    )


def too_much_unread(launch: LaunchSpecification, bytes_max: int) -> TurnError:
    """The provider does not read what it is told; more would have to be kept in memory without end."""
    return lost(f"{launch.program} left more than {bytes_max} bytes unread")


def admission_timed_out(seconds: float) -> TurnError:
    """No connection became free in time (`contract §4`)."""
    return TurnError(
        "limit.exceeded",
        f"no provider connection became free within {seconds:g} s",
        "runtime",
        retryable=True,
    )


def too_many_waiting(waiting: int) -> TurnError:
    """So many scopes wait for a connection already that one more is not let in."""
    return TurnError(
        "limit.exceeded", f"{waiting} others are waiting for a provider connection", "runtime", retryable=True
    )


def unsupported(refusal: UnsupportedProvider) -> TurnError:
    """No such provider family in this program (PR-001)."""
    return TurnError("capability.unsupported", f"provider {refusal.key!r} is not supported", "runtime")


def crashed() -> TurnError:
    """A bug of ours took this connection down."""
    return TurnError(
        "internal", "the connection to the provider failed by a fault of this program", "runtime"
    )


CWD_MISSING = TurnError(
    "session.cwd_missing", "the working directory is missing or cannot be entered", "runtime"
)
SHUTTING_DOWN = TurnError("shutdown.in_progress", "the daemon is stopping", "runtime", retryable=True)
RELEASED = TurnError("provider.lost", "the connection was given back", "runtime", retryable=True)
REPLACED = TurnError(
    "provider.lost",
    "the process ends because another session's turn on it had to be stopped",
    "runtime",
    retryable=True,
)
