"""One client: reads its requests, admits each in the step it was read, and keeps what belongs to the connection.

Owns the requests in flight, their order by session, and the subscriptions; all of it ends with the connection,
while what was admitted goes on (`architecture rule 14`). Replies leave through sinks, never from here.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import structlog
import trio

from runtime.api.authentication import Principal
from runtime.api.handlers import HANDLERS
from runtime.api.outbound_queue import OutboundQueue
from runtime.api.request_lanes import RequestLanes
from runtime.api.request_sink import RequestSink
from runtime.api.requests_context import ApiServices, Request
from runtime.api.subscription import Subscription
from runtime.api.transport import BinaryFrame, ClientTransport, Closed, TextFrame
from runtime.failpoints import failpoints
from runtime.operations.operation import OVERLOADED_RETRY_MS
from runtime.refusal import Refusal
from runtime.wire import replies, requests
from runtime.wire.converter import structure_params
from runtime.wire.encoding import encode_error
from runtime.wire.errors import INVALID_REQUEST
from runtime.wire.jsonrpc_frame import BadFrame, ClientRequest, read_frame, refuse_binary_frame
from runtime.wire.method import Method
from runtime.wire.methods import find_method, served_methods
from runtime.wire.requests import PROTOCOL_VERSION, TOPICS
from runtime.wire.rows import ServerCapabilities
from store.errors import InvalidCursor, RowError, StoreDamaged, StoreUnavailable
from supervisor.cell import guard
from supervisor.errors import ActorStopped, MailboxFull

log = structlog.get_logger(__name__)

CLOSE_POLICY_VIOLATION = 1008
FEATURES = ("replay", "deltas", "interactions")

# Reads on the same session wait for these; the others answer later than their effect is durable.
SEEN_BY_READS = frozenset(
    {
        *("session/create", "session/send", "turn/cancel"),
        *("session/rename", "session/pin", "session/updateSettings"),
        *("session/delete", "session/restore", "session/purge"),
        *("side/send", "side/cancel"),
    }
)


@attrs.define(eq=False)
class Client:
    """A connection from its first frame to its last."""

    transport: ClientTransport
    services: ApiServices
    initialized: bool = attrs.field(default=False, init=False)
    subscriptions: dict[int, Subscription] = attrs.field(factory=dict, init=False)
    _in_flight: dict[str | int, RequestSink] = attrs.field(factory=dict, init=False)
    _lanes: RequestLanes = attrs.field(factory=RequestLanes, init=False)
    _subscription_ids: int = attrs.field(default=0, init=False)

    @property
    def principal(self) -> Principal:
        """Who the client is and what it may do."""
        return self.transport.peer.principal

    @property
    def queue(self) -> OutboundQueue:
        """The only way out."""
        return self.transport.queue

    @property
    def source(self) -> int:
        """Names the client in mailboxes."""
        return self.transport.peer.client_id

    def next_subscription_id(self) -> int:
        """A number unique on this connection."""
        self._subscription_ids += 1
        return self._subscription_ids

    async def run(self) -> None:
        """Serve until the connection has ended."""
        forget = self.queue.on_drained(self._catch_up)
        self.services.clients.add(self.queue)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._expect_hello)
                await self._read()
                nursery.cancel_scope.cancel()
        finally:
            forget()
            self.services.clients.remove(self.queue)
            for subscription in self.subscriptions.values():
                self.services.hub.remove(subscription)
            self.subscriptions.clear()
            self.services.sides.owner_lost(self.source)
            closed = self.transport.closed
            log.info("a client is gone", client=self.source, code=closed.code if closed else None)

    async def _read(self) -> None:
        while True:
            frame = await self.transport.receive()
            match frame:
                case TextFrame(data):
                    self._admit(data)
                case BinaryFrame():
                    self.queue.put_reply(refuse_binary_frame().reply)
                case Closed():
                    return

    async def _expect_hello(self) -> None:
        await trio.sleep(self.services.limits.hello_timeout_seconds)
        if not self.initialized:
            self.transport.close(CLOSE_POLICY_VIOLATION, "not initialized in time")

    def _catch_up(self) -> None:
        for subscription in list(self.subscriptions.values()):
            subscription.catch_up()

    def _admit(self, data: bytes) -> None:
        parsed = read_frame(data)
        if isinstance(parsed, BadFrame):
            self.queue.put_reply(parsed.reply)
        elif parsed.id in self._in_flight:
            # With the id of the request in flight the two answers could not be told apart.
            reused = Refusal("request.invalid", details={"path": "id", "problem": "is in flight already"})
            self.queue.put_reply(encode_error(None, reused, INVALID_REQUEST))
        elif len(self._in_flight) >= self.services.limits.max_in_flight_requests:
            refusal = Refusal("overloaded", retry_after_ms=OVERLOADED_RETRY_MS)
            self.queue.put_reply(encode_error(parsed.id, refusal))
        elif (too_soon := self.services.access.throttle(self.principal)) is not None:
            self.queue.put_reply(encode_error(parsed.id, too_soon))
        else:
            self._answer(parsed)

    def _answer(self, request: ClientRequest) -> None:
        landed = partial(self._in_flight.pop, request.id, None)
        sink = RequestSink(request.id, self.queue, request.method == "session/create", landed)
        self._in_flight[request.id] = sink
        refusal = self._dispatch(request, sink)
        if refusal is not None:
            sink.refuse(refusal)

    def _dispatch(self, request: ClientRequest, sink: RequestSink) -> Refusal | None:
        if not self.initialized and request.method != "initialize":
            return Refusal("protocol.uninitialized")
        method = find_method(request.method, faults_enabled=failpoints.on)
        if isinstance(method, Refusal):
            return method
        if not self.principal.allows(method.scope):
            return Refusal("auth.forbidden")
        if method.scope != "read" and self.services.stopping():
            return Refusal("shutdown.in_progress")
        if method.name == "initialize" and _other_version(request.params.get("protocolVersion")):
            # Looked at first: another version may know other members.
            return Refusal("protocol.unsupported", details={"supported": [PROTOCOL_VERSION]})
        params = structure_params(method, request.params)
        if isinstance(params, Refusal):
            return params
        workspace_id = getattr(params, "workspace_id", None)
        allowed = self.principal.workspaces
        if workspace_id is not None and allowed is not None and workspace_id not in allowed:
            return Refusal("auth.forbidden")
        if method.name == "initialize":
            self._initialize(params, sink)
            return None
        admitted = Request(params, sink, self, self.services)
        self._order(method, admitted)
        return None

    def _order(self, method: Method, request: Request[Any]) -> None:
        """Run the request now, or after what the same connection asked of the same session before it."""
        run = partial(self._handle, method, request)
        lanes = _sessions_of(request.params)
        if lanes and method.scope == "read":
            self._lanes.read(lanes[0], run)
            return
        seen = method.name in SEEN_BY_READS
        judged = method.drives_agent and self.principal.limited
        for lane in lanes:
            if seen:
                request.sink.settled = partial(self._finished, lane, request.sink.settled)
            run = partial(self._lanes.command, lane, run, seen_by_reads=seen, reads_first=judged)
        run()

    def _finished(self, lane: tuple[str, str], landed: Callable[[], object]) -> None:
        landed()
        self._lanes.finished(lane)

    def _handle(self, method: Method, request: Request[Any]) -> None:
        """Run one handler, for who may. A bug in it costs its own request, not the connection (clients are cells too)."""
        crashes: list[Exception] = []
        refusal: Refusal | None = None
        with guard(crashes.append):
            try:
                refusal = self.services.access.refusal(
                    self.principal, method, request.params, request.sink
                ) or HANDLERS[method.name](request)
            except MailboxFull:
                refusal = Refusal("overloaded", retry_after_ms=OVERLOADED_RETRY_MS)
            except ActorStopped:
                refusal = Refusal("shutdown.in_progress")
            except InvalidCursor:
                problem = {"path": "params.cursor", "problem": "is not a cursor of this list"}
                refusal = Refusal("request.invalid", details=problem)
            except RowError as error:
                log.error("a stored row cannot be read", method=method.name, reason=str(error))
                refusal = Refusal("session.quarantined")
            except (StoreUnavailable, StoreDamaged):
                refusal = Refusal("store.unavailable")
        for crash in crashes:
            log.error("a request crashed", method=method.name, exc_info=crash)
            refusal = Refusal("internal")
        if refusal is not None:
            request.sink.refuse(refusal)

    def _initialize(self, params: requests.InitializeParams, sink: RequestSink) -> None:
        self.initialized = True
        log.info(
            "a client is connected",
            client=self.transport.peer.client_id,
            principal=self.principal.name,
            client_name=params.client_info.name,
        )
        sink.reply(
            replies.InitializeReply(
                protocol_version=PROTOCOL_VERSION,
                store_id=self.services.reader.store_id(),
                server_info=self.services.server_info,
                capabilities=ServerCapabilities(served_methods(failpoints.on), TOPICS, FEATURES, ()),
                scope=self.principal.scope,
                limits=self.services.limits,
            )
        )


def _sessions_of(params: Any) -> list[tuple[str, str]]:
    """The sessions a request names, each once."""
    if isinstance(params, requests.SessionTreesParams):
        return [(params.workspace_id, named) for named in dict.fromkeys(params.agent_session_ids)]
    if isinstance(params, requests.SideOpenParams):
        return [
            (params.workspace_id, params.agent_session_id),
            (params.workspace_id, params.side_agent_session_id),
        ]
    if isinstance(params, requests.SideParams):
        return [(params.workspace_id, params.side_agent_session_id)]
    named = getattr(params, "agent_session_id", None)
    return [] if named is None else [(params.workspace_id, named)]


def _other_version(asked: object) -> bool:
    return type(asked) is int and asked != PROTOCOL_VERSION
