"""Whether a request may become a WebSocket, decided on its head alone. Pure.

Owns the rules of the upgrade (RFC 6455 §4.2.1) and of our subprotocols (contract §2): `greenroom.v1` is the one that
is selected; `greenroom.v1.bearer.TOKEN` carries a browser's token and is never echoed. Answering is the transport's:
`ServeClient` is what one on a socket has to be.
"""

import base64
import binascii
from typing import Protocol

import attrs

from runtime.api.http_exchange import HttpResponse, RequestHead, refusal
from runtime.api.transport import ByteStream, ClientHandler, ClientPeer, TransportLimits

WEBSOCKET_PATH = "/v1/ws"
SUBPROTOCOL = "greenroom.v1"
BEARER_SUBPROTOCOL_PREFIX = "greenroom.v1.bearer."
_WEBSOCKET_VERSION = "13"
_KEY_BYTES = 16


@attrs.frozen
class Upgrade:
    """An upgrade that may be answered with 101, reduced to what the answer depends on: no token goes further."""

    key: str
    subprotocol: str | None
    """What the answer selects: `greenroom.v1`, or None for a client that offered nothing and speaks v1 anyway."""
    trailing: bytes = attrs.field(default=b"", repr=False)
    """What the client sent behind its request: already frames."""

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The request's headers in the one form that every library accepts."""
        offered = [] if self.subprotocol is None else [(b"sec-websocket-protocol", self.subprotocol.encode())]
        return [
            (b"host", b"localhost"),
            (b"upgrade", b"websocket"),
            (b"connection", b"Upgrade"),
            (b"sec-websocket-version", _WEBSOCKET_VERSION.encode()),
            (b"sec-websocket-key", self.key.encode()),
            *offered,
        ]

    def request(self) -> bytes:
        """The request as bytes, for a library that wants to read it itself."""
        lines = [name + b": " + value for name, value in self.headers()]
        return b"\r\n".join([f"GET {WEBSOCKET_PATH} HTTP/1.1".encode(), *lines, b"", b""])


def bearer_token(head: RequestHead) -> str | None:
    """The token a request carries: by `Authorization`, else by subprotocol; None when missing or ambiguous."""
    if head.values(b"authorization"):
        scheme, _, token = (head.value(b"authorization") or "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None
    offered = [
        name.removeprefix(BEARER_SUBPROTOCOL_PREFIX)
        for name in head.tokens(b"sec-websocket-protocol")
        if name.startswith(BEARER_SUBPROTOCOL_PREFIX)
    ]
    return offered[0] if len(offered) == 1 else None


def check_upgrade(head: RequestHead) -> Upgrade | HttpResponse:
    """The upgrade a GET of the WebSocket path asks for, or the refusal: 426 when it asks for none or for another
    version, 400 when it asks badly."""
    upgrades = [name.lower() for name in head.tokens(b"upgrade")]
    if "websocket" not in upgrades:
        return refusal(426, ("Upgrade", "websocket"))
    if head.value(b"sec-websocket-version") != _WEBSOCKET_VERSION:
        missing = not head.values(b"sec-websocket-version")
        return refusal(400 if missing else 426, ("Sec-WebSocket-Version", _WEBSOCKET_VERSION))
    key = head.value(b"sec-websocket-key")
    if (
        upgrades != ["websocket"]
        or head.http_version != "1.1"
        or "upgrade" not in (name.lower() for name in head.tokens(b"connection"))
        or key is None
        or not _is_key(key)
        or head.values(b"content-length")
        or head.values(b"transfer-encoding")
    ):
        return refusal(400)
    offered = head.tokens(b"sec-websocket-protocol")
    if offered and SUBPROTOCOL not in offered:
        # It speaks something else; a client that names no protocol at all is taken at its word.
        return refusal(400)
    return Upgrade(key, SUBPROTOCOL if offered else None, head.trailing)


def _is_key(value: str) -> bool:
    try:
        return len(base64.b64decode(value, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False


class ServeClient(Protocol):
    """An implementation of the transport: carries one admitted client from the 101 answer to the closed socket."""

    async def __call__(
        self,
        stream: ByteStream,
        upgrade: Upgrade,
        peer: ClientPeer,
        handle: ClientHandler,
        limits: TransportLimits,
    ) -> None:
        """Returns when the connection has ended; broken connections and slow clients raise nothing."""
        ...
