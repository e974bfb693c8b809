"""Where a daemon listens, and who is let in there: a socket file, TLS, host names and pages; and files enough for all."""

import json
import resource
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio_websocket

from tests.end_to_end.client import WAIT_SECONDS, Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import UPGRADE, MakeDaemon
from tests.end_to_end.plain_http import ask
from tests.end_to_end.talk import start

TLS = Path(__file__).parent.parent / "api" / "transport" / "tls"
TLS_SETTINGS = {"tlsCertificate": str(TLS / "certificate.pem"), "tlsKey": str(TLS / "key.pem")}
TRUSTED = ssl.create_default_context(cafile=TLS / "certificate.pem")


@asynccontextmanager
async def client_over(stream: trio.abc.Stream, host: str, token: str) -> AsyncIterator[Client]:
    """A client on a stream that is connected already."""
    headers = [(b"authorization", f"Bearer {token}".encode())]
    async with stream, trio.open_nursery() as nursery:
        with trio.fail_after(WAIT_SECONDS):
            socket = await trio_websocket.wrap_client_stream(
                nursery, stream, host, "/v1/ws", subprotocols=["greenroom.v1"], extra_headers=headers
            )
        client = Client(socket)
        nursery.start_soon(client.run)
        await client.initialize()
        yield client
        with trio.move_on_after(2):
            await socket.aclose()
        nursery.cancel_scope.cancel()


async def answer_to(stream: trio.abc.Stream, **headers: str) -> bytes:
    """The status line of the answer to an upgrade with these headers; empty when there is none."""
    lines = ["GET /v1/ws HTTP/1.1", *(f"{name}: {value}" for name, value in {**UPGRADE, **headers}.items())]
    async with stream:
        with trio.fail_after(WAIT_SECONDS):
            await stream.send_all("\r\n".join([*lines, "", ""]).encode())
            try:
                received = await stream.receive_some(65536)
            except trio.BrokenResourceError:
                return b""
    return bytes(received).partition(b"\r\n")[0]


# --- a socket file --------------------------------------------------------------------------------------------------


async def test_a_socket_file_is_its_owners_and_needs_a_token_all_the_same(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    path = tmp_path / "greenroom.sock"
    daemon = make_daemon(listen=f"unix:{path}")
    assert daemon.ready["url"] == f"ws+unix:{path}:/v1/ws"
    assert daemon.ready["console"] is None
    assert json.loads((daemon.data_dir / "daemon.json").read_text()) == daemon.ready
    found = path.stat()
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert b" 401 " in await answer_to(await trio.open_unix_socket(path), Host="localhost")
    async with client_over(await trio.open_unix_socket(path), "localhost", daemon.token) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say x]]")
        assert (await client.settled(talk.turn))["outcome"] == "completed"
    second = make_daemon(listen=f"unix:{path}", start=False)
    assert await trio.to_thread.run_sync(second.run_to_end) == 5, "another daemon listens there"
    assert path.exists()
    assert await trio.to_thread.run_sync(daemon.stop) == 0
    assert not path.exists()


async def test_a_socket_file_a_dead_daemon_left_is_taken_over(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    path = tmp_path / "greenroom.sock"
    daemon = make_daemon(listen=f"unix:{path}")
    await trio.to_thread.run_sync(daemon.kill)
    assert path.exists()
    await trio.to_thread.run_sync(daemon.start)
    async with client_over(await trio.open_unix_socket(path), "localhost", daemon.token) as client:
        assert (await client.request("health/read"))["status"] == "ok"


# --- TLS ------------------------------------------------------------------------------------------------------------


async def test_with_a_certificate_only_encrypted_clients_are_served(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(TLS_SETTINGS)
    assert daemon.ready["url"].startswith("wss://127.0.0.1:")

    async def encrypted() -> trio.SSLStream[trio.SocketStream]:
        stream = await trio.open_ssl_over_tcp_stream("127.0.0.1", daemon.port, ssl_context=TRUSTED)
        await stream.do_handshake()
        return stream

    plain = await trio.open_tcp_stream("127.0.0.1", daemon.port)
    assert await answer_to(plain, Host="127.0.0.1") == b""
    async with client_over(await encrypted(), f"127.0.0.1:{daemon.port}", daemon.token) as client:
        await client.subscribe("w")
        talk = await start(client, "w", f"[[say {'x' * 100_000}]]")
        assert (await client.settled(talk.turn))["outcome"] == "completed"
    host, bearer = f"127.0.0.1:{daemon.port}", f"Bearer {daemon.token}"
    for origin, status in ((f"https://{host}", 101), (f"http://{host}", 403), ("https://evil.example", 403)):
        line = await answer_to(await encrypted(), Host=host, Origin=origin, Authorization=bearer)
        assert f" {status} ".encode() in line, origin


@pytest.mark.case("FC-36")
@pytest.mark.parametrize(
    "settings",
    [{"allowRemote": True}, {"tlsCertificate": TLS_SETTINGS["tlsCertificate"]}, {}],
)
async def test_other_machines_are_let_in_with_leave_and_tls_or_not_at_all(
    make_daemon: MakeDaemon, settings: dict[str, Any]
) -> None:
    daemon = make_daemon(settings, start=False, listen="0.0.0.0:0")
    assert await trio.to_thread.run_sync(daemon.run_to_end) == 2


async def test_with_both_it_listens_for_others_under_the_names_it_was_given(make_daemon: MakeDaemon) -> None:
    settings = {"allowRemote": True, "allowedHosts": ["box.example"], **TLS_SETTINGS}
    daemon = make_daemon(settings, listen="0.0.0.0:0")
    for host, status in (("box.example", 101), ("box.example:4517", 101), ("other.example", 403)):
        stream = await trio.open_ssl_over_tcp_stream("127.0.0.1", daemon.port, ssl_context=TRUSTED)
        line = await answer_to(stream, Host=host, Authorization=f"Bearer {daemon.token}")
        assert f" {status} ".encode() in line, host


# --- hosts, pages, descriptors ----------------------------------------------------------------------------------------


@pytest.mark.case("FC-36")
async def test_names_and_pages_that_were_allowed_are_let_in_and_no_others(make_daemon: MakeDaemon) -> None:
    settings = {"allowedHosts": ["box.example:80"], "allowedOrigins": ["https://app.example"]}
    daemon = make_daemon(settings)
    bearer = {**UPGRADE, "Authorization": f"Bearer {daemon.token}"}
    own = f"127.0.0.1:{daemon.port}"
    for headers, status in (
        ({"Host": "box.example:80"}, 101),
        ({"Host": "box.example"}, 403),
        ({"Host": own, "Origin": "https://app.example"}, 101),
        ({"Host": own, "Origin": "https://app.example.evil.example"}, 403),
        ({"Host": own, "Origin": "http://app.example"}, 403),
        ({"Host": "box.example:80", "Origin": "http://box.example:80"}, 101),
    ):
        assert (await ask(daemon, "/v1/ws", headers={**bearer, **headers}))[0] == status, headers


async def test_one_connection_too_many_is_told_so_and_the_others_stay(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxClientConnections": 2}})
    async with connected(daemon) as first, connected(daemon) as second:
        status, headers, _ = await ask(daemon, "/healthz")
        assert (status, headers["retry-after"]) == (503, "1")
        for client in (first, second):
            assert (await client.request("health/read"))["status"] == "ok"
            assert client.hello["limits"]["maxClientConnections"] == 2
    with trio.fail_after(10):
        while (await ask(daemon, "/healthz"))[0] == 503:
            await trio.sleep(0.05)


async def test_the_daemon_may_open_what_its_limits_need_and_its_agents_what_it_was_given(
    make_daemon: MakeDaemon,
) -> None:
    wrapped = ("sh", "-c", 'ulimit -Sn 256; exec "$@"', "sh")
    daemon = make_daemon({"limits": {"maxClientConnections": 500}}, start=False)
    daemon.command = (*wrapped, *daemon.command)
    await trio.to_thread.run_sync(daemon.start)
    soft, hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    assert soft == (min(hard, 500 + 64 * 8 + 128) if hard > 0 else 500 + 64 * 8 + 128)
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[hang]]")
        await client.row("turn", turnId=talk.turn["turnId"], phase="running")
        inspection = (await client.request("debug/session", **talk.key))["inspection"]
        agent = inspection["connections"][0]["pid"]
        assert resource.prlimit(agent, resource.RLIMIT_NOFILE)[0] == 256


def test_a_second_daemon_on_a_port_in_use_ends_with_its_code(make_daemon: MakeDaemon) -> None:
    first: Daemon = make_daemon()
    second = make_daemon(start=False, listen=f"127.0.0.1:{first.port}")
    assert second.run_to_end() == 5
