"""Reads what a process says, and knows when to stop waiting for more.

Owns one end of a pipe on behalf of the one task that reads it. It must not know lines or protocols.
"""

import math
from collections.abc import Callable

import trio

from supervisor.process_guard.port import ByteSource


class OutputReader:
    """Standard output of a process.

    A process that ended may have left its pipe to somebody who never closes it. So from `begin_last_reads` on,
    waiting for data, and only that, uses up `last_reads_seconds`; a scope that holds up reading costs nothing of
    it, since what the process said last still counts.
    """

    def __init__(self, source: ByteSource, read_bytes: int, last_reads_seconds: float) -> None:
        self._source = source
        self._read_bytes = read_bytes
        self._seconds_left = last_reads_seconds
        self._in_last_reads = False
        self._reads = False
        self.waiting = trio.CancelScope()
        """Encloses all reads, once: it has a deadline only while a last read waits, and ends them all."""

    def begin_last_reads(self) -> None:
        """The process ended or does not read any more. Harmless when called again."""
        if not self._in_last_reads:
            self._in_last_reads = True
            if self._reads:
                self.waiting.deadline = trio.current_time() + self._seconds_left

    async def read(self) -> bytes:
        """What is there, at least one byte; `b""` is the end, for ever. Only within `waiting`."""
        if self._in_last_reads:
            self.waiting.deadline = trio.current_time() + self._seconds_left
        self._reads = True
        try:
            return await _read_some(self._source, self._read_bytes)
        finally:
            self._reads = False
            if self._in_last_reads:
                self._seconds_left = max(0.0, self.waiting.deadline - trio.current_time())
                self.waiting.deadline = math.inf


async def read_to_end(source: ByteSource, read_bytes: int, feed: Callable[[bytes], None]) -> None:
    """Read to the end of the stream, whoever closes it, so that the process never blocks on this pipe (FC-18)."""
    while data := await _read_some(source, read_bytes):
        feed(data)


async def _read_some(source: ByteSource, read_bytes: int) -> bytes:
    try:
        return await source.read(read_bytes)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return b""
