"""Clients over real loopback sockets, each test with both transports."""

import math
from typing import Any

import pytest
import trio
import trio_websocket

from runtime.api.inbound_frames import BinaryFrame, Closed, TextFrame
from runtime.api.transport import ClientTransport

# A bound on what a broken implementation may cost; nothing below waits for it.
pytestmark = pytest.mark.timeout(30)


async def close_reason(websocket: trio_websocket.WebSocketConnection) -> tuple[int, str | None]:
    while True:
        try:
            await websocket.get_message()
        except trio_websocket.ConnectionClosed as closed:
            return closed.reason.code, closed.reason.reason


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 300_000])
async def test_a_message_of_any_size_comes_back(start_server: Any, size: int):
    server = await start_server()
    message = ("ä" * size)[:size]
    async with server.connect() as websocket:
        await websocket.send_message(message)
        assert await websocket.get_message() == message


async def test_a_dribbled_and_fragmented_message_comes_back_whole(start_server: Any, masked: Any):
    server = await start_server()
    async with server.connect_upgraded() as client:
        text = "grün".encode()
        wire = masked(0x1, text[:3], fin=False) + masked(0x9, b"now") + masked(0x0, text[3:])
        for byte in wire:
            await client.send(bytes([byte]))
        assert await client.read_frame() == (0x8A, b"now")
        assert await client.read_frame() == (0x81, text)


async def test_frames_sent_right_behind_the_request_are_not_lost(
    start_server: Any, masked: Any, request_text: Any
):
    server = await start_server()
    async with server.connect_raw() as client:
        request = request_text("GET", "/v1/ws", *server.upgrade_headers())
        await client.send(request + masked(0x1, b"early"))
        assert (await client.read_response())[0] == 101
        assert await client.read_frame() == (0x81, b"early")


async def test_messages_leave_in_the_order_they_were_queued(start_server: Any):
    async def burst(client: ClientTransport) -> None:
        for number in range(3000):
            match number % 3:
                case 0:
                    client.queue.put_reply(b"%d" % number)
                case 1:
                    assert client.queue.put_fact(b"%d" % number, b" " * (number % 700))
                case _:
                    assert client.queue.put_delta(b"%d" % number, b"")
        await client.receive()

    server = await start_server(burst)
    async with server.connect(message_queue_size=10) as websocket:
        numbers = [int(await websocket.get_message()) for _ in range(3000)]
    assert numbers == list(range(3000))


@pytest.mark.case("FC-16")
async def test_a_binary_frame_is_delivered_and_the_connection_lives(start_server: Any):
    received: list[object] = []

    async def handle(client: ClientTransport) -> None:
        while not isinstance(frame := await client.receive(), Closed):
            received.append(frame)
            client.queue.put_reply(b"seen")

    server = await start_server(handle)
    async with server.connect() as websocket:
        for message in (b"\x00\xff", "text"):
            await websocket.send_message(message)
            assert await websocket.get_message() == "seen"
    assert received == [BinaryFrame(b"\x00\xff"), TextFrame(b"text")]


@pytest.mark.parametrize("message", ["x" * 1001, "ä" * 501, b"x" * 1001])
async def test_a_message_above_the_bound_is_closed_with_1009(start_server: Any, message: str | bytes):
    server = await start_server(max_frame_bytes=1000)
    async with server.connect() as websocket:
        await websocket.send_message("x" * 1000)
        assert await websocket.get_message() == "x" * 1000
        await websocket.send_message(message)
        assert await close_reason(websocket) == (1009, "frame above maxFrameBytes")


async def test_a_client_in_the_middle_of_far_too_much_still_reads_1009(start_server: Any, masked: Any):
    server = await start_server(max_frame_bytes=1000)
    async with server.connect_upgraded() as client:
        await client.send(masked(0x1, b"x" * 500_000))
        assert await client.read_close() == (1009, "frame above maxFrameBytes")


@pytest.mark.parametrize(("opcode", "payload", "code"), [(0x1, b"\xff\xfe", 1007), (0x3, b"", 1002)])
async def test_what_breaks_the_protocol_is_closed_with_its_code(
    start_server: Any, masked: Any, opcode: int, payload: bytes, code: int
):
    server = await start_server(close_timeout_seconds=0.2)
    async with server.connect_upgraded() as client:
        await client.send(masked(0x1, b"fine") + masked(opcode, payload))
        assert await client.read_frame() == (0x81, b"fine")
        assert (await client.read_close())[0] == code
        await client.read_to_end()


async def test_a_clients_close_is_answered_and_the_handler_told(start_server: Any, masked: Any):
    ended = trio.Event()
    told: list[Closed] = []

    async def handle(client: ClientTransport) -> None:
        told.append(await client.receive())
        told.append(await client.receive())
        await client.wait_closed()
        ended.set()

    server = await start_server(handle)
    async with server.connect_upgraded() as client:
        await client.send(masked(0x8, b"\x0f\xa3bye"))
        assert await client.read_close() == (4003, "")
        assert await client.read_to_end() == b""
    await ended.wait()
    assert told == [Closed(4003, "bye")] * 2


async def test_a_close_without_a_code_is_answered_in_kind(start_server: Any, masked: Any):
    server = await start_server()
    async with server.connect_upgraded() as client:
        await client.send(masked(0x8))
        assert await client.read_frame() == (0x88, b"")


@pytest.mark.parametrize("half", [True, False])
async def test_a_client_that_just_goes_is_1006(start_server: Any, half: bool):
    told = trio.Event()
    reasons: list[object] = []

    async def handle(client: ClientTransport) -> None:
        reasons.append(await client.receive())
        told.set()

    server = await start_server(handle)
    async with server.connect_upgraded() as client:
        if half:
            await client.stream.send_eof()
            await client.read_to_end()
    await told.wait()
    assert reasons == [Closed(1006)]


@pytest.mark.parametrize(
    ("code", "reason"), [(1001, "shutdown"), (1008, "not initialized"), (4001, "too slow")]
)
async def test_our_close_comes_after_what_is_queued_with_its_code(start_server: Any, code: int, reason: str):
    async def handle(client: ClientTransport) -> None:
        await client.receive()
        client.queue.put_reply(b"last words")
        client.close(code, reason)
        client.close(1000, "the first reason stands")
        client.queue.put_reply(b"too late")
        assert await client.receive() == Closed(code, reason)

    server = await start_server(handle)
    async with server.connect() as websocket:
        await websocket.send_message("go")
        assert await websocket.get_message() == "last words"
        assert await close_reason(websocket) == (code, reason)


async def test_a_close_wakes_a_handler_that_waits(start_server: Any):
    server = await start_server()
    async with server.connect() as websocket:
        await websocket.send_message("there")
        await websocket.get_message()
        server.front.close_all(1001, "shutdown")
        assert await close_reason(websocket) == (1001, "shutdown")
    assert server.ended == [Closed(1001, "shutdown")]


async def test_a_handler_that_returns_closes_normally(start_server: Any):
    async def handle(client: ClientTransport) -> None:
        client.queue.put_reply(b"hello")

    server = await start_server(handle)
    async with server.connect() as websocket:
        assert await websocket.get_message() == "hello"
        assert (await close_reason(websocket))[0] == 1000


@pytest.mark.case("FC-57")
async def test_a_bug_in_a_handler_is_1011_for_its_client_alone(start_server: Any, captured_logs: list[Any]):
    async def handle(client: ClientTransport) -> None:
        while isinstance(frame := await client.receive(), TextFrame):
            if frame.text == b"bug":
                raise ZeroDivisionError
            client.queue.put_reply(frame.text)

    server = await start_server(handle)
    async with server.connect() as bystander, server.connect() as websocket:
        await websocket.send_message("bug")
        assert await close_reason(websocket) == (1011, "internal error")
        await bystander.send_message("still here")
        assert await bystander.get_message() == "still here"
    assert [entry["event"] for entry in captured_logs] == ["client_failed"]


async def test_a_peers_ping_is_answered_through_the_queue(start_server: Any, masked: Any):
    server = await start_server()
    async with server.connect_upgraded() as client:
        await client.send(masked(0x9, b"alive?"))
        assert await client.read_frame() == (0x8A, b"alive?")


async def test_we_ping_and_a_client_that_answers_stays(start_server: Any, masked: Any):
    server = await start_server(ping_seconds=0.15)
    async with server.connect_upgraded() as client:
        for _ in range(3):
            assert await client.read_frame() == (0x89, b"")
            await client.send(masked(0xA))
        await client.send(masked(0x1, b"still here"))
        while (frame := await client.read_frame()) == (0x89, b""):
            await client.send(masked(0xA))
        assert frame == (0x81, b"still here")


async def test_any_byte_counts_as_life(start_server: Any, masked: Any):
    server = await start_server(ping_seconds=0.1)
    async with server.connect_upgraded() as client:
        for byte in masked(0x1, b"x"):
            assert await client.read_frame() == (0x89, b"")
            await client.send(bytes([byte]))
        while (frame := await client.read_frame()) == (0x89, b""):
            pass
        assert frame == (0x81, b"x")


@pytest.mark.case("FC-16")
async def test_a_client_that_answers_no_ping_is_closed_with_4002(start_server: Any):
    server = await start_server(ping_seconds=0.05, close_timeout_seconds=0.05)
    async with server.connect_upgraded() as client:
        assert await client.read_close() == (4002, "no pong")
        assert await client.read_to_end() == b""
    assert server.ended == [Closed(4002, "no pong")]


async def test_a_client_is_not_blamed_for_silence_while_we_do_not_read(start_server: Any, masked: Any):
    go_on = trio.Event()

    async def handle(client: ClientTransport) -> None:
        while isinstance(frame := await client.receive(), TextFrame):
            client.queue.put_reply(frame.text)
            if frame.text == b"first":
                await go_on.wait()

    server = await start_server(handle, ping_seconds=0.15)
    async with server.connect_upgraded() as client, trio.open_nursery() as nursery:
        # More than is read ahead by either transport, so that reading stops.
        wire = masked(0x1, b"first") + b"".join(masked(0x1, b"x" * 60_000) for _ in range(5))
        nursery.start_soon(client.send, wire)
        frames = [await client.read_frame() for _ in range(5)]
        assert (0x81, b"first") in frames
        assert frames.count((0x89, b"")) == 4
        go_on.set()
        answers = 0
        while answers < 5:
            answers += (await client.read_frame())[0] == 0x81


async def test_a_cancelled_receive_loses_no_message(start_server: Any, masked: Any):
    async def handle(client: ClientTransport) -> None:
        for _ in range(3):
            with trio.move_on_after(0):
                received.append(await client.receive())
        client.queue.put_reply(b"r" * 600)
        with trio.CancelScope() as scope:
            # A message may come, but the queue is over half: it is held back, and kept.
            scope.cancel()
            received.append(await client.receive())
        while not isinstance(frame := await client.receive(), Closed):
            received.append(frame)
            client.queue.put_reply(b"seen")

    received: list[object] = []

    server = await start_server(handle, client_queue_bytes=1000)
    async with server.connect_upgraded() as client:
        await client.send(masked(0x1, b"one") + masked(0x1, b"two"))
        await client.send(masked(0x1, b"last"))
        while received[-1:] != [TextFrame(b"last")]:
            await client.read_frame()
    assert received == [TextFrame(b"one"), TextFrame(b"two"), TextFrame(b"last")]


async def test_a_revoked_token_closes_its_clients_with_1008(start_server: Any, principals: Any):
    server = await start_server()
    read_token = [(b"Authorization", b"Bearer read-token")]
    async with server.connect() as admin, server.connect(extra_headers=read_token) as reader:
        for websocket in (admin, reader):
            await websocket.send_message("there")
            await websocket.get_message()
        assert server.front.close_revoked() == 0
        server.tokens.replace(principals()[:1])
        assert server.front.close_revoked() == 1
        assert await close_reason(reader) == (1008, "token revoked")
        await admin.send_message("still here")
        assert await admin.get_message() == "still here"


async def test_a_handler_that_never_ends_does_not_hold_the_socket(start_server: Any):
    stuck = trio.Event()

    async def handle(client: ClientTransport) -> None:
        client.close(1001, "shutdown")
        await stuck.wait()

    server = await start_server(handle, close_timeout_seconds=0.05)
    async with server.connect_upgraded() as client:
        assert await client.read_close() == (1001, "shutdown")
        assert await client.read_to_end() == b""
        assert server.ended == []
        stuck.set()


async def test_what_the_dispatcher_needs_to_know_is_at_hand(start_server: Any):
    seen: list[ClientTransport] = []

    async def handle(client: ClientTransport) -> None:
        seen.append(client)
        await client.receive()

    server = await start_server(handle, hello_timeout_seconds=3)
    async with server.connect(), server.connect():
        while len(seen) < 2:
            await trio.lowlevel.checkpoint()
    first, second = (client.peer for client in seen)
    assert {first.client_id, second.client_id} == {1, 2}
    assert (first.principal.name, first.principal.scope) == ("first", "admin")
    assert first.remote.startswith("127.0.0.1:")
    assert math.isclose(first.connected_at_seconds, trio.current_time(), abs_tol=60)
    assert seen[0].limits.hello_timeout_seconds == 3
