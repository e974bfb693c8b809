"""Newline framing with a ceiling: bytes in, whole lines out, however the reads were cut.

Owns the bytes of the unfinished line and nothing else; what a line means is the peer's business. A line over the
limit is dropped up to its newline and reported once, with its size; only a line that does not end within the
discard allowance makes the framer give up (`architecture §6`, FC-08, FC-20).
"""

from typing import TypeAlias

import attrs


@attrs.frozen
class LineTooLong:
    """One line was discarded whole; both figures are bytes without the newline."""

    size_bytes: int
    limit_bytes: int


@attrs.frozen
class LineEndless:
    """No newline came within `limit_bytes` plus `discard_bytes`: the stream cannot be trusted any more."""

    limit_bytes: int
    discard_bytes: int


Frame: TypeAlias = bytes | LineTooLong | LineEndless
"""A line without its end (LF or CRLF), or what became of it."""


class LineFramer:
    """Cuts a stream of bytes into lines. The result does not depend on how the stream was split.

    Only new bytes are searched, and never more than `max_line_bytes` are held: 30 MB arriving in small reads cost
    one join. After `LineEndless` everything is ignored.
    """

    def __init__(self, max_line_bytes: int, max_discard_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._max_bytes = max_line_bytes + max_discard_bytes
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._given_up = False

    def receive(self, data: bytes) -> list[Frame]:
        """Take the bytes of one read; give the lines that ended in it."""
        frames: list[Frame] = []
        if self._given_up:
            return frames
        *ended, rest = data.split(b"\n")
        for piece in ended:
            frame = self._end_line(piece)
            frames.append(frame)
            if isinstance(frame, LineEndless):
                return frames
        if rest:
            self._hold(rest)
            if self._held_bytes > self._max_bytes:
                frames.append(self._give_up())
        return frames

    def end_of_input(self) -> list[Frame]:
        """The stream ended: a last line without a newline still counts (FC-17)."""
        if self._given_up or not self._held_bytes:
            return []
        return [self._end_line(b"")]

    def _hold(self, piece: bytes) -> None:
        self._held_bytes += len(piece)
        if self._held_bytes <= self._max_line_bytes:
            self._held.append(piece)
        else:
            self._held.clear()

    def _end_line(self, piece: bytes) -> Frame:
        self._hold(piece)
        size_bytes = self._held_bytes
        if size_bytes > self._max_bytes:
            return self._give_up()
        line = piece if size_bytes == len(piece) else b"".join(self._held)
        self._held.clear()
        self._held_bytes = 0
        if size_bytes > self._max_line_bytes:
            return LineTooLong(size_bytes, self._max_line_bytes)
        return line[:-1] if line.endswith(b"\r") else line

    def _give_up(self) -> LineEndless:
        self._given_up = True
        self._held.clear()
        return LineEndless(self._max_line_bytes, self._max_bytes - self._max_line_bytes)
