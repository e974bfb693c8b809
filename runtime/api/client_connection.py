"""One client's connection: what both transports share, from the first byte written to the closed socket.

Owns the writer task, the pings, the closing handshake and the rule that the first reason to end stands. Reading
frames is the transport's (`FrameReader`); what frames mean is the dispatcher's. Nothing here outlives `run`, and a
cancelled or late write ends this connection and no other (architecture rule 14).
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

import attrs
import trio

from runtime.api.frames import CloseCode, close_frame, ping_frame, pong_frame
from runtime.api.inbound_frames import BinaryFrame, Closed, InboundFrame, TextFrame, Violation
from runtime.api.outbound_queue import OutboundQueue
from runtime.api.outbound_writer import ClientTooSlow, OutboundWriter
from runtime.api.transport import ByteStream, ClientHandler, ClientPeer, TransportLimits

READ_BYTES_MAX = 64 * 1024
_FRAMES_BETWEEN_CHECKPOINTS = 16
_DISCONNECT_SECONDS = 1.0
_QUIET_SECONDS = 0.25


class FrameReader(Protocol):
    """Where messages come from. `Closed` is the client's close frame, or 1006 for an end without one."""

    async def next_frame(self) -> InboundFrame | Violation:
        """The next message; safe to cancel."""
        ...


OpenReader = Callable[[trio.Nursery], Awaitable[FrameReader]]
"""Queues the answer to the handshake and gives the reader. May start tasks; has `hello_timeout_seconds`."""


@attrs.frozen
class _Ending:
    closed: Closed
    answer_expected: bool
    """Whether the client still has to send its close frame."""
    parsed: bool
    """Whether what it sends can still be parsed."""


class ClientConnection:
    """Implements `ClientTransport` over any byte stream."""

    def __init__(self, stream: ByteStream, peer: ClientPeer, limits: TransportLimits) -> None:
        self.peer = peer
        self.limits = limits
        self.queue = OutboundQueue(limits.client_queue_bytes)
        self._stream = stream
        self._reader: FrameReader | None = None
        self._held: TextFrame | BinaryFrame | None = None
        self._frames_since_checkpoint = 0
        self._receiving: trio.CancelScope | None = None
        self._receive_left = trio.Event()
        self._ending: _Ending | None = None
        self._ending_begun = trio.Event()
        self._writer_done = trio.Event()
        self._lost = False
        self._ended = trio.Event()
        self._alive_at = self._reading_since = trio.current_time()

    @property
    def closed(self) -> Closed | None:
        """Why the connection ends, None while it lives."""
        return None if self._ending is None else self._ending.closed

    async def wait_closed(self) -> None:
        """Returns when `closed` is set."""
        await self._ending_begun.wait()

    def close(self, code: int, reason: str = "") -> None:
        """Ends the connection after what is queued; bounded by `close_timeout_seconds`."""
        self._end(Closed(code, reason), flush=True)

    async def receive(self) -> InboundFrame:
        """See `ClientTransport.receive`."""
        assert self._receiving is None, "one task receives"
        await self._yield_now_and_then()
        if self._ending is None and self._reader is not None:
            with trio.CancelScope() as self._receiving:
                try:
                    return await self._receive(self._reader)
                finally:
                    self._receiving = None
                    self._receive_left.set()
        # Also the checkpoint of a handler that asks again and again after the end.
        await self.wait_closed()
        assert self._ending is not None
        return self._ending.closed

    async def run(self, handle: ClientHandler, open_reader: OpenReader) -> None:
        """Carries the connection: returns when `handle` has returned and the socket is closed."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write)
                nursery.start_soon(self._finish)
                with trio.move_on_after(self.limits.hello_timeout_seconds):
                    self._reader = await open_reader(nursery)
                if self._reader is None:
                    self._lose()
                else:
                    nursery.start_soon(self._watch_for_life)
                    await handle(self)
                    self.close(CloseCode.NORMAL)
                await self._ended.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._lose()
            await self._disconnect()

    # For the readers.

    async def read_some(self) -> bytes | bytearray:
        """Bytes from the client, a sign of its life; empty when the connection has ended."""
        self._reading_since = trio.current_time()
        try:
            data = await self._stream.receive_some(READ_BYTES_MAX)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""
        finally:
            # While nobody reads, silence says nothing about the client.
            self._reading_since = float("inf")
        self._alive_at = trio.current_time()
        return data

    def pong(self, payload: bytes) -> None:
        """Answers a ping, through the writer like everything else."""
        self.queue.put_pong(pong_frame(payload))

    # Receiving.

    async def _receive(self, reader: FrameReader) -> InboundFrame:
        if self._held is None:
            match await reader.next_frame():
                case Closed() as closed:
                    return self._client_ended(closed)
                case Violation(code, reason):
                    return self._end(Closed(code, reason), flush=True, parsed=False)
                case frame:
                    # Kept here while it waits, so that a cancelled `receive` loses nothing.
                    self._held = frame
        await self.queue.wait_below_half()
        if self._ending is not None:
            return self._ending.closed
        frame, self._held = self._held, None
        return frame

    async def _yield_now_and_then(self) -> None:
        # A read may hold a thousand small messages: they must not be served in one go.
        self._frames_since_checkpoint += 1
        if self._frames_since_checkpoint >= _FRAMES_BETWEEN_CHECKPOINTS:
            self._frames_since_checkpoint = 0
            await trio.lowlevel.checkpoint()

    # Ending.

    def _end(self, closed: Closed, *, flush: bool, parsed: bool = True) -> Closed:
        """Our wish to end; the first reason stands."""
        frame = close_frame(closed.code, closed.reason)
        return self._begin_ending(_Ending(closed, answer_expected=True, parsed=parsed), frame, flush=flush)

    def _client_ended(self, closed: Closed) -> Closed:
        """The client closed, or its connection is gone: what is queued for it has no reader any more."""
        frame = None if closed.code == CloseCode.ABNORMAL else close_frame(closed.code)
        return self._begin_ending(_Ending(closed, answer_expected=False, parsed=True), frame, flush=False)

    def _lose(self) -> None:
        """Nothing can be written any more, or nobody wants to."""
        self._lost = True
        self._client_ended(Closed(CloseCode.ABNORMAL))
        self.queue.close(None, flush=False)

    def _begin_ending(self, ending: _Ending, frame: bytes | None, *, flush: bool) -> Closed:
        if self._ending is None:
            self._ending = ending
            self.queue.close(frame, flush=flush)
            self._ending_begun.set()
            if self._receiving is not None:
                self._receive_left = trio.Event()
                self._receiving.cancel()
            else:
                self._receive_left.set()
        return self._ending.closed

    async def _finish(self) -> None:
        """The closing handshake: our frame out, the client's in, the socket closed, within the time of a close."""
        await self._ending_begun.wait()
        assert self._ending is not None
        with trio.move_on_after(self.limits.close_timeout_seconds):
            await self._writer_done.wait()
            await self._receive_left.wait()
            if self._ending.answer_expected and not self._lost:
                await self._discard_the_rest(parsed=self._ending.parsed)
        await self._disconnect()
        self._ended.set()

    async def _discard_the_rest(self, *, parsed: bool) -> None:
        # Closing a socket with bytes unread would reset it, and the client might never see our close frame.
        if parsed and self._reader is not None:
            while not isinstance(await self._reader.next_frame(), Closed | Violation):
                pass
            return
        # Its close frame cannot be told from the rest any more, but after it a client says nothing.
        data: bytes | bytearray = b"more"
        while data:
            with trio.move_on_after(_QUIET_SECONDS) as scope:
                data = await self.read_some()
            if scope.cancelled_caught:
                return

    async def _disconnect(self) -> None:
        with trio.move_on_after(_DISCONNECT_SECONDS, shield=True):
            await self._stream.aclose()

    # Tasks.

    async def _write(self) -> None:
        writer = OutboundWriter(
            self._stream, self.queue, self.limits, on_stalled=self._stalled, on_progress=self._progressed
        )
        try:
            await writer.run()
        except (trio.BrokenResourceError, trio.ClosedResourceError, ClientTooSlow):
            self._lose()
        finally:
            self._writer_done.set()

    def _stalled(self) -> None:
        self._end(Closed(CloseCode.TOO_SLOW, "too slow"), flush=False)

    def _progressed(self) -> None:
        self._alive_at = trio.current_time()

    async def _watch_for_life(self) -> None:
        """Pings; a client that says nothing for a whole period after a ping is gone (contract §2: 4002).

        Counted only while we read, and only from a ping that left: a client we do not read from, or cannot write
        to, is judged by the write deadline.
        """
        pinged_at = float("inf")
        while self._ending is None:
            await trio.sleep(self.limits.ping_seconds)
            if self.queue.ping_waiting:
                continue
            if self._silent_since(pinged_at):
                # After a pause of the whole process the pong may lie there unread: its reader goes first.
                await trio.lowlevel.checkpoint()
                if self._silent_since(pinged_at):
                    self._end(Closed(CloseCode.NO_PONG, "no pong"), flush=False)
            self.queue.put_ping(ping_frame())
            pinged_at = trio.current_time()

    def _silent_since(self, pinged_at: float) -> bool:
        return self._alive_at < pinged_at and self._reading_since <= pinged_at < float("inf")
