"""The reaper: the subreaper above one provider. Carries out the daemon's orders and leaves nothing alive.

Owns the fork and exec of the provider, the news of its end, and the end of everything it ever forked; the
end of file on its control socket is the end of the daemon. It must not decide when: the daemon records,
times and chooses. A fork of the spawner, standard library only, one thread.
"""

from __future__ import annotations

import errno
import os
import select
import signal
from typing import NoReturn

from supervisor.process_guard.frames import FrameBuffer, encode_frame
from supervisor.process_guard.process_table import read_row
from supervisor.process_guard.subreaper import (
    IGNORED_SIGNALS,
    PR_SET_PDEATHSIG,
    ChildWatch,
    become_subreaper,
    end_descendants,
    ended_children,
    set_process_option,
)

EXIT_ENDED, EXIT_REMAINING = 0, 1


def execute(argv: list[bytes], environment: dict[bytes, bytes]) -> tuple[int, bool]:
    """Become the program, found as a shell would by PATH of the environment given.

    Returns only on failure: (errno, whether a file of that name is there).
    """
    program, failure, present = argv[0], errno.ENOENT, False
    folders = environment.get(b"PATH", os.defpath.encode()).split(b":")
    has_path = b"/" in program
    for candidate in [program] if has_path else [b"/".join((folder or b".", program)) for folder in folders]:
        try:
            os.execve(candidate, argv, environment)  # noqa: S606
        except OSError as fault:
            there = os.path.exists(candidate)  # noqa: PTH110 -- ENOENT also speaks of a missing interpreter
            if not there and not has_path:
                continue  # not in this folder, or the folder may not be entered
            failure, present = fault.errno or errno.EIO, there
            if failure != errno.EACCES:
                break
    return failure, present


def become_provider(order: list[bytes], streams: tuple[int, ...], report: int, reaper_pid: int) -> NoReturn:
    """From the fork to the exec. A failure is written to `report`, which a successful exec closes.

    Args:
        order: a launch order without its first word.
    """
    stage, failure, present = b"start", errno.EINVAL, False  # EINVAL: text which the host refuses to take
    try:
        os.setsid()
        # right here and wrong in a program with threads: the signal follows the thread that forked
        set_process_option(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == reaper_pid:
            for number in IGNORED_SIGNALS:  # caught ones fall back by themselves on exec
                signal.signal(number, signal.SIG_DFL)
            for target, descriptor in enumerate(streams):
                os.dup2(descriptor, target)  # all others close on exec
            cwd, count, *texts = order
            argv, variables = texts[: int(count)], texts[int(count) :]
            stage = b"working_directory"
            os.chdir(cwd)
            stage = b"program"
            environment = {name: value for name, _, value in (text.partition(b"=") for text in variables)}
            failure, present = execute(argv, environment)
    except OSError as fault:
        failure = fault.errno or errno.EIO
    finally:
        os.write(report, b"\0".join((stage, b"%d" % failure, b"%d" % present)))
        os._exit(127)


class Reaper:
    """Runs in its own process, from the spawner's fork to its exit."""

    def __init__(self, control: int, streams: tuple[int, ...], watch: ChildWatch) -> None:
        """Takes over the descriptors: the control socket and the child's ends of stdin, stdout and stderr."""
        self._control = control
        self._streams = streams
        self._watch = watch
        self._orders = FrameBuffer()
        self._poll = select.poll()
        self._provider_pid = 0
        self._provider_start_time = 0
        self._report = -1
        self._launched = False
        self._finished = False

    def run(self) -> int:
        """The whole life of a reaper. Returns its exit code."""
        self._settle_in()
        while not self._finished:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control:
                    self._take_orders()
                elif descriptor == self._watch.descriptor:
                    self._watch.drain()
                    self._reap()
                elif descriptor == self._report:
                    self._read_report()
        remaining = end_descendants(self._watch, self._reap)
        self._tell(b"ended", *(number for row in remaining for number in row.identity))
        return EXIT_REMAINING if remaining else EXIT_ENDED

    def _settle_in(self) -> None:
        become_subreaper(b"greenroom-reap")
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):  # 0 is the spawner's channel, which this process must not keep open
            os.dup2(null, standard, inheritable=False)
        os.close(null)
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._watch.descriptor, select.POLLIN)
        row = read_row(os.getpid())
        assert row is not None, "a process sees itself"
        self._tell(b"reaper", *row.identity)

    def _tell(self, word: bytes, *numbers: int) -> None:
        self._send(encode_frame((word, *(b"%d" % number for number in numbers))))

    def _send(self, rest: bytes) -> None:
        try:
            while rest:
                rest = rest[os.write(self._control, rest) :]
        except OSError:
            self._finished = True  # the daemon is gone: the same as its end of file

    def _take_orders(self) -> None:
        try:
            data = os.read(self._control, 65536)
        except ConnectionError:
            data = b""
        if not data:
            self._finished = True
        for word, *rest in self._orders.feed(data):
            if word == b"launch":
                self._launch(rest)
            elif word == b"terminate" and self._launched:
                self._terminate()

    def _terminate(self) -> None:
        try:
            # while this loop runs the provider is not reaped: the group's number cannot be somebody else's
            os.killpg(self._provider_pid, signal.SIGTERM)
        except PermissionError:
            return  # it changed its user; the daemon's next step is the kill

    def _launch(self, order: list[bytes]) -> None:
        self._report, write_end = os.pipe2(os.O_CLOEXEC)
        reaper_pid = os.getpid()
        try:
            self._provider_pid = os.fork()
        except OSError as fault:
            self._send(encode_frame((b"failed", b"start", b"%d" % (fault.errno or errno.EIO), b"0")))
            self._finished = True
            return
        if self._provider_pid == 0:
            become_provider(order, self._streams, write_end, reaper_pid)
        for descriptor in (*self._streams, write_end):
            os.close(descriptor)
        row = read_row(self._provider_pid)
        assert row is not None, "a child stays in the table until it is reaped"
        self._provider_start_time = row.start_time_ticks
        self._poll.register(self._report, select.POLLIN)

    def _read_report(self) -> None:
        report = os.read(self._report, 4096)
        self._poll.unregister(self._report)
        os.close(self._report)
        self._report = -1
        if report:
            self._provider_pid = 0  # never became a provider: its exit is nobody's news
            self._send(encode_frame((b"failed", *report.split(b"\0"))))
            self._finished = True
        else:
            self._launched = True
            self._tell(b"launched", self._provider_pid, self._provider_start_time)

    def _reap(self) -> bool:
        """Count what ended, tell of the provider. Returns whether any child is left."""
        try:
            for pid, status in ended_children():
                if pid == self._provider_pid:
                    self._tell_exit(status)
        except ChildProcessError:
            return False
        return True

    def _tell_exit(self, status: int) -> None:
        if self._report >= 0:
            self._read_report()  # its end was seen before its start; it has ended, so this cannot block
        if self._launched:
            self._tell(b"exited", os.waitstatus_to_exitcode(status))
        self._finished = True
