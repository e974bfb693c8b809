"""Makes the periodic copies of the database on a thread of its own, slowly, and only while the disk has room for them.

One thread and one limiter, so that a copy is never in the way of a commit, nor of a read. `store.copies` knows how.
"""

import os
import threading
import time
from pathlib import Path
from typing import Final

import attrs
import structlog
import trio

from runtime.ports import WallClock
from store.copies import (
    KeptCopy,
    copy_path,
    facts_of,
    kept_copies,
    make_copy,
    remove_abandoned_drafts,
    rotate,
)
from store.errors import StoreError, StoreFull

log = structlog.get_logger(__name__)

PAUSE_SECONDS: Final = 0.02
"""After each step of a megabyte: a large database is read in minutes, and others find the disk free between."""

STOP_GRACE_SECONDS: Final = 2.0
"""How long a cancelled copy is waited for: it holds the log of the database."""


@attrs.define(eq=False)
class DatabaseCopies:
    """`runtime.operations.periodic_copies.CopyMaker` for the database of this daemon."""

    database: Path
    kept: int
    room_bytes: int
    """What a copy leaves free on the disk, at least."""
    clock: WallClock
    pause_seconds: float = PAUSE_SECONDS
    _limiter: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(1), init=False)

    def newest_ms(self) -> int | None:
        """See `CopyMaker`."""
        newest = self._newest()
        return None if newest is None else newest.modified_ms

    async def make(self) -> None:
        """See `CopyMaker`."""
        stopped = threading.Event()
        try:
            await trio.to_thread.run_sync(
                self._make, stopped, limiter=self._limiter, abandon_on_cancel=True, thread_name="store copy"
            )
        except trio.Cancelled:
            stopped.set()
            with trio.CancelScope(shield=True, deadline=trio.current_time() + STOP_GRACE_SECONDS):
                while self._limiter.borrowed_tokens:  # noqa: ASYNC110 -- once, at the end, and bounded
                    await trio.sleep(self.pause_seconds)
            raise

    def _make(self, stopped: threading.Event) -> None:
        remove_abandoned_drafts(self.database)
        newest = self._newest()
        if newest is not None and self._is_up_to_date(newest):
            os.utime(newest.path)
            return

        def may_go_on() -> bool:
            if self._free_bytes() < self.room_bytes:
                raise StoreFull(f"{self.database.parent}: not enough room for a copy of the database")
            time.sleep(self.pause_seconds)
            return not stopped.is_set()

        if self._free_bytes() < self._needed_bytes():
            raise StoreFull(f"{self.database.parent}: not enough room for a copy of the database")
        path = copy_path(self.database, "copy", self.clock.now_ms())
        facts = make_copy(self.database, path, may_go_on)
        removed = rotate(self.database, self.kept)
        log.info("copied the database", path=str(path), commit_seq=facts.commit_seq, removed=len(removed))

    def _newest(self) -> KeptCopy | None:
        prefix = f"{self.database.name}.copy-"
        return next((copy for copy in kept_copies(self.database) if copy.path.name.startswith(prefix)), None)

    def _is_up_to_date(self, newest: KeptCopy) -> bool:
        present = facts_of(self.database)
        try:
            copied = facts_of(newest.path)
        except StoreError:
            return False  # whatever it is, it is no copy of this
        return (copied.store_id, copied.commit_seq) == (present.store_id, present.commit_seq)

    def _needed_bytes(self) -> int:
        log_file = self.database.with_name(f"{self.database.name}-wal")
        sizes = [path.stat().st_size for path in (self.database, log_file) if path.exists()]
        return sum(sizes) + self.room_bytes

    def _free_bytes(self) -> int:
        figures = os.statvfs(self.database.parent)
        return figures.f_bavail * figures.f_frsize
