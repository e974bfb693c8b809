"""What can go wrong between a program and the daemon. All of it is a `ClientError`.

`GreenroomError` is an expected no of the daemon; the others are about the way to it.
"""

from collections.abc import Mapping
from typing import Any

DELIVERY_UNKNOWN = "unknown"


class ClientError(Exception):
    """Raised for whatever this package raises by itself."""


class DaemonUnreachable(ClientError):
    """Raised when nobody listens at the address: the daemon is not, or not yet, there."""


class AccessRefused(ClientError):
    """Raised when whoever listens does not let us in, or is no daemon; another attempt will not help."""


class ConnectionLost(ClientError):
    """Raised when the connection ended in the middle, or could not be had again.

    What was acknowledged stays. A command in flight may have taken effect or not: repeat it with the same
    `client_submit_id` (`repeat_until_answered`) and it takes effect once (`contract §4`).
    """

    delivery = DELIVERY_UNKNOWN

    def __init__(self, why: str, close_code: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.close_code = close_code
        """The close code of the daemon (`contract §2`); None when there was none."""

    def again(self) -> "ConnectionLost":
        """The same, to be raised in another task."""
        return ConnectionLost(self.why, self.close_code)


class GreenroomError(ClientError):
    """Raised for an error reply: an expected no, with a code of `contract §7`."""

    def __init__(self, method: str, message: str, data: Mapping[str, Any]) -> None:
        self.method = method
        self.message = message
        """One sentence in the daemon's words; it names no path, token or text of an agent."""
        self.code = str(data.get("code", "internal"))
        """One of `greenroom_client.contract.error_codes`, or one that came later."""
        self.retryable = bool(data.get("retryable"))
        """Whether the same request with the same ids may succeed later."""
        self.delivery = str(data.get("delivery", DELIVERY_UNKNOWN))
        """How far the command came; `not_dispatched` left nothing and freed its id."""
        milliseconds = data.get("retryAfterMs")
        self.retry_after_seconds = milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None
        """Not before so many seconds; None when the daemon does not say."""
        details = data.get("details")
        self.details: Mapping[str, Any] = details if isinstance(details, Mapping) else {}
        """What belongs to this code, such as `path` and `problem` of `request.invalid`."""
        super().__init__(f"{method}: {message} ({self.code})")


def fresh(error: ClientError) -> ClientError:
    """An error that was kept, to be raised once more: a lost connection is news to many tasks."""
    return error.again() if isinstance(error, ConnectionLost) else error
