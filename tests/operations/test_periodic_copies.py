"""Copies come at their interval, by the age of the newest one; a failure is a problem of health until one succeeds."""

import attrs
import pytest
import trio

from runtime.operations.periodic_copies import FIRST_LOOK_SECONDS, LOOK_SECONDS, PeriodicCopies
from store.errors import StoreFull

DAY = 86_400.0


@attrs.define
class Wall:
    shift_ms: int = 1_000_000_000

    def now_ms(self) -> int:
        return self.shift_ms + int(trio.current_time() * 1000)


@attrs.define
class Maker:
    """Remembers when it was asked; fails while it is told to."""

    wall: Wall
    newest: int | None = None
    failing: bool = False
    made_at: list[float] = attrs.field(factory=list)

    def newest_ms(self) -> int | None:
        return self.newest

    async def make(self) -> None:
        await trio.lowlevel.checkpoint()
        self.made_at.append(trio.current_time())
        if self.failing:
            raise StoreFull("no room")
        self.newest = self.wall.now_ms()


@pytest.fixture
def stage() -> tuple[PeriodicCopies, Maker]:
    wall = Wall()
    maker = Maker(wall)
    return PeriodicCopies(maker, wall, DAY), maker


async def test_the_first_copy_waits_for_the_start_to_be_over_and_the_next_for_the_interval(
    stage, nursery, autojump_clock
):
    copies, maker = stage
    began = trio.current_time()
    await nursery.start(copies.run)
    await trio.sleep(2.5 * DAY)
    assert [round(at - began) for at in maker.made_at] == [
        FIRST_LOOK_SECONDS,
        FIRST_LOOK_SECONDS + DAY,
        FIRST_LOOK_SECONDS + 2 * DAY,
    ]


async def test_a_daemon_that_starts_often_copies_no_more_often(stage, nursery, autojump_clock):
    copies, maker = stage
    maker.newest = maker.wall.now_ms() - int(DAY * 1000 / 2)
    began = trio.current_time()
    await nursery.start(copies.run)
    await trio.sleep(DAY * 0.9)
    assert len(maker.made_at) == 1
    assert maker.made_at[0] - began == pytest.approx(DAY / 2, abs=LOOK_SECONDS)


async def test_a_wall_clock_that_is_set_back_makes_no_copy_after_another(stage, nursery, autojump_clock):
    copies, maker = stage
    await nursery.start(copies.run)
    await trio.sleep(2 * FIRST_LOOK_SECONDS)
    maker.wall.shift_ms -= 10**9
    await trio.sleep(DAY / 2)
    assert len(maker.made_at) == 1


async def test_a_failure_is_a_problem_until_a_copy_succeeds_and_is_tried_again(
    stage, nursery, autojump_clock
):
    copies, maker = stage
    maker.failing = True
    await nursery.start(copies.run)
    await trio.sleep(FIRST_LOOK_SECONDS + 2.5 * LOOK_SECONDS)
    assert len(maker.made_at) == 3
    assert list(copies.problems()) == ["store.copy_failed"]
    maker.failing = False
    await trio.sleep(LOOK_SECONDS)
    assert list(copies.problems()) == []
    assert len(maker.made_at) == 4


async def test_without_an_interval_there_is_never_a_copy(stage, nursery, autojump_clock):
    copies, maker = stage
    copies.interval_seconds = 0
    await nursery.start(copies.run)
    await trio.sleep(10 * DAY)
    assert maker.made_at == []
