"""The second transport: trio-websocket answers the handshake and reads; chosen by `--transport trio-websocket`.

It exists so that the seam stays a seam and a fault of the first can be told from a fault of the protocol. The
library would write pongs beside our writer and tear a frame when cancelled (architecture §7), so it is given a
stream whose writes land in the client's queue: every byte still leaves through the one writer task.
"""

import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from runtime.api.client_connection import READ_BYTES_MAX, ClientConnection
from runtime.api.frames import CLOSE, PONG, CloseCode
from runtime.api.inbound_frames import BinaryFrame, Closed, InboundFrame, TextFrame, Violation, violation
from runtime.api.transport import ByteStream, ClientHandler, ClientPeer, TransportLimits
from runtime.api.upgrade import Upgrade

# The library stops answering pings while messages lie unread; one is all the dispatcher needs ahead.
_MESSAGES_AHEAD = 1


class QueueingStream(trio.abc.Stream):
    """What the library takes for the socket: repeats the request, reads what follows, and writes into the queue."""

    def __init__(self, connection: ClientConnection, upgrade: Upgrade) -> None:
        self._connection = connection
        self._head = upgrade.request()
        self._trailing = upgrade.trailing
        self._accepted = trio.Event()
        self._closed = False
        self.close_sent = False
        """Whether the library has sent a close frame. It is not queued: closing is `ClientConnection`'s."""

    def accepted(self) -> None:
        """The 101 answer is queued: what the client sent after its request may be read now."""
        self._accepted.set()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """The head first, whole; then, once accepted, what followed it; then the socket."""
        if self._head:
            head, self._head = self._head, b""
            return head
        # Bytes given before the answer would be taken for a second request and lost.
        await self._accepted.wait()
        if self.close_sent or self._closed:
            raise trio.ClosedResourceError
        if self._trailing:
            trailing, self._trailing = self._trailing, b""
            return trailing
        return await self._connection.read_some()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Queues one frame, or the handshake's answer; never waits."""
        frame = bytes(data)
        if not self._accepted.is_set():
            self._connection.queue.put_control(frame)
        elif frame[0] == PONG:
            self._connection.queue.put_pong(frame)
        elif frame[0] == CLOSE:
            self._closed = True
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        """The queue always takes what the library sends."""
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        """The library has done with the stream; the socket is `ClientConnection`'s to close."""
        self._closed = True
        await trio.lowlevel.checkpoint()


class TrioWebsocketReader:
    """The library's messages as frames, and its ways to end as ours."""

    def __init__(self, websocket: WebSocketConnection, stream: QueueingStream, frame_bytes_max: int) -> None:
        self._websocket = websocket
        self._stream = stream
        self._frame_bytes_max = frame_bytes_max

    async def next_frame(self) -> InboundFrame | Violation:
        """The next message."""
        try:
            message = await self._websocket.get_message()
        except ConnectionClosed as ended:
            return self._ended(ended)
        data = message.encode() if isinstance(message, str) else message
        # The library counts characters, we count bytes.
        if len(data) > self._frame_bytes_max:
            return violation(CloseCode.TOO_BIG)
        return TextFrame(data) if isinstance(message, str) else BinaryFrame(data)

    def _ended(self, ended: ConnectionClosed) -> Closed | Violation:
        if ended.reason is None:
            return Closed(CloseCode.ABNORMAL)
        code = int(ended.reason.code)
        # It answers a client's close frame, but not text that is no text; what is too big it closes itself.
        broken = code in (CloseCode.INVALID_TEXT, CloseCode.PROTOCOL_ERROR) and not self._stream.close_sent
        if broken or code == CloseCode.TOO_BIG:
            return violation(CloseCode(code))
        return Closed(code, ended.reason.reason or "")


async def serve_client(
    stream: ByteStream,
    upgrade: Upgrade,
    peer: ClientPeer,
    handle: ClientHandler,
    limits: TransportLimits,
) -> None:
    """Carries one client; see `ServeClient`."""
    connection = ClientConnection(stream, peer, limits)

    async def open_reader(nursery: trio.Nursery) -> TrioWebsocketReader:
        queueing = QueueingStream(connection, upgrade)
        request = await wrap_server_stream(
            nursery,
            queueing,
            message_queue_size=_MESSAGES_AHEAD,
            max_message_size=limits.max_frame_bytes,
            receive_buffer_size=READ_BYTES_MAX,
        )
        websocket = await request.accept(subprotocol=upgrade.subprotocol)
        queueing.accepted()
        return TrioWebsocketReader(websocket, queueing, limits.max_frame_bytes)

    await connection.run(handle, open_reader)
