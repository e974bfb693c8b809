"""The controller inside another trio program: no daemon, no socket, no token (RT-145).

    async with embed(configuration) as greenroom, greenroom.connect() as client:
        await client.session_create(...)

Owns the run of the controller and the way to it in memory. What a client may call and what it hears is the outer
contract, word for word: the client is `greenroom_client`'s, the same that talks to a daemon.
"""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import structlog
import trio

from greenroom_client import (
    NEVER,
    Client,
    ClientOptions,
    ConnectionLost,
    DaemonUnreachable,
    Link,
    open_client,
)
from runtime.api.authentication import Principal
from runtime.api.frames import CloseCode
from runtime.api.in_process_transport import InProcessTransport
from runtime.api.transport import ClientPeer
from runtime.config import Configuration
from runtime.controller import Controller
from runtime.controller_limits import transport_limits
from runtime.service.composition import composed_controller, data_directory
from supervisor.cell import guard

log = structlog.get_logger(__name__)

OWNER: Final = Principal(name="embedded", scope="admin")
"""Whom clients within the program are taken for, unless it says otherwise."""


class EmbeddedController:
    """A controller that runs within this program. Made by `embed`."""

    def __init__(self, controller: Controller, configuration: Configuration, nursery: trio.Nursery) -> None:
        self._controller = controller
        self._limits = transport_limits(configuration.limits)
        self._nursery = nursery
        self._transports: dict[int, InProcessTransport] = {}
        self._client_id = 0
        self._stopped = False

    @asynccontextmanager
    async def connect(
        self, *, principal: Principal = OWNER, options: ClientOptions | None = None
    ) -> AsyncIterator[Client]:
        """A client of this controller, with the rights of `principal` (scope, workspaces, roots: `contract §2`).

        Raises `greenroom_client.DaemonUnreachable` once the controller has been stopped.
        """

        async def open_link() -> Link:
            if self._stopped:
                raise DaemonUnreachable("the embedded controller has been stopped")
            return _InProcessLink(self._admit(principal))

        async with open_client(
            open_link, options or ClientOptions(name="embedded", reconnect=NEVER)
        ) as client:
            yield client

    async def stop(self) -> None:
        """The clean stop, as SIGTERM brings it to a daemon (RT-144); bounded by `shutdownGraceSeconds`."""
        self._stopped = True
        await self._controller.stop()
        for transport in list(self._transports.values()):
            transport.close(CloseCode.GOING_AWAY, "the controller stops")

    def _admit(self, principal: Principal) -> InProcessTransport:
        self._client_id += 1
        peer = ClientPeer(self._client_id, principal, "in process", trio.current_time())
        transport = InProcessTransport(peer, self._limits)
        self._transports[self._client_id] = transport
        self._nursery.start_soon(self._serve, transport)
        return transport

    async def _serve(self, transport: InProcessTransport) -> None:
        def record(fault: Exception) -> None:
            log.error("a client failed", client=transport.peer.client_id, exc_info=fault)
            transport.close(CloseCode.INTERNAL, "internal error")

        try:
            with guard(record):
                await self._controller.serve_client(transport)
        finally:
            transport.close(CloseCode.NORMAL)
            del self._transports[transport.peer.client_id]


@asynccontextmanager
async def embed(configuration: Configuration) -> AsyncIterator[EmbeddedController]:
    """Runs a controller on the configuration's data directory for as long as the body runs, then stops it cleanly.

    The data directory is this program's alone meanwhile. What the configuration says of listening, tokens and TLS is
    not used. Cancelling, or an error of the body, ends it at once, with nothing acknowledged lost. Raises
    `StartRefused` before the body starts. trio only; a program on asyncio talks to a daemon instead.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(data_directory(Path(configuration.data_dir)))
        controller = await stack.enter_async_context(composed_controller(configuration))
        raised: list[Exception] = []
        async with trio.open_nursery() as nursery:
            await nursery.start(controller.run)
            embedded = EmbeddedController(controller, configuration, nursery)
            with guard(raised.append):
                yield embedded
                await embedded.stop()
            nursery.cancel_scope.cancel()
        # What the body raised is its own business: it leaves as it is, not in the nursery's group.
        for error in raised:
            raise error


class _InProcessLink:
    """A connection in memory, as the client sees it."""

    def __init__(self, transport: InProcessTransport) -> None:
        self._transport = transport
        self._messages: deque[str] = deque()
        self._closed = trio.Event()

    async def receive(self, seconds: float | None) -> str:
        while not self._messages:
            self._messages += await self._transport.messages()
            if not self._messages:
                self._closed.set()
                raise _lost(self._transport)
        return self._messages.popleft()

    def put(self, message: str) -> None:
        if not self._transport.send(message):
            raise _lost(self._transport)

    async def write_all(self) -> None:
        await self._closed.wait()
        raise _lost(self._transport)

    async def aclose(self) -> None:
        self._transport.hang_up()
        await trio.lowlevel.checkpoint()


def _lost(transport: InProcessTransport) -> ConnectionLost:
    closed = transport.closed
    return ConnectionLost(
        closed.reason if closed is not None else "the connection ended", closed.code if closed else None
    )
