"""What a connection still has to write to its process: a bounded queue with one writer.

Owns order, the bound in bytes and the way back of a write's token. Writing never waits for reading nor the other
way round, so two full pipes cannot lock each other (FC-55). It knows no protocol.
"""

from collections import deque
from collections.abc import Callable

import trio

from runtime.providers.port import Write
from supervisor.failpoints import failpoints
from supervisor.process_guard.port import ByteSink


class Outbox:
    """Writes wait here until `run` has put each out whole, in order."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._writes: deque[Write] = deque()
        self._changed = trio.Event()
        self.waiting_bytes = 0
        """Bytes of all writes that are not out whole."""

    def put(self, write: Write) -> bool:
        """Take a write in; False when it does not fit, which leaves the provider without a frame: give it up."""
        if self.waiting_bytes + len(write.data) > self._bytes_max:
            return False
        self.waiting_bytes += len(write.data)
        self._writes.append(write)
        self._wake()
        return True

    async def run(self, sink: ByteSink, written: Callable[[object], None]) -> None:
        """Write for ever. `written` is called with the token of each write that has one, once it is out whole.

        Raises:
            trio.BrokenResourceError: the process does not read any more.
        """
        while True:
            while not self._writes:
                await self._changed.wait()
            write = self._writes[0]
            if failpoints.on:
                await failpoints.reach("provider.write.before")
            if write.data:
                await sink.write(write.data)
            if failpoints.on:
                await failpoints.reach("provider.write.after")
            self._writes.popleft()
            self.waiting_bytes -= len(write.data)
            if write.token is not None:
                written(write.token)
            self._wake()

    async def wait_flushed(self) -> None:
        """Until nothing waits."""
        while self._writes:
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
