"""Addresses, sockets and socket files."""

import errno
import socket
import ssl
import stat
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
import trio_websocket

from runtime.api.listen_address import (
    AddressForbidden,
    AddressInvalid,
    TcpAddress,
    UnixAddress,
    check_reach,
    console_url,
    parse_listen_address,
    websocket_url,
)
from runtime.api.listener import AddressInUse, SocketListener, bind
from runtime.api.transport import ByteStream, EagerByteStream

pytestmark = pytest.mark.timeout(30)
LOOPBACK = TcpAddress("127.0.0.1", 0)
TLS_FOLDER = Path(__file__).parent / "tls"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:4517", TcpAddress("127.0.0.1", 4517)),
        ("localhost:0", TcpAddress("127.0.0.1", 0)),
        ("[::1]:4517", TcpAddress("::1", 4517)),
        ("unix:/run/greenroom.sock", UnixAddress("/run/greenroom.sock")),
        ("unix:a:b", UnixAddress("a:b")),
    ],
)
def test_an_address_is_read(text: str, address: object):
    assert parse_listen_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4517",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:65536",
        "host.example:1",
        "unix:",
        ":1",
    ],
)
def test_what_is_no_address_is_invalid(text: str):
    with pytest.raises(AddressInvalid):
        parse_listen_address(text)


@pytest.mark.case("FC-36")
@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "::", "2001:db8::1"])
def test_an_address_others_can_reach_needs_both_leave_and_tls(host: str):
    address = TcpAddress(host, 4517)
    for allow_remote, encrypted in ((False, False), (False, True), (True, False)):
        with pytest.raises(AddressForbidden, match="other machines could connect"):
            check_reach(address, allow_remote=allow_remote, encrypted=encrypted)
    check_reach(address, allow_remote=True, encrypted=True)


@pytest.mark.parametrize("address", [TcpAddress("127.0.0.1", 1), TcpAddress("::1", 1), UnixAddress("x")])
def test_loopback_needs_no_leave(address: TcpAddress | UnixAddress):
    check_reach(address, allow_remote=False, encrypted=False)


def test_urls_are_those_of_the_contract():
    loopback, six, unix = TcpAddress("127.0.0.1", 4517), TcpAddress("::1", 4517), UnixAddress("/run/g.sock")
    assert websocket_url(loopback, "/v1/ws", encrypted=False) == "ws://127.0.0.1:4517/v1/ws"
    assert websocket_url(six, "/v1/ws", encrypted=True) == "wss://[::1]:4517/v1/ws"
    assert websocket_url(unix, "/v1/ws", encrypted=False) == "ws+unix:/run/g.sock:/v1/ws"
    assert console_url(loopback, encrypted=False) == "http://127.0.0.1:4517/"
    assert console_url(unix, encrypted=False) is None


def port_of(listener: SocketListener) -> int:
    assert isinstance(listener.address, TcpAddress)
    return listener.address.port


async def test_a_bound_port_is_taken_but_answers_nobody_until_it_listens():
    listener = await bind(LOOPBACK)
    try:
        port = port_of(listener)
        assert listener.url == f"ws://127.0.0.1:{port}/v1/ws"
        assert listener.console_url == f"http://127.0.0.1:{port}/"
        with pytest.raises(OSError, match="all attempts to connect"):
            await trio.open_tcp_stream("127.0.0.1", port)
        with pytest.raises(AddressInUse, match=f"127.0.0.1:{port}: in use"):
            await bind(TcpAddress("127.0.0.1", port))
        listener.listen()
        with pytest.raises(AddressInUse):
            await bind(TcpAddress("127.0.0.1", port))
        async with await trio.open_tcp_stream("127.0.0.1", port):
            pass
    finally:
        listener.close()
        listener.close()


async def test_a_port_with_lingering_connections_can_be_bound_again(nursery: trio.Nursery):
    async def hang_up(stream: ByteStream, _: str) -> None:
        # Who closes first keeps the port in TIME_WAIT.
        await stream.aclose()

    listener = await bind(LOOPBACK)
    port = port_of(listener)
    listener.listen()
    nursery.start_soon(listener.serve, hang_up)
    for _ in range(3):
        async with await trio.open_tcp_stream("127.0.0.1", port) as client:
            assert await client.receive_some() == b""
    listener.close()
    again = await bind(TcpAddress("127.0.0.1", port))
    again.listen()
    again.close()


async def test_an_address_this_machine_does_not_have_is_invalid(server_tls: ssl.SSLContext):
    with pytest.raises(AddressInvalid, match=r"listen 192\.0\.2\.1:4517: "):
        await bind(TcpAddress("192.0.2.1", 4517), allow_remote=True, tls=server_tls)


async def test_serve_ends_when_closed_and_every_connection_has_ended(nursery: trio.Nursery):
    release, served = trio.Event(), trio.Event()
    remotes: list[str] = []

    async def hold(stream: ByteStream, remote: str) -> None:
        remotes.append(remote)
        assert isinstance(stream, EagerByteStream)
        await release.wait()
        await stream.aclose()

    listener = await bind(LOOPBACK)
    listener.listen()

    async def serve() -> None:
        await listener.serve(hold)
        served.set()

    nursery.start_soon(serve)
    async with await trio.open_tcp_stream("127.0.0.1", port_of(listener)) as client:
        while not remotes:
            await trio.lowlevel.checkpoint()
        listener.close()
        await trio.testing.wait_all_tasks_blocked()
        assert not served.is_set()
        release.set()
        assert await client.receive_some() == b""
    await served.wait()
    assert remotes[0].startswith("127.0.0.1:")


class ExhaustedSocket:
    """Accepts nobody, for the reasons a socket has; then is closed."""

    def __init__(self, *errors: int) -> None:
        self.errors = list(errors)

    async def accept(self) -> None:
        if self.errors:
            raise OSError(self.errors.pop(0), "refused")
        raise trio.ClosedResourceError

    def setsockopt(self, *_: object) -> None:
        pass

    def listen(self, _: int) -> None:
        pass


async def test_running_out_of_descriptors_does_not_end_the_listener(
    autojump_clock: Any, captured_logs: list[Any]
):
    exhausted: Any = ExhaustedSocket(errno.EMFILE, errno.ECONNABORTED, errno.ENOBUFS, errno.EINVAL)
    listener = SocketListener(exhausted, LOOPBACK, None, None)
    started_at = trio.current_time()
    with pytest.raises(ExceptionGroup) as ended:
        await listener.serve(lambda stream, remote: stream.aclose())
    assert ended.group_contains(OSError, match="refused")
    assert trio.current_time() - started_at == pytest.approx(0.2)
    assert [entry["event"] for entry in captured_logs] == ["accept_failed"] * 2


async def test_a_unix_socket_is_the_owners_alone_and_serves(start_server: Any, tmp_path: Path):
    path = tmp_path / "g.sock"
    server = await start_server(address=UnixAddress(str(path)))
    assert server.listener.url == f"ws+unix:{path}:/v1/ws"
    assert server.listener.console_url is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    async with await trio.open_unix_socket(path) as stream, trio.open_nursery() as nursery:
        websocket = await trio_websocket.wrap_client_stream(
            nursery,
            stream,
            "localhost",
            "/v1/ws",
            subprotocols=["greenroom.v1"],
            extra_headers=[(b"Authorization", b"Bearer admin-token")],
        )
        assert websocket.subprotocol == "greenroom.v1"
        await websocket.send_message("by file")
        assert await websocket.get_message() == "by file"
        await websocket.aclose()
        nursery.cancel_scope.cancel()
    assert server.clients[0].peer.remote == "unix"
    server.listener.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_socket_file_of_a_dead_daemon_is_replaced(tmp_path: Path):
    path = tmp_path / "g.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.listen()
    dead.close()
    (tmp_path / "g.sock.lock").touch()
    listener = await bind(UnixAddress(str(path)))
    listener.listen()
    async with await trio.open_unix_socket(path):
        pass
    listener.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_unix_address_is_in_use_from_bind_on(tmp_path: Path):
    path = tmp_path / "g.sock"
    listener = await bind(UnixAddress(str(path)))
    for _ in range(2):
        with pytest.raises(AddressInUse, match="in use"):
            await bind(UnixAddress(str(path)))
        listener.listen()
    async with await trio.open_unix_socket(path):
        pass
    listener.close()
    again = await bind(UnixAddress(str(path)))
    again.close()


async def test_a_socket_somebody_else_listens_on_and_a_plain_file_are_left_alone(tmp_path: Path):
    path = tmp_path / "g.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(AddressInUse):
            await bind(UnixAddress(str(path)))
        assert [entry.name for entry in tmp_path.iterdir()] == ["g.sock"]
    path.unlink()
    path.write_text("mine")
    with pytest.raises(AddressInUse, match="no socket"):
        await bind(UnixAddress(str(path)))
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["missing/g.sock", "x" * 150])
async def test_a_path_no_socket_can_have_is_invalid(tmp_path: Path, name: str):
    with pytest.raises(AddressInvalid):
        await bind(UnixAddress(str(tmp_path / name)))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def server_tls() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS_FOLDER / "certificate.pem", TLS_FOLDER / "key.pem")
    return context


async def test_clients_are_served_over_tls_and_others_end_alone(
    start_server: Any, server_tls: ssl.SSLContext
):
    server = await start_server(tls=server_tls, hello_timeout_seconds=1)
    trusted = ssl.create_default_context(cafile=TLS_FOLDER / "certificate.pem")
    assert server.listener.url.startswith("wss://127.0.0.1:")
    async with server.connect_raw() as plain:
        await plain.send(b"GET / HTTP/1.1\r\n\r\n")
        await plain.read_to_end()
    async with server.connect(use_ssl=trusted) as websocket:
        for message in ("small", "x" * 300_000):
            await websocket.send_message(message)
            assert await websocket.get_message() == message
