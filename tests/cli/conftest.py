"""A user of his own for each test of the command line: nothing outside the test's folder is read or written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.config import Flags
from tests.cli.streams import Typed
from tests.cli.verbs import Do, doing
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import daemon, make_daemon, workspace

__all__ = ["daemon", "make_daemon", "workspace"]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    return home


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def flags(data_dir: Path) -> Flags:
    return Flags(data_dir=str(data_dir))


@pytest.fixture
def keyboard() -> Iterator[Typed]:
    keyboard = Typed()
    yield keyboard
    keyboard.close()


@pytest.fixture
def known_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session that `greenroom run` begins is called s1."""
    monkeypatch.setattr("runtime.cli.run_command.SystemIdentifiers.new_id", lambda _: "s1")


@pytest.fixture
def do(daemon: Daemon, workspace: str, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs a command in the test's workspace of the shared daemon."""
    return doing(str(daemon.data_dir), workspace, capsys)


@pytest.fixture
def do_anywhere(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs a command that is of no workspace."""
    return doing(str(daemon.data_dir), "", capsys, workspace_free=True)


@pytest.fixture
def do_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs a command where no daemon runs."""
    return doing(str(tmp_path / "nobody"), "default", capsys)
