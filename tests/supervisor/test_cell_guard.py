"""A cell: how it ends, what a hook may do to it, and what its guard keeps and lets pass."""

import pytest
import trio
import trio.testing

from supervisor import ActorStopped, Normal, RestartIntensity, StopTimedOut
from supervisor.cell import guard
from tests.supervisor.cell_stage import Planted, Scripted, Stage, play


@pytest.fixture
def stage():
    return Stage()


# --- ending


async def test_cancelling_discards_what_is_in_hand_and_what_waits(stage):
    class Stuck(Scripted):
        async def flush(self):
            await trio.sleep_forever()

    cell = stage.cell(batch_max=2)
    cell._factory = lambda cell: Stuck(stage, cell, "life")
    for message in "abc":
        cell.mailbox.put(message)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cell.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    [(messages, error)] = stage.discarded
    assert messages == ["a", "b", "c"]
    assert isinstance(error, ActorStopped)
    assert (stage.errors, stage.stopped) == ([], [])


async def test_a_stop_that_crashes_is_reported_and_ends_the_cell_all_the_same(stage):
    stage.passivate = True
    stage.crashes["stop"] = 1
    cell = stage.cell()
    assert await cell.run() == Normal()
    assert [str(error) for error in stage.errors] == ["stop"]
    assert cell.restarts == 0


async def test_a_stop_that_hangs_is_cancelled_after_its_grace(stage, autojump_clock):
    class Hanging(Scripted):
        async def stop(self):
            await trio.sleep_forever()

    stage.passivate = True
    cell = stage.cell(stop_grace_seconds=3)
    cell._factory = lambda cell: Hanging(stage, cell, "life")
    await cell.run()
    assert trio.current_time() == 3
    [error] = stage.errors
    assert isinstance(error, StopTimedOut)


async def test_a_stop_asked_for_twice_or_too_late_is_harmless(stage):
    stage.passivate = True
    cell = stage.cell()
    cell.request_stop()
    cell.request_stop()
    await cell.run()
    cell.request_stop()
    cell.close()
    assert stage.discarded == []


# --- hooks


@pytest.mark.parametrize("hook", ["on_discarded", "on_crash", "on_quarantine"])
async def test_a_hook_that_crashes_costs_its_own_report_only(stage, autojump_clock, hook):
    stage.crashes.update({hook: 1, "receive a": 1})
    cell = stage.cell(intensity=RestartIntensity(0))
    await play(cell, "ab")
    assert cell.hook_failures == 1
    assert [batch for batch, _ in stage.discarded] == [["a"]]
    assert len(stage.quarantines) == 1
    assert stage.performed == ["b"]
    # It is reported as a crash itself, unless it was the report of a crash that crashed.
    reported = [str(error) for error in stage.errors]
    assert sorted(reported) == sorted({"receive a", hook} - {"on_crash"})


# --- the guard


@pytest.mark.case("FC-25")
async def test_a_group_of_errors_is_one_crash(stage, autojump_clock):
    class Grouped(Scripted):
        async def flush(self):
            self.stage.performed += self.received
            self.received = []
            if self.stage.crashes["group"] > 0:
                self.stage.crashes["group"] -= 1
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(crash, "one")
                    nursery.start_soon(crash, "two")

    async def crash(name):
        raise Planted(name)

    stage.crashes["group"] = 1
    cell = stage.cell()
    cell._factory = lambda cell: Grouped(stage, cell, "life")
    await play(cell, "a")
    [error] = stage.errors
    assert isinstance(error, ExceptionGroup)
    assert cell.restarts == 1


@pytest.mark.case("FC-25")
async def test_an_error_during_cancellation_does_not_leave_the_cell(stage):
    """The group holds a Cancelled and an error: the one has to pass, the other would reach the siblings."""

    class Clumsy(Scripted):
        async def flush(self):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                try:
                    await trio.sleep_forever()
                finally:
                    raise Planted("while cleaning up")

    cell = stage.cell()
    cell._factory = lambda cell: Clumsy(stage, cell, "life")
    cell.mailbox.put("a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cell.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    [error] = stage.errors
    assert "while cleaning up" in str(error.exceptions[0])
    assert [batch for batch, _ in stage.discarded] == [["a"]]


def test_the_guard_lets_pass_what_is_no_error():
    recorded = []
    with pytest.raises(KeyboardInterrupt), guard(recorded.append):
        raise KeyboardInterrupt
    with pytest.raises(BaseExceptionGroup) as caught, guard(recorded.append):
        raise BaseExceptionGroup("", [KeyboardInterrupt(), ExceptionGroup("", [ValueError("kept")])])
    assert len(caught.value.exceptions) == 1
    [group] = recorded
    assert str(group.exceptions[0].exceptions[0]) == "kept"


def test_the_guard_keeps_an_error_as_it_is():
    recorded = []
    error = ValueError("kept")
    with guard(recorded.append):
        raise error
    assert recorded == [error]
