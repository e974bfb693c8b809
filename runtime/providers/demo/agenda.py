"""What a scripted agent has yet to do and when: moments in, in order. It reads no clock."""

import heapq
from collections.abc import Callable

BURST_STEPS = 16
"""Steps played between two looks at the input, for turns that never pause."""


class Agenda:
    """Things that are due at moments of any steady clock; of one moment, the first noted comes first."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0

    def at(self, when: float, due: Callable[[], None]) -> None:
        """Note it."""
        self._order += 1
        heapq.heappush(self._entries, (when, self._order, due))

    def play(self, now: float) -> None:
        """Do what is due by now, a few steps of it."""
        for _ in range(BURST_STEPS):
            if not self._entries or self._entries[0][0] > now:
                break
            _, _, due = heapq.heappop(self._entries)
            due()

    @property
    def next_at(self) -> float | None:
        """The next moment at which something is due."""
        return self._entries[0][0] if self._entries else None
