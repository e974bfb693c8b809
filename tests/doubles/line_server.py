"""A provider that runs already: servers on a loopback port, and a connection of ours to one of them.

`line_server` speaks the line protocol of `line_provider`, a message for each line; `raw_server` does with its bytes what
a test says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import attrs
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, serve_websocket

from runtime.providers.connection import ProviderConnection
from runtime.providers.launch import LaunchSpecification, ServerAddress
from runtime.providers.limits import ConnectionLimits
from runtime.providers.port import OpenThread
from runtime.providers.transport import ProcessTransports
from runtime.providers.web_socket import Transports
from tests.doubles.connection_bench import Owner
from tests.doubles.line_provider import LineAdapter, RecordingSink, scope

Serve = Callable[["Guest"], Awaitable[None]]
MESSAGE_BYTES_MAX = 64 * 1024


@attrs.define(eq=False)
class Guest:
    """One connection, as the server sees it."""

    socket: WebSocketConnection
    heard: list[str] = attrs.field(factory=list)
    headers: dict[bytes, bytes] = attrs.field(factory=dict)
    left: trio.Event = attrs.field(factory=trio.Event)
    close_code: int | None = None

    async def hear(self) -> str | None:
        """The next message; None when the guest has left."""
        try:
            message = await self.socket.get_message()
        except ConnectionClosed as end:
            self.close_code = end.reason.code if end.reason is not None else None
            return None
        assert isinstance(message, str)
        self.heard.append(message)
        return message

    async def say(self, *messages: str | bytes) -> None:
        for message in messages:
            await self.socket.send_message(message)


async def obeys(guest: Guest) -> None:
    """Shakes hands and goes on as `line_provider.line_agent` does."""
    while (line := await guest.hear()) is not None:
        match line.split(" ", 3):
            case ["hello"]:
                await guest.say("ready line-server 2.0")
            case ["open", name]:
                await guest.say(f"opened {name}")
            case ["prompt", name, turn, "end"]:
                await guest.say(f"text {name} {turn} done", f"end {name} {turn}")


@attrs.define(eq=False)
class Served:
    port: int
    guests: list[Guest] = attrs.field(factory=list)
    refuse_with: int | None = None

    def specification(self, token: str | None = None) -> LaunchSpecification:
        address = ServerAddress(host="127.0.0.1", port=self.port, path="/line", token=token)
        return LaunchSpecification(provider="lines", environment={}, cwd="/", server=address)

    @property
    def guest(self) -> Guest:
        return self.guests[-1]


@asynccontextmanager
async def line_server(serve: Serve = obeys) -> AsyncIterator[Served]:
    """Stops with the body; whoever is connected then is cut off."""

    async def handle(request: WebSocketRequest) -> None:
        if served.refuse_with is not None:
            await request.reject(served.refuse_with)
            return
        assert request.path == "/line"
        guest = Guest(await request.accept(), headers=dict(request.headers))
        served.guests.append(guest)
        try:
            await serve(guest)
        except ConnectionClosed:
            pass  # the guest left
        finally:
            guest.left.set()

    async with trio.open_nursery() as nursery:
        server = await nursery.start(partial(serve_websocket, handle, "127.0.0.1", 0, None))
        served = Served(server.port)
        yield served
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def raw_server(serve: Callable[[trio.SocketStream], Awaitable[None]]) -> AsyncIterator[Served]:
    """Whatever a test wants instead of a WebSocket server."""
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield Served(listener.socket.getsockname()[1])
        nursery.cancel_scope.cancel()


@attrs.define(eq=False)
class Dialled:
    connection: ProviderConnection
    owner: Owner

    async def attach(self, name: str) -> RecordingSink:
        await self.connection.started.wait()
        sink = RecordingSink()
        self.connection.attach(scope(name), sink)
        assert self.connection.tell(OpenThread(scope(name), "/", {}))
        return sink


class NoProcesses:
    """A launcher nobody may ask."""

    async def launch(self, request: object) -> object:
        raise AssertionError(f"started for a server that runs already: {request}")


@asynccontextmanager
async def dialled(
    specification: LaunchSpecification, limits: ConnectionLimits | None = None
) -> AsyncIterator[Dialled]:
    """Runs a connection to it; at the end it is stopped, and nothing of it may be left."""
    owner = Owner()
    transports = Transports(ProcessTransports(NoProcesses()), MESSAGE_BYTES_MAX)
    connection = ProviderConnection(
        specification, LineAdapter, transports, limits or ConnectionLimits(), owner
    )
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.run)
            yield Dialled(connection, owner)
            connection.stop()
    assert connection.gone.is_set()
    assert connection.scopes == 0
    assert owner.failed_closes == []
