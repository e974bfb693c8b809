"""A client's connection without a socket: whole messages in memory, for a program that has the controller within.

The third `ClientTransport`. Nothing of HTTP is here: who the client is, is said by whoever embeds the controller
(RT-145). The queue out is the one every client has, so slow consumers are treated alike; its frames are taken apart
again on the way.
"""

from collections import deque

import trio

from runtime.api.frames import CLOSE, TEXT, CloseCode, close_frame, own_frames
from runtime.api.inbound_frames import Closed, InboundFrame, TextFrame
from runtime.api.outbound_queue import OutboundQueue
from runtime.api.transport import ClientPeer, TransportLimits

TAKEN_BYTES = 64 * 1024


class InProcessTransport:
    """Both ends of one connection: the controller holds it as its `ClientTransport`, the program uses `send`,
    `messages` and `hang_up`."""

    def __init__(self, peer: ClientPeer, limits: TransportLimits) -> None:
        self.peer = peer
        self.limits = limits
        self.queue = OutboundQueue(limits.client_queue_bytes)
        self.closed: Closed | None = None
        self._requests: deque[bytes] = deque()
        self._news = trio.Event()
        self._ended = trio.Event()

    # --- the controller's end -------------------------------------------------------------------------------------

    async def receive(self) -> InboundFrame:
        """See `ClientTransport.receive`."""
        await trio.lowlevel.checkpoint()
        while self.closed is None:
            await self.queue.wait_below_half()
            if self._requests:
                return TextFrame(self._requests.popleft())
            self._news = trio.Event()
            await self._news.wait()
        return self.closed

    async def wait_closed(self) -> None:
        """Returns when `closed` is set."""
        await self._ended.wait()

    def close(self, code: int, reason: str = "") -> None:
        """Ends the connection after what is queued; the first reason given stands."""
        if self.closed is None:
            self.queue.close(close_frame(code, reason), flush=True)
            self._end(Closed(code, reason))

    # --- the program's end ----------------------------------------------------------------------------------------

    def send(self, message: str) -> bool:
        """A message to the controller, bounded by the requests a client has in flight; False when it is too late."""
        if self.closed is not None:
            return False
        self._requests.append(message.encode())
        self._news.set()
        return True

    async def messages(self) -> list[str]:
        """What the controller said since the last call; empty at the end."""
        said: list[str] = []
        while not said:
            await self.queue.wait_ready()
            data = b"".join(self.queue.take(TAKEN_BYTES))
            self.queue.written(len(data))
            for first_byte, payload in own_frames(data):
                if first_byte == TEXT:
                    said.append(payload.decode())
                elif first_byte == CLOSE:
                    return said
            if self.queue.finished:
                break
        return said

    def hang_up(self) -> None:
        """The program wants no more of it."""
        self.queue.close(None, flush=False)
        if self.closed is None:
            self._end(Closed(CloseCode.NORMAL))

    def _end(self, closed: Closed) -> None:
        self.closed = closed
        self._news.set()
        self._ended.set()
