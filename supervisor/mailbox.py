"""The mailbox of one actor: a control lane, a work lane, bounds for clients and a read gate for providers.

Owns what comes in, in which order it goes out, and who waits for it (architecture rule 8). It has no task of
its own: all but the two waits is one synchronous step. It must not know what a message means.

It is read in this order: what a crash returned, the control lane, the work lane. Facts travel in the work lane
alone, so what a provider said and that it ended stay in one FIFO.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Literal, TypeVar

import attrs
import trio
from attrs import validators

from supervisor.errors import ActorStopped, MailboxFull
from supervisor.work_lane import Entry, Kind, PlaceMark, WorkLane

M = TypeVar("M")


@attrs.frozen(kw_only=True)
class MailboxLimits:
    """Bounds of one mailbox; each counts its own kind, so no kind can shut another one out for good."""

    messages_max: int = attrs.field(default=1024, validator=validators.ge(1))
    """Commands are refused while so many messages wait in the work lane; as many place marks may wait."""
    bytes_max: int = attrs.field(default=8 * 1024 * 1024, validator=validators.ge(1))
    """Weight of waiting facts at which the read gate closes, and of waiting commands at which more are refused."""
    control_max: int = attrs.field(default=64, validator=validators.ge(1))
    """Control commands are refused while so many of them wait, in whichever lane."""


@attrs.frozen(kw_only=True)
class MailboxStatistics:
    """What waits now, and what has happened since the mailbox was made."""

    messages: int
    """All that waits, in any lane; place marks are not messages."""
    control: int
    """Of these, control commands, also those that queue in the work lane."""
    bytes: int
    marks: int
    merged: int
    refused_commands: int
    refused_control: int
    refused_marks: int
    bytes_high_water: int


class Mailbox(Generic[M]):
    """Two lanes for one reader (architecture rule 8, `contract §8`).

    Args:
        limits: the bounds at which clients are refused and providers are to pause.
        size: the weight of a message in bytes.
        merge: the message that stands for two adjacent facts, the earlier one given first, or None when they
            must stay apart. Commands are never merged: each has a caller of its own to answer.
    """

    def __init__(
        self,
        limits: MailboxLimits,
        *,
        size: Callable[[M], int],
        merge: Callable[[M, M], M | None] | None = None,
    ) -> None:
        self.limits = limits
        self._size = size
        self._merge = merge or _keep_apart
        self._returned: deque[Entry[M]] = deque()
        self._control: deque[Entry[M]] = deque()
        self._work: WorkLane[M] = WorkLane()
        self._count: dict[Kind, int] = {"fact": 0, "command": 0, "control": 0}
        self._bytes: dict[Kind, int] = {"fact": 0, "command": 0, "control": 0}
        self._bytes_in_all = 0
        self._bytes_high_water = 0
        self._merged = 0
        self._refused: dict[Literal["work", "control", "marks"], int] = {"work": 0, "control": 0, "marks": 0}
        self._reader = trio.lowlevel.ParkingLot()
        self._gate = trio.lowlevel.ParkingLot()
        self._is_nudged = False
        self._is_closed = False

    def offer(self, message: M, *, source: Hashable | None = None, control: bool = False) -> None:
        """Takes in a client's command, or refuses it.

        A control command overtakes facts and other sources, never its own source: while that one has a command
        or a place mark in the work lane, the control command queues there, behind it.

        Raises:
            MailboxFull: its bound is reached; nothing was taken in.
            ActorStopped: the mailbox is closed.
        """
        self._require_open()
        if control:
            waiting = self._count["control"]
            self._require(waiting < self.limits.control_max, "control", waiting)
        else:
            waiting = self._count["fact"] + self._count["command"]
            fits = waiting < self.limits.messages_max and self._bytes["command"] < self.limits.bytes_max
            self._require(fits, "work", waiting)
        entry = Entry(message, self._size(message), "control" if control else "command", source)
        self._account(entry, +1)
        if control and not self._work.has_queued(source):
            self._control.append(entry)
        else:
            self._work.append(entry)
        self._wake_reader()

    def put(self, message: M) -> None:
        """Takes in a fact: a provider event, a timer, a child's report. Never refused, never dropped.

        Raises:
            ActorStopped: the mailbox is closed, and nobody would ever read the fact.
        """
        self._require_open()
        last = self._work.last_fact()
        merged = None if last is None else self._merge(last.message, message)
        if last is not None and merged is not None:
            self._account(last, -1)
            last.message, last.size = merged, self._size(merged)
            self._account(last, +1)
            self._merged += 1
            return
        entry = Entry(message, self._size(message), "fact", None)
        self._account(entry, +1)
        self._work.append(entry)
        self._wake_reader()

    def place_mark(self, source: Hashable) -> PlaceMark:
        """Keeps the place of an operation that `source` was just admitted with.

        Once the reader reaches the mark, what the same source offers later stays behind it; everything else
        passes. A mark released before it is reached is simply gone.

        Raises:
            MailboxFull: too many marks wait.
            ActorStopped: the mailbox is closed.
        """
        assert source is not None, "a mark without a source would hold back the facts"
        self._require_open()
        self._require(self._work.marks < self.limits.messages_max, "marks", self._work.marks)
        mark = PlaceMark(source, self._remove_mark)
        self._work.append_mark(mark)
        self._wake_reader()  # one that waits looks at the lane again, and the mark is reached
        return mark

    def return_to_front(self, messages: Sequence[M]) -> None:
        """Puts drained messages back, in their order, before everything else: their effects were not performed.

        They were admitted once and are not refused, held or merged again.
        """
        for message in reversed(messages):
            entry = Entry(message, self._size(message), "fact", None)
            self._account(entry, +1)
            self._returned.appendleft(entry)
        self._wake_reader()

    def put_first(self, message: M) -> None:
        """Hands over a fact that has to be known before anything that waits is decided, as a change of what is stored.

        Raises:
            ActorStopped: the mailbox is closed, and nobody would ever read the fact.
        """
        self._require_open()
        self.return_to_front([message])

    @property
    def is_ready(self) -> bool:
        """Whether `drain` would return something."""
        return bool(self._returned or self._control) or self._work.is_ready

    @property
    def is_empty(self) -> bool:
        """Whether neither a message nor a place mark is left, held back or not."""
        return not (self._returned or self._control) and self._work.is_empty

    def drain(self, most: int) -> list[M]:
        """Takes out up to `most` messages, in reading order."""
        drained: list[M] = []
        while len(drained) < most and self.is_ready:
            lane = self._returned or self._control
            entry = lane.popleft() if lane else self._work.pop()
            self._account(entry, -1)
            drained.append(entry.message)
        self._open_gate_when_low()
        return drained

    async def wait(self) -> None:
        """Waits until `drain` would return something, until `nudge()` or until the mailbox is closed."""
        if self.is_ready or self._is_nudged or self._is_closed:
            await trio.lowlevel.checkpoint()
        # To park is to yield: a yield of its own before it would double the way of each delta through the scheduler.
        while not (self.is_ready or self._is_nudged or self._is_closed):
            await self._reader.park()
        self._is_nudged = False

    def nudge(self) -> None:
        """Lets the present or the next `wait()` end once, though nothing may be there to drain."""
        self._is_nudged = True
        self._wake_reader()

    def close(self) -> list[M]:
        """Ends the mailbox and returns what was left, what was held back included. Nothing comes in any more."""
        self._is_closed = True
        left = [entry.message for entry in (*self._returned, *self._control, *self._work.clear())]
        self._returned.clear()
        self._control.clear()
        self._count = dict.fromkeys(self._count, 0)
        self._bytes = dict.fromkeys(self._bytes, 0)
        self._bytes_in_all = 0
        self._wake_reader()
        self._open_gate_when_low()
        return left

    @property
    def above_high_water(self) -> bool:
        """Whether the connection that brings the facts is to stop reading.

        Commands do not count: those behind a place mark wait for an operation, and that may wait for a fact.
        """
        return self._bytes["fact"] >= self.limits.bytes_max

    async def wait_below_low_water(self) -> None:
        """Waits until the facts that wait weigh at most half of `bytes_max`, or the mailbox is closed."""
        await trio.lowlevel.checkpoint()
        while self._is_above_low_water:
            await self._gate.park()

    @property
    def _is_above_low_water(self) -> bool:
        return self._bytes["fact"] > self.limits.bytes_max // 2

    def statistics(self) -> MailboxStatistics:
        """Figures for health and debug answers."""
        return MailboxStatistics(
            messages=sum(self._count.values()),
            control=self._count["control"],
            bytes=self._bytes_in_all,
            marks=self._work.marks,
            merged=self._merged,
            refused_commands=self._refused["work"],
            refused_control=self._refused["control"],
            refused_marks=self._refused["marks"],
            bytes_high_water=self._bytes_high_water,
        )

    def _require_open(self) -> None:
        if self._is_closed:
            raise ActorStopped("the mailbox is closed")

    def _require(self, fits: bool, lane: Literal["work", "control", "marks"], waiting: int) -> None:
        if not fits:
            self._refused[lane] += 1
            raise MailboxFull(lane, waiting)

    def _account(self, entry: Entry[M], sign: Literal[1, -1]) -> None:
        change = sign * entry.size
        self._count[entry.kind] += sign
        self._bytes[entry.kind] += change
        self._bytes_in_all += change
        if self._bytes_in_all > self._bytes_high_water:
            self._bytes_high_water = self._bytes_in_all

    def _remove_mark(self, mark: PlaceMark) -> None:
        if not self._is_closed:
            self._work.remove_mark(mark)
            # Also when nothing waited behind it: the reader may have stayed only because of the mark.
            self.nudge()

    def _wake_reader(self) -> None:
        if self._reader:
            self._reader.unpark_all()

    def _open_gate_when_low(self) -> None:
        if self._gate and not self._is_above_low_water:
            self._gate.unpark_all()


def _keep_apart(earlier: object, later: object) -> None:
    """The merging of a mailbox that merges nothing."""
