"""How often something may crash before it is given up: a sliding window, as pure arithmetic.

Owns no clock and no state. The caller keeps the tuple of recent restarts and passes the present time in.
"""

import attrs
from attrs import validators


@attrs.frozen
class RestartIntensity:
    """At most `restarts_max` restarts in any `window_seconds` (architecture rule 9: 3 in 60 s)."""

    restarts_max: int = attrs.field(default=3, validator=validators.ge(0))
    window_seconds: float = attrs.field(default=60.0, validator=validators.gt(0))

    def admit(self, recent: tuple[float, ...], now_seconds: float) -> tuple[float, ...] | None:
        """The restarts to remember when one more happens now, or None when that one would be too many.

        A restart counts for `window_seconds`, the last instant excluded. `recent` is what the previous call
        returned, at first `()`; it never holds more than `restarts_max` times.
        """
        counted = tuple(at for at in recent if now_seconds - at < self.window_seconds)
        return None if len(counted) >= self.restarts_max else (*counted, now_seconds)
