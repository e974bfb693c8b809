"""Lines that were typed and are not acted on yet: each in its turn, and none in the way of a key.

Owns their order and their number. A line may wait long for a daemon that is away; Ctrl-C must not.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import attrs
import trio

LINES_WAITING_MAX: Final = 100


@attrs.define(eq=False)
class LineQueue:
    """The lines of one conversation."""

    act: Callable[[str], Awaitable[None]]
    _count: int = attrs.field(default=0, init=False)
    """Of those that wait and the one in hand."""
    _idle: trio.Event = attrs.field(factory=trio.Event, init=False)
    _lines_in: trio.MemorySendChannel[str] = attrs.field(init=False)
    _lines: trio.MemoryReceiveChannel[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._lines_in, self._lines = trio.open_memory_channel[str](LINES_WAITING_MAX)
        self._idle.set()

    @property
    def count(self) -> int:
        """How many are not done with."""
        return self._count

    def add(self, line: str) -> bool:
        """False when too many wait already; nothing is kept of it then."""
        try:
            self._lines_in.send_nowait(line)
        except trio.WouldBlock:
            return False
        self._count += 1
        if self._idle.is_set():
            self._idle = trio.Event()
        return True

    async def idle(self) -> None:
        """Returns once all are done with."""
        await self._idle.wait()

    async def run(self) -> None:
        """Acts on one after the other, for ever."""
        async for line in self._lines:
            await self.act(line)
            self._count -= 1
            if self._count == 0:
                self._idle.set()
