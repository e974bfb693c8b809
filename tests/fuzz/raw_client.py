"""The cheapest WebSocket client there can be: it sends what it is told, whole frames at a time, and splits what comes.

It masks with zeros, which the protocol allows, and understands just what a server of this contract sends: whole text frames, pings, a close.
"""

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
_READ_BYTES = 256 * 1024


def masked_frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """A client's frame: final, masked with zeros."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
    return head + bytes(4) + payload


@attrs.define
class RawClient:
    """One connection after its upgrade."""

    stream: trio.SocketStream
    _buffer: bytearray = attrs.field(factory=bytearray)

    async def send(self, *payloads: bytes) -> None:
        """Send text frames, in one go."""
        await self.stream.send_all(b"".join(map(masked_frame, payloads)))

    async def receive(self) -> list[bytes]:
        """The text frames that came with the next bytes, perhaps none. Answers pings. A close is an error here."""
        piece = await self.stream.receive_some(_READ_BYTES)
        if not piece:
            raise AssertionError("the server dropped the connection")
        self._buffer += piece
        texts = []
        while (frame := self._take()) is not None:
            opcode, payload = frame
            if opcode == TEXT:
                texts.append(payload)
            elif opcode == PING:
                await self.stream.send_all(masked_frame(payload, PONG))
            elif opcode == CLOSE:
                raise AssertionError(f"the server closed the connection: {payload!r}")
        return texts

    def _take(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1], 2
        if size == 126:
            start = 4
        elif size == 127:
            start = 10
        if len(buffer) < start:
            return None
        if start > 2:
            size = int.from_bytes(buffer[2:start])
        if len(buffer) < start + size:
            return None
        payload = bytes(buffer[start : start + size])
        opcode = buffer[0] & 0x0F
        del buffer[: start + size]
        return opcode, payload


@asynccontextmanager
async def raw_connection(port: int, token: str) -> AsyncIterator[RawClient]:
    """A connection to the daemon on this port, upgraded."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        lines = (
            "GET /v1/ws HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Protocol: greenroom.v1",
            f"Authorization: Bearer {token}",
        )
        await stream.send_all("\r\n".join((*lines, "", "")).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some(_READ_BYTES)
        assert head.startswith(b"HTTP/1.1 101"), head
        yield RawClient(stream, bytearray(head.partition(b"\r\n\r\n")[2]))
