"""Shares one daemon with the real agent behind it, its model, and clients of it with the tests of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import client, connect, make_daemon, running, workspace
from tests.providers_real.codex_acp import codex_target

__all__ = ["client", "connect", "make_daemon", "workspace"]


@pytest.fixture(scope="session")
def program() -> str:
    """The agent's program. Without it the tests are red: a check that skips the agent checks nothing."""
    path = os.environ.get("GREENROOM_REAL_AGENT", "")
    if not os.access(path, os.X_OK):
        pytest.fail(
            f"GREENROOM_REAL_AGENT names no program: {path!r}. Try `make test-providers`.", pytrace=False
        )
    return path


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    """The model of all agents."""
    with ModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def counted_alone(model: ModelServer) -> None:
    """Each test counts its own requests; the model is the nearest one, of the agent under test."""
    model.forget()


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the frames of the recorded target are."""
    return tmp_path_factory.mktemp("recording") / "frames.jsonl"


@pytest.fixture(scope="session")
def daemon(
    program: str, model: ModelServer, recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Daemon]:
    """The shared one."""
    folder = tmp_path_factory.mktemp("real")
    targets = [
        codex_target(program, folder / "codex", model),
        codex_target(program, folder / "codex", model, record_in=recording),
    ]
    yield from running(Daemon(folder, {"targets": targets}))
