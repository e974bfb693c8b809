"""The network of the simulated world: one address, connections of two pipes, and what cuts them.

Owns connecting, accepting and cutting. Each connection belongs to the life of the daemon that accepted it, and ends
with it. `SimulatedListener` is the listener port of one life; a client reaches whoever listens now.
"""

import random
from collections import deque
from typing import Protocol

import attrs
import trio

from runtime.api.transport import StreamHandler
from runtime.simulation.pipes import Pipe, Weather


class ConnectionRefused(Exception):
    """Nobody listens at the address."""


class ClientStream(Protocol):
    """A client's end of a connection."""

    async def receive_some(self, max_bytes: int, /) -> bytes:
        """Some bytes; none is the end."""

    async def send_all(self, data: bytes, /) -> None:
        """Send them. Raises what trio's streams raise."""

    def close(self) -> None:
        """End this side at once; idempotent."""


class ClientConnection(Protocol):
    """A connection as a client has it: of the simulated network, or of a real one."""

    @property
    def listener(self) -> object:
        """Which life of the daemon is at the other end."""

    @property
    def client(self) -> ClientStream:
        """This end."""

    def cut(self) -> None:
        """Lose it, with what is on its way."""


class ClientNetwork(Protocol):
    """How clients get to the daemon."""

    async def connect(self) -> ClientConnection:
        """A new connection; raises ConnectionRefused while nobody listens."""


@attrs.define(eq=False)
class StreamEnd:
    """One end of a connection: `EagerByteStream` for the daemon, the same for a client."""

    incoming: Pipe
    outgoing: Pipe
    closed: bool = attrs.field(default=False, init=False)

    async def receive_some(self, max_bytes: int, /) -> bytes:
        """See `ByteStream`."""
        return await self.incoming.receive(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        """See `ByteStream`."""
        await self.outgoing.send_all(data)

    def try_send(self, data: bytes | bytearray | memoryview, /) -> int:
        """See `EagerByteStream`."""
        return self.outgoing.try_send(data)

    async def wait_sendable(self) -> None:
        """See `EagerByteStream`."""
        await self.outgoing.wait_sendable()

    async def aclose(self) -> None:
        """See `ByteStream`."""
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """End this side; idempotent."""
        if not self.closed:
            self.closed = True
            self.outgoing.end()
            self.incoming.close_reader()


@attrs.define(eq=False)
class Connection:
    """Both ends, for whoever cuts it."""

    listener: "SimulatedListener"
    daemon: StreamEnd
    client: StreamEnd

    @property
    def open(self) -> bool:
        """Whether the daemon still has its end."""
        return not self.daemon.closed

    def cut(self) -> None:
        """Both directions are gone at once; what was on its way arrives in part."""
        self.daemon.outgoing.cut()
        self.client.outgoing.cut()


class SimulatedListener:
    """The listener port (`runtime.api.transport.Listener`) of one life."""

    def __init__(self) -> None:
        self.url = "ws://simulated/v1/ws"
        self.listening = False
        self.connections: list[Connection] = []
        self._waiting: deque[StreamEnd] = deque()
        self._changed = trio.Event()
        self._closed = False

    def listen(self) -> None:
        """See `Listener`."""
        self.listening = not self._closed

    def offer(self, connection: Connection) -> None:
        """A client has connected."""
        self.connections.append(connection)
        self._waiting.append(connection.daemon)
        self._changed.set()

    async def serve(self, handler: StreamHandler) -> None:
        """See `Listener`."""
        accepted = 0
        async with trio.open_nursery() as nursery:
            while not self._closed:
                while self._waiting:
                    accepted += 1
                    nursery.start_soon(handler, self._waiting.popleft(), f"simulated:{accepted}")
                self._changed = trio.Event()
                await self._changed.wait()

    def close(self) -> None:
        """See `Listener`."""
        self.listening = False
        self._closed = True
        self._changed.set()

    def cut_all(self) -> None:
        """The daemon is gone: every connection of this life with it."""
        self.close()
        for connection in self.connections:
            connection.cut()


class Network:
    """Connects clients to whoever listens."""

    def __init__(self, weather: Weather, chance: random.Random) -> None:
        self.listener: SimulatedListener | None = None
        self._weather = weather
        self._chance = chance

    def bind(self) -> SimulatedListener:
        """The address for a new life of the daemon."""
        self.listener = SimulatedListener()
        return self.listener

    async def connect(self) -> Connection:
        """A new connection; raises ConnectionRefused while nobody listens."""
        listener = self.listener
        if listener is None or not listener.listening:
            raise ConnectionRefused
        # How clients cut what they read shows nothing; how the daemon does, shows its parsers.
        to_client = Pipe(attrs.evolve(self._weather, piece_bytes_max=0), self._chance)
        to_daemon = Pipe(self._weather, self._chance)
        connection = Connection(listener, StreamEnd(to_daemon, to_client), StreamEnd(to_client, to_daemon))
        listener.offer(connection)
        return connection
