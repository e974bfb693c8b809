"""The places in the store where a fault can be put on purpose: their names, and what is so when they are reached.

Data only. The store knows nothing of who arms them: it is handed a `store.port.FaultSeam`, which in a daemon is the
process's registry of failpoints.
"""

from collections.abc import Callable
from typing import Final, Literal

import apsw
import attrs


@attrs.frozen
class StoreEffect:
    """Something the store does; there is a place before it and one after."""

    name: str
    before: str
    after: str
    place: Literal["thread", "step"] = "thread"
    """In the writer's thread, or in the middle of a step of the loop or of a start, where nothing can wait."""
    error: Callable[[str], Exception] = apsw.IOError
    """What `raise` raises: what a failing disk would, where there is a disk."""


STORE_EFFECTS: Final = (
    StoreEffect("store.renewal", "the log of an unclean end is not renewed", "it is renewed", "step"),
    StoreEffect("store.migration", "a step is applied, not committed", "it is committed", "step"),
    StoreEffect("store.recovery", "what was left open is found", "a group of it is settled", "step"),
    StoreEffect("store.unit", "no row of a unit is written", "its rows are written, not committed"),
    StoreEffect("store.pieces", "streamed text is not written behind", "it is written, not committed"),
    StoreEffect("store.commit", "a group is written, not committed", "it is durable, and nobody knows"),
    StoreEffect("store.telling", "an outcome is known and not told", "it is told", "step", RuntimeError),
    StoreEffect("store.trim", "the old end of the commit log is cut off, not committed", "it is committed"),
    StoreEffect("store.purge", "a part of what was purged is taken away, not committed", "it is committed"),
    StoreEffect(
        "store.checkpoint", "the write-ahead log is not emptied", "it is emptied as far as it could be"
    ),
)


class _NoFaults:
    """A seam that is never on."""

    on: Final = False

    def reach_now(self, name: str) -> None:
        """Never called."""
        raise AssertionError(name)


NO_FAULTS: Final = _NoFaults()
