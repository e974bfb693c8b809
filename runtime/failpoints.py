"""Every failpoint of the program: its name, and what is so when it is reached.

`GREENROOM_FAILPOINTS`, `fault/inject` and tests arm them by these names (docs/reliability.md). They stand where
effects are performed and nowhere else: an import contract keeps them out of whatever decides. Importing this page
declares them all, once, in the registry of the process.
"""

from collections.abc import Iterator
from typing import Final

import trio

from runtime.actors.markers import MARKERS
from store.fault_points import STORE_EFFECTS
from supervisor.failpoints import Failpoint, pair
from supervisor.failpoints import failpoints as failpoints
from supervisor.failpoints.kernel_points import KERNEL_POINTS
from supervisor.process_guard.port import CloseFailed, LaunchFailed

VARIABLE: Final = "GREENROOM_FAILPOINTS"
"""Arms failpoints at a start that enables faults: `name=kill@3;name=delay:200%0.1`."""

_TOLD: Final = {
    "open": "which conversation to open",
    "start": "a prompt whose dispatch is marked",
    "answer": "an answer whose dispatch is marked",
    "guide": "a guidance whose submit id is claimed",
    "cancel": "to stop a turn",
    "settings": "new settings",
}
_OPERATIONS: Final = {
    "create": "to create a session",
    "resume": "to make a session live",
    "close": "to end a session's runtime",
    "delete": "to delete trees of sessions",
    "restore": "to restore trees of sessions",
    "purge": "to purge trees of sessions",
}


def _close_failed(text: str) -> CloseFailed:
    return CloseFailed(text, ())


def _all_points() -> Iterator[Failpoint]:
    for effect in STORE_EFFECTS:
        yield from pair(effect.name, effect.before, effect.after, effect.place, effect.error)
    for name, what in MARKERS.items():
        yield from pair(f"marker.{name}", f"decided, not durable: {what}", f"durable, not acted on: {what}")
    for name, what in _TOLD.items():
        yield from pair(f"session.{name}", f"a connection is not told {what}", f"it is told {what}")
    for name, what in _OPERATIONS.items():
        yield from pair(
            f"operation.{name}", f"the locks are held, nothing is done {what}", f"all is done {what}"
        )
    yield from pair(
        "worktree.marker", "a checkout is decided on and not recorded", "it is recorded and not begun"
    )
    yield from pair("worktree.removal", "an unused checkout is there", "nothing of it is left, or it is kept")
    yield Failpoint("worktree.checkout.after", "a checkout is made, and its session is not")
    yield from pair(
        "write_behind.flush", "streamed text is not handed to the store", "it is durable, or void"
    )
    yield from pair(
        "provider.launch", "no process is asked for", "there is one, nothing said", error=LaunchFailed
    )
    yield from pair(
        "provider.write",
        "a frame is not written",
        "a frame is written whole",
        error=trio.BrokenResourceError,
    )
    yield from pair("provider.read", "bytes are read, the adapter has not seen them", "it has")
    yield from pair("provider.close", "a process is not ended", "nothing of it is left", error=_close_failed)
    yield from pair(
        "client.write",
        "what is ready for a client is not sent",
        "it is with the kernel",
        error=trio.BrokenResourceError,
    )
    yield from pair(
        "service.leftovers", "processes of an earlier life are not looked for", "none is left", error=OSError
    )
    yield from pair("service.stop", "a clean stop is asked for", "no session runs and no process is left")


POINTS: Final[tuple[Failpoint, ...]] = (*_all_points(), *KERNEL_POINTS)

failpoints.declare(POINTS)
