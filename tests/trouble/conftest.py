"""The daemon that the tests of misbehaving agents share, and clients of it."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import client, connect, make_daemon, workspace
from tests.trouble.agents import FOREIGN_ENVIRONMENT, troubled_settings

__all__ = ["client", "connect", "make_daemon", "workspace"]


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon and every agent that was ever seen to misbehave. Whatever these do, it logs no error."""
    folder = tmp_path_factory.mktemp("trouble")
    shared = Daemon(folder, troubled_settings(folder), environment=FOREIGN_ENVIRONMENT)
    shared.start()
    try:
        yield shared
        if shared.running:
            assert shared.stop() == 0, shared.log_tail()
        errors = [line for line in shared.log_lines() if line.get("level") in ("error", "critical")]
        assert not errors, errors
    finally:
        shared.end()
