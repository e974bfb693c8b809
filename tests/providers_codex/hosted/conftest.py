"""Shares one daemon with scripted app-servers behind it with the tests of this folder."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, connect, make_daemon, running, workspace
from tests.providers_codex.hosted.side_stage import SIDES, SideStage
from tests.providers_codex.hosted.stage import SECRET, Stage

__all__ = ["connect", "make_daemon", "workspace"]

LIMITS = {"cancelGraceSeconds": 1, "connectionDrainSeconds": 20}


@pytest.fixture(scope="session")
def codex_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the shared daemon's app-servers."""
    return tmp_path_factory.mktemp("codex-home")


@pytest.fixture(scope="session")
def daemon(codex_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The shared one."""
    targets = [
        scripted_target(codex_home, SCRIPTED_WORDS=SECRET),
        scripted_target(codex_home, "impatient", SCRIPTED_UNLOAD_SECONDS="0.1"),
        scripted_target(
            codex_home, "defaulting", SCRIPTED_CONFIG_WARNING="Invalid configuration; using defaults."
        ),
        scripted_target(
            codex_home, "warned", SCRIPTED_CONFIG_WARNING="unrecognized configuration key: colour"
        ),
    ]
    yield from running(Daemon(tmp_path_factory.mktemp("hosted"), {"targets": targets, "limits": LIMITS}))


@pytest.fixture
async def stage(connect: Connect, workspace: str, codex_home: Path) -> AsyncIterator[Stage]:
    """A client that follows the test's workspace, and the home of what it talks to."""
    async with connect() as client:
        await client.subscribe(workspace)
        yield Stage(client, workspace, codex_home)


@pytest.fixture
def client(stage: Stage) -> Client:
    """The client of the stage."""
    return stage.client


@pytest.fixture
async def sides(stage: Stage) -> SideStage:
    """The same, and it follows the Sides of the workspace."""
    await stage.client.request(
        "events/subscribe", workspaceId=stage.workspace, topics=[SIDES], agentSessionIds=None
    )
    return SideStage(stage)
