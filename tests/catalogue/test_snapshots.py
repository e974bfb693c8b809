"""A snapshot: loaded once for all who ask, shown while it is loaded again, dropped with what it was read from."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from runtime.catalogue.snapshot import CHANGED, LOADS_MAX, LoadFailed, Reading, Snapshot
from store.canonical.common import TurnError

FRESH_SECONDS = 60.0
LOST = TurnError("provider.lost", "gone", "provider", retryable=True)


class Clock:
    def now_ms(self) -> int:
        return int(trio.current_time() * 1000) + 1


@attrs.define
class Source:
    """What is read from: gives its values when it is let to."""

    nursery: trio.Nursery
    basis: str = "one"
    loads: list[bool] = attrs.field(factory=list)
    cancelled: int = 0
    changes: int = 0
    outcome: str | TurnError = "value"
    gate: trio.Event = attrs.field(factory=trio.Event)

    def snapshot(self) -> Snapshot[str]:
        return Snapshot(
            self._load, lambda: self.basis, FRESH_SECONDS, self._spawn, Clock(), self._note_change
        )

    def open(self) -> None:
        self.gate.set()

    def close(self) -> None:
        self.gate = trio.Event()

    def _spawn(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        self.nursery.start_soon(function, *arguments)

    def _note_change(self) -> None:
        self.changes += 1

    async def _load(self, own_process: bool) -> str:
        self.loads.append(own_process)
        try:
            await self.gate.wait()
        except trio.Cancelled:
            self.cancelled += 1
            raise
        if isinstance(self.outcome, TurnError):
            raise LoadFailed(self.outcome)
        return self.outcome


@asynccontextmanager
async def source() -> AsyncIterator[Source]:
    async with trio.open_nursery() as nursery:
        yield Source(nursery)
        nursery.cancel_scope.cancel()


@pytest.mark.rule("PR-035", "PR-045")
async def test_ten_readers_share_one_load_and_one_change_is_told() -> None:
    async with source() as one:
        snapshot, read = one.snapshot(), []

        async def reader() -> None:
            read.append(await snapshot.read(refresh=True))

        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(reader)
            await wait_all_tasks_blocked()
            one.open()
        assert {reading.value for reading in read} == {"value"}
        assert (len(read), len(one.loads), one.changes) == (10, 1, 1)


@pytest.mark.rule("PR-034", "PR-045", "AP-035")
async def test_a_stale_value_is_shown_at_once_while_one_load_brings_the_next(
    autojump_clock: MockClock,
) -> None:
    async with source() as one:
        one.open()
        snapshot = one.snapshot()
        first = await snapshot.read(refresh=False)
        assert (first.value, first.stale, first.refreshing) == ("value", False, False)
        one.close()
        await trio.sleep(FRESH_SECONDS)
        assert not (await snapshot.read(refresh=False)).stale, "its age counts from its completion"
        await trio.sleep(1)
        one.outcome = "next"
        for _ in range(2):
            shown = await snapshot.read(refresh=False)
            assert (shown.value, shown.stale, shown.refreshing) == ("value", True, True)
        await wait_all_tasks_blocked()
        assert len(one.loads) == 2
        one.open()
        await wait_all_tasks_blocked()
        assert (snapshot.peek().value, snapshot.peek().stale, one.changes) == ("next", False, 2)


@pytest.mark.rule("PR-031")
async def test_a_failed_load_is_told_to_who_waited_and_kept_by_nobody() -> None:
    async with source() as one:
        one.open()
        snapshot = one.snapshot()
        one.outcome = LOST
        assert await snapshot.read(refresh=False) == Reading(None, None, False, False, LOST)
        assert snapshot.peek().problem is None
        one.outcome = "value"
        assert (await snapshot.read(refresh=False)).value == "value", "the next reader asks anew"
        one.outcome = LOST
        kept = await snapshot.read(refresh=True)
        assert (kept.value, kept.problem) == ("value", LOST), "what was known is still known"
        assert one.changes == 1


@pytest.mark.rule("PR-036")
async def test_another_sign_in_drops_the_value_ends_its_load_and_is_asked_apart() -> None:
    async with source() as one:
        one.open()
        snapshot = one.snapshot()
        await snapshot.read(refresh=False)
        one.close()
        read: list[Reading[str]] = []

        async def reader() -> None:
            read.append(await snapshot.read(refresh=True))

        one.nursery.start_soon(reader)
        await wait_all_tasks_blocked()
        one.basis, one.outcome = "two", "of two"
        assert snapshot.peek().value is None, "what the other one told counts no more"
        await wait_all_tasks_blocked()
        assert one.cancelled == 1, "nobody listens to the old one any more"
        one.open()
        await wait_all_tasks_blocked()
        assert [reading.value for reading in read] == ["of two"]
        assert one.loads == [False, False, True], "no process of before the change was asked"
        await snapshot.read(refresh=True)
        assert one.loads[-1] is False, "from then on any process will do"


async def test_a_source_that_keeps_changing_is_given_up_within_a_bound() -> None:
    async with source() as one:
        snapshot, read = one.snapshot(), []

        async def reader() -> None:
            read.append(await snapshot.read(refresh=False))

        one.nursery.start_soon(reader)
        for number in range(LOADS_MAX):
            await wait_all_tasks_blocked()
            one.basis = str(number)
            snapshot.peek()
        await wait_all_tasks_blocked()
        assert [reading.problem for reading in read] == [CHANGED]
        assert (len(one.loads), one.cancelled) == (LOADS_MAX, LOADS_MAX)


async def test_a_reader_that_leaves_ends_no_load_of_others() -> None:
    async with source() as one:
        snapshot = one.snapshot()
        with trio.move_on_after(0):
            await snapshot.read(refresh=False)
        one.open()
        assert (await snapshot.read(refresh=False)).value == "value"
        assert len(one.loads) == 1


async def test_what_is_told_on_the_way_is_a_value_like_any_other() -> None:
    async with source() as one:
        snapshot = one.snapshot()
        snapshot.learn("told")
        assert (await snapshot.read(refresh=False)).value == "told"
        snapshot.learn("told")
        assert (one.loads, one.changes) == ([], 1)
