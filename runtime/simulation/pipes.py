"""Byte pipes in virtual time: bytes arrive after a while, in order, in pieces, and some never do.

One `Pipe` is one direction of a connection, or a standard stream of an agent. It knows the weather it lies in and
nothing of what it carries. What the sender was told is taken arrives, unless the pipe is cut.
"""

import math
import random
from collections import deque
from typing import Final

import attrs
import trio

TICK_SECONDS: Final = 0.0005
"""Things that take a while end on a tick: what ends on the same one ends in an order that the scheduler draws, which
shows more orders, and costs less, than as many moments of their own."""


def on_tick(moment: float) -> float:
    """The tick at or after a moment."""
    return math.ceil(round(moment / TICK_SECONDS, 6)) * TICK_SECONDS


@attrs.frozen(kw_only=True)
class Weather:
    """How one kind of pipe behaves. Drawn once a run; the chances of single deliveries come from the pipe's source."""

    delay_seconds_max: float = 0.0
    piece_bytes_max: int = 0
    """Reads give random pieces of at most this size; 0 for all that has arrived."""
    capacity_bytes: int = 64 * 1024


@attrs.define(eq=False)
class Pipe:
    """One direction, with one reader and one writer."""

    weather: Weather
    chance: random.Random
    ended: bool = attrs.field(default=False, init=False)
    """The writer has closed it: the reader gets what is on its way, then the end."""
    broken: bool = attrs.field(default=False, init=False)
    """Cut: the reader gets what is still on its way, then an error; the writer one at once."""
    reader_closed: bool = attrs.field(default=False, init=False)
    _flight: deque[tuple[float, bytes]] = attrs.field(factory=deque, init=False)
    _flight_bytes: int = attrs.field(default=0, init=False)
    _last_arrival: float = attrs.field(default=-math.inf, init=False)
    _arrived: trio.Event = attrs.field(factory=trio.Event, init=False)
    _taken: trio.Event = attrs.field(factory=trio.Event, init=False)

    def try_send(self, data: bytes | bytearray | memoryview) -> int:
        """Take as much as there is room for, perhaps nothing. Raises BrokenResourceError when nobody will read it."""
        if self.broken or self.reader_closed:
            raise trio.BrokenResourceError
        if self.ended:
            raise trio.ClosedResourceError
        count = min(len(data), self.weather.capacity_bytes - self._flight_bytes)
        if count > 0:
            self._launch(bytes(data[:count]))
        return max(count, 0)

    async def wait_sendable(self) -> None:
        """Until `try_send` may take bytes, or has an error to raise."""
        while self._flight_bytes >= self.weather.capacity_bytes and not (self.broken or self.reader_closed):
            await self._taken.wait()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send everything; a cancelled call may have sent a part."""
        rest = memoryview(data)
        await trio.lowlevel.checkpoint()
        while rest:
            rest = rest[self.try_send(rest) :]
            if rest:
                await self.wait_sendable()

    async def receive(self, max_bytes: int) -> bytes:
        """What has arrived, at least one byte; `b""` at the end. Raises BrokenResourceError once cut."""
        waited = False
        while not self.reader_closed:
            if self._flight and self._flight[0][0] > trio.current_time():
                await trio.sleep_until(self._flight[0][0])
            elif self._flight or self.broken or self.ended:
                if waited:
                    return self._take(max_bytes)
                await trio.lowlevel.checkpoint()
            else:
                await self._arrived.wait()
            waited = True
        raise trio.ClosedResourceError

    def end(self) -> None:
        """The writer closes."""
        self.ended = True
        self._notify()

    def close_reader(self) -> None:
        """The reader closes: nothing more is wanted."""
        self.reader_closed = True
        self._notify()

    def cut(self) -> None:
        """The connection is gone: of what is on its way, the reader still gets a random part."""
        if not self.broken:
            self.broken = True
            kept = self.chance.randint(0, len(self._flight))
            while len(self._flight) > kept:
                self._flight_bytes -= len(self._flight.pop()[1])
            self._notify()

    def _launch(self, data: bytes) -> None:
        # Nothing overtakes anything: each piece arrives when the one before has, or later.
        most = self.weather.delay_seconds_max
        arrival = on_tick(trio.current_time() + self.chance.random() * most) if most else trio.current_time()
        self._last_arrival = max(self._last_arrival, arrival)
        if not self._flight:
            self._notify()
        self._flight.append((self._last_arrival, data))
        self._flight_bytes += len(data)

    def _take(self, max_bytes: int) -> bytes:
        if not self._flight:
            if self.broken:
                raise trio.BrokenResourceError
            return b""
        now = trio.current_time()
        most = self.weather.piece_bytes_max
        wanted = max_bytes if not most else min(max_bytes, self.chance.randint(1, most))
        taken = bytearray()
        while self._flight and self._flight[0][0] <= now and len(taken) < wanted:
            arrives_at, data = self._flight.popleft()
            room = wanted - len(taken)
            taken += data[:room]
            if room < len(data):
                self._flight.appendleft((arrives_at, data[room:]))
        self._flight_bytes -= len(taken)
        self._taken.set()
        self._taken = trio.Event()
        return bytes(taken)

    def _notify(self) -> None:
        self._arrived.set()
        self._arrived = trio.Event()
        self._taken.set()
        self._taken = trio.Event()
