"""The worked session of the protocol page needs a daemon."""

from tests.end_to_end.fixtures import make_daemon

__all__ = ["make_daemon"]
