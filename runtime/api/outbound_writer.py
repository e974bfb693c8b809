"""The one task that writes to a client: takes what is ready, joins it, and hands it to the kernel.

A plain non-blocking send comes first; the task waits only when the kernel is full (architecture rule 11). Owns the
write deadline: no byte taken for `client_send_deadline_seconds` while there is something to write is a client that
is too slow (AP-021, FC-16). What then happens to the connection is decided in `client_connection.py`.
"""

from collections.abc import Awaitable, Callable, Iterator

import trio

from runtime.api.outbound_queue import OutboundQueue
from runtime.api.transport import ByteStream, EagerByteStream, TransportLimits
from supervisor.failpoints import failpoints

JOINED_BYTES_MAX = 64 * 1024
"""How much is joined into one write: beyond it a copy costs more than a system call."""


class ClientTooSlow(Exception):
    """Raised when a client took nothing within the deadline, and nothing either in the time a close may take."""


class OutboundWriter:
    """Empties `queue` into `stream`, in order.

    `on_stalled` is called once, in the writer's step, when the deadline has passed; `on_progress` when a write that
    had to wait went on, which proves that the other end is alive.
    """

    def __init__(
        self,
        stream: ByteStream,
        queue: OutboundQueue,
        limits: TransportLimits,
        *,
        on_stalled: Callable[[], None],
        on_progress: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._eager = stream if isinstance(stream, EagerByteStream) else None
        self._queue = queue
        self._limits = limits
        self._on_stalled = on_stalled
        self._on_progress = on_progress

    async def run(self) -> None:
        """Returns when the queue has finished and its close frame is written.

        Raises `ClientTooSlow`, or what the stream raises when the connection is lost.
        """
        while True:
            for chunk in _joined(self._queue.take(JOINED_BYTES_MAX)):
                if failpoints.on:
                    await failpoints.reach("client.write.before")
                if self._eager is None:
                    await self._write(self._stream, chunk)
                else:
                    await self._write_eagerly(self._eager, chunk)
                if failpoints.on:
                    await failpoints.reach("client.write.after")
            if self._queue.finished:
                return
            await self._queue.wait_ready()

    async def _write_eagerly(self, stream: EagerByteStream, chunk: bytes) -> None:
        rest = memoryview(chunk)
        waited = stalled = False
        while True:
            count = stream.try_send(rest)
            if count:
                self._queue.written(count)
                rest = rest[count:]
                if waited:
                    self._on_progress()
            if not rest:
                break
            waited = self._queue.congested = True
            if await self._in_time(stream.wait_sendable, stalled=stalled):
                continue
            if stalled:
                raise ClientTooSlow
            # A torn frame cannot be followed by a close frame: the time of a close is given to end it.
            stalled = True
            self._on_stalled()
        self._queue.congested = waited

    async def _write(self, stream: ByteStream, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:
            piece = rest[:JOINED_BYTES_MAX]

            async def send(piece: memoryview = piece) -> None:
                await stream.send_all(piece)

            if not await self._in_time(send, stalled=False):
                # How much of the piece went out is unknown: this connection cannot be written to any more.
                self._on_stalled()
                raise ClientTooSlow
            self._queue.written(len(piece))
            rest = rest[len(piece) :]
            self._on_progress()

    async def _in_time(self, wait: Callable[[], Awaitable[None]], *, stalled: bool) -> bool:
        limits = self._limits
        deadline_seconds = limits.close_timeout_seconds if stalled else limits.client_send_deadline_seconds
        with trio.move_on_after(deadline_seconds) as scope:
            await wait()
        return not scope.cancelled_caught


def _joined(pieces: list[bytes]) -> Iterator[bytes]:
    """Neighbouring small pieces as one; a piece beyond `JOINED_BYTES_MAX` stays as it is, uncopied."""
    if not pieces:
        return
    if len(pieces) == 1:
        yield pieces[0]
        return
    small: list[bytes] = []
    for piece in pieces:
        if len(piece) <= JOINED_BYTES_MAX:
            small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small.clear()
        yield piece
    if small:
        yield b"".join(small)
