"""Production implementations of the runtime's small ports: the system's clock, UUIDv7 and its random source."""

import secrets
import time

import attrs
import uuid_utils


@attrs.frozen
class SystemClock:
    """The system's time of day."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


@attrs.frozen
class SystemIdentifiers:
    """UUIDv7: sortable by the time they were made, which keeps database pages together."""

    def new_id(self) -> str:
        """A fresh id."""
        return str(uuid_utils.uuid7())


@attrs.frozen
class SystemRandomness:
    """The operating system's random source."""

    def token(self) -> str:
        """256 bits as base64url."""
        return secrets.token_urlsafe(32)

    def fraction(self) -> float:
        """A number for jitter."""
        return secrets.randbelow(1 << 53) / (1 << 53)
