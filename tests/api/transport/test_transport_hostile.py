"""Clients that mean harm or are merely broken: whatever they send, their connection ends and nothing else does."""

import random
from typing import Any

import pytest
import trio
import trio.testing

from runtime.api.authentication import TokenStore
from runtime.api.front import Front
from runtime.api.inbound_frames import Closed
from runtime.api.origin_policy import OriginPolicy
from runtime.api.transport import ClientTransport, TransportLimits

pytestmark = pytest.mark.timeout(60)


async def echo(client: ClientTransport) -> None:
    while not isinstance(frame := await client.receive(), Closed):
        client.queue.put_reply(repr(frame).encode())


def mutated(source: bytes, seed: int) -> bytes:
    """`source` with a few bytes changed, cut out or doubled."""
    chance = random.Random(seed)
    wire = bytearray(source)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(wire))
        match chance.randrange(3):
            case 0:
                wire[at] = chance.randrange(256)
            case 1:
                del wire[at : at + chance.randint(1, 9)]
            case _:
                wire[at:at] = wire[at : at + chance.randint(1, 40)]
        wire = wire or bytearray(b"\0")
    return bytes(wire)


@pytest.mark.case("FC-57")
@pytest.mark.parametrize("part", ["head", "frames"])
async def test_mutated_bytes_end_one_connection_without_a_fault(
    autojump_clock: Any, serve_client: Any, captured_logs: list[Any], masked: Any, principals: Any, part: str
):
    front = Front(
        limits=TransportLimits(max_frame_bytes=500, client_queue_bytes=10_000),
        authenticator=TokenStore(principals()),
        origins=OriginPolicy(),
        routes=[],
        serve_client=serve_client,
        handle=echo,
    )
    head = (
        b"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Protocol: greenroom.v1, greenroom.v1.bearer.admin-token\r\n\r\n"
    )
    frames = (
        masked(0x1, b'{"a": "text"}')
        + masked(0x1, "grün".encode(), fin=False)
        + masked(0x9, b"ping")
        + masked(0x0, b"x" * 200)
        + masked(0x2, bytes(range(256)))
        + masked(0xA)
        + masked(0x8, b"\x03\xe8bye")
    )
    for seed in range(150):
        wire = mutated(head, seed) + frames if part == "head" else head + mutated(frames, seed)
        server_end, client_end = trio.testing.memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(front.serve, server_end, f"seed {seed}")
            for start in range(0, len(wire), 97):
                try:
                    await client_end.send_all(wire[start : start + 97])
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    break
            if seed % 2:
                await client_end.send_stream.aclose()
    assert front.statistics().connections == front.statistics().clients == 0
    assert captured_logs == []
    if part == "frames":
        assert front.statistics().accepted == 150


@pytest.mark.case("FC-25", "FC-16")
async def test_a_client_that_resets_in_the_middle_of_a_flood_takes_nobody_along(
    start_server: Any, masked: Any
):
    async def flood(client: ClientTransport) -> None:
        if isinstance(await client.receive(), Closed):
            return
        client.queue.put_reply(b"x" * 10_000_000)
        while client.closed is None:
            client.queue.put_delta(b"", b"d" * 1000)
            await trio.lowlevel.checkpoint()

    server = await start_server(flood)
    reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"  # linger for no time: close becomes a reset
    async with server.connect_upgraded() as steady:
        for _ in range(20):
            async with server.connect_upgraded() as client:
                await client.send(masked(0x1, b"go"))
                await client.read_frame()
                client.stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, reset)
        await steady.send(masked(0x1, b"go"))
        assert len((await steady.read_frame())[1]) == 10_000_000
        while server.front.statistics().connections > 1:
            await trio.lowlevel.checkpoint()
    assert [ended.code for ended in server.ended[:20]] == [1006] * 20


async def test_a_flood_of_pings_without_reading_costs_one_pong(start_server: Any, masked: Any):
    server = await start_server(client_queue_bytes=100_000)
    async with server.connect_upgraded() as client:
        ping = masked(0x9, b"p" * 125)
        with trio.move_on_after(0.3):
            while True:
                await client.send(ping * 100)
        assert server.clients[0].queue.statistics().bytes_queued_max <= 2 * 127


async def test_a_thousand_requests_in_one_read_do_not_starve_the_others(start_server: Any, masked: Any):
    turns: list[str] = []

    async def handle(client: ClientTransport) -> None:
        while not isinstance(await client.receive(), Closed):
            turns.append(str(client.peer.client_id))

    server = await start_server(handle)
    async with server.connect_upgraded() as first, server.connect_upgraded() as second:
        await first.send(masked(0x1, b"{}") * 1000)
        await second.send(masked(0x1, b"{}") * 1000)
        while len(turns) < 2000:
            await trio.lowlevel.checkpoint()
    runs = "".join(turns[:1000])
    assert "1" * 500 not in runs
    assert "2" * 500 not in runs
