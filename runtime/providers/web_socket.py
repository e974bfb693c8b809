"""A provider that runs already, reached over a WebSocket: each message is a line, both ways.

Owns the connection of trio-websocket and its background task. It starts and ends no process, dials once, and never dials
again by itself: a lost connection is a lost connection, and the pool makes another when a session needs one. The
token of an address goes into the handshake and nowhere else.
"""

import ssl
from collections.abc import Awaitable, Callable
from typing import cast

import attrs
import h11
import structlog
import trio
from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    WebSocketConnection,
    wrap_client_stream,
)
from wsproto.utilities import ProtocolError

from runtime.providers.launch import LaunchSpecification, ServerAddress
from runtime.providers.records import ReadRecord, RecordLimits
from runtime.providers.transport import ConnectFailed, ProcessTransports, ProviderTransport
from supervisor.process_guard.port import ByteSink, ByteSource, LadderTimes

TOO_BIG_CODE = 1009
_RECEIVE_BYTES = 64 * 1024
_GOODBYE_CODE = 1000
_BROKEN = (
    ConnectionClosed,
    ProtocolError,
    h11.ProtocolError,
    trio.BrokenResourceError,
    trio.ClosedResourceError,
)
"""What the library's reader ends with when the other side keeps to no protocol; a bad answer to the head included."""

log = structlog.get_logger(__name__)

Stream = trio.SocketStream | trio.SSLStream[trio.SocketStream]


@attrs.define(eq=False)
class WebSocketInput:
    """Implements `ByteSink`: one message for each line. A write that was cancelled half way ends the connection."""

    _socket: WebSocketConnection
    _torn: bool = False

    async def write(self, data: bytes) -> None:
        """See `ByteSink`."""
        if self._torn:
            raise trio.BrokenResourceError("an earlier message may be torn")
        self._torn = True
        for line in data.splitlines():
            try:
                await self._socket.send_message(line.decode())
            except ConnectionClosed as fault:
                raise trio.BrokenResourceError("the connection is closed") from fault
        self._torn = False

    def close(self) -> None:
        """Nothing: the two directions of a WebSocket end together."""


@attrs.define(eq=False)
class WebSocketOutput:
    """Implements `ByteSource`: messages come out as lines, whatever line ends were inside them."""

    _socket: WebSocketConnection
    _rest: memoryview = attrs.field(factory=lambda: memoryview(b""))

    async def read(self, max_bytes: int) -> bytes:
        """See `ByteSource`."""
        if not self._rest:
            try:
                message = await self._socket.get_message()
            except ConnectionClosed:
                return b""
            data = message.encode() if isinstance(message, str) else message
            # Between tokens a line end is only white space, and inside of a string there is none.
            self._rest = memoryview(data.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
        taken, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        return bytes(taken)

    def close(self) -> None:
        """Nothing: see `WebSocketTransport.close`."""


class WebSocketTransport:
    """Implements `ProviderTransport`."""

    def __init__(self, address: ServerAddress, socket: WebSocketConnection, reading: "Reading") -> None:
        self.label = f"connection to {address.authority}"
        self.input: ByteSink = WebSocketInput(socket)
        self.output: ByteSource = WebSocketOutput(socket)
        self._socket = socket
        self._reading = reading

    @property
    def pid(self) -> int | None:
        """None: the process is somebody else's."""
        return None

    @property
    def errors(self) -> ByteSource | None:
        """None: there is no way for that."""
        return None

    @property
    def outlives_us(self) -> bool:
        """Always."""
        return True

    @property
    def ended(self) -> str | None:
        """The code it was closed with."""
        if not self._reading.over.is_set():
            return None
        reason = self._socket.closed
        if reason is None:
            return "connection broken"
        return "message too large" if reason.code == TOO_BIG_CODE else f"close code {reason.code}"

    async def wait_ended(self) -> None:
        """See `ProviderTransport`."""
        await self._reading.over.wait()

    async def read_record(self, wanted: ReadRecord, limits: RecordLimits) -> object | None:
        """None: the server's files may be on another machine."""
        return None

    def kill(self) -> None:
        """See `ProviderTransport`."""
        self._reading.cancel()

    async def close(self, times: LadderTimes) -> None:
        """Say goodbye and wait for the answer, within the time for that; then the socket is closed either way."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(times.protocol_close_seconds):
                await self._socket.aclose(_GOODBYE_CODE)
            self._reading.cancel()
            await self._reading.over.wait()


class Reading:
    """The background task of one connection: as long as it runs the connection is open, and then its socket is closed.

    It stands in for the nursery that trio-websocket wants to start the task in, since nothing else tells of its end: a
    server that leaves in the middle of the handshake would be waited for until the deadline.
    """

    def __init__(self, carrier: trio.Nursery, stream: Stream) -> None:
        self.over = trio.Event()
        self.shaking_hands = trio.CancelScope()
        self.refusal: ConnectFailed | None = None
        self._scope = trio.CancelScope()
        self._carrier = carrier
        self._stream = stream

    def start_soon(self, read: Callable[[], Awaitable[None]]) -> None:
        """What the library uses of a nursery."""
        self._carrier.start_soon(self._run, read)

    def cancel(self) -> None:
        """Close the socket now."""
        self._scope.cancel()

    async def _run(self, read: Callable[[], Awaitable[None]]) -> None:
        try:
            with self._scope:
                await read()
        except ConnectionRejected as refusal:
            self.refusal = ConnectFailed("the handshake was refused", refusal.status_code)
        except _BROKEN as fault:
            log.info("connection broken", fault=type(fault).__name__)
        finally:
            with trio.CancelScope(shield=True):  # forceful: it never waits for the other side
                await trio.aclose_forcefully(self._stream)
            self.over.set()
            self.shaking_hands.cancel()


@attrs.frozen
class Transports:
    """Implements `TransportOpener`: a program is started, an address is dialled."""

    processes: ProcessTransports
    message_bytes_max: int

    async def open(self, launch: LaunchSpecification, carrier: trio.Nursery) -> ProviderTransport:
        """See `TransportOpener`."""
        if launch.server is None:
            return await self.processes.open(launch, carrier)
        return await dial(launch.server, carrier, self.message_bytes_max)


async def dial(address: ServerAddress, carrier: trio.Nursery, message_bytes_max: int) -> WebSocketTransport:
    """Connect and shake hands, once; the caller has a deadline for both.

    Raises:
        ConnectFailed: nobody is there, or it is no server for us.
    """
    try:
        stream = await _connect(address)
    except (OSError, ssl.SSLError, trio.BrokenResourceError) as fault:
        raise ConnectFailed(f"not connected: {type(fault).__name__}") from fault
    reading = Reading(carrier, stream)
    headers = [] if address.token is None else [(b"Authorization", b"Bearer " + address.token.encode())]
    socket: WebSocketConnection | None = None
    try:
        with reading.shaking_hands:
            socket = await wrap_client_stream(
                cast("trio.Nursery", reading),
                stream,
                address.authority,
                address.path,
                extra_headers=headers,
                message_queue_size=1,
                max_message_size=message_bytes_max,
                receive_buffer_size=_RECEIVE_BYTES,
            )
    finally:
        if socket is None:
            reading.cancel()
    if socket is None:
        raise reading.refusal or ConnectFailed("it closed the connection before the handshake was done")
    return WebSocketTransport(address, socket, reading)


async def _connect(address: ServerAddress) -> Stream:
    stream = await trio.open_tcp_stream(address.host, address.port)
    if not address.encrypted:
        return stream
    encrypted = trio.SSLStream(
        stream, ssl.create_default_context(), server_hostname=address.host, https_compatible=True
    )
    try:
        await encrypted.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return encrypted
