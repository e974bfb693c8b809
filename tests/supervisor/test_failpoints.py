"""Failpoints: what may be asked for, what happens at a place, who goes on, and what is counted."""

import pytest
import trio
import trio.testing

from supervisor.failpoints import (
    Arming,
    BadArming,
    FailpointRaised,
    Failpoints,
    UnknownFailpoint,
    failpoints,
    pair,
)
from supervisor.failpoints.arming import parse_arming, parse_armings


class Died(Exception):
    """What stands for the end of the process."""


def die(name: str) -> None:
    raise Died(name)


@pytest.fixture
def points() -> Failpoints:
    registry = Failpoints()
    registry.declare(pair("disk.write", "not written", "written", error=OSError))
    registry.declare(pair("hub.publish", "not told", "told", place="step"))
    registry.switch_on(kill=die, exit_=die)
    return registry


async def test_those_of_the_process_are_off_until_somebody_switches_them_on() -> None:
    assert not failpoints.on
    assert not Failpoints().on


@pytest.mark.parametrize(
    ("spelled", "arming"),
    [
        ("kill", Arming("kill")),
        ("kill@3", Arming("kill", on_pass=3)),
        ("delay:200%0.25", Arming("delay", probability=0.25, delay_ms=200)),
        (" raise@2%.5 ", Arming("raise", on_pass=2, probability=0.5)),
        ("pause", Arming("pause")),
        ("exit", Arming("exit")),
    ],
)
async def test_an_arming_is_spelled_in_a_word(spelled: str, arming: Arming) -> None:
    assert parse_arming(spelled) == arming


@pytest.mark.parametrize(
    "spelled",
    [
        "",
        "maim",
        "kill@0",
        "kill@",
        "kill%0",
        "kill%1.5",
        "delay",
        "kill:200",
        "kill 3",
        "delay:-1",
        "kill@³",
    ],
)
async def test_what_makes_no_sense_is_refused(spelled: str) -> None:
    with pytest.raises(BadArming):
        parse_arming(spelled)


async def test_several_armings_stand_in_one_variable() -> None:
    assert parse_armings("a.b.before=kill@2; c.d.after = delay:5;") == {
        "a.b.before": Arming("kill", on_pass=2),
        "c.d.after": Arming("delay", delay_ms=5),
    }
    with pytest.raises(BadArming, match="is not name=action"):
        parse_armings("a.b.before")


async def test_a_name_that_there_is_not_is_refused_with_those_near(points: Failpoints) -> None:
    with pytest.raises(UnknownFailpoint, match="near: disk") as refused:
        points.arm("disk.wrote.before", Arming("kill"))
    assert refused.value.near[0] == "disk.write.before"
    with pytest.raises(UnknownFailpoint):
        await points.reach("disk.wrote.before")
    with pytest.raises(UnknownFailpoint):
        points.clear("nothing.like.it")


async def test_all_of_a_variable_is_armed_or_nothing(points: Failpoints) -> None:
    with pytest.raises(UnknownFailpoint):
        points.arm_all("disk.write.before=kill;disk.wrote.after=kill")
    assert [report.arming for report in points.reports()] == [None] * 4


async def test_a_process_dies_at_the_pass_that_was_asked_for_and_at_no_other(points: Failpoints) -> None:
    await points.reach("disk.write.before")
    points.arm("disk.write.before", Arming("kill", on_pass=2))
    await points.reach("disk.write.before")
    with pytest.raises(Died, match="disk"):
        await points.reach("disk.write.before")
    await points.reach("disk.write.before")
    report = points.report("disk.write.before")
    assert (report.passes, report.fired) == (4, 1)


async def test_a_place_raises_what_fails_there(points: Failpoints) -> None:
    points.arm("disk.write.after", Arming("raise"))
    points.arm("hub.publish.after", Arming("raise"))
    with pytest.raises(OSError, match="failpoint disk"):
        await points.reach("disk.write.after")
    with pytest.raises(FailpointRaised):
        points.reach_now("hub.publish.after")
    points.arm("disk.write.after", Arming("exit"))
    with pytest.raises(Died):
        await points.reach("disk.write.after")


async def test_chance_is_drawn_from_what_was_handed_in(points: Failpoints) -> None:
    drawn = iter([0.9, 0.1, 0.5])
    points.switch_on(lambda: next(drawn), kill=die)
    points.arm("disk.write.before", Arming("raise", probability=0.5))
    await points.reach("disk.write.before")
    with pytest.raises(OSError, match="failpoint disk"):
        await points.reach("disk.write.before")
    await points.reach("disk.write.before")


async def test_a_delay_takes_its_time(points: Failpoints, autojump_clock: trio.testing.MockClock) -> None:
    points.arm("disk.write.before", Arming("delay", delay_ms=1500))
    await points.reach("disk.write.before")
    assert trio.current_time() == 1.5


@pytest.mark.parametrize("release", ["this one", "all", "armed anew", "switched off"])
async def test_who_is_paused_goes_on_once_it_is_cleared(
    points: Failpoints, autojump_clock: trio.testing.MockClock, release: str
) -> None:
    points.arm("disk.write.before", Arming("pause"))
    gone_on = trio.Event()

    async def come_by() -> None:
        await points.reach("disk.write.before")
        gone_on.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(come_by)
        await trio.testing.wait_all_tasks_blocked()
        assert points.report("disk.write.before").waiting == 1
        assert not gone_on.is_set()
        match release:
            case "this one":
                points.clear("disk.write.before")
            case "all":
                points.clear()
            case "armed anew":
                points.arm("disk.write.before", Arming("kill"))
            case _:
                points.switch_off()
        await gone_on.wait()
    assert points.report("disk.write.before").waiting == 0
    assert points.on is (release != "switched off")


async def test_a_pause_that_is_cancelled_leaves_nobody_waiting(points: Failpoints) -> None:
    points.arm("disk.write.before", Arming("pause"))
    with trio.CancelScope() as scope:
        scope.cancel()
        await points.reach("disk.write.before")
    assert points.report("disk.write.before").waiting == 0


async def test_a_thread_is_paused_and_goes_on_too(points: Failpoints) -> None:
    points.arm("disk.write.before", Arming("pause"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, points.reach_now, "disk.write.before")
        with trio.fail_after(10):
            while not points.report("disk.write.before").waiting:
                await trio.lowlevel.checkpoint()
        points.clear("disk.write.before")


@pytest.mark.parametrize("action", [Arming("delay", delay_ms=1), Arming("pause")])
async def test_nothing_waits_in_the_middle_of_a_step(points: Failpoints, action: Arming) -> None:
    with pytest.raises(BadArming, match="nothing can wait there"):
        points.arm("hub.publish.before", action)


async def test_a_place_that_does_nothing_does_not_let_others_run(points: Failpoints) -> None:
    ran = []

    async def other() -> None:
        ran.append("other")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        await points.reach("disk.write.before")
        assert not ran
