"""Shares one daemon with a real app-server behind it with the tests of this folder."""

import os
from collections.abc import Iterator

import pytest

from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import running
from tests.providers_real.app_server.codex_server import codex_server
from tools.real_agent import INSTALLED, codex_below


@pytest.fixture(scope="session")
def codex() -> str:
    """Codex's own binary: its processes are found by this path, so the node script that wraps it will not do.

    Without it the tests are red: a check that skips it checks nothing.
    """
    path = os.environ.get("GREENROOM_REAL_CODEX", str(codex_below(INSTALLED)))
    if not os.access(path, os.X_OK):
        pytest.fail(f"there is no Codex at {path!r}. Try `make test-providers`.", pytrace=False)
    return path


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    """A model of its own: the other agent's tests ask for the same words, and each counts its requests."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def daemon(codex: str, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The shared one."""
    folder = tmp_path_factory.mktemp("app-server")
    yield from running(Daemon(folder, {"targets": [codex_server(codex, folder / "codex", model)]}))
