"""Shares the daemon and its clients with the tests of this folder."""

from tests.end_to_end.fixtures import client, connect, daemon, make_daemon, workspace

__all__ = ["client", "connect", "daemon", "make_daemon", "workspace"]
