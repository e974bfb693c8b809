"""How hard a client tries to get its connection back: growing pauses with jitter, a bounded number of attempts."""

import random
import sys

import attrs


@attrs.frozen(kw_only=True)
class Reconnect:
    """The pauses between attempts, and when to give up."""

    first_pause_seconds: float = 0.1
    longest_pause_seconds: float = 5.0
    attempts_max: int = 30
    """In a row, some two minutes; a connection that stood for `longest_pause_seconds` starts the count anew."""

    def pause_seconds(self, attempt: int) -> float:
        """Before attempt 1, 2, ...: doubled each time, and between half and all of that, so that many clients of one
        daemon do not come back together."""
        whole = min(self.longest_pause_seconds, self.first_pause_seconds * 2.0 ** min(attempt - 1, 30))
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 -- spreads load, guards nothing


NEVER = Reconnect(attempts_max=0)
"""The first loss is the end."""
FOREVER = Reconnect(attempts_max=sys.maxsize)
"""For a service: the daemon may be away for as long as it likes."""
