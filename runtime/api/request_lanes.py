"""Requests of one connection that name the same session take effect in arrival order (`contract §2`, Order).

Commands keep their order in the session's mailbox; a read, which never goes there, waits here until the commands
before it have taken effect, and holds back what came after it.
"""

from collections import deque
from collections.abc import Callable, Hashable

import attrs


@attrs.define(eq=False)
class _Lane:
    unfinished: int = 0
    """Commands admitted whose effect a read has to see."""
    waiting: deque[tuple[bool, Callable[[], None]]] = attrs.field(factory=deque)
    """What could not run yet: whether it is a read, and how to run it."""


@attrs.define(eq=False)
class RequestLanes:
    """One lane for each session that the connection has commands under way on; nothing remains of an idle one."""

    _lanes: dict[Hashable, _Lane] = attrs.field(factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._lanes)

    def read(self, session: Hashable, run: Callable[[], None]) -> None:
        """Run a read now, or after the commands before it."""
        lane = self._lanes.get(session)
        if lane is None:
            run()
        else:
            lane.waiting.append((True, run))

    def command(
        self, session: Hashable, run: Callable[[], None], *, seen_by_reads: bool, reads_first: bool = False
    ) -> None:
        """Admit a command now, or after the reads before it. `seen_by_reads` ones are to be `finished`.

        One that `reads_first` looks at the session before it takes effect, so it waits like a read, too.
        """
        lane = self._lanes.get(session)
        admit = self._admission(session, run, seen_by_reads)
        if lane is not None and (lane.waiting or reads_first):
            lane.waiting.append((reads_first, admit))
        else:
            admit()

    def finished(self, session: Hashable) -> None:
        """A command that reads have to see has its answer."""
        lane = self._lanes[session]
        lane.unfinished -= 1
        self._advance(session, lane)

    def _admission(
        self, session: Hashable, run: Callable[[], None], seen_by_reads: bool
    ) -> Callable[[], None]:
        def admit() -> None:
            if seen_by_reads:
                self._lanes.setdefault(session, _Lane()).unfinished += 1
            run()

        return admit

    def _advance(self, session: Hashable, lane: _Lane) -> None:
        while lane.waiting:
            is_read, run = lane.waiting[0]
            if is_read and lane.unfinished:
                return
            lane.waiting.popleft()
            run()
        if not lane.unfinished and self._lanes.get(session) is lane:
            del self._lanes[session]
