"""The registry of failpoints: which there are, which are armed, how often each was passed and what it did.

Owns the performing of an arming, the death of the process included. It must not know what a name means. How the
process dies and what decides by chance is handed in, so that a simulated daemon dies in its own way, by its seed.
"""

import difflib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

import attrs
import trio

from supervisor.failpoints.arming import Arming, BadArming, Place, parse_armings

EXIT_CODE: Final = 70
"""Of a process that a failpoint let exit."""
_NEAR_NAMES_MAX: Final = 5


class FailpointRaised(RuntimeError):
    """What a place raises that has no error of its own: a bug, as far as anybody there can tell."""


class UnknownFailpoint(LookupError):
    """There is no failpoint of this name; `near` are names that look like it."""

    def __init__(self, name: str, near: tuple[str, ...]) -> None:
        super().__init__(f"no failpoint {name!r}" + (f"; near: {', '.join(near)}" if near else ""))
        self.near = near


@attrs.frozen
class Failpoint:
    """One place."""

    name: str
    """`seam.effect.before` or `.after`."""
    stands_for: str
    """What is so, and what is not yet, when it is reached."""
    place: Place = "task"
    error: Callable[[str], Exception] = FailpointRaised
    """What `raise` raises there."""


def pair(
    effect: str,
    before: str,
    after: str,
    place: Place = "task",
    error: Callable[[str], Exception] = FailpointRaised,
) -> tuple[Failpoint, Failpoint]:
    """The two places around one effect."""
    return (
        Failpoint(f"{effect}.before", before, place, error),
        Failpoint(f"{effect}.after", after, place, error),
    )


@attrs.frozen
class FailpointReport:
    """One place as it stands."""

    point: Failpoint
    arming: Arming | None
    passes: int
    """Since failpoints were switched on."""
    fired: int
    waiting: int
    """How many wait there now."""


@attrs.define(eq=False)
class _Armed:
    arming: Arming
    passes: int = 0
    released: threading.Event = attrs.field(factory=threading.Event)
    waiting: dict[trio.Event, None] = attrs.field(factory=dict)
    threads_waiting: int = 0

    def release(self) -> None:
        self.released.set()
        for event in self.waiting:
            event.set()


def kill_process(_name: str) -> None:
    """SIGKILL to this process. Nothing after the place is ever reached, in no thread."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def exit_process(_name: str) -> None:
    """End this process at once, without any of its cleanup."""
    os._exit(EXIT_CODE)


def _never() -> float:
    return 1.0


class Failpoints:
    """All failpoints of a process. Places look at `on` first; it is off until somebody switches it on."""

    def __init__(self) -> None:
        self.on = False
        self._points: dict[str, Failpoint] = {}
        self._armed: dict[str, _Armed] = {}
        self._passes: dict[str, int] = {}
        self._fired: dict[str, int] = {}
        self._chance: Callable[[], float] = _never
        self._kill: Callable[[str], None] = kill_process
        self._exit: Callable[[str], None] = exit_process

    # --- what there is ----------------------------------------------------------------------------------------

    def declare(self, points: Iterable[Failpoint]) -> None:
        """Add places. A name stands for one place."""
        for point in points:
            assert point.name not in self._points, f"declared twice: {point.name}"
            self._points[point.name] = point

    @property
    def names(self) -> tuple[str, ...]:
        """All declared names, in the order of the alphabet."""
        return tuple(sorted(self._points))

    def reports(self) -> tuple[FailpointReport, ...]:
        """Every place, by its name."""
        return tuple(self.report(name) for name in self.names)

    def report(self, name: str) -> FailpointReport:
        """One place. Raises `UnknownFailpoint`."""
        armed = self._armed.get(name)
        return FailpointReport(
            self._point(name),
            None if armed is None else armed.arming,
            self._passes.get(name, 0),
            self._fired.get(name, 0),
            0 if armed is None else len(armed.waiting) + armed.threads_waiting,
        )

    # --- switching and arming ---------------------------------------------------------------------------------

    def switch_on(
        self,
        chance: Callable[[], float] = _never,
        kill: Callable[[str], None] = kill_process,
        exit_: Callable[[str], None] = exit_process,
    ) -> None:
        """Count passes and let what is armed happen.

        `chance` gives numbers in [0, 1) for probabilities; `kill` and `exit_` end whatever stands for the process.
        """
        self.on, self._chance, self._kill, self._exit = True, chance, kill, exit_

    def switch_off(self) -> None:
        """As it was in the beginning; whoever waits goes on."""
        self.clear()
        self.on, self._chance, self._kill, self._exit = False, _never, kill_process, exit_process
        self._passes.clear()
        self._fired.clear()

    def arm(self, name: str, arming: Arming) -> None:
        """From the next pass on. Replaces what was armed there. Raises `UnknownFailpoint` or `BadArming`."""
        assert self.on, "failpoints are off"
        refusal = arming.refusal_at(self._point(name).place)
        if refusal is not None:
            raise BadArming(f"{name}: {arming.action} is not possible: {refusal}")
        self.clear(name)
        self._armed[name] = _Armed(arming)

    def arm_all(self, text: str) -> None:
        """What an environment variable spells; all of it or nothing. Raises `UnknownFailpoint` or `BadArming`."""
        armings = parse_armings(text)
        for name in armings:
            self._point(name)
        for name, arming in armings.items():
            self.arm(name, arming)

    def clear(self, name: str | None = None) -> None:
        """Disarm one place or all; whoever waits there goes on. Raises `UnknownFailpoint`."""
        if name is not None:
            self._point(name)
        for cleared in [name] if name is not None else list(self._armed):
            armed = self._armed.pop(cleared, None)
            if armed is not None:
                armed.release()

    # --- places -----------------------------------------------------------------------------------------------

    async def reach(self, name: str) -> None:
        """A task comes by. Only to be called while `on`; it does not let others run unless it waits."""
        armed = self._due(name)
        if armed is None:
            return
        match armed.arming.action:
            case "delay":
                await trio.sleep(armed.arming.delay_ms / 1000)
            case "pause":
                event = trio.Event()
                armed.waiting[event] = None
                try:
                    await event.wait()
                finally:
                    del armed.waiting[event]
            case _:
                self._strike(name, armed.arming)

    def reach_now(self, name: str) -> None:
        """A step, or the writer's thread, comes by. Only to be called while `on`."""
        armed = self._due(name)
        if armed is None:
            return
        match armed.arming.action:
            case "delay":
                time.sleep(armed.arming.delay_ms / 1000)
            case "pause":
                armed.threads_waiting += 1
                armed.released.wait()
                armed.threads_waiting -= 1
            case _:
                self._strike(name, armed.arming)

    def _due(self, name: str) -> _Armed | None:
        self._point(name)
        self._passes[name] = self._passes.get(name, 0) + 1
        armed = self._armed.get(name)
        if armed is None:
            return None
        armed.passes += 1
        arming = armed.arming
        if arming.on_pass is not None and armed.passes != arming.on_pass:
            return None
        if arming.probability < 1 and self._chance() >= arming.probability:
            return None
        self._fired[name] = self._fired.get(name, 0) + 1
        return armed

    def _strike(self, name: str, arming: Arming) -> None:
        match arming.action:
            case "kill":
                self._kill(name)
            case "exit":
                self._exit(name)
            case _:
                raise self._points[name].error(f"failpoint {name}")

    def _point(self, name: str) -> Failpoint:
        point = self._points.get(name)
        if point is None:
            near = difflib.get_close_matches(name, self._points, _NEAR_NAMES_MAX, 0.5)
            raise UnknownFailpoint(name, tuple(near))
        return point
