"""Sees from outside that the event loop stands, and logs where: from within nobody can say so while it lasts.

Owns one thread that compares the count of the loop's own samples. It must not call into the loop or change anything:
it reads frames, and writes a log line a stall, with names of files and functions and no values.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import attrs
import structlog
import trio

from runtime.observability.loop_lag import SAMPLE_SECONDS, LoopLag

STALLED_SECONDS = 1.0
"""How long a sample may be overdue before that is a stall."""
FRAMES_MAX = 30
TASKS_MAX = 50
"""Tasks named in one line: where each of them waits."""

log = structlog.get_logger(__name__)


@attrs.define
class Looks:
    """What was seen at each look, and whether a stall was told of: once a stall."""

    samples: int
    _told: bool = False

    def stands_since(self, samples: int) -> bool:
        """True at the first look at which no sample was added since the look before."""
        if samples != self.samples:
            self.samples, self._told = samples, False
            return False
        first, self._told = not self._told, True
        return first


@contextmanager
def watched_for_stalls(
    lag: LoopLag, overdue_seconds: float = SAMPLE_SECONDS + STALLED_SECONDS
) -> Iterator[None]:
    """While the body runs in trio's thread, a stall of its loop is logged once, when it is noticed."""
    loop_thread, root = threading.get_ident(), trio.lowlevel.current_root_task()
    ended = threading.Event()

    def watch() -> None:
        looks = Looks(lag.samples)
        while not ended.wait(overdue_seconds):
            if looks.stands_since(lag.samples):
                _report(loop_thread, root, overdue_seconds)

    thread = threading.Thread(target=watch, name="stall watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _report(loop_thread: int, root: trio.lowlevel.Task | None, overdue_seconds: float) -> None:
    frame = sys._current_frames().get(loop_thread)
    log.error(
        "the event loop stands: no client is served and no timer runs until it goes on",
        for_more_than_seconds=overdue_seconds,
        stack=_stack(frame),
        tasks=_tasks(root),
        do="report the first lines of the stack; a daemon that does not recover is restarted by SIGKILL",
    )


def _stack(frame: FrameType | None) -> list[str]:
    """Innermost first."""
    lines: list[str] = []
    while frame is not None and len(lines) < FRAMES_MAX:
        lines.append(_place(frame))
        frame = frame.f_back
    return lines


def _tasks(root: trio.lowlevel.Task | None) -> list[str]:
    """Each task and where it waits. Read while the loop stands, so nothing moves but what a stall is over with."""
    places: list[str] = []
    waiting = [] if root is None else [root]
    while waiting and len(places) < TASKS_MAX:
        task = waiting.pop()
        places.append(f"{task.name}: {_innermost(task.coro)}")
        for nursery in tuple(task.child_nurseries):
            waiting.extend(tuple(nursery.child_tasks))
    return places


def _innermost(awaited: object) -> str:
    place = "running"
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is None:
            break
        place = _place(frame)
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return place


def _place(frame: FrameType) -> str:
    code = frame.f_code
    return f"{code.co_filename}:{frame.f_lineno} {code.co_qualname}"
