"""The daemon's hold on one spawner: start it, send it descriptors, see it dead, end it.

Owns the channel and the child. It must not decide about restarts; the guard does.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import trio

from supervisor.process_guard.process_table import ProcessIdentity, read_row

PROGRAM = Path(__file__).with_name("spawner_main.py")
LOADER_VARIABLE = "LD_LIBRARY_PATH"
"""Without it an interpreter that finds its own library by it would not start."""


class SpawnerLost(Exception):
    """This spawner is dead or does not answer. Reapers it forked before are not touched by that."""


class SpawnerProcess:
    """One spawner. A dead one is replaced by a new object."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self._channel = channel
        self._sending = trio.Lock()
        self._alive = True

    @classmethod
    def start(cls, mark: Mapping[str, str]) -> SpawnerProcess:
        """Start a spawner without waiting for it. Needs no trio and no event loop.

        Args:
            mark: the environment it and its reapers carry; they need nothing else.

        Raises:
            OSError: no process, or no interpreter, to be had.
        """
        environment = dict(mark)
        if LOADER_VARIABLE in os.environ:
            environment[LOADER_VARIABLE] = os.environ[LOADER_VARIABLE]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            try:
                # not a plain fork: a restart happens when the daemon has threads
                pid = os.posix_spawn(
                    sys.executable,
                    [sys.executable, "-I", "-S", str(PROGRAM)],
                    environment,
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    ],
                    setsigmask=(),
                    setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
                )
            except OSError:
                ours.close()
                raise
        return cls(pid, ours)

    @property
    def identity(self) -> ProcessIdentity | None:
        """None when it has ended and somebody else has reaped it."""
        row = read_row(self.pid)
        return None if row is None else row.identity

    def check_alive(self) -> bool:
        """Whether it runs. Reaps it when it has ended, so that it is no zombie of the daemon."""
        if self._alive:
            self._alive = not self._reap(os.WNOHANG)
        return self._alive

    async def send(self, descriptors: Sequence[int]) -> None:
        """Ask for one reaper. The descriptors are copied; the caller keeps and closes its own.

        Raises:
            SpawnerLost: nobody is there to read.
            OSError: the host refuses (too many descriptors on their way).
        """
        async with self._sending:
            try:
                while self._channel.fileno() >= 0:
                    try:
                        socket.send_fds(self._channel, [b"R"], list(descriptors))
                        return
                    except BlockingIOError:
                        await trio.lowlevel.wait_writable(self._channel)
            except (ConnectionError, trio.ClosedResourceError) as fault:
                raise SpawnerLost("the spawner is gone") from fault
        raise SpawnerLost("the spawner was discarded meanwhile")

    def discard(self) -> None:
        """Kill it at once and only then close the channel.

        The other order would read to a spawner that is merely slow as the end of the daemon, and it would
        end every provider.
        """
        if self.check_alive():
            os.kill(self.pid, signal.SIGKILL)  # our child and not reaped: the pid is its own
            self._reap(0)
            self._alive = False
        self._close_channel()

    async def end(self, seconds: float) -> None:
        """Let it end its reapers and itself; discard it when it has not within `seconds`. Shielded."""
        if self.check_alive():
            descriptor = os.pidfd_open(self.pid)
            self._close_channel()
            try:
                with trio.move_on_after(seconds, shield=True):
                    await trio.lowlevel.wait_readable(descriptor)
            finally:
                os.close(descriptor)
        self.discard()

    def _reap(self, options: int) -> bool:
        """Whether it has ended."""
        try:
            return os.waitpid(self.pid, options)[0] == self.pid
        except ChildProcessError:
            return True  # nobody waits for children in this daemon (SIGCHLD ignored): it is gone when it ends

    def _close_channel(self) -> None:
        if self._channel.fileno() >= 0:
            trio.lowlevel.notify_closing(self._channel)
            self._channel.close()
