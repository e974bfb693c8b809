"""Reads a write-ahead log behind the place where SQLite stopped, and tells damage from a torn end. Pure but for reads.

SQLite takes the first frame that does not fit its predecessor for the end of the log: right after a power cut in the
middle of a write, wrong after a flipped bit, when acknowledged commits stand behind it. With full synchronisation a
transaction is durable before the next one is written, so a commit frame that has a successor was durable: if it cannot
be read, that is damage. The last transaction alone has no successor: its damage looks like a torn write.
"""

import io
import struct
from collections.abc import Callable
from typing import BinaryIO, Final, Literal

import attrs

HEADER_BYTES: Final = 32
FRAME_HEADER_BYTES: Final = 24

_BIG_ENDIAN_SUMS: Final = 0x377F0683
_LITTLE_ENDIAN_SUMS: Final = 0x377F0682
_SECTOR_BYTES: Final = 512
_WORD: Final = 1 << 32
Sums = tuple[int, int]
ReadBytes = Callable[[int, int], bytes]
"""`(offset, count)` of the log's file; fewer bytes at its end."""


@attrs.frozen
class LogDamage:
    """Where a log cannot be read though what follows shows that it was durable. Frames count from 1; 0 is the header."""

    frame: int
    frames_after: int
    """How many frames behind it belong to the log, as far as can be told."""

    def __str__(self) -> str:
        place = "in its header" if self.frame == 0 else f"at frame {self.frame}"
        return (
            f"its write-ahead log is damaged {place}; commits that were acknowledged stand in or after it "
            f"({self.frames_after} frames follow)"
        )


@attrs.frozen
class _Frame:
    """One frame as it stands in the file."""

    offset: int
    content: bytes
    """What the sums are over: the page's number, the database size and the page."""
    salts: bytes
    sums: Sums

    @property
    def commits(self) -> bool:
        return self.content[4:8] != bytes(4)

    @property
    def header_in_one_sector(self) -> bool:
        """Whether a torn write takes its commit mark and its sums together or not at all."""
        start, end = self.offset + 4, self.offset + FRAME_HEADER_BYTES - 1
        return start // _SECTOR_BYTES == end // _SECTOR_BYTES


def damage_behind(log: BinaryIO, frames_read: int, page_bytes: int) -> LogDamage | None:
    """What in `log` shows that SQLite, which took its first `frames_read` frames, ought to have found more."""

    def read(offset: int, count: int) -> bytes:
        log.seek(offset)
        return log.read(count)

    return LogWalk(read, log.seek(0, io.SEEK_END), page_bytes).damage_behind(frames_read)


class LogWalk:
    """One log file with pages of `page_bytes`."""

    def __init__(self, read: ReadBytes, file_bytes: int, page_bytes: int) -> None:
        self._read = read
        self._frame_bytes = FRAME_HEADER_BYTES + page_bytes
        self._frames = max(0, file_bytes - HEADER_BYTES) // self._frame_bytes
        self._header = read(0, HEADER_BYTES) if file_bytes >= HEADER_BYTES else b""
        self._big_endian = False
        self._salts = b""

    def damage_behind(self, frames_read: int) -> LogDamage | None:
        """See `damage_behind`."""
        if not self._frames:
            return None
        for big_endian in (False, True):
            self._big_endian = big_endian
            computed = self._summed(self._header[:24], (0, 0))
            stored = _pair(self._header[24:32])
            magic = int.from_bytes(self._header[:4], "big")
            if computed == stored and magic == (_BIG_ENDIAN_SUMS if big_endian else _LITTLE_ENDIAN_SUMS):
                self._salts = self._header[16:24]
                return self._behind(frames_read, stored)
        return self._damage_of_header()

    def _damage_of_header(self) -> LogDamage | None:
        """The header is durable before the first frame is written, so a frame that continues it shows that it was."""
        first = self._frame(1)
        for self._big_endian in (False, True):
            befores = (_pair(self._header[24:32]), self._summed(self._header[:24], (0, 0)))
            if any(self._summed(first.content, before) == first.sums for before in befores):
                self._salts = first.salts
                return LogDamage(0, self._frames_of_this_log(1))
        return None

    def _behind(self, frames_read: int, header_sums: Sums) -> LogDamage | None:
        doubtful, before = self._first_unfit(frames_read, header_sums)
        if doubtful >= self._frames:
            return None  # nothing can follow it
        frame = self._frame(doubtful)
        # If its sums were hit, the ones it should have had are those of its content.
        starts = {frame.sums, self._summed(frame.content, before)}
        for number in range(doubtful, self._frames):
            follower = self._frame(number + 1)
            is_candidate = number == doubtful or frame.commits
            if is_candidate and follower.salts == self._salts:
                continues = any(self._summed(follower.content, start) == follower.sums for start in starts)
                if continues and self._ended_a_transaction(frame, before, may_be_hit=number == doubtful):
                    return LogDamage(doubtful, self._frames_of_this_log(doubtful + 1))
            before, frame, starts = frame.sums, follower, {follower.sums}
        return None

    def _ended_a_transaction(self, frame: _Frame, before: Sums, *, may_be_hit: bool) -> bool:
        """Whether a frame was a commit. A torn write may leave an old mark beside new sums, if a sector ends between
        the two; one changed bit may be the mark itself."""
        mended = self._one_bit_off(frame, before) if may_be_hit else None
        if mended is not None:
            return mended.commits
        if not frame.commits:
            return False
        return frame.header_in_one_sector or self._summed(frame.content, before) == frame.sums

    def _first_unfit(self, frames_read: int, header_sums: Sums) -> tuple[int, Sums]:
        """The first frame that does not fit its predecessor, and that one's sums: SQLite takes whole transactions."""
        before = self._frame(frames_read).sums if frames_read else header_sums
        for number in range(frames_read + 1, self._frames + 1):
            frame = self._frame(number)
            if frame.salts != self._salts or self._summed(frame.content, before) != frame.sums:
                return number, before
            before = frame.sums
        return self._frames + 1, before

    def _one_bit_off(self, frame: _Frame, before: Sums) -> _Frame | None:
        """The frame as it was, if changing one bit of it makes it fit its predecessor. The sums are linear, so each
        bit has its own difference: nothing is tried out."""
        stored, computed = frame.sums, self._summed(frame.content, before)
        if stored == computed:
            return frame  # what is off is its salts, which are not summed
        if sum((one ^ other).bit_count() for one, other in zip(stored, computed, strict=True)) == 1:
            return frame
        difference = ((stored[0] - computed[0]) % _WORD, (stored[1] - computed[1]) % _WORD)
        # What one unit in a word adds to the two sums: (1, 1) and (0, 1) for the last two, and for each pair before
        # them by one more step of the recurrence.
        even, odd = (1, 1), (0, 1)
        for word in range(len(frame.content) // 4 - 2, -2, -2):
            for position, weight in ((word, even), (word + 1, odd)):
                mended = self._changed(frame, position, _common_factor(difference, weight))
                if mended is not None:
                    return mended
            even, odd = _one_pair_earlier(even), _one_pair_earlier(odd)
        return None

    def _changed(self, frame: _Frame, word: int, added: int | None) -> _Frame | None:
        """The frame with `added` to one word of it, if that is the change of one bit."""
        if added is None:
            return None
        order: Literal["big", "little"] = "big" if self._big_endian else "little"
        place = slice(4 * word, 4 * word + 4)
        found = int.from_bytes(frame.content[place], order)
        wanted = (found + added) % _WORD
        if (found ^ wanted).bit_count() != 1:
            return None
        content = bytearray(frame.content)
        content[place] = wanted.to_bytes(4, order)
        return attrs.evolve(frame, content=bytes(content))

    def _frames_of_this_log(self, start: int) -> int:
        """How many frames from `start` on carry this log's salts: an earlier use of the file leaves others behind."""
        count = 0
        for number in range(start, self._frames + 1):
            offset = HEADER_BYTES + (number - 1) * self._frame_bytes
            count += self._read(offset + 8, 8) == self._salts
        return count

    def _frame(self, number: int) -> _Frame:
        offset = HEADER_BYTES + (number - 1) * self._frame_bytes
        data = self._read(offset, self._frame_bytes)
        content = data[:8] + data[FRAME_HEADER_BYTES:]
        return _Frame(offset, content, data[8:16], _pair(data[16:FRAME_HEADER_BYTES]))

    def _summed(self, data: bytes, start: Sums) -> Sums:
        """SQLite's running sums over `data`, whose length is a multiple of eight."""
        first, second = start
        words = struct.unpack(f"{'>' if self._big_endian else '<'}{len(data) // 4}I", data)
        for index in range(0, len(words), 2):
            first = (first + words[index] + second) % _WORD
            second = (second + words[index + 1] + first) % _WORD
        return first, second


def _pair(data: bytes) -> Sums:
    first, second = struct.unpack(">II", data)
    return first, second


def _one_pair_earlier(weight: Sums) -> Sums:
    first, second = weight
    return (first + second) % _WORD, (first + 2 * second) % _WORD


def _common_factor(difference: Sums, weight: Sums) -> int | None:
    """The number that times `weight` is `difference`. One of two neighbours of the recurrence is always odd."""
    odd = 0 if weight[0] % 2 else 1
    factor = difference[odd] * pow(weight[odd], -1, _WORD) % _WORD
    fits = all(factor * one % _WORD == other for one, other in zip(weight, difference, strict=True))
    return factor if fits else None
