"""The seams of the runtime: everything it may not take from the outside by itself.

Each is a small Protocol with a production and a simulated implementation (`docs/testing.md` lists them all). The
process seam is `supervisor.process_guard.port`, the disk seams are `store.port` and `store.connection`, and the
listener seam is `runtime.api.listener`. Waiting knows one clock only: trio's.
"""

from typing import Protocol


class WallClock(Protocol):
    """The time of day, for what is stored and shown; never for waiting."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch; may jump."""


class IdentifierSource(Protocol):
    """Ids the server makes (`contract §3`)."""

    def new_id(self) -> str:
        """A fresh UUIDv7 in its canonical form."""


class Randomness(Protocol):
    """Unpredictable bytes, for secrets; and a number for jitter."""

    def token(self) -> str:
        """A fresh base64url secret of at least 256 bits."""

    def fraction(self) -> float:
        """A number in [0, 1)."""
