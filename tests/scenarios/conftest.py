"""One daemon for each target, shared by the scenarios that leave it alone."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import client, connect, make_daemon, running, workspace
from tests.scenarios.kinds import KINDS, Kind, Words

__all__ = ["client", "connect", "make_daemon", "workspace"]

DaemonOf: TypeAlias = Callable[[Kind], Daemon]
LIMITS = {"writeBehindMs": 50, "cancelGraceSeconds": 5}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each target in turn."""
    one: Kind = request.param
    return one


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    """The model of all real agents."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def words(kind: Kind, model: ModelServer) -> Words:
    """What a prompt says to this target."""
    return kind.words(model)


@pytest.fixture(scope="session")
def daemons(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonOf]:
    """One for each target that is asked for, whatever the order of the tests."""
    made: dict[str, Daemon] = {}
    with ExitStack() as running_ones:

        def of(kind: Kind) -> Daemon:
            if kind.name not in made:
                folder: Path = tmp_path_factory.mktemp("scenarios")
                one = Daemon(folder, {"targets": kind.configure(folder, model), "limits": LIMITS})
                made[kind.name] = running_ones.enter_context(contextmanager(running)(one))
            return made[kind.name]

        yield of


@pytest.fixture
def daemon(kind: Kind, daemons: DaemonOf) -> Daemon:
    """The shared one of this target."""
    return daemons(kind)
