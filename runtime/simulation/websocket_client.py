"""A client's side of the WebSocket, without I/O: bytes out, bytes in, text frames up.

Built on wsproto, like the daemon's own reader, but from the other end; pings are answered, everything else is told.
"""

from collections.abc import Iterator
from typing import Final

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Message,
    Ping,
    RejectConnection,
    RejectData,
    Request,
)

_TARGET: Final = "/v1/ws"
_SUBPROTOCOL: Final = "greenroom.v1"


class Refused(Exception):
    """The daemon answered the handshake with an HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"refused with status {status}")
        self.status = status


class WebSocketClient:
    """One connection from its handshake to its close frame."""

    def __init__(self, token: str) -> None:
        self.open = False
        self.close_code: int | None = None
        """Why the daemon closed, once it has."""
        self.to_send = bytearray()
        """Bytes that go out next; whoever sends them clears it."""
        self._connection = WSConnection(ConnectionType.CLIENT)
        self._parts: list[str] = []
        self._held: list[str] = []
        self.to_send += self._connection.send(
            Request(
                host="localhost",
                target=_TARGET,
                subprotocols=[_SUBPROTOCOL],
                extra_headers=[(b"authorization", b"Bearer " + token.encode())],
            )
        )

    def send_text(self, text: str) -> None:
        """Queue one text frame; it waits for the handshake, and is lost once the daemon has closed."""
        if not self.open:
            self._held.append(text)
        elif self.close_code is None:
            self.to_send += self._connection.send(Message(data=text))

    def close(self) -> None:
        """Queue our close frame."""
        if self.open and self.close_code is None:
            self.to_send += self._connection.send(CloseConnection(code=1000))

    def receive(self, data: bytes) -> Iterator[str]:
        """Texts that are complete now. Raises Refused, or wsproto's RemoteProtocolError for a broken frame."""
        self._connection.receive_data(data)
        for event in self._connection.events():
            match event:
                case AcceptConnection():
                    self.open = True
                    for text in self._held:
                        self.send_text(text)
                    self._held.clear()
                case RejectConnection(status_code=status):
                    raise Refused(status)
                case RejectData():
                    continue
                case Message(data=str(text)):
                    self._parts.append(text)
                    if event.message_finished:
                        yield "".join(self._parts)
                        self._parts.clear()
                case Ping():
                    self.to_send += self._connection.send(event.response())
                case CloseConnection(code=code):
                    if self.close_code is None:
                        self.close_code = int(code)
                        self.to_send += self._connection.send(event.response())
                case _:
                    continue
