"""Shares one daemon with a real Claude Code behind it with the tests of this folder."""

import os
from collections.abc import Iterator

import pytest

from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import running
from tests.providers_real.claude_code.real_claude import claude_target
from tools.real_agent import INSTALLED, claude_below


@pytest.fixture(scope="session")
def claude() -> str:
    """Claude Code's own binary. Without it the tests are red: a check that skips it checks nothing."""
    path = os.environ.get("GREENROOM_REAL_CLAUDE", str(claude_below(INSTALLED)))
    if not os.access(path, os.X_OK):
        pytest.fail(f"there is no Claude Code at {path!r}. Try `make test-providers`.", pytrace=False)
    return path


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    """A model of its own: the other agents' tests ask for the same words, and each counts its requests."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def daemon(claude: str, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The shared one."""
    folder = tmp_path_factory.mktemp("claude-code")
    yield from running(Daemon(folder, {"targets": [claude_target([claude], folder / "home", model)]}))
