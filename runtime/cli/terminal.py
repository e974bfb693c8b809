"""Reads lines from the terminal without a thread, so that a read can be given up at any moment.

Owns the descriptor for as long as a line is read, and its echo for secrets. What a line means is `questions`' business.
"""

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import trio

_READ_BYTES = 4096


@attrs.define(eq=False)
class LineReader:
    """The lines of one descriptor. A thread blocked in a read could not be ended with the command."""

    descriptor: int
    _buffered: bytes = attrs.field(default=b"", init=False)

    async def line(self, *, secret: bool = False) -> str | None:
        """The next line, without its newline; None at the end of input. `secret` is typed without being shown."""
        with _echo_off(self.descriptor, wanted=secret):
            while b"\n" not in self._buffered:
                await trio.lowlevel.wait_readable(self.descriptor)
                piece = os.read(self.descriptor, _READ_BYTES)
                if not piece:
                    rest, self._buffered = self._buffered, b""
                    return rest.decode(errors="replace") if rest else None
                self._buffered += piece
        line, _, self._buffered = self._buffered.partition(b"\n")
        return line.decode(errors="replace")


@contextmanager
def _echo_off(descriptor: int, *, wanted: bool) -> Iterator[None]:
    if not wanted or not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    silent = list(before)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
