"""One port: reads each connection's HTTP head and sends it the right way.

Owns the order of the checks (host and origin, route, token, upgrade), the bound on connections, and the promise that
no connection's fault leaves its own task (FC-57). It knows neither sockets nor what clients say: the listener hands
it streams, the composition root hands it routes, tokens, the transport and the handler.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import attrs
import structlog
import trio

from runtime.api.authentication import Authenticator, Principal, Scope
from runtime.api.frames import CloseCode
from runtime.api.http_exchange import HttpExchange, HttpResponse, RequestHead, refusal
from runtime.api.origin_policy import OriginPolicy
from runtime.api.transport import (
    ByteStream,
    ClientHandler,
    ClientPeer,
    ClientTransport,
    TransportLimits,
)
from runtime.api.upgrade import WEBSOCKET_PATH, ServeClient, Upgrade, bearer_token, check_upgrade
from supervisor.cell import guard

_READ_BYTES_MAX = 16 * 1024
_WRITE_BYTES_MAX = 64 * 1024
_UNREAD_BODY_BYTES_MAX = 64 * 1024
_ROUTE_SECONDS = 30.0
_TURNED_AWAY_MAX = 32
_TURN_AWAY_SECONDS = 1.0
_CLOSE_SECONDS = 1.0

logger: structlog.typing.FilteringBoundLogger = structlog.get_logger("greenroom.api")


@attrs.frozen
class HttpRoute:
    """A plain GET (or HEAD) under `path`; a path that ends in `/` also takes everything below it, unless longer
    routes do. `scope` is what the token must allow, None for no token. The answer has 30 seconds."""

    path: str
    answer: Callable[[RequestHead], Awaitable[HttpResponse]]
    scope: Scope | None = None

    def takes(self, path: str) -> bool:
        """Whether this route serves `path`."""
        return path == self.path or (self.path.endswith("/") and path.startswith(self.path))


@attrs.frozen
class FrontStatistics:
    """Counts since the start, but for the first two, which are now."""

    connections: int
    clients: int
    accepted: int
    refused: dict[int, int]
    """By HTTP status; 408 includes heads that never came."""


@attrs.frozen
class _AdmittedClient:
    upgrade: Upgrade
    principal: Principal


class Front:
    """Serves accepted streams, one call of `serve` each."""

    def __init__(
        self,
        *,
        limits: TransportLimits,
        authenticator: Authenticator,
        origins: OriginPolicy,
        routes: Sequence[HttpRoute],
        serve_client: ServeClient,
        handle: ClientHandler,
    ) -> None:
        self._limits = limits
        self._authenticator = authenticator
        self._origins = origins
        # The longest path first, so that the console's `/` takes only what nobody else does.
        self._routes = sorted(routes, key=lambda route: len(route.path), reverse=True)
        self._serve_client = serve_client
        self._handle = handle
        self._connections = 0
        self._turned_away = 0
        self._accepted = 0
        self._refused: dict[int, int] = {}
        self._clients: dict[int, ClientTransport] = {}
        self._connections_of: Counter[str] = Counter()

    async def serve(self, stream: ByteStream, remote: str) -> None:
        """Carries one connection to its end. Raises nothing: whatever goes wrong is logged and ends here."""
        try:
            if self._connections >= self._limits.connections_max:
                await self._turn_away(stream)
                return
            self._connections += 1
            try:
                with guard(lambda fault: logger.error("connection_failed", remote=remote, exc_info=fault)):
                    await self._serve(stream, remote)
            finally:
                self._connections -= 1
        finally:
            with trio.move_on_after(_CLOSE_SECONDS, shield=True):
                await stream.aclose()

    def close_revoked(self) -> int:
        """Closes (1008) every client whose token no longer stands; returns how many. Call it after SIGHUP."""
        revoked = [
            client for client in self._clients.values() if self._authenticator.revoked(client.peer.principal)
        ]
        for client in revoked:
            client.close(CloseCode.POLICY, "token revoked")
        return len(revoked)

    def close_all(self, code: int, reason: str) -> None:
        """Closes every client, after what is queued for it: 1001 when the daemon stops."""
        for client in tuple(self._clients.values()):
            client.close(code, reason)

    def statistics(self) -> FrontStatistics:
        """The counters as they stand."""
        return FrontStatistics(self._connections, len(self._clients), self._accepted, dict(self._refused))

    # One connection.

    async def _serve(self, stream: ByteStream, remote: str) -> None:
        exchange = HttpExchange()
        answer: HttpResponse | _AdmittedClient
        try:
            head = await self._read_head(stream, exchange)
            if head is None:
                return
            answer = head if isinstance(head, HttpResponse) else await self._guarded_answer(head, remote)
            if isinstance(answer, HttpResponse):
                await self._respond(stream, exchange, answer)
                if isinstance(head, RequestHead):
                    await _skip_body(stream, head)
                return
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return  # gone before it was answered
        await self._serve_admitted(stream, answer, remote)

    async def _read_head(
        self, stream: ByteStream, exchange: HttpExchange
    ) -> RequestHead | HttpResponse | None:
        with trio.move_on_after(self._limits.hello_timeout_seconds):
            while True:
                data = await stream.receive_some(_READ_BYTES_MAX)
                if not data:
                    return None
                head = exchange.receive_data(data)
                if head is not None:
                    return head
        return refusal(408)

    async def _guarded_answer(self, head: RequestHead, remote: str) -> HttpResponse | _AdmittedClient:
        def record(fault: Exception) -> None:
            # The path alone: a query may hold what a client should not have put there.
            logger.error("request_failed", method=head.method, path=head.path, remote=remote, exc_info=fault)

        answer: HttpResponse | _AdmittedClient = refusal(500)
        with guard(record):
            answer = await self._answer(head)
        return answer  # noqa: RET504 -- the guard keeps the error and goes on here

    async def _answer(self, head: RequestHead) -> HttpResponse | _AdmittedClient:
        if not self._origins.admits(head):
            return refusal(403)
        route = next((route for route in self._routes if route.takes(head.path)), None)
        if head.path == WEBSOCKET_PATH:
            return self._admit(head)
        if route is None:
            return refusal(404)
        if head.method not in ("GET", "HEAD"):
            return refusal(405, ("Allow", "GET, HEAD"))
        if route.scope is not None:
            principal = self._authenticator.authenticate(bearer_token(head))
            if principal is None:
                return refusal(401, ("WWW-Authenticate", "Bearer"))
            if not principal.allows(route.scope):
                return refusal(403)
        with trio.move_on_after(_ROUTE_SECONDS):
            return await route.answer(head)
        return refusal(503)

    def _admit(self, head: RequestHead) -> HttpResponse | _AdmittedClient:
        if head.method != "GET":
            return refusal(405, ("Allow", "GET"))
        principal = self._authenticator.authenticate(bearer_token(head))
        if principal is None:
            return refusal(401, ("WWW-Authenticate", "Bearer"))
        if self._too_many(principal):
            return refusal(429, ("Retry-After", "1"))
        upgrade = check_upgrade(head)
        return upgrade if isinstance(upgrade, HttpResponse) else _AdmittedClient(upgrade, principal)

    def _too_many(self, principal: Principal) -> bool:
        most = principal.max_connections
        if most is None:
            return False
        return self._connections_of[principal.name] >= most

    async def _respond(self, stream: ByteStream, exchange: HttpExchange, response: HttpResponse) -> None:
        if response.status >= 400:
            self._refused[response.status] = self._refused.get(response.status, 0) + 1
        rest = memoryview(exchange.respond(response))
        while rest:
            piece, rest = rest[:_WRITE_BYTES_MAX], rest[_WRITE_BYTES_MAX:]
            with trio.move_on_after(self._limits.client_send_deadline_seconds) as scope:
                await stream.send_all(piece)
            if scope.cancelled_caught:
                return

    # Clients.

    async def _serve_admitted(self, stream: ByteStream, admitted: _AdmittedClient, remote: str) -> None:
        self._accepted += 1
        peer = ClientPeer(
            client_id=self._accepted,
            principal=admitted.principal,
            remote=remote,
            connected_at_seconds=trio.current_time(),
        )
        name = admitted.principal.name
        self._connections_of[name] += 1
        try:
            await self._serve_client(stream, admitted.upgrade, peer, self._handle_client, self._limits)
        finally:
            self._connections_of[name] -= 1
            if not self._connections_of[name]:
                del self._connections_of[name]

    async def _handle_client(self, client: ClientTransport) -> None:
        client_id = client.peer.client_id

        def record(fault: Exception) -> None:
            logger.error("client_failed", client_id=client_id, exc_info=fault)
            client.close(CloseCode.INTERNAL, "internal error")

        self._clients[client_id] = client
        try:
            with guard(record):
                await self._handle(client)
        finally:
            del self._clients[client_id]

    async def _turn_away(self, stream: ByteStream) -> None:
        """Answers 503 to a connection too many; the bound on these answers is what keeps a flood bounded."""
        if self._turned_away >= _TURNED_AWAY_MAX:
            return
        self._turned_away += 1
        exchange = HttpExchange()
        try:
            with trio.move_on_after(_TURN_AWAY_SECONDS):
                # Its request is read first: closing with bytes unread would reset the connection and lose the answer.
                data = await stream.receive_some(_READ_BYTES_MAX)
                if data:
                    exchange.receive_data(data)
                    await self._respond(stream, exchange, refusal(503, ("Retry-After", "1")))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return
        finally:
            self._turned_away -= 1


async def _skip_body(stream: ByteStream, head: RequestHead) -> None:
    """Reads the body a refused request announced, up to a bound, so that its sender gets to see the answer."""
    length = head.value(b"content-length") or ""
    announced = int(length) if length.isascii() and length.isdigit() else 0
    rest = min(announced, _UNREAD_BODY_BYTES_MAX) - len(head.trailing)
    with trio.move_on_after(_CLOSE_SECONDS):
        while rest > 0:
            data = await stream.receive_some(_READ_BYTES_MAX)
            if not data:
                return
            rest -= len(data)
