"""A client of the daemon for tests: requests, and everything one connection received, in the order it came.

Keeps every frame, so that a test can say what came before what. All waiting is bounded.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import attrs
import trio
import trio_websocket

from tests.end_to_end.daemon import Daemon
from tests.end_to_end.shapes import check_event, check_reply

Json: TypeAlias = dict[str, Any]

WAIT_SECONDS = 30.0
FRAME_BYTES_MAX = 64 * 1024 * 1024
READ_BYTES = 256 * 1024
ACTIVITY = "agent.activity.updated"


class Refused(Exception):
    """An error reply; `data` is what the contract promises of it."""

    def __init__(self, error: Json) -> None:
        super().__init__(json.dumps(error))
        self.number: int = error["code"]
        self.data: Json = error["data"]

    @property
    def code(self) -> str:
        return str(self.data["code"])


@attrs.define(eq=False)
class Sent:
    """A request on its way."""

    client: "Client"
    request_id: str | int
    method: str

    @property
    def answer(self) -> Json | None:
        """The whole reply frame, once it is there."""
        return self.client.replies.get(self.request_id)

    async def result(self) -> Json:
        """The result; raises `Refused`."""
        await self.client.wait(lambda: self.answer, f"the reply to {self.method}")
        assert self.answer is not None
        if "error" in self.answer:
            raise Refused(self.answer["error"])
        result: Json = self.answer["result"]
        return result

    async def refusal(self) -> Json:
        """The `data` of the error reply that is expected."""
        try:
            result = await self.result()
        except Refused as refused:
            return refused.data
        raise AssertionError(f"{self.method} was not refused: {result}")

    @property
    def place(self) -> int:
        """Where in all that was received the reply stands."""
        return self.client.received.index(self.answer)


@attrs.define(eq=False)
class Client:
    """One connection."""

    socket: trio_websocket.WebSocketConnection
    check_shapes: bool = True
    received: list[Json] = attrs.field(factory=list, init=False)
    replies: dict[str | int, Json] = attrs.field(factory=dict, init=False)
    hello: Json = attrs.field(factory=dict, init=False)
    closed: tuple[int, str] | None = attrs.field(default=None, init=False)
    _sent: dict[str | int, str] = attrs.field(factory=dict, init=False)
    _numbers: Iterator[int] = attrs.field(factory=lambda: iter(range(1, 1 << 30)), init=False)
    _news: trio.Event = attrs.field(factory=trio.Event, init=False)
    _reading: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self._reading.set()

    # --- requests -----------------------------------------------------------------------------------------------

    async def send(self, method: str, *, request_id: str | int | None = None, **params: Any) -> Sent:
        """Send a request and wait for nothing: several in a row are pipelined."""
        number = next(self._numbers) if request_id is None else request_id
        self._sent[number] = method
        frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await self.send_text(json.dumps(frame))
        return Sent(self, number, method)

    async def request(self, method: str, **params: Any) -> Json:
        """The result; raises `Refused`."""
        return await (await self.send(method, **params)).result()

    async def refused(self, method: str, **params: Any) -> Json:
        """The `data` of the refusal that is expected."""
        return await (await self.send(method, **params)).refusal()

    async def send_text(self, text: str | bytes) -> None:
        """A frame as it is; bytes make a binary one."""
        with trio.fail_after(WAIT_SECONDS):
            await self.socket.send_message(text)

    async def initialize(self) -> Json:
        self.hello = await self.request("initialize", protocolVersion=1, clientInfo={"name": "test"})
        return self.hello

    async def subscribe(self, workspace_id: str, **params: Any) -> int:
        """Follow the activity of a workspace; the subscription's number."""
        reply = await self.request("events/subscribe", workspaceId=workspace_id, topics=[ACTIVITY], **params)
        return int(reply["subscriptionId"])

    # --- what came ----------------------------------------------------------------------------------------------

    def events(self, kind: str | None = None, /, **members: Any) -> list[Json]:
        """Events so far, in order: of one type, with these members (as on the wire)."""
        return [
            frame
            for frame in self.received
            if "subscriptionId" in frame
            and (kind is None or frame["type"] == kind)
            and all(frame.get(name) == value for name, value in members.items())
        ]

    def rows(self, kind: str, /, **members: Any) -> list[Json]:
        """Rows of commits so far, in the order they came."""
        return [
            change["row"]
            for event in self.events("commit")
            for change in event["changes"]
            if change["type"] == kind
            and all(change["row"].get(name) == value for name, value in members.items())
        ]

    async def wait(self, found: Callable[[], Any], what: str, seconds: float = WAIT_SECONDS) -> Any:
        """What `found` gives once it gives something; looked at after each frame."""
        with trio.move_on_after(seconds):
            while True:
                result = found()
                if result:
                    return result
                if self.closed is not None:
                    raise AssertionError(f"closed with {self.closed} while waiting for {what}")
                await self._news.wait()
        raise AssertionError(f"waited {seconds} s for {what}; last: {self.received[-8:]}")

    async def row(self, kind: str, seconds: float = WAIT_SECONDS, /, **members: Any) -> Json:
        """The first such row of a commit, waited for."""
        found: list[Json] = await self.wait(
            lambda: self.rows(kind, **members), f"a {kind} row with {members}", seconds
        )
        return found[0]

    async def event(self, kind: str, seconds: float = WAIT_SECONDS, /, **members: Any) -> Json:
        """The first such event, waited for."""
        found: list[Json] = await self.wait(
            lambda: self.events(kind, **members), f"a {kind} event with {members}", seconds
        )
        return found[0]

    async def settled(self, turn: Json | str, seconds: float = WAIT_SECONDS) -> Json:
        """The settled row of a turn, from the events."""
        turn_id = turn if isinstance(turn, str) else turn["turnId"]
        return await self.row("turn", seconds, turnId=turn_id, phase="settled")

    async def end(self, seconds: float = WAIT_SECONDS) -> tuple[int, str]:
        """Code and reason of the close that is expected of the server."""
        with trio.move_on_after(seconds):
            while self.closed is None:
                await self._news.wait()
        assert self.closed is not None, f"still open after {seconds} s"
        return self.closed

    # --- the connection -----------------------------------------------------------------------------------------

    def stop_reading(self) -> None:
        """From the next frame on everything piles up on the way here."""
        self._reading = trio.Event()

    def read_again(self) -> None:
        self._reading.set()

    async def run(self) -> None:
        """Reads until the connection ends."""
        try:
            while True:
                await self._reading.wait()
                self._take(json.loads(await self.socket.get_message()))
        except trio_websocket.ConnectionClosed as ended:
            self.closed = (ended.reason.code, ended.reason.reason or "") if ended.reason else (1006, "")
            self._tell()

    def _take(self, frame: Json) -> None:
        if frame.get("method") == "event":
            assert frame.keys() == {"jsonrpc", "method", "params"}, frame.keys()
            event = frame["params"]
            self.received.append(event)
            if self.check_shapes:
                check_event(event)
        elif frame["id"] is None:
            self.received.append(frame)
        else:
            self.received.append(frame)
            assert frame["id"] not in self.replies, f"answered twice: {frame}"
            self.replies[frame["id"]] = frame
            if self.check_shapes and frame["id"] in self._sent:
                check_reply(self._sent[frame["id"]], frame)
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()


@asynccontextmanager
async def connected(
    daemon: Daemon,
    *,
    token: str | None = None,
    initialize: bool = True,
    check_shapes: bool = True,
    receive_buffer_bytes: int | None = None,
) -> AsyncIterator[Client]:
    """A client, initialized unless said otherwise; closed at the end. A small buffer makes a stalled reader felt soon."""
    headers = [(b"authorization", f"Bearer {token or daemon.token}".encode())]
    with trio.fail_after(WAIT_SECONDS):
        stream = await _stream(daemon.port, receive_buffer_bytes)
    async with stream, trio.open_nursery() as nursery:
        with trio.fail_after(WAIT_SECONDS):
            socket = await trio_websocket.wrap_client_stream(
                nursery,
                stream,
                f"127.0.0.1:{daemon.port}",
                "/v1/ws",
                subprotocols=["greenroom.v1"],
                extra_headers=headers,
                max_message_size=FRAME_BYTES_MAX,
                receive_buffer_size=READ_BYTES,
            )
        client = Client(socket, check_shapes=check_shapes)
        nursery.start_soon(client.run)
        if initialize:
            await client.initialize()
        yield client
        client.read_again()
        with trio.move_on_after(2):
            await socket.aclose()
        nursery.cancel_scope.cancel()


async def _stream(port: int, receive_buffer_bytes: int | None) -> trio.SocketStream:
    socket = trio.socket.socket()
    if receive_buffer_bytes is not None:
        socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, receive_buffer_bytes)
    await socket.connect(("127.0.0.1", port))
    return trio.SocketStream(socket)
