"""The spawner: one small process that forks, without exec, one reaper for each provider.

Owns the reapers as children, and the orphans of a killed reaper, being the subreaper above them all. It is
started before the daemon has a thread, asks for the standard library alone and stays of one thread: only so
are its forks safe, small (the pages are shared) and fast. It must not know what is launched.
"""

from __future__ import annotations

import errno
import gc
import os
import select
import socket
import sys
import time
from array import array

from supervisor.process_guard.frames import encode_frame
from supervisor.process_guard.process_table import descendants, kill_all, read_rows
from supervisor.process_guard.reaper import EXIT_ENDED, Reaper
from supervisor.process_guard.subreaper import (
    SCAN_SECONDS,
    ChildWatch,
    become_subreaper,
    end_descendants,
    ended_children,
    prepare_signals,
)

DESCRIPTORS_PER_REAPER = 4
REAPERS_GRACE_SECONDS = 2.5
"""How long the reapers are left alone after the daemon's end; with the time to end a tree below 5 s (contract §6)."""
ORPHAN_SCANS_MAX = 100
EXIT_FAULT = 70


class Spawner:
    """Forks reapers, counts them, and ends what a killed one left behind."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._watch = ChildWatch()
        self._reapers: set[int] = set()
        self._orphan_scans_left = 0

    def run(self) -> None:
        """Until the daemon closes the channel, or is gone."""
        poll = select.poll()
        poll.register(self._channel.fileno(), select.POLLIN)
        poll.register(self._watch.descriptor, select.POLLIN)
        open_for_orders = True
        while open_for_orders:
            ready = poll.poll(SCAN_SECONDS * 1000 if self._orphan_scans_left else None)
            self._watch.drain()
            self._reap()
            self._end_orphans()
            if any(descriptor == self._channel.fileno() for descriptor, _ in ready):
                open_for_orders = self._take_order()
        self._outlive_reapers()

    def _take_order(self) -> bool:
        try:
            message, descriptors = receive_descriptors(self._channel)
        except ConnectionError:
            return False
        try:
            # fewer come when none is free here: the daemon sees its own ends close
            if len(descriptors) == DESCRIPTORS_PER_REAPER:
                self._fork_reaper(descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(message)

    def _fork_reaper(self, descriptors: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError as fault:
            failure = encode_frame((b"failed", b"start", b"%d" % (fault.errno or errno.EIO), b"0"))
            os.write(descriptors[0], failure)
            return
        if pid == 0:
            code = EXIT_FAULT
            try:
                self._watch.renew()
                reaper = Reaper(descriptors[0], tuple(descriptors[1:]), self._watch)
                code = reaper.run()
            finally:
                if code == EXIT_FAULT:
                    sys.excepthook(*sys.exc_info())
                os._exit(code)
        self._reapers.add(pid)

    def _reap(self) -> bool:
        """Count what ended. Returns whether any child is left."""
        try:
            for pid, status in ended_children():
                if pid in self._reapers and status != EXIT_ENDED:
                    self._orphan_scans_left = ORPHAN_SCANS_MAX
                self._reapers.discard(pid)
        except ChildProcessError:
            return False
        return True

    def _end_orphans(self) -> None:
        """One look for what a killed reaper left behind."""
        if not self._orphan_scans_left:
            return
        rows = read_rows()
        orphans = [
            row for row in rows.values() if row.parent_pid == os.getpid() and row.pid not in self._reapers
        ]
        kill_all(orphans + descendants(rows, [row.pid for row in orphans]))
        self._orphan_scans_left = self._orphan_scans_left - 1 if orphans else 0

    def _outlive_reapers(self) -> None:
        """Let the reapers end their trees, then end what is left: also a reaper that somebody stopped."""
        deadline = time.monotonic() + REAPERS_GRACE_SECONDS
        while self._reap() and time.monotonic() < deadline:
            self._end_orphans()
            self._watch.wait(SCAN_SECONDS)
        end_descendants(self._watch, self._reap)


def receive_descriptors(channel: socket.socket) -> tuple[bytes, list[int]]:
    """One message and what came with it, close-on-exec from the first moment.

    (`socket.recv_fds` loses its flags; every provider would hold on to the ends of its own streams.)
    """
    space = socket.CMSG_LEN(DESCRIPTORS_PER_REAPER * array("i").itemsize)
    message, ancillary, _, _ = channel.recvmsg(1, space, socket.MSG_CMSG_CLOEXEC)
    descriptors = array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return message, list(descriptors)


def close_inherited_descriptors() -> None:
    """Keep the standard three: what a library of the daemon left inheritable must not stay open here."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 -- names are enough
        try:
            if int(name) > 2:
                os.close(int(name))
        except OSError:
            continue  # the descriptor of this very listing


def main() -> None:
    """The program. Descriptor 0 is the channel."""
    close_inherited_descriptors()
    prepare_signals()
    become_subreaper(b"greenroom-spawn")
    gc.disable()
    gc.freeze()  # a collection would write to, and so copy, every page that a reaper shares
    Spawner(socket.socket(fileno=0)).run()
