"""What a client sent, from bytes to whole messages: a pure parser around wsproto's server connection.

Owns reassembly, the size bound and the choice of close code for a client that breaks the protocol. It sends
nothing: pings and violations come out as events for the transport to answer.
"""

import attrs
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.events import Event as ProtocolEvent

from runtime.api.frames import CloseCode

_VIOLATION_REASONS = {
    CloseCode.INVALID_TEXT: "text is not UTF-8",
    CloseCode.TOO_BIG: "frame above maxFrameBytes",
}


@attrs.frozen
class TextFrame:
    """One whole text message."""

    text: bytes
    """Valid UTF-8, at most `maxFrameBytes` bytes."""


@attrs.frozen
class BinaryFrame:
    """One whole binary message; the dispatcher refuses it with -32600 and the connection lives."""

    data: bytes


@attrs.frozen
class Closed:
    """The end of a connection, whichever side ended it; 1006 when it ended without a word."""

    code: int
    reason: str = ""


@attrs.frozen
class PingReceived:
    """The client asks for a pong with this payload."""

    payload: bytes


@attrs.frozen
class Violation:
    """The client broke the protocol or a bound: close with `code`. Nothing more can be parsed."""

    code: CloseCode
    reason: str


def violation(code: CloseCode) -> Violation:
    """The violation with its constant text: what a parser says in detail may quote the client, so it stays here."""
    return Violation(code, _VIOLATION_REASONS.get(code, "protocol error"))


InboundFrame = TextFrame | BinaryFrame | Closed
InboundEvent = InboundFrame | PingReceived | Violation


class InboundParser:
    """Feeds on `receive_data`; `next_event` gives what is complete, or None when more bytes are needed.

    Text and binary messages are bounded by `frame_bytes_max` bytes, fragments counted together (contract §2: 1009).
    """

    def __init__(self, frame_bytes_max: int) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._connection = Connection(ConnectionType.SERVER)
        self._events = self._connection.events()
        # A bytearray, since a list of parts would let one-byte fragments cost fifty times their size.
        self._partial = bytearray()
        self._ended = False

    def receive_data(self, data: bytes) -> None:
        """Takes what came from the network; ignored after a close or a violation."""
        if not self._ended:
            self._connection.receive_data(data)

    def next_event(self) -> InboundEvent | None:
        """The next complete event in arrival order, or None until more data came."""
        while not self._ended:
            event = next(self._events, None)
            if event is None:
                # wsproto's generator ends when its buffer is dry: the next call asks again.
                self._events = self._connection.events()
                return None
            result = self._translate(event)
            if result is not None:
                self._ended = isinstance(result, Closed | Violation)
                return result
        return None

    def _translate(self, event: ProtocolEvent) -> InboundEvent | None:
        match event:
            case TextMessage() | BytesMessage():
                return self._reassemble(event)
            case Ping():
                return PingReceived(bytes(event.payload))
            case CloseConnection():
                if self._connection.state is ConnectionState.REMOTE_CLOSING:
                    return Closed(int(event.code), event.reason or "")
                return violation(CloseCode(int(event.code)))
            case _:  # a pong; that bytes came at all is the sign of life
                return None

    def _reassemble(self, event: TextMessage | BytesMessage) -> InboundEvent | None:
        data = event.data.encode() if isinstance(event.data, str) else bytes(event.data)
        if len(self._partial) + len(data) > self._frame_bytes_max:
            self._partial.clear()
            return violation(CloseCode.TOO_BIG)
        if not event.message_finished:
            self._partial += data
            return None
        if self._partial:
            data = bytes(self._partial + data)
            self._partial.clear()
        return TextFrame(data) if isinstance(event, TextMessage) else BinaryFrame(data)
