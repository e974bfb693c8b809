"""Outgoing WebSocket frames of a server, and the close codes of the contract. Pure: bytes in, bytes out.

A server never masks, so a frame is a header of 2, 4 or 10 bytes before bytes that may be shared between clients:
that is why the header is made here and the payload is never copied into a library's buffer. Reading a client's frames
is wsproto's work (`inbound_frames.py`); what stands here reads our own again, where no socket is between.
"""

import enum
from collections.abc import Iterator

TEXT = 0x81
CLOSE = 0x88
PING = 0x89
PONG = 0x8A
"""First byte of a frame: FIN and the opcode. Nothing we send is fragmented."""

CONTROL_PAYLOAD_BYTES_MAX = 125
_SHORT_BYTES_MAX = 125
_MEDIUM_BYTES_MAX = 0xFFFF
_SHORT_HEADERS = tuple(bytes((TEXT, size)) for size in range(_SHORT_BYTES_MAX + 1))


class CloseCode(enum.IntEnum):
    """Why a connection ends (contract §2, RFC 6455 §7.4). `NO_STATUS` and `ABNORMAL` never stand in a frame."""

    NORMAL = 1000
    GOING_AWAY = 1001
    PROTOCOL_ERROR = 1002
    NO_STATUS = 1005
    ABNORMAL = 1006
    INVALID_TEXT = 1007
    POLICY = 1008
    TOO_BIG = 1009
    INTERNAL = 1011
    TOO_SLOW = 4001
    NO_PONG = 4002


def text_header(payload_bytes: int) -> bytes:
    """The header of one unfragmented, unmasked text frame whose payload has `payload_bytes` bytes."""
    if payload_bytes <= _SHORT_BYTES_MAX:
        return _SHORT_HEADERS[payload_bytes]
    if payload_bytes <= _MEDIUM_BYTES_MAX:
        return b"\x81\x7e" + payload_bytes.to_bytes(2, "big")
    return b"\x81\x7f" + payload_bytes.to_bytes(8, "big")


def own_frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    """First byte and payload of each of our own frames in `data`, which holds whole ones."""
    position = 0
    while position < len(data):
        first_byte, size = data[position], data[position + 1]
        position += 2
        if size > _SHORT_BYTES_MAX:
            width = 2 if size == _SHORT_BYTES_MAX + 1 else 8
            size = int.from_bytes(data[position : position + width], "big")
            position += width
        yield first_byte, data[position : position + size]
        position += size


def ping_frame(payload: bytes = b"") -> bytes:
    """A ping; `payload` has at most 125 bytes and comes back in the pong."""
    return _control_frame(PING, payload)


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping that carried `payload`."""
    return _control_frame(PONG, payload)


def close_frame(code: int, reason: str = "") -> bytes:
    """A close frame; `reason` is cut at a code point so that the frame stays a legal control frame.

    `NO_STATUS` and `ABNORMAL` describe frames that carried no code or never came: they are sent as an empty
    close, since the RFC forbids both on the wire.
    """
    if code in (CloseCode.NO_STATUS, CloseCode.ABNORMAL):
        return _control_frame(CLOSE, b"")
    room = CONTROL_PAYLOAD_BYTES_MAX - 2
    cut = reason.encode()[:room].decode(errors="ignore").encode()
    return _control_frame(CLOSE, code.to_bytes(2, "big") + cut)


def _control_frame(first_byte: int, payload: bytes) -> bytes:
    assert len(payload) <= CONTROL_PAYLOAD_BYTES_MAX, "control frames are short (RFC 6455 §5.5)"
    return bytes((first_byte, len(payload))) + payload
