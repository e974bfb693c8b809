"""The port through which everything above starts, feeds, reads and ends provider processes.

It owns the vocabulary (what a launch asks for, how a process ended, what can go wrong) and the
protocols which the process guard and the simulator both implement. It must not own any means: nothing
here asks for a descriptor, a signal number of the host or a real process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import attrs
import trio

ProtocolClose = Callable[[], Awaitable[None]]
"""Asks the provider in its own words to leave; returns when it was asked."""


@attrs.frozen
class LaunchRequest:
    """One program to start.

    The environment is complete and exact: nothing is inherited beside it (see `environment.py`).
    """

    argv: tuple[str, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """Program and arguments; a program without a slash is looked for in PATH of `environment`."""
    cwd: str
    environment: dict[str, str]
    label: str
    """For people: appears in records and errors, never decides anything."""


@attrs.frozen
class ExitStatus:
    """How a process ended: by itself with a code, or by a signal.

    Both are None when nobody is left who saw it (the reaper was killed before it could tell).
    """

    code: int | None = None
    signal: int | None = None

    def __str__(self) -> str:
        if self.signal is not None:
            return f"signal {self.signal}"
        return "unknown exit" if self.code is None else f"exit code {self.code}"


@attrs.frozen
class LadderTimes:
    """How long each step of an orderly end may take, in seconds; a step that succeeds ends the wait.

    The defaults add up to less than the 10 s in which a closed Session must have left nothing (FC-03).
    """

    protocol_close_seconds: float = 2.0
    stdin_close_seconds: float = 1.0
    terminate_seconds: float = 2.0
    kill_seconds: float = 2.5
    last_resort_seconds: float = 1.5

    @property
    def total_seconds(self) -> float:
        return (
            self.protocol_close_seconds
            + self.stdin_close_seconds
            + self.terminate_seconds
            + self.kill_seconds
            + self.last_resort_seconds
        )

    @classmethod
    def at_once(cls) -> LadderTimes:
        """No politeness: kill the tree now."""
        return cls(protocol_close_seconds=0, stdin_close_seconds=0, terminate_seconds=0)


class LaunchError(Exception):
    """A program was not started and nothing of it is left. The subclasses say why."""


class ProgramNotFound(LaunchError):
    """No such program, neither at its path nor in PATH. A file that is there but cannot run is the next one."""


class ProgramNotExecutable(LaunchError):
    """The program's file is there but cannot run: no permission, a folder, no known format, no interpreter."""


class WorkingDirectoryMissing(LaunchError):
    """The working directory is missing, is a file, or may not be entered. The program was not looked at."""


class LaunchFailed(LaunchError):
    """Any other reason: no memory, no descriptors, no answer within the deadline, an argument with a NUL."""


class SpawnerUnavailable(LaunchFailed):
    """The spawner cannot be started, or died more often than it may be restarted (FC-30: no crash loops)."""


class ChildInputClosed(trio.BrokenResourceError):
    """The child closed its standard input or ended. Later writes raise the plain `trio.BrokenResourceError`."""


class CloseFailed(Exception):
    """A process tree outlived every step of its end. The caller hands it to the resource sweeper.

    Calling `ProcessHandle.close` again tries the last step again.
    """

    def __init__(self, label: str, remaining: tuple[int, ...]) -> None:
        super().__init__(f"{label}: processes still alive: {', '.join(map(str, remaining)) or 'unknown'}")
        self.label = label
        self.remaining = remaining
        """Process ids, for people; they are no identity to signal by."""


class ByteSink(Protocol):
    """Standard input of a child. One writer at a time."""

    async def write(self, data: bytes) -> None:
        """Write all of `data`.

        Raises:
            ChildInputClosed: the child no longer reads; the sink is broken.
            trio.BrokenResourceError: an earlier write failed or was cancelled half way, so that the
                child may hold half a line: nothing more may follow (architecture rule 14).
            trio.ClosedResourceError: we closed it.
            trio.BusyResourceError: another task is writing.
        """

    def close(self) -> None:
        """End of input for the child. Idempotent, never waits."""


class ByteSource(Protocol):
    """Standard output or error of a child. One reader at a time."""

    async def read(self, max_bytes: int) -> bytes:
        """What is there, at least one byte and at most `max_bytes`; `b""` is the end.

        Raises:
            trio.ClosedResourceError: we closed it.
            trio.BusyResourceError: another task is reading.
        """

    def close(self) -> None:
        """Stop reading. Idempotent, never waits."""


class ProcessHandle(Protocol):
    """One provider process with everything it ever forks. Owned by whoever launched it."""

    @property
    def label(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def reaper_pid(self) -> int: ...
    @property
    def stdin(self) -> ByteSink: ...
    @property
    def stdout(self) -> ByteSource: ...
    @property
    def stderr(self) -> ByteSource: ...

    @property
    def exited(self) -> ExitStatus | None:
        """How the provider itself ended, None while it runs. What it left behind is ended with it."""

    async def wait(self) -> ExitStatus:
        """Wait until the provider itself has ended. Any number of tasks may wait."""

    def terminate(self) -> None:
        """TERM to the provider's process group. Never waits; of no effect on what has ended."""

    def kill_tree(self) -> None:
        """Kill the provider and all its descendants now. Never waits; cannot be taken back."""

    async def close(self, times: LadderTimes, protocol_close: ProtocolClose | None = None) -> ExitStatus:
        """End the whole tree in order and free everything, shielded and bounded by `times`.

        Raises:
            CloseFailed: something of it is still alive. May be called again.
        """


class ProcessLauncher(Protocol):
    """Starts provider processes."""

    async def launch(self, request: LaunchRequest) -> ProcessHandle:
        """Start one program under a deadline.

        Raises:
            LaunchError: one of its subclasses; nothing was left behind.
        """
