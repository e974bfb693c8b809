"""A daemon made by hand that does what no daemon should: it tears frames, vanishes, repeats itself, talks of things
nobody knows. One scene a connection, in order; it runs in the loop of the test that plays it.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
import attrs
import wsproto
from anyio.abc import SocketAttribute, SocketStream
from wsproto.events import AcceptConnection, CloseConnection, Ping, RejectConnection, Request, TextMessage

from greenroom_client import ClientOptions, Reconnect

Json: TypeAlias = dict[str, Any]
Scene: TypeAlias = Callable[["Line"], Awaitable[None]]

SOON = ClientOptions(
    reconnect=Reconnect(first_pause_seconds=0.001, longest_pause_seconds=0.01, attempts_max=5)
)
"""Comes back at once; gives up after a few attempts."""
STORE = "store-1"


class HungUp(Exception):
    """The client has gone."""


@attrs.define(eq=False)
class Line:
    """One connection as the scene sees it."""

    stream: SocketStream
    protocol: wsproto.WSConnection
    pongs: int = 0
    ended: bool = False
    _frames: deque[Json] = attrs.field(factory=deque)

    async def frame(self) -> Json:
        """The next request."""
        while not self._frames:
            try:
                self.protocol.receive_data(await self.stream.receive())
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                raise HungUp from None
            for event in self.protocol.events():
                if isinstance(event, TextMessage):
                    self._frames.append(json.loads(event.data))
                elif isinstance(event, CloseConnection):
                    raise HungUp
                elif isinstance(event, wsproto.events.Pong):
                    self.pongs += 1
        return self._frames.popleft()

    async def expect(self, method: str) -> Json:
        """The next request, which is this one; unsubscribes may come whenever they like."""
        while (frame := await self.frame())["method"] == "events/unsubscribe" != method:
            pass
        assert frame["method"] == method, frame
        return frame

    async def send(self, frame: Json) -> None:
        await self.bytes(self.protocol.send(TextMessage(json.dumps(frame))))

    async def bytes(self, data: bytes) -> None:
        await self.stream.send(data)

    async def reply(self, request: Json, result: Any) -> None:
        await self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    async def refuse(self, request: Json, code: str, **data: Any) -> None:
        body = {"code": code, "retryable": False, "delivery": "not_dispatched", "details": {}, **data}
        error = {"code": -32000, "message": "No.", "data": body}
        await self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})

    async def event(self, event_type: str, /, subscription_id: int = 1, **members: Any) -> None:
        params = {
            "subscriptionId": subscription_id,
            "topic": "agent.activity.updated",
            "type": event_type,
            **members,
        }
        await self.send({"jsonrpc": "2.0", "method": "event", "params": params})

    async def commit(
        self, commit_seq: int, subscription_id: int = 1, changes: list[Json] | None = None
    ) -> None:
        await self.event("commit", subscription_id, commitSeq=commit_seq, changes=changes or [])

    async def welcome(self, store_id: str = STORE, **limits: Any) -> None:
        """Answer `initialize`."""
        request = await self.expect("initialize")
        reply = {
            "protocolVersion": 1,
            "storeId": store_id,
            "serverInfo": {"name": "odd", "version": "0", "instanceId": "i", "startedAt": 0},
            "capabilities": {"methods": [], "topics": [], "features": [], "deprecated": []},
            "scope": "admin",
            "limits": {"maxFrameBytes": 16 * 1024 * 1024, "pingSeconds": 20, **limits},
        }
        await self.reply(request, reply)

    async def subscribed(self, commit_seq: int, *, gap: bool = False, subscription_id: int = 1) -> Json:
        """Answer `events/subscribe`; its params."""
        request = await self.expect("events/subscribe")
        result = {"subscriptionId": subscription_id, "commitSeq": commit_seq, "gap": gap}
        await self.reply(request, result)
        params: Json = request["params"]
        return params

    async def wait_for_end(self) -> None:
        """Until the client goes."""
        while True:
            await self.frame()


@attrs.define(eq=False)
class OddDaemon:
    """What plays the scenes."""

    url: str
    scenes: deque[Scene]
    tokens: list[str] = attrs.field(factory=list)
    """The `Authorization` of each connection."""
    reject_with: int | None = None

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            line = Line(stream, wsproto.WSConnection(wsproto.ConnectionType.SERVER))
            if not self.scenes:
                return
            scene = self.scenes.popleft()
            try:
                if await self._shake_hands(line):
                    await scene(line)
            except (HungUp, anyio.BrokenResourceError, anyio.EndOfStream):
                pass

    async def _shake_hands(self, line: Line) -> bool:
        while True:
            line.protocol.receive_data(await line.stream.receive())
            for event in line.protocol.events():
                if isinstance(event, Request):
                    headers = dict(event.extra_headers)
                    self.tokens.append(headers[b"authorization"].decode())
                    if self.reject_with is not None:
                        await line.bytes(line.protocol.send(RejectConnection(status_code=self.reject_with)))
                        return False
                    assert event.subprotocols == ["greenroom.v1"]
                    await line.bytes(line.protocol.send(AcceptConnection(subprotocol="greenroom.v1")))
                    return True


@asynccontextmanager
async def odd_daemon(*scenes: Scene, reject_with: int | None = None) -> AsyncIterator[OddDaemon]:
    """Plays the scenes, one a connection; further connections are hung up on."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    daemon = OddDaemon(f"ws://127.0.0.1:{port}/v1/ws", deque(scenes), reject_with=reject_with)
    failure: BaseException | None = None
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, daemon.serve)
        try:
            yield daemon
        except Exception as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


def ping(line: Line) -> bytes:
    """The bytes of a ping."""
    return line.protocol.send(Ping(b"there?"))


def close(line: Line, code: int) -> bytes:
    """The bytes of a close."""
    return line.protocol.send(CloseConnection(code))
