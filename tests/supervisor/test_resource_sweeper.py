"""The resource sweeper: bounded retries, bounded count, and nothing given up in silence."""

import attrs
import pytest
import trio
import trio.testing

from supervisor import BackOff, ResourceSweeper, SweeperLimits


@attrs.define(eq=False)
class Resource:
    """Its close fails so many times, hangs when told to, and takes note of each attempt."""

    failures: int = 0
    hangs: bool = False
    attempts_at: list = attrs.field(factory=list)
    closed: bool = False

    async def close(self):
        self.attempts_at.append(trio.current_time())
        if self.hangs:
            await trio.sleep_forever()
        if len(self.attempts_at) <= self.failures:
            raise OSError(f"busy {len(self.attempts_at)}")
        self.closed = True


@attrs.define
class Stage:
    abandoned: list = attrs.field(factory=list)

    def sweeper(self, **limits):
        return ResourceSweeper(
            on_abandoned=self.abandoned.append, limits=SweeperLimits(**{"back_off": BackOff(1, 4), **limits})
        )


@pytest.fixture
def stage():
    return Stage()


@pytest.fixture
async def running(stage, nursery):
    """A sweeper that runs, with small bounds."""
    sweeper = stage.sweeper(pending_max=3, attempts_max=5, attempt_timeout_seconds=10)
    await nursery.start(sweeper.run)
    return sweeper


@pytest.mark.rule("RT-121")
async def test_the_third_attempt_closes_and_nothing_is_left(running, stage, autojump_clock):
    resource = Resource(failures=2)
    running.adopt("process 7", resource.close)
    await trio.sleep(2)
    [pending] = running.pending()
    assert (pending.name, pending.attempts, str(pending.last_error)) == ("process 7", 1, "busy 1")
    await trio.sleep(100)
    assert (resource.closed, resource.attempts_at) == (True, [1, 3, 7])
    assert (running.pending(), running.swept, running.abandoned, stage.abandoned) == ((), 1, 0, [])


@pytest.mark.rule("RT-121")
async def test_attempts_are_bounded_and_the_resource_is_reported_abandoned(running, stage, autojump_clock):
    resource = Resource(failures=1000)
    running.adopt("process 7", resource.close)
    await trio.sleep(1000)
    assert resource.attempts_at == [1, 3, 7, 11, 15]
    assert (running.pending(), running.swept, running.abandoned) == ((), 0, 1)
    [report] = stage.abandoned
    assert (report.name, report.attempts, str(report.last_error)) == ("process 7", 5, "busy 5")


async def test_a_close_that_hangs_is_cut_off_and_does_not_delay_the_others(running, stage, autojump_clock):
    hanging, other = Resource(hangs=True), Resource()
    running.adopt("hanging", hanging.close)
    running.adopt("other", other.close)
    await trio.sleep(5)
    assert other.closed
    hanging.hangs = False
    await trio.sleep(100)
    assert (hanging.closed, hanging.attempts_at) == (True, [1, 13])
    assert running.swept == 2


async def test_a_hanging_close_is_reported_as_such(running, stage, autojump_clock):
    running.adopt("hanging", Resource(hangs=True).close)
    await trio.sleep(1000)
    [report] = stage.abandoned
    assert str(report.last_error) == "not closed within 10 s"


async def test_when_there_are_too_many_the_oldest_is_reported_abandoned(running, stage, autojump_clock):
    resources = [Resource(failures=1) for _ in range(4)]
    for number, resource in enumerate(resources):
        running.adopt(f"process {number}", resource.close)
    assert [report.name for report in stage.abandoned] == ["process 0"]
    assert [pending.name for pending in running.pending()] == ["process 1", "process 2", "process 3"]
    await trio.sleep(100)
    assert [resource.closed for resource in resources] == [False, True, True, True]
    assert resources[0].attempts_at == []
    assert (running.swept, running.abandoned, running.pending()) == (3, 1, ())


async def test_the_oldest_is_abandoned_in_the_middle_of_an_attempt_too(running, stage, autojump_clock):
    hanging = Resource(hangs=True)
    running.adopt("hanging", hanging.close)
    await trio.sleep(2)
    for number in range(3):
        running.adopt(f"process {number}", Resource().close)
    await trio.sleep(1000)
    assert ([report.name for report in stage.abandoned], len(hanging.attempts_at)) == (["hanging"], 1)
    assert running.swept == 3


async def test_what_is_adopted_while_it_does_not_run_is_swept_when_it_does(stage, nursery, autojump_clock):
    sweeper = stage.sweeper()
    resource = Resource()
    sweeper.adopt("early", resource.close)
    await nursery.start(sweeper.run)
    await trio.sleep(10)
    assert resource.closed


async def test_a_second_run_goes_on_where_the_first_was_cancelled(stage, autojump_clock):
    sweeper = stage.sweeper(attempts_max=3)
    resource = Resource(failures=1000)
    sweeper.adopt("process 7", resource.close)
    for _ in range(2):
        with trio.move_on_after(2):
            await sweeper.run()
        assert len(sweeper.pending()) == 1
    late = Resource()
    sweeper.adopt("adopted in between", late.close)
    with trio.move_on_after(100):
        await sweeper.run()
    assert len(resource.attempts_at) == 3
    assert late.closed
    assert (sweeper.pending(), len(stage.abandoned)) == ((), 1)
