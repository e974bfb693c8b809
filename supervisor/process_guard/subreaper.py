"""What spawner and reapers are both made of: process options, news of ended children, the end of a tree.

Owns the one loop that kills everything below a subreaper. Standard library only, one thread.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from collections.abc import Callable, Iterator

from supervisor.process_guard.process_table import ProcessRow, descendants, kill_all, read_rows

TREE_END_SECONDS = 2.0
"""How long a subreaper tries to kill its tree; the daemon's own ladder waits a little longer."""
SCAN_SECONDS = 0.02
"""Between two looks at a tree that is being killed, unless a death is reported earlier."""

IGNORED_SIGNALS = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGPIPE,
    signal.SIGXFSZ,
)
"""A signal to the daemon's group or terminal is the daemon's to handle; the last two CPython ignores anyhow. All
others are at their defaults, since the spawner is started so."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_PRCTL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, *[ctypes.c_ulong] * 4, use_errno=True)(
    ("prctl", ctypes.CDLL(None, use_errno=True))
)


def set_process_option(option: int, value: int) -> None:
    """`prctl`, which the standard library does not have."""
    if _PRCTL(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def prepare_signals() -> None:
    """Once in the spawner: dispositions survive a fork."""
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # only a handler makes the wake-up descriptor work


def become_subreaper(name: bytes) -> None:
    """Leave the session one was started from and become the parent of all orphans below.

    Args:
        name: what `ps` shows, at most 15 bytes.
    """
    os.setsid()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    descriptor = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
    os.write(descriptor, name)
    os.close(descriptor)


class ChildWatch:
    """Makes the end of a child readable, so that one poll waits for everything."""

    def __init__(self) -> None:
        self._open()

    def renew(self) -> None:
        """After a fork: the pipe so far is the parent's."""
        os.close(self.descriptor)
        os.close(self._write_end)
        self._open()

    def _open(self) -> None:
        self.descriptor, self._write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)

    def wait(self, seconds: float) -> None:
        select.select([self.descriptor], [], [], seconds)
        self.drain()

    def drain(self) -> None:
        try:
            os.read(self.descriptor, 4096)
        except BlockingIOError:
            return


def ended_children() -> Iterator[tuple[int, int]]:
    """(pid, wait status) of each child that ended. Raises ChildProcessError when none is left at all."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        yield pid, status


def end_descendants(watch: ChildWatch, reap: Callable[[], bool]) -> list[ProcessRow]:
    """Kill everything below this process until `reap` says that no child is left, or for `TREE_END_SECONDS`.

    A subreaper without children has no descendants: every orphan below it would be its child. So own
    sessions, double forks and respawning hide nothing (FC-03).

    Returns:
        What would not end.
    """
    deadline = time.monotonic() + TREE_END_SECONDS
    while reap():
        below = descendants(read_rows(), [os.getpid()])
        if time.monotonic() > deadline:
            return [row for row in below if row.living]
        kill_all(below)
        watch.wait(SCAN_SECONDS)
    return []
