"""The ladder over a made-up process, in virtual time: which step comes when, and that all is bounded."""

import pytest
import trio

from supervisor.process_guard import CloseFailed, ExitStatus, LadderTimes
from supervisor.process_guard.ladder import end

TIMES = LadderTimes(
    protocol_close_seconds=1,
    stdin_close_seconds=2,
    terminate_seconds=4,
    kill_seconds=8,
    last_resort_seconds=16,
)


class MadeUpProcess:
    """Ends at the step it is told to; notes each step with its time."""

    label, pid, reaper_pid = "made up", 2, 3

    def __init__(self, ends_at: str) -> None:
        self.ends_at = ends_at
        self.steps: list[tuple[str, float]] = []
        self.exited: ExitStatus | None = None
        self._ended = trio.Event()
        self.stdin = self

    def take(self, step: str) -> None:
        self.steps.append((step, trio.current_time() - self.started))
        if step == self.ends_at:
            self.exited = ExitStatus(0)
            self._ended.set()

    @property
    def started(self) -> float:
        return self._started

    async def run(self, times: LadderTimes = TIMES, **options: object) -> None:
        self._started = trio.current_time()
        await end(self, times, **options)  # type: ignore[arg-type]

    async def say_goodbye(self) -> None:
        self.take("protocol")

    def close(self) -> None:
        self.take("stdin")

    def terminate(self) -> None:
        self.take("terminate")

    def kill_tree(self) -> None:
        self.take("kill")

    async def wait(self) -> ExitStatus | None:
        await self._ended.wait()
        return self.exited

    async def tree_ended(self) -> bool:
        await self._ended.wait()
        return self.ends_at != "kill with leftovers"

    async def end_without_reaper(self, seconds: float) -> None:
        self.take("last resort")
        if self.ends_at != "last resort":
            raise CloseFailed(self.label, (self.pid,))


@pytest.mark.parametrize(
    ("ends_at", "steps"),
    [
        ("protocol", [("protocol", 0), ("stdin", 0), ("kill", 0)]),
        ("stdin", [("protocol", 0), ("stdin", 1), ("kill", 1)]),
        ("terminate", [("protocol", 0), ("stdin", 1), ("terminate", 3), ("kill", 3)]),
        ("kill", [("protocol", 0), ("stdin", 1), ("terminate", 3), ("kill", 7)]),
        ("last resort", [("protocol", 0), ("stdin", 1), ("terminate", 3), ("kill", 7), ("last resort", 15)]),
    ],
)
@pytest.mark.case("FC-03")
async def test_each_step_waits_its_time_and_no_longer(
    ends_at: str, steps: list[tuple[str, float]], autojump_clock: trio.testing.MockClock
) -> None:
    process = MadeUpProcess(ends_at)
    await process.run(protocol_close=process.say_goodbye)
    assert [(step, round(at, 6)) for step, at in process.steps] == steps


@pytest.mark.rule("RT-121")
async def test_an_end_without_effect_is_an_error(autojump_clock: trio.testing.MockClock) -> None:
    with pytest.raises(CloseFailed):
        await MadeUpProcess("never").run()


async def test_without_a_protocol_close_the_end_of_input_comes_first(
    autojump_clock: trio.testing.MockClock,
) -> None:
    process = MadeUpProcess("stdin")
    await process.run()
    assert [step for step, _ in process.steps] == ["stdin", "kill"]


async def test_at_once_waits_for_nothing_but_the_kill(autojump_clock: trio.testing.MockClock) -> None:
    process = MadeUpProcess("kill")
    await process.run(LadderTimes.at_once(), protocol_close=trio.sleep_forever)
    assert process.steps[-1] == ("kill", 0)


async def test_a_bug_in_the_protocol_close_surfaces_after_the_tree_has_ended(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def buggy() -> None:
        raise KeyError("bug")

    process = MadeUpProcess("kill")
    with pytest.raises(KeyError):
        await process.run(protocol_close=buggy)
    assert process.steps == [("kill", 0)]


async def test_a_cancelled_end_goes_all_the_way(autojump_clock: trio.testing.MockClock) -> None:
    process = MadeUpProcess("kill")
    with trio.CancelScope() as scope:
        scope.cancel()
        await process.run()
    assert [step for step, _ in process.steps] == ["stdin", "terminate", "kill"]


def test_default_times_are_below_the_ten_seconds_of_a_close() -> None:
    assert LadderTimes().total_seconds < 10
