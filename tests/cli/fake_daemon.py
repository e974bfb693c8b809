"""A scripted daemon on a real WebSocket: answers what a test told it to, and writes down what it was asked."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import orjson
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, serve_websocket

TOKEN = "the-token-of-the-fake"
HELLO = {
    "protocolVersion": 1,
    "storeId": "store",
    "serverInfo": {"name": "fake", "version": "0", "instanceId": "i", "startedAt": 0},
    "capabilities": {"methods": [], "topics": [], "features": [], "deprecated": []},
    "scope": "admin",
    "limits": {"cancelGraceSeconds": 10, "pingSeconds": 20, "maxFrameBytes": 2**24},
}


DEFAULTS = {"events/subscribe": {"subscriptionId": 1, "commitSeq": 0, "gap": False}}
"""What is answered to methods nobody said anything of."""


@attrs.frozen
class Refused:
    """An error reply."""

    code: str
    message: str = "It was refused."
    details: dict[str, Any] = attrs.field(factory=dict)


Answer = dict[str, Any] | Refused | Callable[[dict[str, Any]], "dict[str, Any] | Refused"]


@attrs.define(eq=False)
class FakeDaemon:
    """What to answer by method; `after` holds events that follow the reply to a method."""

    answers: dict[str, Answer] = attrs.field(factory=dict)
    after: dict[str, list[dict[str, Any]]] = attrs.field(factory=dict)
    after_from: dict[str, int] = attrs.field(factory=dict)
    """From which asking on they follow, where that is not the first."""
    close_after: str | None = None
    """The method whose reply is followed by the end of the connection."""
    admits: bool = True
    requests: list[tuple[str, dict[str, Any]]] = attrs.field(factory=list)
    url: str = ""
    commits: int = 100
    """The number of the newest commit that was told; beyond what the answers of tests say."""
    asked: dict[str, trio.Event] = attrs.field(factory=dict)

    def params_of(self, method: str) -> list[dict[str, Any]]:
        return [params for name, params in self.requests if name == method]

    async def was_asked(self, method: str) -> None:
        await self.asked.setdefault(method, trio.Event()).wait()

    async def _serve(self, request: WebSocketRequest) -> None:
        headers = {name.lower(): value for name, value in request.headers}
        if not self.admits or headers.get(b"authorization") != f"Bearer {TOKEN}".encode():
            await request.reject(401)
            return
        connection = await request.accept(subprotocol=request.proposed_subprotocols[0])
        try:
            while True:
                await self._answer(connection, orjson.loads(await connection.get_message()))
        except ConnectionClosed:
            pass

    async def _answer(self, connection: WebSocketConnection, frame: dict[str, Any]) -> None:
        method, params = frame["method"], frame["params"]
        self.requests.append((method, params))
        answer = (
            HELLO
            if method == "initialize"
            else self.answers.get(method, DEFAULTS.get(method, {"commitSeq": 0}))
        )
        if callable(answer):
            answer = answer(params)
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": frame["id"]}
        if isinstance(answer, Refused):
            data = {
                "code": answer.code,
                "retryable": False,
                "delivery": "not_dispatched",
                "details": answer.details,
            }
            reply["error"] = {"code": -32000, "message": answer.message, "data": data}
        else:
            reply["result"] = answer
        await connection.send_message(orjson.dumps(reply).decode())
        due = len(self.params_of(method)) >= self.after_from.get(method, 1)
        for event in self.after.get(method, ()) if due else ():
            body = {"subscriptionId": 1, "topic": "agent.activity.updated", **event}
            if "commitSeq" in body:
                self.commits += 1
                body["commitSeq"] = self.commits
            await connection.send_message(
                orjson.dumps({"jsonrpc": "2.0", "method": "event", "params": body}).decode()
            )
        self.asked.setdefault(method, trio.Event()).set()
        if self.close_after == method:
            await connection.aclose(1001, "shutdown")


@asynccontextmanager
async def running(daemon: FakeDaemon, data_dir: Path) -> AsyncIterator[FakeDaemon]:
    """The daemon serves, announced in `data_dir` under this process's own id."""
    async with trio.open_nursery() as nursery:
        server = await nursery.start(serve_websocket, daemon._serve, "127.0.0.1", 0, None)
        daemon.url = f"ws://127.0.0.1:{server.port}/v1/ws"
        announce(data_dir, daemon.url, os.getpid())
        yield daemon
        nursery.cancel_scope.cancel()


def announce(data_dir: Path, url: str, pid: int) -> None:
    """`daemon.json` and the token file, as a daemon leaves them."""
    data_dir.mkdir(exist_ok=True)
    token_file = data_dir / "token"
    token_file.write_text(f"{TOKEN}\n")
    ready = {"event": "ready", "pid": pid, "url": url, "console": None, "tokenFile": str(token_file)}
    (data_dir / "daemon.json").write_bytes(orjson.dumps(ready | {"dataDir": str(data_dir)}) + b"\n")
