"""The supervision tree: order of start and end, restarts, graces, and cancellation from outside."""

from functools import partial

import attrs
import pytest
import trio
import trio.testing

from runtime.simulation.explore import explore, pause
from supervisor import (
    ChildSpec,
    ChildStartFailed,
    Crashed,
    Normal,
    RestartIntensity,
    RestartIntensityExceeded,
    Shutdown,
    Supervisor,
)


@attrs.define
class Stage:
    """A log of what the children of one supervisor did."""

    log: list = attrs.field(factory=list)
    exits: list = attrs.field(factory=list)

    def on_exit(self, child_id, reason):
        self.exits.append((child_id, type(reason)))

    def child(self, name, *, asked=True, stop_seconds=0.0, start_seconds=0.0, **options):
        """A child that ends when asked (or only when cancelled), after `stop_seconds`."""

        async def start(*, task_status):
            stop = trio.Event()
            await trio.sleep(start_seconds)
            self.log.append(f"{name} started")
            task_status.started(stop.set if asked else None)
            try:
                await stop.wait()
                await trio.sleep(stop_seconds)
                self.log.append(f"{name} stopped")
            except trio.Cancelled:
                self.log.append(f"{name} cancelled")
                raise

        return ChildSpec(id=name, start=start, **options)

    def crashing(self, name, times, *, seconds=0.0, error=ValueError, **options):
        """A child that ends by itself so many times, `seconds` after each start, and then stays."""
        left = [times]

        async def start(*, task_status):
            self.log.append(f"{name} started")
            task_status.started()
            await trio.sleep(seconds)
            left[0] -= 1
            if left[0] >= 0 and error is not None:
                raise error(f"{name} {left[0]}")
            if left[0] < 0:
                await trio.sleep_forever()

        return ChildSpec(id=name, start=start, **options)

    def supervisor(self, *children):
        return Supervisor(children, on_exit=self.on_exit)


@pytest.fixture
def stage():
    return Stage()


async def test_children_start_in_order_and_stop_in_reverse(stage, autojump_clock):
    supervisor = stage.supervisor(
        stage.child("store", start_seconds=2, stop_seconds=1),
        stage.child("pool", start_seconds=1, stop_seconds=2),
        stage.child("api"),
    )
    async with trio.open_nursery() as nursery:
        request_stop = await nursery.start(supervisor.run)
        assert stage.log == ["store started", "pool started", "api started"]
        assert supervisor.running() == ("store", "pool", "api")
        assert trio.current_time() == 3
        request_stop()
    assert stage.log[3:] == ["api stopped", "pool stopped", "store stopped"]
    assert stage.exits == [("api", Shutdown), ("pool", Shutdown), ("store", Shutdown)]
    assert (supervisor.running(), trio.current_time()) == ((), 6)


async def test_a_child_that_takes_longer_than_its_grace_is_cancelled(stage, autojump_clock):
    supervisor = stage.supervisor(
        stage.child("slow", stop_seconds=100, grace_seconds=3), stage.child("deaf", asked=False)
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        supervisor.request_stop()
    assert stage.log[2:] == ["deaf cancelled", "slow cancelled"]
    assert stage.exits == [("deaf", Shutdown), ("slow", Shutdown)]
    assert trio.current_time() == 3


async def test_a_child_that_survives_its_cancellation_does_not_stop_the_others_from_ending(
    stage, autojump_clock
):
    async def stubborn(*, task_status):
        with trio.CancelScope(shield=True):
            task_status.started()
            await trio.sleep(100)
            stage.log.append("stubborn ended")

    supervisor = stage.supervisor(
        stage.child("store"), ChildSpec(id="stubborn", start=stubborn, grace_seconds=4)
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        supervisor.request_stop()
    assert stage.log == ["store started", "store stopped", "stubborn ended"]
    assert trio.current_time() == 100


async def test_a_stop_request_that_crashes_leads_to_cancellation(stage, autojump_clock):
    async def start(*, task_status):
        def fail():
            raise ZeroDivisionError

        task_status.started(fail)
        await trio.sleep_forever()

    supervisor = stage.supervisor(stage.child("store"), ChildSpec(id="odd", start=start))
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        supervisor.request_stop()
    assert stage.exits == [("odd", Crashed), ("odd", Shutdown), ("store", Shutdown)]


# --- starting


async def test_a_child_that_cannot_start_ends_those_before_it(stage):
    async def start(*, task_status):
        raise ZeroDivisionError

    supervisor = stage.supervisor(
        stage.child("store"), ChildSpec(id="broken", start=start), stage.child("never")
    )
    with pytest.raises(ChildStartFailed, match="'broken'") as caught:
        await supervisor.run()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert stage.log == ["store started", "store stopped"]


async def test_a_child_that_returns_without_a_word_did_not_start(stage):
    async def start(*, task_status):
        pass

    with pytest.raises(ChildStartFailed, match="'silent'"):
        await stage.supervisor(ChildSpec(id="silent", start=start)).run()


async def test_a_stop_during_the_start_ends_what_has_started(stage, autojump_clock):
    supervisor = stage.supervisor(stage.child("store"), stage.child("slow", start_seconds=100))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(1)
        supervisor.request_stop()
    assert stage.log == ["store started", "store stopped"]
    assert trio.current_time() == 1


# --- restarting


@pytest.mark.case("FC-25")
async def test_a_crash_restarts_that_child_alone(stage, autojump_clock):
    supervisor = stage.supervisor(
        stage.child("store"), stage.crashing("pool", 2, seconds=1), stage.child("api")
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await trio.sleep(10)
        assert supervisor.running() == ("store", "pool", "api")
        supervisor.request_stop()
    assert stage.log == [
        *("store started", "pool started", "api started"),
        *("pool started", "pool started"),
        *("api stopped", "store stopped"),
    ]
    assert stage.exits[:2] == [("pool", Crashed), ("pool", Crashed)]


async def test_a_child_that_is_just_being_restarted_is_not_asked_but_cancelled(stage, autojump_clock):
    """Its old stop request speaks of a life that is over; waiting for it to help would waste the grace."""
    asked = []

    async def start(*, task_status):
        await trio.sleep(trio.current_time())
        task_status.started(lambda: asked.append(trio.current_time()))
        await trio.sleep(1)
        raise ZeroDivisionError

    supervisor = stage.supervisor(ChildSpec(id="pool", start=start))
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await trio.sleep(1.5)
        supervisor.request_stop()
    assert (asked, trio.current_time()) == ([], 1.5)


async def test_a_permanent_child_that_crashes_too_often_ends_the_supervisor(stage, autojump_clock):
    supervisor = stage.supervisor(
        stage.child("store"), stage.crashing("pool", 99, seconds=1), stage.child("api")
    )
    with pytest.raises(
        RestartIntensityExceeded, match="'pool' needed more than 3 restarts in 60 s"
    ) as caught:
        await supervisor.run()
    assert str(caught.value.__cause__) == "pool 95"
    assert trio.current_time() == 4
    assert stage.log[-2:] == ["api stopped", "store stopped"]


async def test_a_permanent_child_that_merely_returns_too_often_ends_the_supervisor_too(stage, autojump_clock):
    supervisor = stage.supervisor(stage.crashing("pool", 99, seconds=1, error=None))
    with pytest.raises(RestartIntensityExceeded) as caught:
        await supervisor.run()
    assert caught.value.__cause__ is None
    assert stage.exits == [("pool", Normal)] * 4


async def test_crashes_far_apart_are_restarted_for_ever(stage, autojump_clock):
    supervisor = stage.supervisor(
        stage.crashing("pool", 50, seconds=60, intensity=RestartIntensity(1, 60)),
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await trio.sleep(60 * 51)
        supervisor.request_stop()
    assert stage.log == ["pool started"] * 51


@pytest.mark.parametrize(
    ("restart", "error", "lives"),
    [
        ("transient", ValueError, 2),
        ("transient", None, 1),
        ("temporary", ValueError, 1),
        ("temporary", None, 1),
    ],
)
async def test_transient_and_temporary_children(stage, autojump_clock, restart, error, lives):
    supervisor = stage.supervisor(
        stage.child("store"), stage.crashing("unit", 1, seconds=1, error=error, restart=restart)
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await trio.sleep(10)
        assert stage.log.count("unit started") == lives
        assert supervisor.running() == (("store", "unit") if lives == 2 else ("store",))
        supervisor.request_stop()


async def test_a_transient_child_that_crashes_too_often_is_given_up_alone(stage, autojump_clock):
    supervisor = stage.supervisor(
        stage.child("store"), stage.crashing("unit", 99, seconds=1, restart="transient")
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await trio.sleep(100)
        assert (stage.exits, supervisor.running()) == ([("unit", Crashed)] * 4, ("store",))
        supervisor.request_stop()


async def test_a_child_that_ends_while_the_supervisor_stops_is_not_restarted(stage, autojump_clock):
    supervisor = stage.supervisor(stage.crashing("pool", 99, seconds=1), stage.child("api", stop_seconds=2))
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        supervisor.request_stop()
    assert stage.log == ["pool started", "api started", "api stopped"]
    assert stage.exits == [("pool", Crashed), ("api", Shutdown)]


# --- cancellation from outside


async def test_cancelling_the_supervisor_cancels_in_reverse_order_too(stage, autojump_clock):
    async def writer(*, task_status):
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            stage.log.append("writer ended")

    async def session(*, task_status):
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(10, shield=True):
                await trio.sleep(2)
                stage.log.append("session committed")

    supervisor = stage.supervisor(
        ChildSpec(id="writer", start=writer), ChildSpec(id="session", start=session), stage.child("api")
    )
    with trio.move_on_after(1):
        await supervisor.run()
    assert stage.log == ["api started", "api cancelled", "session committed", "writer ended"]
    assert trio.current_time() == 3


async def test_a_child_that_crashes_while_others_are_being_cancelled_is_not_restarted(stage, autojump_clock):
    async def slow(*, task_status):
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(4, shield=True):
                await trio.sleep_forever()

    supervisor = stage.supervisor(stage.crashing("store", 99, seconds=3), ChildSpec(id="slow", start=slow))
    with trio.move_on_after(1):
        await supervisor.run()
    assert stage.log == ["store started"]
    assert stage.exits == [("store", Crashed), ("slow", Shutdown)]


async def test_an_error_that_is_no_exception_ends_the_tree_in_order(stage, autojump_clock):
    class Fatal(BaseException):
        pass

    async def start(*, task_status):
        task_status.started()
        await trio.sleep(1)
        raise Fatal

    supervisor = stage.supervisor(
        stage.child("store"), ChildSpec(id="fatal", start=start), stage.child("api")
    )
    with pytest.raises(BaseExceptionGroup) as caught:
        await supervisor.run()
    assert caught.group_contains(Fatal)
    assert stage.log[-2:] == ["api cancelled", "store cancelled"]


@pytest.mark.parametrize("end", ["cancel", "stop"])
@pytest.mark.parametrize("turn", [trio.lowlevel.checkpoint, trio.lowlevel.cancel_shielded_checkpoint])
def test_no_schedule_of_ending_leaves_a_child_behind_or_hangs(end, turn):
    """With a shielded turn, a child may say that it is initialised when its start has just been cancelled."""

    async def program():
        stage = Stage()
        alive = []

        async def start(name, *, task_status):
            alive.append(name)
            try:
                await turn()
                task_status.started()
                await trio.sleep_forever()
            finally:
                stage.log.append(name)
                alive.remove(name)

        supervisor = stage.supervisor(
            ChildSpec(id="store", start=partial(start, "store")),
            ChildSpec(id="api", start=partial(start, "api")),
        )
        scope = trio.CancelScope()

        async def run():
            with scope:
                await supervisor.run()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await pause(9)
            (scope.cancel if end == "cancel" else supervisor.request_stop)()
        assert (alive, supervisor.running(), trio.current_time()) == ([], (), 0)
        return tuple(stage.log)

    assert set(explore(program)) == {("store",), ("api", "store")}
