"""The opening of a Side against two things at once under every schedule there is: over fourteen thousand of them.

What may come of each stands beside it; that nothing hangs, is left over or is told out of order is checked in all.
"""

from collections.abc import Awaitable, Callable

import pytest
import trio

from runtime.operations.operation import WatchedSink
from runtime.simulation.explore import now_or_later
from runtime.simulation.protocols.protocol import Protocol, walk
from runtime.simulation.protocols.side_stage import SIDE, Caller, SideStage
from runtime.simulation.protocols.sides import Happening, die, race

SCHEDULES_MIN = 14_000


async def close(stage: SideStage) -> None:
    """A client closes the Side while it opens."""
    await stage.sides.close(SIDE, WatchedSink(Caller()))


def lose_owner(stage: SideStage) -> None:
    """The connection that opens the Side is lost, and does not come back within its grace."""
    stage.sides.owner_lost(1)


def together(first: Happening, second: Happening) -> Callable[[SideStage], Awaitable[None]]:
    """Both, each at any moment."""

    async def happen(stage: SideStage, happening: Happening) -> None:
        await now_or_later()
        outcome = happening(stage)
        if outcome is not None:
            await outcome

    async def both(stage: SideStage) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(happen, stage, first)
            nursery.start_soon(happen, stage, second)

    return both


@pytest.mark.rule("RT-111", "RT-113", "RT-118", "RT-131")
@pytest.mark.case("FC-38")
def test_two_things_at_once_leave_no_side_half_open_half_closed_or_behind() -> None:
    lost, expired, deleted = "provider.lost, nothing", "side.expired, nothing", "session.deleted, nothing"
    schedules = 0
    for first, second, refused in (
        (die, close, {lost, expired}),
        (die, SideStage.delete, {lost, deleted}),
        (lose_owner, die, {lost}),
    ):
        ends = {"side, closed", "side, expired", *refused}
        walked = walk(
            Protocol(
                name="side-pair",
                shows="two things at once",
                program=race,
                arguments=(True, together(first, second)),
                ends=frozenset(ends),
                schedules_min=1,
            )
        )
        assert walked.faults == []
        schedules += walked.schedules
    assert schedules >= SCHEDULES_MIN
