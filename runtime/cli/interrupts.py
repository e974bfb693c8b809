"""Ctrl-C and SIGTERM while a command follows a turn: the first stops that turn, the second leaves without waiting.

Owns the signals and how long a stopped turn may take. Which turn, and how it is stopped, is the command's.
"""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

import attrs
import trio

from greenroom_client import Client
from runtime.cli.output import Output

SIGNAL_EXIT_BASE: Final = 128
CANCEL_MARGIN_SECONDS: Final = 5.0
"""Beyond `cancelGraceSeconds`: how long a canceled turn may take to settle before we leave without it."""


@attrs.define(eq=False)
class Interrupts:
    """The signals of one command."""

    client: Client
    output: Output
    stop: Callable[[], Awaitable[None]] | None = attrs.field(default=None, init=False)
    """Stops the turn, once there is one; before, a signal leaves at once."""
    signal_number: int = attrs.field(default=0, init=False)
    """The one that came last; 0 for none."""

    async def guard(self, body: Callable[[], Awaitable[None]]) -> None:
        """Runs `body` to its end, or to a signal that does not wait for it."""
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(self._obey, received, nursery.cancel_scope))
                await body()
                nursery.cancel_scope.cancel()

    def exit_code(self, otherwise: int) -> int:
        """128 and the signal, where one came."""
        return SIGNAL_EXIT_BASE + self.signal_number if self.signal_number else otherwise

    async def _obey(self, received: AsyncIterator[int], scope: trio.CancelScope) -> None:
        async for number in received:
            self.signal_number = number
            if self.stop is None:
                scope.cancel()
                return
            self.output.hint("\ncanceling the turn; again to leave without waiting", style="dim")
            break
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._stop, scope)
            async for _ in received:
                scope.cancel()
                return

    async def _stop(self, scope: trio.CancelScope) -> None:
        assert self.stop is not None
        grace_seconds = float(self.client.hello["limits"].get("cancelGraceSeconds", 10))
        scope.deadline = trio.current_time() + grace_seconds + CANCEL_MARGIN_SECONDS
        await self.stop()
