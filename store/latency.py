"""A histogram of durations: counts in fixed buckets, so that it costs the same after a year as after a second. Pure."""

from bisect import bisect_left
from typing import Final

import attrs

BOUNDS_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds, the bound included; what took longer is counted above them all."""


@attrs.define
class Latency:
    """Durations in seconds since it was made."""

    counts: list[int] = attrs.field(factory=lambda: [0] * (len(BOUNDS_SECONDS) + 1))
    """Of each bucket by itself, the last one for what is above all bounds."""
    total_seconds: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.total_seconds += seconds

    @property
    def count(self) -> int:
        """How many were observed."""
        return sum(self.counts)
