"""Copies of the database at intervals: when one is due, and what a failure means. A failure is a problem of health and nothing else.

Owns the timing. Making a copy, and taking old ones away, is behind `CopyMaker`.
"""

from collections.abc import Iterator
from typing import Final, Protocol

import attrs
import structlog
import trio

from runtime.ports import WallClock
from store.errors import StoreError

log = structlog.get_logger(__name__)

FIRST_LOOK_SECONDS: Final = 60.0
"""A start has other things to do, and a daemon that is started again and again would do nothing else."""

LOOK_SECONDS: Final = 600.0
"""Between two looks whether one is due, and before another try after a failure."""


class CopyMaker(Protocol):
    """Makes the copies of one database."""

    def newest_ms(self) -> int | None:
        """When the newest copy of this kind was made or found to be up to date; None without one."""

    async def make(self) -> None:
        """A copy of what is there now, unless the newest one has all of it; those over the number kept go.

        Never holds up the writer. Raises `StoreError` or `OSError`, leaving the copies as they were. May be cancelled.
        """


@attrs.define(eq=False)
class PeriodicCopies:
    """The background task."""

    maker: CopyMaker
    clock: WallClock
    interval_seconds: float
    """0: never."""
    _last_made_at: float | None = attrs.field(default=None, init=False)
    """On trio's clock: a wall clock that was set back must not make one copy after another."""
    _failed: bool = attrs.field(default=False, init=False)

    def problems(self) -> Iterator[str]:
        """What `health/read` says of it."""
        if self._failed:
            yield "store.copy_failed"

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Make copies when they are due, until cancelled."""
        task_status.started()
        if self.interval_seconds == 0:
            await trio.sleep_forever()
        await trio.sleep(min(FIRST_LOOK_SECONDS, self.interval_seconds))
        while True:
            seconds = self._due_in_seconds()
            if seconds <= 0:
                await self._make()
                seconds = min(LOOK_SECONDS, self.interval_seconds)
            await trio.sleep(min(seconds, LOOK_SECONDS))

    async def _make(self) -> None:
        try:
            await self.maker.make()
        except (StoreError, OSError) as error:
            self._failed = True
            log.error("no copy of the database could be made", reason=str(error))
        else:
            self._failed = False
            self._last_made_at = trio.current_time()

    def _due_in_seconds(self) -> float:
        if self._last_made_at is not None:
            return self._last_made_at + self.interval_seconds - trio.current_time()
        newest_ms = self.maker.newest_ms()
        if newest_ms is None:
            return 0
        age_seconds = (self.clock.now_ms() - newest_ms) / 1000
        return self.interval_seconds - max(0.0, age_seconds)
