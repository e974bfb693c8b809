"""Outgoing headers and incoming messages, without any I/O."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Ping, Pong, TextMessage

from runtime.api.frames import CloseCode, close_frame, ping_frame, pong_frame, text_header
from runtime.api.inbound_frames import (
    BinaryFrame,
    Closed,
    InboundEvent,
    InboundParser,
    PingReceived,
    TextFrame,
    Violation,
)

FRAME_BYTES_MAX = 1000


def client_bytes(
    opcode: int, payload: bytes, *, fin: bool = True, mask: bytes = b"\x01\x02\x03\x04"
) -> bytes:
    size = len(payload)
    header = bytes([opcode | (0x80 if fin else 0)])
    header += bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + size.to_bytes(2, "big")
    return header + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def parsed(*chunks: bytes, frame_bytes_max: int = FRAME_BYTES_MAX) -> list[InboundEvent]:
    parser = InboundParser(frame_bytes_max)
    events = []
    for chunk in chunks:
        parser.receive_data(chunk)
        while (event := parser.next_event()) is not None:
            events.append(event)
    return events


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000, 1 << 20])
def test_a_header_of_any_size_is_read_back_by_a_client(size: int):
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(text_header(size) + b"x" * size)
    received = [event for event in client.events() if isinstance(event, TextMessage)]
    assert "".join(event.data for event in received) == "x" * size
    assert received[-1].message_finished


@given(size=st.integers(0, 1 << 62))
def test_a_header_has_the_shortest_form(size: int):
    header = text_header(size)
    assert header[0] == 0x81
    assert len(header) == (2 if size < 126 else 4 if size < 65536 else 10)
    length = header[1] if size < 126 else int.from_bytes(header[2:], "big")
    assert length == size


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (ping_frame(b"abc"), Ping(payload=b"abc")),
        (pong_frame(b"abc"), Pong(payload=b"abc")),
        (close_frame(4001, "too slow"), CloseConnection(code=4001, reason="too slow")),
        (close_frame(1000), CloseConnection(code=1000, reason="")),
        (close_frame(CloseCode.NO_STATUS), CloseConnection(code=1005, reason="")),
        (close_frame(CloseCode.ABNORMAL, "never said"), CloseConnection(code=1005, reason="")),
    ],
)
def test_control_frames_are_read_back_by_a_client(frame: bytes, event: object):
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(frame)
    assert list(client.events()) == [event]


def test_a_long_reason_is_cut_at_a_code_point():
    frame = close_frame(1008, "ä" * 100)
    assert len(frame) == 2 + 2 + 122
    assert frame[4:].decode() == "ä" * 61


messages = st.lists(
    st.one_of(
        st.builds(lambda text: (0x1, text.encode()), st.text(max_size=60)),
        st.builds(lambda data: (0x2, data), st.binary(max_size=200)),
    ),
    max_size=6,
)


@given(data=st.data(), sent=messages)
def test_fragments_chunks_and_pings_change_no_message(data: st.DataObject, sent: list[tuple[int, bytes]]):
    wire = b""
    for opcode, payload in sent:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(payload)), max_size=4)))
        parts = [payload[a:b] for a, b in zip([0, *cuts], [*cuts, len(payload)], strict=True)]
        for index, part in enumerate(parts):
            wire += client_bytes(opcode if index == 0 else 0, part, fin=index == len(parts) - 1)
            if data.draw(st.booleans()):
                wire += client_bytes(0x9, b"p")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=8)))
    chunks = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    events = [event for event in parsed(*chunks) if not isinstance(event, PingReceived)]
    assert events == [TextFrame(p) if opcode == 1 else BinaryFrame(p) for opcode, p in sent]


@given(wire=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=5))
def test_any_bytes_give_messages_or_one_end(wire: bytes, cuts: list[int]):
    bounds = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    events = parsed(*(wire[a:b] for a, b in pairwise(bounds)))
    assert events == parsed(wire)
    assert all(not isinstance(event, Violation | Closed) for event in events[:-1])


@pytest.mark.parametrize("opcode", [0x1, 0x2])
def test_the_bound_is_on_the_whole_message_in_bytes(opcode: int):
    at_bound = client_bytes(opcode, "é".encode() * 250, fin=False) + client_bytes(0, "é".encode() * 250)
    assert len(parsed(at_bound)) == 1
    over = client_bytes(opcode, "é".encode() * 250, fin=False) + client_bytes(0, "é".encode() * 250 + b"x")
    assert parsed(over, at_bound) == [Violation(CloseCode.TOO_BIG, "frame above maxFrameBytes")]


def test_a_message_too_big_is_refused_before_it_has_come():
    announced = bytes([0x81, 0xFF]) + (1 << 40).to_bytes(8, "big") + b"\0\0\0\0" + b"x" * 1001
    assert [event.code for event in parsed(announced) if isinstance(event, Violation)] == [1009]


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (client_bytes(0x1, b"\xff\xfe"), 1007),
        (client_bytes(0x1, b"\xed\xa0\x80"), 1007),  # a lone surrogate
        (client_bytes(0x1, b"\xc3"), 1007),  # cut within a code point
        (b"\x81\x01x", 1002),  # not masked
        (client_bytes(0x3, b""), 1002),  # no such opcode
        (client_bytes(0x0, b"x"), 1002),  # continues nothing
        (bytes([0xC1, 0x80]) + b"\0\0\0\0", 1002),  # compressed, which nobody agreed on
        (client_bytes(0x8, b"\x03"), 1002),
    ],
)
def test_a_broken_frame_ends_with_its_code_and_a_constant_text(wire: bytes, code: int):
    (event,) = parsed(wire)
    assert isinstance(event, Violation)
    assert event.code == code
    assert event.reason in ("text is not UTF-8", "protocol error")


def test_a_close_frame_is_the_last_thing_said():
    wire = client_bytes(0x1, b"a") + client_bytes(0x8, b"\x03\xe8bye") + client_bytes(0x1, b"b")
    assert parsed(wire) == [TextFrame(b"a"), Closed(1000, "bye")]
    assert parsed(client_bytes(0x8, b"")) == [Closed(1005)]
