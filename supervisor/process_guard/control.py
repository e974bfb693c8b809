"""The daemon's end of one reaper's control socket.

Owns what the reaper has told so far and the way to wait for more of it, by any number of tasks and without
a task of its own. It must not draw conclusions: what an early end of file means is the caller's to say.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import attrs
import trio

from supervisor.process_guard.frames import FrameBuffer, encode_frame
from supervisor.process_guard.port import ExitStatus
from supervisor.process_guard.process_table import ProcessIdentity

DISMISS_SECONDS = 3.0
"""Longer than a reaper tries to end its tree."""


@attrs.frozen
class LaunchFailure:
    """Why the reaper, or the spawner in its place, could not start the program."""

    stage: str
    """`start`, `working_directory` or `program`."""
    errno: int
    present: bool
    """Whether a file of the program's name was found."""


class ReaperControl:
    """Facts as told by one reaper. They only ever go from None to a value."""

    def __init__(self, end: socket.socket) -> None:
        """Takes over `end`."""
        end.setblocking(False)
        self._end = end
        self._frames = FrameBuffer()
        self._reading = trio.Lock()
        self.reaper: ProcessIdentity | None = None
        self.provider: ProcessIdentity | None = None
        self.failure: LaunchFailure | None = None
        self.exited: ExitStatus | None = None
        self.remaining: tuple[ProcessIdentity, ...] | None = None
        """The reaper's last word: what of its tree it could not end. Empty is how it ought to be."""
        self.over = False
        """End of file: the reaper has ended, with or without a last word."""

    def take_news(self) -> None:
        """Take in what has been told, without waiting."""
        while not self.over:
            try:
                data = self._end.recv(65536)
            except BlockingIOError:
                return
            except ConnectionError:
                data = b""  # it ended without having read everything
            self.over = not data
            for event in self._frames.feed(data):
                self._take(*event)

    def _take(self, word: bytes, *fields: bytes) -> None:
        match word, fields:
            case b"reaper", (pid, start_time):
                self.reaper = ProcessIdentity(int(pid), int(start_time))
            case b"launched", (pid, start_time):
                self.provider = ProcessIdentity(int(pid), int(start_time))
            case b"failed", (stage, errno, present):
                self.failure = LaunchFailure(stage.decode(), int(errno), present == b"1")
            case b"exited", (code,):
                self.exited = ExitStatus(int(code)) if int(code) >= 0 else ExitStatus(None, -int(code))
            case b"ended", _:
                numbers = [int(number) for number in fields]
                self.remaining = tuple(map(ProcessIdentity, numbers[::2], numbers[1::2]))
            case _:
                raise AssertionError(f"a reaper of this program does not say {word!r}")

    async def until(self, ready: Callable[[], object]) -> None:
        """Wait until `ready()` is true of the facts, or nothing more will be told (`over`)."""
        await trio.lowlevel.checkpoint()
        self.take_news()
        while not ready() and not self.over:
            async with self._reading:  # one task waits for the socket, the others for that task
                if ready() or self.over:
                    return
                try:
                    await trio.lowlevel.wait_readable(self._end)
                except trio.ClosedResourceError:
                    return  # closed by us meanwhile, which sets `over`
                self.take_news()

    async def send(self, frame: bytes) -> None:
        """Send one whole frame. Raises ConnectionError when the reaper has ended."""
        await trio.lowlevel.checkpoint()
        rest = memoryview(frame)
        while rest:
            try:
                rest = rest[self._end.send(rest, socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._end)

    def terminate(self) -> None:
        """Order TERM for the provider's process group, without waiting."""
        if self.over:
            return
        try:
            self._end.send(encode_frame((b"terminate",)), socket.MSG_NOSIGNAL)
        except (BlockingIOError, ConnectionError):
            return  # the reaper is stuck or ended: the order would change nothing, the next step does

    def end_orders(self) -> None:
        """Let the reaper see the end of file that the daemon's death would give: it kills its tree."""
        if self.over:
            return
        try:
            self._end.shutdown(socket.SHUT_WR)
        except OSError:
            return  # not connected any more: it has ended

    async def dismiss(self) -> None:
        """Undo a launch: kill whatever is there and wait for the reaper's end, shielded and bounded."""
        self.end_orders()
        with trio.move_on_after(DISMISS_SECONDS, shield=True):
            await self.until(lambda: False)

    def close(self) -> None:
        """Idempotent. Tasks that wait find `over`."""
        self.over = True
        if self._end.fileno() >= 0:
            trio.lowlevel.notify_closing(self._end)
            self._end.close()
