"""Two daemons with scripted app-servers behind them: one with room, one whose bounds of Sides are at their least."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, make_daemon, running, workspace
from tests.providers_codex.hosted.side_stage import SIDES, SideStage
from tests.providers_codex.hosted.stage import Stage

__all__ = ["make_daemon", "workspace"]

TIGHT = {"maxSides": 2, "maxSideTurns": 1, "maxSideTombstones": 1, "sideOpenTimeoutSeconds": 3}


@pytest.fixture(scope="package")
def codex_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the app-servers of both."""
    return tmp_path_factory.mktemp("sides-home")


@pytest.fixture(scope="package")
def daemon(codex_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The one with room."""
    settings = {"targets": [scripted_target(codex_home)], "limits": {"cancelGraceSeconds": 1}}
    yield from running(Daemon(tmp_path_factory.mktemp("sides"), settings))


@pytest.fixture(scope="package")
def tight_daemon(codex_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The one whose bounds are reached at once."""
    settings = {"targets": [scripted_target(codex_home)], "limits": {"cancelGraceSeconds": 1, **TIGHT}}
    yield from running(Daemon(tmp_path_factory.mktemp("tight-sides"), settings))


@pytest.fixture
def connect(daemon: Daemon) -> Connect:
    """Connects further clients."""
    return partial(connected, daemon)


@pytest.fixture
async def sides(connect: Connect, workspace: str, codex_home: Path) -> AsyncIterator[SideStage]:
    """A client that follows the sessions and the Sides of the test's workspace."""
    async with connect() as client:
        yield await staged(client, workspace, codex_home)


@pytest.fixture
async def tight(tight_daemon: Daemon, workspace: str, codex_home: Path) -> AsyncIterator[SideStage]:
    """The same of the daemon without room; no Side is left in it."""
    async with connected(tight_daemon) as client:
        stage = await staged(client, workspace, codex_home)
        yield stage
        await stage.request("surface/dispose", surfaceId="pane")


async def staged(client: Client, workspace: str, codex_home: Path) -> SideStage:
    await client.subscribe(workspace)
    await client.request("events/subscribe", workspaceId=workspace, topics=[SIDES], agentSessionIds=None)
    return SideStage(Stage(client, workspace, codex_home))
