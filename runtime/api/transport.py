"""The seam between the API and what carries its frames to and from one client.

Owns the types both sides of that seam share: limits, byte stream, peer, and `ClientTransport`, which the dispatcher
holds. Three implementations exist: two on a socket (`wsproto_transport.py`, `trio_websocket_transport.py`) and one in
memory (`in_process_transport.py`); nothing above this module may know which one runs (architecture §7), and nothing of
HTTP is here (RT-145).
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

import attrs

from runtime.api.authentication import Principal
from runtime.api.inbound_frames import BinaryFrame, Closed, InboundFrame, TextFrame
from runtime.api.outbound_queue import OutboundQueue

__all__ = [
    "BinaryFrame",
    "ByteStream",
    "ClientHandler",
    "ClientPeer",
    "ClientTransport",
    "Closed",
    "EagerByteStream",
    "InboundFrame",
    "Listener",
    "StreamHandler",
    "TextFrame",
    "TransportLimits",
]

_MIB = 1024 * 1024


@attrs.frozen
class TransportLimits:
    """The bounds of one connection, named as in contract §1 `limits`."""

    max_frame_bytes: int = 16 * _MIB
    client_queue_bytes: int = 8 * _MIB
    ping_seconds: float = 20.0
    hello_timeout_seconds: float = 10.0
    """For the HTTP head, and again, by the dispatcher, for `initialize`."""
    client_send_deadline_seconds: float = 10.0
    connections_max: int = 1024
    """Connections of any kind at one time; one more is answered with 503."""
    close_timeout_seconds: float = 2.0
    """From the wish to close to the closed socket: the rest of the queue, our close frame, the client's."""


class ByteStream(Protocol):
    """An ordered pair of byte pipes: a socket, TLS over one, or memory in a simulation.

    Raises trio's `BrokenResourceError` and `ClosedResourceError`. A cancelled `send_all` may have written a part.
    """

    async def receive_some(self, max_bytes: int, /) -> bytes | bytearray:
        """At least one byte, at most `max_bytes`; empty at the end."""
        ...

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        """Returns when the other end, or the kernel, holds all of `data`."""
        ...

    async def aclose(self) -> None:
        """Closes at once, whatever is in flight; may be called twice."""
        ...


@runtime_checkable
class EagerByteStream(ByteStream, Protocol):
    """A byte stream that can also be written without waiting: then an uncongested write costs no task switch."""

    def try_send(self, data: bytes | bytearray | memoryview, /) -> int:
        """The number of bytes taken now; 0 when the kernel is full."""
        ...

    async def wait_sendable(self) -> None:
        """Returns when `try_send` may take bytes again."""
        ...


StreamHandler = Callable[[ByteStream, str], Awaitable[None]]
"""Serves one accepted stream; the text names the remote end for logs."""


class Listener(Protocol):
    """A bound address. Bound and listening are two steps: the daemon recovers between them (contract §1)."""

    @property
    def url(self) -> str:
        """The WebSocket URL of contract §1, with the real port."""
        ...

    def listen(self) -> None:
        """Lets clients connect."""
        ...

    async def serve(self, handler: StreamHandler) -> None:
        """Runs `handler` in a task for each connection; returns when closed and all of them have ended."""
        ...

    def close(self) -> None:
        """Stops listening and frees the address; connections go on."""
        ...


@attrs.frozen
class ClientPeer:
    """Who is at the other end."""

    client_id: int
    """Unique in this run of the daemon."""
    principal: Principal
    remote: str
    connected_at_seconds: float
    """On trio's clock, when the HTTP head was read: what `helloTimeoutSeconds` for `initialize` counts from."""


class ClientTransport(Protocol):
    """One client's connection as the dispatcher sees it."""

    @property
    def peer(self) -> ClientPeer:
        """Who the client is."""
        ...

    @property
    def limits(self) -> TransportLimits:
        """The bounds in force."""
        ...

    @property
    def queue(self) -> OutboundQueue:
        """The only way out."""
        ...

    @property
    def closed(self) -> Closed | None:
        """Why the connection ends or has ended, None while it lives."""
        ...

    async def receive(self) -> InboundFrame:
        """The next message, handed over only while the queue is under half (rule 8); `Closed` ever after the end.

        Safe to cancel: no message is lost. One task at a time.
        """
        ...

    async def wait_closed(self) -> None:
        """Returns when `closed` is set."""
        ...

    def close(self, code: int, reason: str = "") -> None:
        """Ends the connection after what is queued, within `close_timeout_seconds`; the first reason given stands."""
        ...


ClientHandler = Callable[[ClientTransport], Awaitable[None]]
"""Serves one client until `receive` says `Closed`. A handler that returns closes the connection with 1000."""
