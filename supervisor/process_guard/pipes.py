"""The daemon's ends of a child's standard streams, as byte sink and byte sources of the port.

Owns non-blocking pipe descriptors and the rule that a torn write ends its stream. It must not know lines,
protocols or processes.
"""

from __future__ import annotations

import os

import trio

from supervisor.process_guard.port import ChildInputClosed

READ_BYTES_MAX = 64 * 1024
"""The capacity of a pipe: more cannot be there at once, so one read a pass takes everything."""


class _PipeEnd:
    def __init__(self, descriptor: int) -> None:
        """Takes over `descriptor`."""
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._busy = False

    def close(self) -> None:
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        trio.lowlevel.notify_closing(descriptor)
        os.close(descriptor)

    def _check_usable(self) -> None:
        if self._descriptor < 0:
            raise trio.ClosedResourceError("this end of the pipe was closed")
        if self._busy:
            raise trio.BusyResourceError("another task is using this end of the pipe")


class PipeSink(_PipeEnd):
    """`ByteSink` over the write end of a pipe.

    SIGPIPE is no concern: CPython ignores it from its start, so that a dead reader is an error of this
    one write (FC-25).
    """

    _broken = False

    async def write(self, data: bytes) -> None:
        """See `ByteSink.write`. A write cancelled before its first attempt leaves the sink whole.

        Returns in the step of its last byte: the child may answer at once, and whoever writes has to be told that
        the bytes are out before anybody reads that answer.
        """
        await trio.lowlevel.checkpoint()
        self._check_usable()
        if self._broken:
            raise trio.BrokenResourceError("an earlier write failed or was cut short")
        self._busy = self._broken = True  # until every byte is written
        try:
            await self._write_all(memoryview(data))
            self._broken = False
        except BrokenPipeError as fault:
            raise ChildInputClosed("the child no longer reads its standard input") from fault
        except OSError as fault:
            raise trio.BrokenResourceError(f"write to the child failed: {fault}") from fault
        finally:
            self._busy = False

    async def _write_all(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._descriptor)


class PipeSource(_PipeEnd):
    """`ByteSource` over the read end of a pipe: one wait and one read a pass (architecture rule 11)."""

    async def read(self, max_bytes: int = READ_BYTES_MAX) -> bytes:
        """See `ByteSource.read`."""
        self._check_usable()
        self._busy = True
        try:
            while True:
                await trio.lowlevel.wait_readable(self._descriptor)
                try:
                    return os.read(self._descriptor, max_bytes)
                except BlockingIOError:
                    continue  # readiness is a hint; the kernel may take it back
                except OSError as fault:
                    raise trio.BrokenResourceError(f"read from the child failed: {fault}") from fault
        finally:
            self._busy = False
