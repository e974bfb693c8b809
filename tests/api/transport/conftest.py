"""A front on real loopback sockets, run with each transport, and clients that can misbehave."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import cycle
from typing import Any

import attrs
import pytest
import structlog
import trio
import trio_websocket

from runtime.api import trio_websocket_transport, wsproto_transport
from runtime.api.authentication import Principal, TokenStore, token_digest
from runtime.api.front import Front, HttpRoute
from runtime.api.inbound_frames import BinaryFrame, Closed, TextFrame
from runtime.api.listen_address import ListenAddress, TcpAddress
from runtime.api.listener import SocketListener, bind
from runtime.api.origin_policy import OriginPolicy
from runtime.api.transport import ClientHandler, ClientTransport, StreamHandler, TransportLimits
from runtime.api.upgrade import ServeClient

ADMIN_TOKEN = "admin-token"
READ_TOKEN = "read-token"
KEY = "AAAAAAAAAAAAAAAAAAAAAA=="
IMPLEMENTATIONS: dict[str, ServeClient] = {
    "wsproto": wsproto_transport.serve_client,
    "trio-websocket": trio_websocket_transport.serve_client,
}


def principals() -> list[Principal]:
    return [
        Principal("first", "admin", token_digest=token_digest(ADMIN_TOKEN)),
        Principal("reader", "read", token_digest=token_digest(READ_TOKEN)),
    ]


@pytest.fixture(autouse=True)
def captured_logs() -> Any:
    with structlog.testing.capture_logs() as logs:
        yield logs


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def serve_client(request: pytest.FixtureRequest) -> ServeClient:
    return IMPLEMENTATIONS[request.param]


def masked_frame(opcode: int, payload: bytes = b"", *, fin: bool = True) -> bytes:
    """A client's frame, as a client must send it: masked."""
    size = len(payload)
    header = bytes([opcode | (0x80 if fin else 0)])
    if size < 126:
        header += bytes([0x80 | size])
    elif size < 65536:
        header += bytes([0x80 | 126]) + size.to_bytes(2, "big")
    else:
        header += bytes([0x80 | 127]) + size.to_bytes(8, "big")
    mask = b"\x37\xfa\x21\x3d"
    return header + mask + bytes(byte ^ key for byte, key in zip(payload, cycle(mask), strict=False))


class RawClient:
    """A client that sends exactly the bytes it is told to."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def read_response(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and, by its announced length, body."""
        while b"\r\n\r\n" not in self._buffer:
            await self._fill()
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        self._buffer = bytearray(rest)
        length = int(headers.get("content-length", "0"))
        while len(self._buffer) < length:
            await self._fill()
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return int(lines[0].split()[1]), headers, body

    async def read_frame(self) -> tuple[int, bytes]:
        """First byte and payload of the server's next frame; raises EOFError at the end."""
        first, size = await self._take(2)
        assert size < 128, "a server does not mask"
        if size == 126:
            size = int.from_bytes(await self._take(2), "big")
        elif size == 127:
            size = int.from_bytes(await self._take(8), "big")
        return first, await self._take(size)

    async def read_close(self) -> tuple[int, str]:
        """Code and reason of the server's close frame; what comes before it is skipped."""
        while True:
            first, payload = await self.read_frame()
            if first == 0x88:
                return int.from_bytes(payload[:2], "big"), payload[2:].decode()

    async def read_to_end(self) -> bytes:
        """Everything up to the end of the connection."""
        try:
            while True:
                await self._fill()
        except (EOFError, trio.BrokenResourceError):
            return bytes(self._buffer)

    async def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            await self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    async def _fill(self) -> None:
        data = await self.stream.receive_some(65536)
        if not data:
            raise EOFError
        self._buffer += data


def request_bytes(method: str = "GET", target: str = "/v1/ws", *headers: str) -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", *headers, "", ""]).encode()


@attrs.define
class Server:
    front: Front
    listener: SocketListener
    tokens: TokenStore
    limits: TransportLimits
    clients: list[ClientTransport] = attrs.field(factory=list)
    ended: list[Closed | None] = attrs.field(factory=list)

    @property
    def port(self) -> int:
        assert isinstance(self.listener.address, TcpAddress)
        return self.listener.address.port

    def upgrade_headers(
        self, *more: str, host: str | None = None, token: str | None = ADMIN_TOKEN
    ) -> list[str]:
        return [
            f"Host: {host or f'127.0.0.1:{self.port}'}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {KEY}",
            "Sec-WebSocket-Version: 13",
            *([f"Authorization: Bearer {token}"] if token is not None else []),
            *more,
        ]

    @asynccontextmanager
    async def connect_raw(self) -> AsyncIterator[RawClient]:
        async with await trio.open_tcp_stream("127.0.0.1", self.port) as stream:
            yield RawClient(stream)

    @asynccontextmanager
    async def connect_upgraded(self) -> AsyncIterator[RawClient]:
        async with self.connect_raw() as client:
            await client.send(request_bytes("GET", "/v1/ws", *self.upgrade_headers()))
            status, _, _ = await client.read_response()
            assert status == 101
            yield client

    def connect(self, **options: Any) -> AbstractAsyncContextManager[trio_websocket.WebSocketConnection]:
        options.setdefault("subprotocols", ["greenroom.v1"])
        options.setdefault("extra_headers", [(b"Authorization", b"Bearer " + ADMIN_TOKEN.encode())])
        options.setdefault("max_message_size", 64 * 1024 * 1024)
        options.setdefault("use_ssl", False)
        return trio_websocket.open_websocket(
            "127.0.0.1", self.port, "/v1/ws", disconnect_timeout=2, **options
        )

    async def ask(
        self, *, method: str = "GET", target: str = "/", headers: Sequence[str] = ()
    ) -> tuple[int, bytes]:
        """One plain HTTP request: status and body."""
        async with self.connect_raw() as client:
            host = (
                []
                if any(line.lower().startswith("host:") for line in headers)
                else [f"Host: 127.0.0.1:{self.port}"]
            )
            await client.send(request_bytes(method, target, *host, *headers))
            status, _, body = await client.read_response()
            return status, body


async def echo(client: ClientTransport) -> None:
    """Answers each text with itself, a binary frame with a word."""
    while True:
        match await client.receive():
            case TextFrame(text):
                client.queue.put_reply(text)
            case BinaryFrame():
                client.queue.put_reply(b"refused")
            case Closed():
                return


StartServer = Callable[..., Awaitable[Server]]


@pytest.fixture
async def start_server(serve_client: ServeClient, nursery: trio.Nursery) -> AsyncIterator[StartServer]:
    """Starts a front on a free port (or at `address`); it ends with the test."""
    listeners: list[SocketListener] = []

    async def start(
        handle: ClientHandler = echo,
        *,
        address: ListenAddress | None = None,
        routes: Sequence[HttpRoute] = (),
        origins: OriginPolicy | None = None,
        tokens: TokenStore | None = None,
        tls: ssl.SSLContext | None = None,
        serve_with: Callable[[Front], StreamHandler] = lambda front: front.serve,
        **limits: Any,
    ) -> Server:
        async def recorded(client: ClientTransport) -> None:
            server.clients.append(client)
            try:
                await handle(client)
            finally:
                server.ended.append(client.closed)

        store = tokens or TokenStore(principals())
        transport_limits = TransportLimits(**limits)
        front = Front(
            limits=transport_limits,
            authenticator=store,
            origins=origins or OriginPolicy(),
            routes=routes,
            serve_client=serve_client,
            handle=recorded,
        )
        listener = await bind(address or TcpAddress("127.0.0.1", 0), tls=tls)
        listeners.append(listener)
        listener.listen()
        server = Server(front, listener, store, transport_limits)
        nursery.start_soon(listener.serve, serve_with(front))
        return server

    yield start
    for listener in listeners:
        listener.close()


@pytest.fixture(name="masked")
def masked_frame_fixture() -> Callable[..., bytes]:
    return masked_frame


@pytest.fixture(name="request_text")
def request_bytes_fixture() -> Callable[..., bytes]:
    return request_bytes


@pytest.fixture(name="principals")
def principals_fixture() -> Callable[[], list[Principal]]:
    return principals
