"""One connection of a simulated client: the handshake, requests and their answers, events to their watches.

It speaks the outer contract and nothing else, and checks on the way what one connection alone can show: every frame
is well formed, every answer has a question, and no effect is shown before the reply to the command that caused it.
"""

import math
from collections.abc import Callable
from typing import Final

import attrs
import orjson
import trio
from wsproto.utilities import RemoteProtocolError

from runtime.simulation.effect_order import shows_effect_early
from runtime.simulation.history import History, Json, Request
from runtime.simulation.network import ClientConnection
from runtime.simulation.subscription_watch import SubscriptionWatch
from runtime.simulation.websocket_client import Refused, WebSocketClient

_READ_BYTES: Final = 65536
ANSWER_SECONDS_MAX: Final = 90.0
"""No command outlasts its deadline plus a second; the longest deadline of a simulated run is well below this."""


class LinkLost(Exception):
    """The connection is gone; what was not answered is unknown."""


@attrs.define(eq=False)
class _Waiting:
    request: Request
    ended: trio.Event = attrs.field(factory=trio.Event)
    on_answer: Callable[[Json], None] = lambda _: None


class Link:
    """One connection, from connecting to its end."""

    def __init__(
        self, client: str, number: int, connection: ClientConnection, token: str, history: History
    ) -> None:
        self.client = client
        self.number = number
        self.connection = connection
        self.lost = trio.Event()
        self.lag_until = -math.inf
        """Nothing is read before this moment: a client that is too slow."""
        self.watches: dict[int, SubscriptionWatch] = {}
        self.on_event: Callable[[Json], None] = lambda _: None
        self._history = history
        self._socket = WebSocketClient(token)
        self._sending = trio.Lock()
        self._requests = 0
        self._waiting: dict[int, _Waiting] = {}

    async def read(self) -> None:
        """Read until the connection ends; everything open is unknown then."""
        try:
            await self._flush()
            while True:
                await self._wait_out_lag()
                data = await self.connection.client.receive_some(_READ_BYTES)
                if not data:
                    return
                for text in self._socket.receive(data):
                    self._take(text)
                await self._flush()
        except (trio.BrokenResourceError, trio.ClosedResourceError, LinkLost, Refused):
            return
        except RemoteProtocolError as error:
            self._history.violated("frames are well formed", f"{self.client}: {error}")
        finally:
            self._lose()

    async def call(
        self, method: str, params: Json, on_answer: Callable[[Json], None] | None = None
    ) -> Request:
        """Send a request and wait for what comes of it. Raises LinkLost."""
        waiting = await self.post(method, params, on_answer)
        with trio.move_on_after(ANSWER_SECONDS_MAX + max(0.0, self.lag_until - trio.current_time())):
            await waiting.ended.wait()
        request = waiting.request
        if request.state == "open":
            self._history.violated("every command is answered in time", f"{self.client}: {method} {params}")
            self.close()
        if request.state in ("open", "unknown"):
            raise LinkLost
        return request

    async def post(
        self, method: str, params: Json, on_answer: Callable[[Json], None] | None = None
    ) -> _Waiting:
        """Send a request without waiting for its answer. Raises LinkLost."""
        if self.lost.is_set():
            raise LinkLost
        self._requests += 1
        number = self._requests
        request = Request(self.client, self.number, method, params)
        waiting = self._waiting[number] = _Waiting(request)
        if on_answer is not None:
            waiting.on_answer = on_answer
        self._history.requests.append(request)
        frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._socket.send_text(orjson.dumps(frame).decode())
        await self._flush()
        return waiting

    def close(self) -> None:
        """Go away without a word."""
        self.connection.client.close()
        self._lose()

    async def _wait_out_lag(self) -> None:
        while self.lag_until > trio.current_time():  # noqa: ASYNC110 -- it may have been put off meanwhile
            await trio.sleep_until(self.lag_until)

    async def _flush(self) -> None:
        if not self._socket.to_send:
            return
        async with self._sending:
            data = bytes(self._socket.to_send)
            self._socket.to_send.clear()
            if data:
                try:
                    await self.connection.client.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                    self._lose()
                    raise LinkLost from error

    def _take(self, text: str) -> None:
        frame: Json = orjson.loads(text)
        if frame.get("method") == "event":
            self._event(frame["params"], text)
        else:
            self._answer(frame)

    def _event(self, event: Json, text: str) -> None:
        watch = self.watches.get(event["subscriptionId"])
        if watch is None:
            self._history.violated(
                "the reply to subscribe precedes its events", f"{self.client}: {event['subscriptionId']}"
            )
            return
        if event["type"] == "commit":
            for waiting in self._waiting.values():
                problem = shows_effect_early(waiting.request, event, self._history)
                if problem is not None:
                    self._history.violated(
                        "a reply precedes the first event that shows its effect", f"{watch.label}: {problem}"
                    )
        watch.take(event, text[text.index('"topic"') :])
        self.on_event(event)

    def _answer(self, frame: Json) -> None:
        waiting = self._waiting.pop(frame.get("id", 0), None)
        if waiting is None:
            self._history.violated("every answer has a question", f"{self.client}: {frame}")
            return
        request = waiting.request
        if "error" in frame:
            request.state, request.error = "refused", frame["error"]
        else:
            request.state, request.result = "answered", frame["result"]
            waiting.on_answer(request.result)
        waiting.ended.set()

    def _lose(self) -> None:
        self.lost.set()
        for waiting in self._waiting.values():
            waiting.request.state = "unknown"
            waiting.ended.set()
        self._waiting.clear()
        self.connection.client.close()
