"""JSON-RPC on one link: requests with their replies, events to whom they belong.

Owns the ids in flight and the table of subscriptions of this connection. It never waits for a consumer, so one slow
subscription holds up neither a reply nor another subscription. Ends once; reconnecting is `client`'s business.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

import anyio
import attrs
import orjson

from greenroom_client.contract.models import InitializeReply
from greenroom_client.errors import AccessRefused, ClientError, ConnectionLost, GreenroomError

Json: TypeAlias = dict[str, Any]

PROTOCOL_VERSION: Final = 1
PINGS_MISSED_MAX: Final = 2.5
"""The daemon pings every `pingSeconds`; after so many of them without a byte it is taken for gone."""
FORGOTTEN_MAX: Final = 4096


class Link(Protocol):
    """What carries whole messages to a daemon and back: a WebSocket, or memory where the daemon is in the program."""

    async def receive(self, seconds: float | None) -> str:
        """The next message. Raises `ConnectionLost`, also when nothing at all comes for so many seconds."""

    def put(self, message: str) -> None:
        """Queue a message to be written. Raises `ConnectionLost` when it is too late."""

    async def write_all(self) -> None:
        """Write what is queued until the link ends, which it tells by `ConnectionLost`."""

    async def aclose(self) -> None:
        """Close it, bounded in time; may be called twice."""


LinkSource: TypeAlias = Callable[[], Awaitable[Link]]
"""Opens a link, once for each attempt. Raises `DaemonUnreachable` or `AccessRefused`."""


class EventSink(Protocol):
    """Takes the events of one subscription, in order, in the reader's step."""

    def take(self, event: Json, size_characters: int) -> None:
        """One event. Raises `ConnectionLost` when it is not what the contract says."""

    def detach(self) -> None:
        """The connection ended."""


@attrs.define(eq=False)
class _Pending:
    """A request on its way; `outcome` is there once `answered` is set."""

    method: str
    on_result: Callable[[Any], None] | None
    """Runs in the reader's step, before the next frame is looked at."""
    answered: anyio.Event = attrs.field(factory=anyio.Event)
    result: Any = None
    error: ClientError | None = None


class Connection:
    """One connection, from the handshake to its end."""

    hello: InitializeReply
    """The reply to `initialize`; it and `store_id` are there before anybody else sees the connection."""
    store_id: str

    def __init__(self, link: Link) -> None:
        self._link = link
        self._pending: dict[int, _Pending] = {}
        self._number = 0
        self._sinks: dict[int, EventSink] = {}
        self._forgotten: dict[int, None] = {}
        self._idle_seconds: float | None = None
        self._frame_bytes_max: int | None = None
        self.lost: ConnectionLost | None = None
        self.ended = anyio.Event()
        """Set when `lost` is there and nobody waits any more."""

    async def initialize(self, client_info: Mapping[str, str]) -> None:
        """The first request. Raises what `request` raises."""
        params = {"protocolVersion": PROTOCOL_VERSION, "clientInfo": dict(client_info)}
        hello = await self.request("initialize", params)
        try:
            ping_seconds, self._frame_bytes_max = (
                hello["limits"]["pingSeconds"],
                hello["limits"]["maxFrameBytes"],
            )
            self.store_id = str(hello["storeId"])
            self._idle_seconds = float(ping_seconds) * PINGS_MISSED_MAX or None
        except (KeyError, TypeError, ValueError) as error:
            raise AccessRefused("it was welcomed by something that is no daemon") from error
        self.hello = hello

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        on_result: Callable[[Any], None] | None = None,
    ) -> Any:
        """The result. Raises `GreenroomError`, or `ConnectionLost` when the connection ends before the reply.

        Cancelling forgets the reply; the daemon goes on with what it was asked.
        """
        pending = _Pending(method, on_result)
        number = self._put(method, params)
        self._pending[number] = pending
        try:
            await pending.answered.wait()
        finally:
            self._pending.pop(number, None)
        if pending.error is not None:
            raise pending.error
        return pending.result

    def attach(self, subscription_id: int, sink: EventSink) -> None:
        """From the next frame on, events of this subscription go there."""
        self._sinks[subscription_id] = sink

    def forget(self, subscription_id: int) -> None:
        """Nobody wants these events any more; the daemon is told, without waiting for it."""
        self._sinks.pop(subscription_id, None)
        if self.lost is not None or subscription_id in self._forgotten:
            return
        self._forgotten[subscription_id] = None
        if len(self._forgotten) > FORGOTTEN_MAX:
            self._forgotten.pop(next(iter(self._forgotten)))
        try:
            self._put("events/unsubscribe", {"subscriptionId": subscription_id})
        except ConnectionLost:
            pass  # its subscriptions ended with it

    def end(self, lost: ConnectionLost) -> None:
        """The connection is over: whoever waits is told, once."""
        if self.lost is not None:
            return
        self.lost = lost
        pending, self._pending = self._pending, {}
        for one in pending.values():
            one.error = lost.again()
            one.answered.set()
        sinks, self._sinks = self._sinks, {}
        for sink in sinks.values():
            sink.detach()
        self.ended.set()

    async def read(self) -> None:
        """Reads until the connection ends."""
        try:
            while True:
                self._take(await self._link.receive(self._idle_seconds))
        except ConnectionLost as lost:
            self.end(lost)

    async def write(self) -> None:
        """Writes until the connection ends."""
        try:
            await self._link.write_all()
        except ConnectionLost as lost:
            self.end(lost)

    # --- frames ---------------------------------------------------------------------------------------------------

    def _put(self, method: str, params: Mapping[str, Any]) -> int:
        """Raises `GreenroomError` with `request.too_large` for a frame the daemon would close the connection for."""
        if self.lost is not None:
            raise self.lost.again()
        self._number += 1
        frame = orjson.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        if self._frame_bytes_max is not None and len(frame) > self._frame_bytes_max:
            data = {"code": "request.too_large", "delivery": "not_dispatched"}
            raise GreenroomError(method, "The request is larger than a frame may be.", data)
        try:
            self._link.put(frame.decode())
        except ConnectionLost as lost:
            self.end(lost)
            raise
        return self._number

    def _take(self, message: str) -> None:
        try:
            frame = orjson.loads(message)
        except orjson.JSONDecodeError as error:
            raise ConnectionLost("the daemon sent a frame that is no JSON") from error
        if not isinstance(frame, dict):
            raise ConnectionLost("the daemon sent a frame that is no object")
        if "method" not in frame:
            self._reply(frame)
        elif frame["method"] == "event" and isinstance(frame.get("params"), dict):
            self._event(frame["params"], len(message))
        # Other notifications may be added within v1.

    def _reply(self, frame: Json) -> None:
        number = frame.get("id")
        pending = self._pending.get(number) if isinstance(number, int) else None
        if pending is None:
            return  # whoever asked has given up
        error = frame.get("error")
        if isinstance(error, dict):
            data = error.get("data")
            data = data if isinstance(data, dict) else {}
            pending.error = GreenroomError(pending.method, str(error.get("message", "")), data)
        else:
            pending.result = frame.get("result")
            if pending.on_result is not None:
                pending.on_result(pending.result)
        pending.answered.set()

    def _event(self, event: Json, size_characters: int) -> None:
        subscription_id = event.get("subscriptionId")
        if not isinstance(subscription_id, int):
            raise ConnectionLost("the daemon sent an event of no subscription")
        sink = self._sinks.get(subscription_id)
        if sink is not None:
            sink.take(event, size_characters)
        else:
            # Its caller was cancelled before the reply came, or has left.
            self.forget(subscription_id)
