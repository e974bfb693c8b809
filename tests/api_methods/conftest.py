"""Shares the daemons and their clients with the tests of this folder."""

from collections.abc import AsyncIterator, Iterator
from functools import partial

import pytest

from tests.api_methods.provider_targets import provider_settings
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, client, connect, daemon, make_daemon, running, workspace

__all__ = ["client", "connect", "daemon", "make_daemon", "workspace"]


@pytest.fixture(scope="session")
def provider_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One whose agents tell of themselves, or fail to."""
    folder = tmp_path_factory.mktemp("provider-daemon")
    yield from running(Daemon(folder, provider_settings(folder)))


@pytest.fixture
def ask(provider_daemon: Daemon) -> Connect:
    """Connects to it."""
    return partial(connected, provider_daemon)


@pytest.fixture
async def asking(ask: Connect) -> AsyncIterator[Client]:
    """A client of it with every right."""
    async with ask() as one:
        yield one
