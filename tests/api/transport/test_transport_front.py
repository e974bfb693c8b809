"""What the one port answers before anybody is a client: tokens, origins, hosts, routes, faults and bounds."""

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from runtime.api.authentication import Principal, TokenStore
from runtime.api.front import Front, HttpRoute
from runtime.api.http_exchange import HEAD_BYTES_MAX, HttpResponse, RequestHead
from runtime.api.origin_policy import OriginPolicy
from runtime.api.transport import ClientTransport, TransportLimits

pytestmark = pytest.mark.timeout(30)


async def healthz(_: RequestHead) -> HttpResponse:
    return HttpResponse(200, b'{"status":"ok"}', "application/json")


async def metrics(_: RequestHead) -> HttpResponse:
    return HttpResponse(200, b"greenroom_clients 1\n")


async def console(head: RequestHead) -> HttpResponse:
    return HttpResponse(200, f"page {head.path} {head.query}".encode(), "text/html")


ROUTES = (
    HttpRoute("/", console),
    HttpRoute("/healthz", healthz),
    HttpRoute("/metrics", metrics, scope="admin"),
)


async def upgrade(
    server: Any, *headers: str, without: str = "", **options: Any
) -> tuple[int, dict[str, str]]:
    """Status and headers that answer an upgrade with these headers besides the usual ones."""
    lines = [line for line in server.upgrade_headers(**options) if not without or without not in line]
    async with server.connect_raw() as client:
        await client.send("\r\n".join(["GET /v1/ws HTTP/1.1", *lines, *headers, "", ""]).encode())
        status, answered, _ = await client.read_response()
        return status, answered


@pytest.mark.case("FC-36")
@pytest.mark.parametrize(
    ("token", "headers", "status"),
    [
        ("admin-token", [], 101),
        ("read-token", [], 101),
        (None, [], 401),
        ("wrong", [], 401),
        ("", [], 401),
        ("admin-token2", [], 401),
        ("admin-toke", [], 401),
        (None, ["Authorization: admin-token"], 401),
        (None, ["Authorization: Basic admin-token"], 401),
        (None, ["Authorization: bearer admin-token"], 101),
        (None, ["Authorization: Bearer admin-token", "Authorization: Bearer admin-token"], 401),
        (None, ["Sec-WebSocket-Protocol: greenroom.v1, greenroom.v1.bearer.admin-token"], 101),
        (
            None,
            [
                "Sec-WebSocket-Protocol: greenroom.v1",
                "Sec-WebSocket-Protocol: greenroom.v1.bearer.read-token",
            ],
            101,
        ),
        (None, ["Sec-WebSocket-Protocol: greenroom.v1, greenroom.v1.bearer.wrong"], 401),
        (None, ["Sec-WebSocket-Protocol: greenroom.v1, greenroom.v1.bearer."], 401),
        ("wrong", ["Sec-WebSocket-Protocol: greenroom.v1, greenroom.v1.bearer.admin-token"], 401),
    ],
)
async def test_a_token_is_needed_before_the_upgrade(
    start_server: Any, token: str | None, headers: list[str], status: int
):
    server = await start_server()
    answered, answer_headers = await upgrade(server, *headers, token=token)
    assert answered == status
    assert "token" not in str(answer_headers)
    if status == 401:
        assert answer_headers["www-authenticate"] == "Bearer"
        assert server.clients == []


@pytest.mark.parametrize(
    ("offered", "status", "selected"),
    [
        ("", 101, None),
        ("greenroom.v1", 101, "greenroom.v1"),
        ("greenroom.v2, greenroom.v1", 101, "greenroom.v1"),
        ("greenroom.v1.bearer.admin-token, greenroom.v1", 101, "greenroom.v1"),
        ("greenroom.v1.bearer.admin-token", 400, None),
        ("greenroom.v2", 400, None),
        ("chat", 400, None),
    ],
)
async def test_only_our_subprotocol_is_selected(
    start_server: Any, offered: str, status: int, selected: str | None
):
    server = await start_server()
    headers = [f"Sec-WebSocket-Protocol: {offered}"] if offered else []
    answered, answer_headers = await upgrade(server, *headers)
    assert (answered, answer_headers.get("sec-websocket-protocol")) == (status, selected)
    assert "sec-websocket-extensions" not in answer_headers


@pytest.mark.case("FC-36")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 101),
        ("http://127.0.0.1:PORT", 101),
        ("HTTP://127.0.0.1:PORT", 101),
        ("http://evil.example", 403),
        ("http://127.0.0.1:1", 403),
        ("http://127.0.0.1", 403),
        ("http://localhost:PORT", 403),
        ("https://127.0.0.1:PORT", 403),
        ("null", 403),
        ("", 403),
        ("https://console.example", 101),
        ("https://console.example:8443", 403),
        ("https://console.example.evil.example", 403),
    ],
)
async def test_only_our_own_and_allowed_origins_are_served(
    start_server: Any, origin: str | None, status: int
):
    server = await start_server(origins=OriginPolicy(allowed_origins=["https://Console.example"]))
    headers = [] if origin is None else [f"Origin: {origin.replace('PORT', str(server.port))}"]
    assert (await upgrade(server, *headers))[0] == status
    # Judged before the token, so that a page learns nothing from the difference.
    assert (await upgrade(server, *headers, token=None))[0] == (401 if status == 101 else 403)


@pytest.mark.case("FC-36")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:PORT", 200),
        ("127.0.0.1", 200),
        ("127.1.2.3:99", 200),
        ("localhost:PORT", 200),
        ("LOCALHOST", 200),
        ("[::1]:PORT", 200),
        ("rebound.example:PORT", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("10.0.0.1", 403),
        ("0.0.0.0:PORT", 403),
        ("[::2]", 403),
        ("[::1", 403),
        ("[::1]4", 403),
        ("127.0.0.1:x", 403),
        ("127.0.0.1@evil.example", 403),
        ("greenroom.lan:PORT", 200),
        ("greenroom.lan", 200),
        ("other.lan:8080", 200),
        ("other.lan", 403),
    ],
)
async def test_only_loopback_and_allowed_hosts_are_served(start_server: Any, host: str, status: int):
    origins = OriginPolicy(allowed_hosts=["greenroom.lan", "other.lan:8080"])
    server = await start_server(routes=ROUTES, origins=origins)
    for target in ("/healthz", "/"):
        answered, _ = await server.ask(
            target=target, headers=[f"Host: {host.replace('PORT', str(server.port))}"]
        )
        assert answered == status


async def test_a_request_that_names_no_host_is_refused(start_server: Any):
    server = await start_server(routes=ROUTES)
    for request, status in ((b"GET /healthz HTTP/1.1\r\n\r\n", 400), (b"GET /healthz HTTP/1.0\r\n\r\n", 403)):
        async with server.connect_raw() as client:
            await client.send(request)
            assert (await client.read_response())[0] == status


@pytest.mark.parametrize(
    ("without", "headers", "status"),
    [
        ("Upgrade: websocket", [], 426),
        ("Upgrade: websocket", ["Upgrade: h2c"], 426),
        ("Upgrade: websocket", ["Upgrade: WebSocket"], 101),
        ("Upgrade: websocket", ["Upgrade: websocket, h2c"], 400),
        ("Connection", [], 400),
        ("Connection", ["Connection: keep-alive, Upgrade"], 101),
        ("Version", ["Sec-WebSocket-Version: 8"], 426),
        ("Version", [], 400),
        ("Key", [], 400),
        ("Key", ["Sec-WebSocket-Key: short"], 400),
        ("Key", ["Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!=="], 400),
        ("", ["Sec-WebSocket-Key: BBBBBBBBBBBBBBBBBBBBBA=="], 400),
        ("", ["Content-Length: 5"], 400),
        ("", ["Sec-WebSocket-Extensions: permessage-deflate"], 101),
    ],
)
async def test_a_bad_upgrade_is_refused(start_server: Any, without: str, headers: list[str], status: int):
    server = await start_server()
    answered, answer_headers = await upgrade(server, *headers, without=without)
    assert answered == status
    if status == 426:
        assert "upgrade" in answer_headers or answer_headers["sec-websocket-version"] == "13"


@pytest.mark.parametrize(
    ("method", "target", "headers", "status", "body"),
    [
        ("GET", "/healthz", [], 200, b'{"status":"ok"}'),
        ("GET", "/healthz?probe=1", [], 200, b'{"status":"ok"}'),
        ("POST", "/healthz", [], 405, b"method not allowed\n"),
        ("GET", "/healthz/x", [], 200, b"page /healthz/x "),
        ("GET", "/", [], 200, b"page / "),
        ("GET", "/assets/a.js?v=1", [], 200, b"page /assets/a.js v=1"),
        ("DELETE", "/", [], 405, b"method not allowed\n"),
        ("GET", "/metrics", [], 401, b"a valid token is needed\n"),
        ("GET", "/metrics", ["Authorization: Bearer wrong"], 401, b"a valid token is needed\n"),
        ("GET", "/metrics", ["Authorization: Bearer read-token"], 403, b"forbidden\n"),
        ("GET", "/metrics", ["Authorization: Bearer admin-token"], 200, b"greenroom_clients 1\n"),
        ("GET", "http://127.0.0.1/healthz", [], 404, b"not found\n"),
        ("OPTIONS", "*", [], 404, b"not found\n"),
        ("POST", "/v1/ws", ["Authorization: Bearer admin-token"], 405, b"method not allowed\n"),
    ],
)
async def test_plain_requests_go_to_their_routes(
    start_server: Any, method: str, target: str, headers: list[str], status: int, body: bytes
):
    server = await start_server(routes=ROUTES)
    assert await server.ask(method=method, target=target, headers=headers) == (status, body)


async def test_without_a_console_its_paths_are_not_found(start_server: Any):
    server = await start_server(routes=ROUTES[1:])
    assert await server.ask(target="/") == (404, b"not found\n")


async def test_a_head_request_gets_the_length_and_no_body(start_server: Any, request_text: Any):
    server = await start_server(routes=ROUTES)
    async with server.connect_raw() as client:
        await client.send(request_text("HEAD", "/healthz", f"Host: 127.0.0.1:{server.port}"))
        answer = (await client.read_to_end()).decode()
    head, _, body = answer.partition("\r\n\r\n")
    assert "HTTP/1.1 200" in head
    assert "Content-Length: 15" in head
    assert "Connection: close" in head
    assert body == ""


@pytest.mark.case("FC-36")
async def test_a_form_posted_by_a_page_reads_405_and_does_nothing(start_server: Any, request_text: Any):
    server = await start_server(routes=ROUTES)
    form = b"x" * 50_000
    async with server.connect_raw() as client:
        request = request_text(
            "POST",
            "/v1/ws",
            f"Host: 127.0.0.1:{server.port}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(form)}",
        )
        await client.send(request)
        await client.send(form)
        assert (await client.read_response())[0] == 405
        assert await client.read_to_end() == b""
    assert server.clients == []


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # somebody speaks TLS
        (b"hello\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * HEAD_BYTES_MAX + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 2 * HEAD_BYTES_MAX, 431),
    ],
)
async def test_what_is_no_request_is_refused(start_server: Any, sent: bytes, status: int):
    server = await start_server(routes=ROUTES)
    async with server.connect_raw() as client:
        with trio.move_on_after(5):
            try:
                await client.send(sent)
                assert (await client.read_response())[0] == status
            except trio.BrokenResourceError:
                assert status == 431, "only what was cut off in the middle may lose its answer"
    assert server.front.statistics().refused == {status: 1}


class BrokenAuthenticator(TokenStore):
    """Dies at the worst moment."""

    def authenticate(self, token: str | None) -> Principal | None:
        raise KeyError(token)


@pytest.mark.case("FC-57")
async def test_a_bug_before_the_upgrade_is_500_and_costs_nobody_else_anything(
    start_server: Any, captured_logs: list[Any], principals: Any
):
    tokens = BrokenAuthenticator(principals())
    server = await start_server(tokens=tokens)
    descriptors = open_descriptors()
    for _ in range(200):
        assert (await upgrade(server))[0] == 500
    await until(lambda: server.front.statistics().connections == 0)
    await until(lambda: open_descriptors() == descriptors)
    assert server.front.statistics().refused == {500: 200}
    assert {entry["event"] for entry in captured_logs} == {"request_failed"}
    assert not any("headers" in str(entry) for entry in captured_logs)
    server.front._authenticator = TokenStore(principals())
    async with server.connect() as websocket:
        await websocket.send_message("normal")
        assert await websocket.get_message() == "normal"


async def test_a_bug_in_a_route_is_500(start_server: Any):
    async def broken(_: RequestHead) -> HttpResponse:
        raise ZeroDivisionError

    server = await start_server(routes=[HttpRoute("/broken", broken), *ROUTES])
    assert await server.ask(target="/broken") == (500, b"internal error\n")
    assert (await server.ask(target="/healthz"))[0] == 200


@pytest.mark.case("FC-57")
async def test_half_open_handshakes_end_by_the_deadline_and_leave_nothing(start_server: Any):
    server = await start_server(hello_timeout_seconds=0.3)
    descriptors = open_descriptors()
    answers: list[bytes] = []

    async def half_open(sent: bytes) -> None:
        async with server.connect_raw() as client:
            await client.send(sent)
            answers.append(await client.read_to_end())

    async with trio.open_nursery() as nursery:
        for number in range(300):
            nursery.start_soon(half_open, b"GET /v1/ws HTTP/1.1\r\nHost: "[: number % 30])
    assert len(answers) == 300
    assert all(b" 408 " in answer for answer in answers)
    await until(lambda: server.front.statistics().connections == 0)
    await until(lambda: open_descriptors() == descriptors)
    async with server.connect() as websocket:
        await websocket.send_message("normal")
        assert await websocket.get_message() == "normal"


@pytest.mark.case("FC-57")
async def test_a_thousand_silent_connections_are_gone_at_the_deadline(autojump_clock: Any, serve_client: Any):
    async def nobody(_: ClientTransport) -> None:
        raise AssertionError

    front = Front(
        limits=TransportLimits(),
        authenticator=TokenStore([]),
        origins=OriginPolicy(),
        routes=[],
        serve_client=serve_client,
        handle=nobody,
    )
    ends = [trio.testing.memory_stream_pair() for _ in range(1000)]
    async with trio.open_nursery() as nursery:
        for server_end, client_end in ends:
            nursery.start_soon(front.serve, server_end, "memory")
            await client_end.send_all(b"GET /v1")
        await trio.testing.wait_all_tasks_blocked()
        assert front.statistics().connections == 1000
    assert trio.current_time() < 11
    assert front.statistics().connections == 0
    assert front.statistics().refused == {408: 1000}


async def test_one_connection_too_many_is_told_503_and_room_comes_back(start_server: Any, request_text: Any):
    server = await start_server(connections_max=2, routes=ROUTES)
    async with server.connect_upgraded():
        async with server.connect_upgraded():
            assert await server.ask(target="/healthz") == (503, b"too many connections\n")
        await until(lambda: server.front.statistics().connections == 1)
        assert (await server.ask(target="/healthz"))[0] == 200


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def until(condition: Any) -> None:
    """Lets the server's tasks run until they have cleared up; the test's timeout is the bound."""
    while not condition():
        await trio.lowlevel.checkpoint()
