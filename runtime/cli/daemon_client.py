"""A small client of the daemon: one WebSocket, requests with their replies, events in order. trio only.

Speaks the outer contract and imports nothing of the service behind it. Replies and events are JSON objects as sent:
a client ignores what it does not know, so they are not pressed into this version's models.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import attrs
import orjson
import trio
from trio_websocket import (
    CloseReason,
    ConnectionClosed,
    ConnectionRejected,
    HandshakeError,
    WebSocketConnection,
    wrap_client_stream,
)

from runtime.cli.failures import leaf_errors
from runtime.cli.version import program_version

Json: TypeAlias = dict[str, Any]
Stream: TypeAlias = "trio.SocketStream | trio.SSLStream[trio.SocketStream]"

PROTOCOL_VERSION: Final = 1
CONNECT_SECONDS: Final = 5.0
HANDSHAKE_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 1.0
FRAME_BYTES_MAX: Final = 256 * 1024 * 1024
"""More than any `maxServerFrameBytes` or page: a bound against nonsense, not against the daemon."""
EVENTS_WAITING_MAX: Final = 4096
"""Then the connection is not read any more, and the daemon sends a `stream_gap` for what it drops."""


class DaemonUnreachable(Exception):
    """Raised when nobody listens at the address: the daemon is not, or no longer, there."""


class AccessRefused(Exception):
    """Raised when whoever listens does not let us in, or is no daemon; another attempt will not help."""


class DaemonGone(Exception):
    """Raised when the connection ended in the middle: what was acknowledged stays, what was in flight is unknown."""


class RequestRefused(Exception):
    """Raised for an error reply: an expected no, with a code of `contract §7`."""

    def __init__(self, method: str, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(f"{method}: {message}")
        self.method = method
        self.message = message
        self.code = str(data.get("code", "internal"))
        self.retryable = bool(data.get("retryable"))
        details = data.get("details")
        self.details: Mapping[str, Any] = details if isinstance(details, dict) else {}


_HANDSHAKE_FAILURES: Final = (
    AccessRefused,
    ConnectionClosed,
    ConnectionRejected,
    HandshakeError,
    OSError,
    trio.BrokenResourceError,
    trio.ClosedResourceError,
)


@attrs.frozen
class Endpoint:
    """Where a daemon is and what opens it."""

    url: str
    token: str = attrs.field(repr=False)
    certificate: Path | None = None
    """Of a daemon that serves TLS: the very certificate it must show."""


@attrs.define(eq=False)
class _Pending:
    """A request on its way; `outcome` is there once `answered` is set."""

    method: str
    answered: trio.Event = attrs.field(factory=trio.Event)
    outcome: Json | RequestRefused | DaemonGone | None = None

    def settle(self, outcome: Json | RequestRefused | DaemonGone) -> None:
        self.outcome = outcome
        self.answered.set()


class DaemonClient:
    """A connection after `initialize`. Made by `open_client`."""

    def __init__(self, connection: WebSocketConnection) -> None:
        self._connection = connection
        self._pending: dict[int, _Pending] = {}
        self._request_id = 0
        self._gone: DaemonGone | None = None
        self._events, self.events = trio.open_memory_channel[Json](EVENTS_WAITING_MAX)
        self.hello: Json = {}
        """The reply to `initialize`."""

    async def request(self, method: str, params: Mapping[str, Any]) -> Json:
        """The result. Raises `RequestRefused`, or `DaemonGone` when the connection ends before the reply.

        The task that takes `events` must not wait here while events pour in: replies come behind them.
        """
        if self._gone is not None:
            raise self._gone
        self._request_id += 1
        pending = self._pending[self._request_id] = _Pending(method)
        frame = {"jsonrpc": "2.0", "id": self._request_id, "method": method, "params": params}
        try:
            await self._connection.send_message(orjson.dumps(frame).decode())
        except ConnectionClosed as error:
            raise _gone(error.reason) from error
        await pending.answered.wait()
        if isinstance(pending.outcome, Exception):
            raise pending.outcome
        assert pending.outcome is not None, "a pending request is settled before it is answered"
        return pending.outcome

    async def read(self) -> None:
        """Reads until the connection ends; then nobody waits any more. Run once, by `open_client`."""
        with self._events:
            try:
                while True:
                    await self._receive(await self._connection.get_message())
            except ConnectionClosed as error:
                self._gone = _gone(error.reason)
        for pending in self._pending.values():
            pending.settle(self._gone)

    @property
    def gone(self) -> DaemonGone | None:
        """Why the connection ended; None while it stands."""
        return self._gone

    async def _receive(self, message: str | bytes) -> None:
        frame: Json = orjson.loads(message)
        if "method" in frame:
            if frame["method"] == "event":
                await self._events.send(frame["params"])
            return
        pending = self._pending.pop(frame["id"], None) if isinstance(frame.get("id"), int) else None
        if pending is None:
            return
        if "error" in frame:
            error = frame["error"]
            pending.settle(RequestRefused(pending.method, str(error.get("message")), error.get("data") or {}))
        else:
            pending.settle(frame["result"])


@asynccontextmanager
async def open_client(endpoint: Endpoint) -> AsyncIterator[DaemonClient]:
    """A client that has been welcomed. Raises `DaemonUnreachable` or `AccessRefused`.

    What the body raises leaves through a nursery, in a group (`failures.leaf_errors`).
    """
    stream, resource = await _open_stream(endpoint)
    client: DaemonClient | None = None
    try:
        async with trio.open_nursery() as nursery:
            connection = await _shake_hands(endpoint, nursery, stream, resource)
            client = DaemonClient(connection)
            nursery.start_soon(client.read)
            client.hello = await client.request("initialize", _hello())
            yield client
            with trio.move_on_after(CLOSE_SECONDS):
                await connection.aclose()
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The library reads in a task of its own, so a handshake that fails comes out of the nursery.
        if client is None and group.split(_HANDSHAKE_FAILURES)[1] is None:
            raise AccessRefused(_why_no_handshake(endpoint, group)) from group
        raise


def _hello() -> Json:
    client_info = {"name": "greenroom-command-line", "version": program_version()}
    return {"protocolVersion": PROTOCOL_VERSION, "clientInfo": client_info}


async def _open_stream(endpoint: Endpoint) -> tuple[Stream, str]:
    """The byte stream to the daemon and the path on it."""
    with trio.move_on_after(CONNECT_SECONDS):
        try:
            if endpoint.url.startswith("ws+unix:"):
                path, _, resource = endpoint.url.removeprefix("ws+unix:").rpartition(":")
                return await trio.open_unix_socket(path), resource
            parts = urlsplit(endpoint.url)
            encrypted = parts.scheme == "wss"
            port = parts.port or (443 if encrypted else 80)
            stream = await trio.open_tcp_stream(_reachable(parts.hostname or ""), port)
        except OSError as error:
            raise DaemonUnreachable(f"{endpoint.url}: {_words(error)}") from error
        return (_encrypted(stream, endpoint.certificate) if encrypted else stream), parts.path
    raise DaemonUnreachable(f"{endpoint.url}: no answer within {CONNECT_SECONDS:g} s")


async def _shake_hands(
    endpoint: Endpoint, nursery: trio.Nursery, stream: Stream, resource: str
) -> WebSocketConnection:
    with trio.move_on_after(HANDSHAKE_SECONDS):
        return await wrap_client_stream(
            nursery,
            stream,
            # Whatever the daemon listens on, this name is one it takes (`contract §2`).
            "localhost",
            resource,
            subprotocols=["greenroom.v1"],
            extra_headers=[(b"authorization", f"Bearer {endpoint.token}".encode())],
            max_message_size=FRAME_BYTES_MAX,
            receive_buffer_size=64 * 1024,
        )
    raise AccessRefused(f"{endpoint.url} did not shake hands within {HANDSHAKE_SECONDS:g} s")


def _why_no_handshake(endpoint: Endpoint, group: BaseExceptionGroup[BaseException]) -> str:
    rejected = group.subgroup(ConnectionRejected)
    if rejected is not None:
        (answer, *_) = leaf_errors(rejected)
        return f"{endpoint.url} answered {getattr(answer, 'status_code', 'no')}"
    refused = group.subgroup(AccessRefused)
    if refused is not None:
        return str(leaf_errors(refused)[0])
    return f"what listens at {endpoint.url} is no daemon ({_words(leaf_errors(group)[0])})"


def _encrypted(stream: trio.SocketStream, certificate: Path | None) -> trio.SSLStream[trio.SocketStream]:
    context = ssl.create_default_context(cafile=certificate)
    # Not the name but the certificate itself is what we know of our own daemon.
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return trio.SSLStream(stream, context, https_compatible=True)


def _reachable(host: str) -> str:
    """A daemon on all addresses is reached by the loopback one."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- recognised, not bound


def _words(error: BaseException) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return str(error) or type(error).__name__


def _gone(reason: CloseReason | None) -> DaemonGone:
    if reason is None:
        return DaemonGone("the connection broke")
    return DaemonGone(f"the daemon closed the connection ({reason.code} {reason.reason or reason.name})")
