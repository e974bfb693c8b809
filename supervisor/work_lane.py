"""The work lane of a mailbox: a FIFO in which one source can be held back behind a place mark.

Owns the order: whatever may pass goes out in order of arrival. It must not refuse, weigh or wake anybody; the
mailbox does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import Generic, Literal, TypeAlias, TypeVar

import attrs
import trio

M = TypeVar("M")
Kind: TypeAlias = Literal["fact", "command", "control"]


@attrs.define(eq=False)
class Entry(Generic[M]):
    """A message that waits. Only what a client offered has a source, and only a fact may be merged into."""

    message: M
    size: int
    kind: Kind
    source: Hashable | None
    arrival: int = 0


@attrs.define(eq=False)
class PlaceMark:
    """The place of an admitted operation: what its `source` offers later waits until `release()`."""

    source: Hashable
    _leave: Callable[[PlaceMark], None]
    arrival: int = attrs.field(default=0, init=False)
    reached: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set once the reader has taken all that the source offered before, or there is no reader any more."""
    _is_released: bool = attrs.field(default=False, init=False)

    def release(self) -> None:
        """Lets the source's later messages pass, in order. Harmless when repeated or after the mailbox closed."""
        if not self._is_released:
            self._is_released = True
            self._leave(self)


class WorkLane(Generic[M]):
    """Entries and marks in order of arrival; `pop` passes over what an unreleased mark holds back."""

    def __init__(self) -> None:
        self.marks = 0
        self._arrivals = 0
        self._lane: deque[Entry[M] | PlaceMark] = deque()
        # By source: first an unreleased mark that has come to the front, then what waits behind it.
        self._held: dict[Hashable, deque[Entry[M] | PlaceMark]] = {}
        # By source: how many entries and marks are here, the held ones included.
        self._queued: dict[Hashable, int] = {}

    def append(self, entry: Entry[M]) -> None:
        """Puts an entry at the end."""
        self._enter(entry)

    def append_mark(self, mark: PlaceMark) -> None:
        """Puts a mark at the end."""
        self._enter(mark)
        self.marks += 1

    def remove_mark(self, mark: PlaceMark) -> None:
        """Takes a mark out, wherever it is, and lets pass what waited for nothing else."""
        self._count(mark.source, -1)
        self.marks -= 1
        held = self._held.get(mark.source)
        if held is None or mark not in held:
            self._lane.remove(mark)
        elif held[0] is not mark:
            held.remove(mark)
        else:
            # Back to where they stood; a second mark of the source will be met again there.
            held.popleft()
            del self._held[mark.source]
            self._lane = deque(merge(held, self._lane, key=attrgetter("arrival")))

    def last_fact(self) -> Entry[M] | None:
        """The last entry, if it is a fact and nothing stands behind it."""
        last = self._lane[-1] if self._lane else None
        return last if isinstance(last, Entry) and last.kind == "fact" else None

    def has_queued(self, source: Hashable | None) -> bool:
        """Whether this source has an entry or a mark here; no source never has."""
        return source in self._queued

    @property
    def is_ready(self) -> bool:
        """Whether `pop` would return an entry."""
        self._hold_back()
        return bool(self._lane)

    @property
    def is_empty(self) -> bool:
        """Whether there is neither an entry nor a mark, held back or not."""
        return not (self._lane or self._held)

    def pop(self) -> Entry[M]:
        """Takes out the first entry that may pass; only when `is_ready`."""
        self._hold_back()
        entry = self._lane.popleft()
        assert isinstance(entry, Entry)
        self._count(entry.source, -1)
        return entry

    def clear(self) -> list[Entry[M]]:
        """Takes out everything: the entries are returned, held ones first, and the marks forgotten."""
        left = []
        for waiting in chain(*self._held.values(), self._lane):
            if isinstance(waiting, Entry):
                left.append(waiting)
            else:
                waiting.reached.set()
        self._lane.clear()
        self._held.clear()
        self._queued.clear()
        self.marks = 0
        return left

    def _enter(self, item: Entry[M] | PlaceMark) -> None:
        self._arrivals += 1
        item.arrival = self._arrivals
        self._lane.append(item)
        self._count(item.source, +1)

    def _hold_back(self) -> None:
        """Takes marks, and what stands behind them, from the front of the lane, until its front may pass."""
        while self._lane:
            first = self._lane[0]
            if first.source in self._held:
                self._held[first.source].append(self._lane.popleft())
            elif isinstance(first, PlaceMark):
                self._held[first.source] = deque([self._lane.popleft()])
                first.reached.set()
            else:
                return

    def _count(self, source: Hashable | None, change: Literal[1, -1]) -> None:
        if source is None:
            return
        queued = self._queued.get(source, 0) + change
        if queued:
            self._queued[source] = queued
        else:
            del self._queued[source]
