"""The failpoints of the kernel itself: the process guard and the resource sweeper."""

from typing import Final

from supervisor.failpoints.registry import Failpoint, pair

KERNEL_POINTS: Final[tuple[Failpoint, ...]] = (
    *pair(
        "provider.record",
        "a process is there and not in the record of this instance",
        "it is recorded, and not used yet",
        error=OSError,
    ),
    *pair(
        "sweeper.attempt",
        "a close that failed is about to be tried again",
        "it was tried, and nobody has noted what came of it",
        error=OSError,
    ),
)
