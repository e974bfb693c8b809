"""One WebSocket as a client: bytes on an anyio stream, framing by wsproto, whole text messages on this side.

Owns the handshake, the bound on a message, and the one place where bytes are written, so that a caller who gives up
never tears a frame. Knows no JSON. Why no ready-made client stands here is decision 0011.
"""

from collections import deque
from typing import Final

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from greenroom_client.endpoint import Endpoint
from greenroom_client.errors import AccessRefused, ConnectionLost, DaemonUnreachable

SUBPROTOCOL: Final = "greenroom.v1"
MESSAGE_CHARACTERS_MAX: Final = 64 * 1024 * 1024
"""Above any `maxServerFrameBytes` or page: a bound against nonsense, not against the daemon."""
READ_BYTES: Final = 64 * 1024
PONGS_WAITING_MAX: Final = 16
CLOSE_SECONDS: Final = 1.0
_NOT_NOW: Final = frozenset({429, 502, 503, 504})
_CLOSABLE: Final = frozenset({ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING})
_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class WebSocket:
    """A connection whose handshake is done. One task reads, one writes; `put` is for all."""

    def __init__(self, stream: ByteStream, where: str) -> None:
        self._stream = stream
        self._where = where
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._accepted = False
        self._messages: deque[str] = deque()
        self._pieces: list[str] = []
        self._characters = 0
        self._outgoing: deque[bytes] = deque()
        self._pongs = 0
        self._wanted = anyio.Event()
        self._writing = False

    async def shake_hands(self, endpoint: Endpoint) -> None:
        """Ask for the WebSocket. Raises `AccessRefused` or `DaemonUnreachable`."""
        request = Request(
            host=endpoint.host_header,
            target=endpoint.resource,
            subprotocols=[SUBPROTOCOL],
            extra_headers=[(b"authorization", f"Bearer {endpoint.token}".encode())],
        )
        try:
            await self._write(self._protocol.send(request))
            while not self._accepted:
                self._take(await self._read())
        except ConnectionLost as lost:
            raise DaemonUnreachable(f"{endpoint}: it hung up before the WebSocket stood") from lost

    async def receive(self, seconds: float | None) -> str:
        """The next whole message. Raises `ConnectionLost`, also when nothing at all comes for so many seconds."""
        while not self._messages:
            try:
                with anyio.fail_after(seconds):
                    data = await self._read()
            except TimeoutError as error:
                raise ConnectionLost(f"the daemon said nothing for {seconds:g} s") from error
            self._take(data)
        return self._messages.popleft()

    def put(self, message: str) -> None:
        """Queue a message to be written. Raises `ConnectionLost` when it is too late."""
        try:
            self._outgoing.append(self._protocol.send(TextMessage(message)))
        except LocalProtocolError as error:
            raise ConnectionLost("the connection is closed") from error
        self._wanted.set()

    async def write_all(self) -> None:
        """Write what is queued until the connection ends, which it tells by `ConnectionLost`. Run once."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            while self._outgoing:
                data = b"".join(self._outgoing)
                self._outgoing.clear()
                self._pongs = 0
                await self._write(data)

    async def aclose(self) -> None:
        """Close it, politely where that is possible; bounded in time."""
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            # Behind half a frame a close frame would be read as part of it.
            if not self._writing and self._protocol.state in _CLOSABLE:
                try:
                    await self._write(self._protocol.send(CloseConnection(1000)))
                except ConnectionLost:
                    pass  # it is gone already
            await anyio.aclose_forcefully(self._stream)

    # --- bytes ----------------------------------------------------------------------------------------------------

    async def _read(self) -> bytes:
        try:
            return await self._stream.receive(READ_BYTES)
        except _BROKEN as error:
            raise ConnectionLost("the connection broke") from error

    async def _write(self, data: bytes) -> None:
        self._writing = True
        try:
            await self._stream.send(data)
        except _BROKEN as error:
            raise ConnectionLost("the connection broke") from error
        self._writing = False

    def _take(self, data: bytes) -> None:
        try:
            self._protocol.receive_data(data)
            for event in self._protocol.events():
                self._handle(event)
        except (RemoteProtocolError, LocalProtocolError) as error:
            if not self._accepted:
                raise AccessRefused(f"what listens at {self._where} is no daemon ({error})") from error
            raise ConnectionLost(f"the daemon broke the protocol ({error})") from error

    def _handle(self, event: Event) -> None:
        match event:
            case TextMessage():
                self._text(event)
            case Ping():
                self._pong(event)
            case AcceptConnection():
                if event.subprotocol != SUBPROTOCOL:
                    raise AccessRefused(f"what listens at {self._where} does not speak {SUBPROTOCOL}")
                self._accepted = True
            case RejectConnection():
                raise _rejected(self._where, event.status_code)
            case CloseConnection() if self._protocol.state is ConnectionState.OPEN:
                # Made up by the library, of bytes that are no frame; a real one leaves another state.
                raise ConnectionLost(f"the daemon broke the protocol ({event.reason})")
            case CloseConnection():
                reason = f" {event.reason}" if event.reason else ""
                raise ConnectionLost(
                    f"the daemon closed the connection ({int(event.code)}{reason})", int(event.code)
                )
            case BytesMessage():
                raise ConnectionLost("the daemon sent a binary frame")
            case _:
                pass  # a pong, or the body of a refusal

    def _text(self, event: TextMessage) -> None:
        self._characters += len(event.data)
        if self._characters > MESSAGE_CHARACTERS_MAX:
            raise ConnectionLost(
                f"the daemon sent a message of more than {MESSAGE_CHARACTERS_MAX} characters"
            )
        self._pieces.append(event.data)
        if event.message_finished:
            self._messages.append("".join(self._pieces))
            self._pieces.clear()
            self._characters = 0

    def _pong(self, ping: Ping) -> None:
        if self._pongs >= PONGS_WAITING_MAX:
            raise ConnectionLost("the daemon pings without reading")
        self._pongs += 1
        self._outgoing.append(self._protocol.send(ping.response()))
        self._wanted.set()


async def open_websocket(endpoint: Endpoint) -> WebSocket:
    """Connect and shake hands; the caller bounds it in time and closes what it gets.

    Raises `DaemonUnreachable` or `AccessRefused`.
    """
    socket = WebSocket(await _open_stream(endpoint), str(endpoint))
    try:
        await socket.shake_hands(endpoint)
    except BaseException:
        await socket.aclose()
        raise
    return socket


async def _open_stream(endpoint: Endpoint) -> ByteStream:
    try:
        if endpoint.unix_path is not None:
            return await anyio.connect_unix(endpoint.unix_path)
        stream = await anyio.connect_tcp(endpoint.host, endpoint.port)
    except OSError as error:
        raise DaemonUnreachable(f"{endpoint}: {error.strerror or error}") from error
    if endpoint.ssl_context is None:
        return stream
    try:
        return await TLSStream.wrap(
            stream,
            hostname=endpoint.host,
            ssl_context=endpoint.ssl_context,
            standard_compatible=False,
        )
    except OSError as error:  # ssl.SSLError is one: a certificate that is not the daemon's
        await anyio.aclose_forcefully(stream)
        raise AccessRefused(f"{endpoint}: no TLS with it ({error})") from error
    except _BROKEN as error:
        raise DaemonUnreachable(f"{endpoint}: it hung up") from error
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


def _rejected(where: str, status: int) -> DaemonUnreachable | AccessRefused:
    if status in _NOT_NOW:
        return DaemonUnreachable(f"{where} answered {status}")
    return AccessRefused(
        f"{where} answered {status}" + (": it does not know the token" if status == 401 else "")
    )
