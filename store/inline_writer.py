"""The writer of simulated runs: the same groups and the same order of telling, written in the loop itself.

No thread, so the same seed gives the same run. How long a commit takes is the simulator's choice.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from store.committer import Committer
from store.writer import QueuedWriter


class InlineWriter(QueuedWriter):
    """Waits for `latency`, then writes. Cancelled while it waits, it has written nothing of that group."""

    def __init__(self, committer: Committer, latency: Callable[[], Awaitable[None]]) -> None:
        super().__init__(committer)
        self._latency = latency

    async def _perform(self, work: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        await self._latency()
        finish(work())
