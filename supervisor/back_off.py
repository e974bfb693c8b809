"""How long to wait between attempts: exponential and bounded, as pure arithmetic.

Owns no clock and no count. There is no jitter: what backs off here is alone with what it waits for.
"""

import attrs
from attrs import validators


@attrs.frozen
class BackOff:
    """`min_seconds` after the first failure, doubled after each further one, at most `max_seconds`."""

    min_seconds: float = attrs.field(validator=validators.gt(0))
    max_seconds: float = attrs.field(validator=validators.gt(0))

    def seconds(self, failures: int) -> float:
        """The wait after so many failures in a row; 0 after none."""
        if failures == 0:
            return 0.0
        # The exponent is bounded as well: what keeps failing for days would overflow a float.
        return min(self.max_seconds, self.min_seconds * 2.0 ** min(failures - 1, 64))
