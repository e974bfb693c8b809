"""The daemon of the end-to-end tests, shared, for the examples."""

from tests.end_to_end.fixtures import daemon, make_daemon, workspace

__all__ = ["daemon", "make_daemon", "workspace"]
