"""A loop that stands is seen from outside: one log line that says where, and none while it runs."""

import threading

import trio
import trio.testing
from structlog.testing import capture_logs

from runtime.observability.loop_lag import LoopLag
from runtime.observability.stall_watch import Looks, watched_for_stalls

LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 20
SECRET = "a value of the stack, and no name in it"


def stand_until_logged(lines: list[object], secret: str) -> None:
    """A step that keeps the loop until the watch has seen it."""
    pause = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / LOOK_SECONDS)):
        if lines:
            return
        pause.wait(LOOK_SECONDS)


async def test_a_loop_that_stands_is_logged_with_the_place_and_the_tasks_that_wait() -> None:
    with capture_logs() as lines, watched_for_stalls(LoopLag(), LOOK_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever, name="somebody who waits")
            await trio.testing.wait_all_tasks_blocked()
            stand_until_logged(lines, SECRET)
            nursery.cancel_scope.cancel()
    assert lines[0]["log_level"] == "error"
    assert any("stand_until_logged" in place for place in lines[0]["stack"])
    assert any(place.startswith("somebody who waits: ") for place in lines[0]["tasks"])
    assert SECRET not in str(lines[0])


def test_each_stall_is_told_once_and_a_loop_that_runs_never() -> None:
    looks = Looks(0)
    seen = [looks.stands_since(samples) for samples in (1, 2, 2, 2, 3, 5, 5)]
    assert seen == [False, False, True, False, False, False, True]
