"""Clients that do not read: bounded memory, a deadline, 4001, and nobody else notices."""

from typing import Any

import pytest
import trio
import trio.testing

from runtime.api.authentication import Principal
from runtime.api.client_connection import ClientConnection
from runtime.api.frames import CloseCode, text_header
from runtime.api.front import Front
from runtime.api.inbound_frames import Closed, InboundFrame, TextFrame, Violation
from runtime.api.transport import ByteStream, ClientPeer, ClientTransport, StreamHandler, TransportLimits

pytestmark = pytest.mark.timeout(30)
QUEUE_BYTES = 200_000
PEER = ClientPeer(client_id=1, principal=Principal("one", "admin"), remote="memory", connected_at_seconds=0)


@pytest.mark.case("FC-16")
@pytest.mark.rule("AP-021")
async def test_a_client_that_never_reads_is_dropped_while_others_get_everything(start_server: Any):
    clients: list[ClientTransport] = []
    delta = b"d" * 2000

    async def handle(client: ClientTransport) -> None:
        clients.append(client)
        await client.wait_closed()

    server = await start_server(
        handle, client_queue_bytes=QUEUE_BYTES, client_send_deadline_seconds=0.2, close_timeout_seconds=0.1
    )
    async with server.connect_upgraded() as frozen, server.connect_upgraded() as reader:
        while len(clients) < 2:
            await trio.lowlevel.checkpoint()
        dropped = 0
        # Flood both: the one that reads is never more than a few frames behind, the other fills up.
        while clients[0].closed is None:
            for client in clients:
                accepted = client.queue.put_delta(b"", delta)
                assert accepted or client is clients[0]
                dropped += not accepted
            assert await reader.read_frame() == (0x81, delta)
        assert clients[0].closed == Closed(4001, "too slow")
        assert clients[1].closed is None
        assert dropped > 0
        assert clients[0].queue.statistics().bytes_queued_max <= QUEUE_BYTES
        while server.front.statistics().connections > 1:
            await trio.lowlevel.checkpoint()
        try:
            # The kernel may have found room for the rest of the frame in hand, and so for the reason.
            assert await frozen.read_close() == (4001, "too slow")
        except (EOFError, trio.BrokenResourceError):
            pass
        server.front.close_all(1001, "done")
        assert await reader.read_close() == (1001, "done")


@pytest.mark.case("FC-16")
async def test_a_client_that_begins_to_read_in_time_reads_4001(start_server: Any):
    async def handle(client: ClientTransport) -> None:
        client.queue.put_reply(b"x" * 20_000_000)
        await client.wait_closed()

    server = await start_server(handle, client_send_deadline_seconds=0.1, close_timeout_seconds=5)
    async with server.connect_upgraded() as client:
        while not (server.clients and server.clients[0].closed):
            await trio.lowlevel.checkpoint()
        # The frame in hand is written to its end, so that the close frame can be told from it.
        assert await client.read_frame() == (0x81, b"x" * 20_000_000)
        assert await client.read_close() == (4001, "too slow")


async def test_a_slow_client_that_makes_progress_is_served(start_server: Any):
    async def handle(client: ClientTransport) -> None:
        for _ in range(100):
            client.queue.put_reply(b"x" * 100_000)
        await client.receive()

    server = await start_server(handle, client_send_deadline_seconds=1.0, ping_seconds=0.05)
    async with server.connect_upgraded() as client:
        read = 0
        while read < 100:
            first, payload = await client.read_frame()
            read += first == 0x81 and len(payload) == 100_000
            with trio.move_on_after(0.002):
                await trio.sleep_forever()
        assert server.clients[0].closed is None


async def test_requests_wait_while_the_queue_is_over_half(start_server: Any, masked: Any):
    received: list[InboundFrame] = []

    async def handle(client: ClientTransport) -> None:
        while not isinstance(frame := await client.receive(), Closed):
            received.append(frame)
            if frame == TextFrame(b"much"):
                client.queue.put_reply(b"x" * 30_000_000)

    server = await start_server(handle, client_queue_bytes=QUEUE_BYTES)
    async with server.connect_upgraded() as client:
        await client.send(masked(0x1, b"much") + masked(0x1, b"next"))
        for _ in range(200):
            await trio.testing.wait_all_tasks_blocked()
        assert received == [TextFrame(b"much")]
        assert (await client.read_frame())[1] == b"x" * 30_000_000
        while len(received) < 2:
            await trio.lowlevel.checkpoint()
        assert received[1] == TextFrame(b"next")


@pytest.mark.rule("AP-021")
async def test_who_fell_behind_is_refilled_when_the_client_has_read(start_server: Any):
    facts = [b"%06d" % number + b"f" * 20_000 for number in range(600)]

    async def handle(client: ClientTransport) -> None:
        # What a subscription does: put until refused, go on from the log when there is room.
        position = 0

        def catch_up() -> None:
            nonlocal position
            while position < len(facts) and client.queue.put_fact(b"", facts[position]):
                position += 1

        client.queue.on_drained(catch_up)
        catch_up()
        assert position < len(facts)
        await client.receive()

    server = await start_server(handle, client_queue_bytes=QUEUE_BYTES)
    async with server.connect_upgraded() as client:
        for fact in facts:
            assert await client.read_frame() == (0x81, fact)
        assert server.clients[0].queue.statistics().bytes_queued_max <= QUEUE_BYTES


async def test_a_cancelled_write_ends_only_its_connection(start_server: Any, masked: Any):
    scopes: list[trio.CancelScope] = []

    def cancellable(front: Front) -> StreamHandler:
        async def serve(stream: ByteStream, remote: str) -> None:
            with trio.CancelScope() as scope:
                scopes.append(scope)
                await front.serve(stream, remote)

        return serve

    async def handle(client: ClientTransport) -> None:
        while isinstance(frame := await client.receive(), TextFrame):
            client.queue.put_reply(b"x" * 30_000_000 if frame.text == b"much" else frame.text)

    server = await start_server(handle, serve_with=cancellable)
    async with server.connect_upgraded() as torn, server.connect() as other:
        await torn.send(masked(0x1, b"much"))
        while not (server.clients and server.clients[0].queue.congested):
            await trio.lowlevel.checkpoint()
        scopes[0].cancel()
        while server.front.statistics().connections > 1:
            await trio.lowlevel.checkpoint()
        # No close frame after a torn one: the client must not take it for text.
        received = await torn.read_to_end()
        assert received.strip(b"x") == text_header(30_000_000)
        assert len(received) < 30_000_000
        await other.send_message("still here")
        assert await other.get_message() == "still here"
    assert server.clients[0].closed == Closed(1006)


class FullStream:
    """Takes what it is told to take, and never more; nothing comes in."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken = b""
        self.closed = trio.Event()

    async def receive_some(self, max_bytes: int) -> bytes:
        await self.closed.wait()
        return b""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        raise AssertionError("an eager stream is written eagerly")

    def try_send(self, data: bytes | bytearray | memoryview) -> int:
        count = min(self.room, len(data))
        self.taken += bytes(data[:count])
        self.room -= count
        return count

    async def wait_sendable(self) -> None:
        await self.closed.wait()
        raise trio.ClosedResourceError

    async def aclose(self) -> None:
        self.closed.set()


class SilentReader:
    """A client that says nothing until its stream is closed."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def next_frame(self) -> InboundFrame | Violation:
        await self._connection.read_some()
        return Closed(CloseCode.ABNORMAL)


async def run(connection: ClientConnection, handle: Any) -> None:
    async def open_reader(_: trio.Nursery) -> SilentReader:
        return SilentReader(connection)

    await connection.run(handle, open_reader)


async def test_the_write_deadline_is_the_named_one(autojump_clock: Any):
    stream = FullStream(room=100)
    connection = ClientConnection(stream, PEER, TransportLimits())
    closed_at: list[float] = []

    async def handle(client: ClientTransport) -> None:
        client.queue.put_reply(b"x" * 1000)
        assert await client.receive() == Closed(4001, "too slow")
        closed_at.append(trio.current_time())

    started_at = trio.current_time()
    await run(connection, handle)
    assert closed_at == [started_at + 10]
    assert trio.current_time() == started_at + 12
    assert stream.taken == (text_header(1000) + b"x" * 1000)[:100]
    assert stream.closed.is_set()


async def test_a_plain_stream_has_the_same_deadline(autojump_clock: Any):
    server_end, client_end = trio.testing.lockstep_stream_pair()
    connection = ClientConnection(server_end, PEER, TransportLimits())

    async def handle(client: ClientTransport) -> None:
        client.queue.put_reply(b"x" * 1000)
        assert await client.receive() == Closed(4001, "too slow")

    started_at = trio.current_time()
    await run(connection, handle)
    assert trio.current_time() == started_at + 10
    received = b""
    while data := await client_end.receive_some(1000):
        received += data
    assert (text_header(1000) + b"x" * 1000).startswith(received)


@pytest.mark.case("FC-16")
async def test_a_half_open_client_is_gone_two_pings_later(autojump_clock: Any):
    stream = FullStream(room=1_000_000)
    connection = ClientConnection(stream, PEER, TransportLimits())

    async def handle(client: ClientTransport) -> None:
        assert await client.receive() == Closed(4002, "no pong")

    started_at = trio.current_time()
    await run(connection, handle)
    assert trio.current_time() - started_at == pytest.approx(20 + 20 + 2)
    assert stream.taken == b"\x89\x00" + b"\x88\x09" + (4002).to_bytes(2, "big") + b"no pong"


async def test_a_closing_client_that_never_answers_is_let_go(autojump_clock: Any):
    stream = FullStream(room=1_000_000)
    connection = ClientConnection(stream, PEER, TransportLimits())

    async def handle(client: ClientTransport) -> None:
        client.queue.put_reply(b"last")
        client.close(1001, "shutdown")

    started_at = trio.current_time()
    await run(connection, handle)
    assert trio.current_time() == started_at + 2
    assert stream.taken.startswith(b"\x81\x04last\x88")


async def test_cancelling_the_owner_leaves_no_open_stream(autojump_clock: Any):
    stream = FullStream(room=10)
    connection = ClientConnection(stream, PEER, TransportLimits())

    async def handle(client: ClientTransport) -> None:
        client.queue.put_reply(b"x" * 1000)
        await client.receive()

    with trio.move_on_after(1) as scope:
        await run(connection, handle)
    assert scope.cancelled_caught
    assert stream.closed.is_set()
    assert connection.closed == Closed(1006)
