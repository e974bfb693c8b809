"""The service unit: what it starts runs, and it starts again exactly where starting again helps."""

import configparser
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.service.ready import EXIT_CONFIGURATION, EXIT_DATABASE, EXIT_IN_USE
from tests.end_to_end.daemon import Daemon
from tools.files import ROOT

UNIT = ROOT / "packaging" / "systemd" / "greenroom.service"


@pytest.fixture
def service() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys have capitals
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    return parser["Service"]


@pytest.fixture
def as_started_by_the_unit(tmp_path: Path, service: configparser.SectionProxy) -> Iterator[Daemon]:
    """The unit's own command line, on this interpreter; the harness's folders come after it and so win over its own."""
    program, *arguments = shlex.split(service["ExecStart"])
    assert Path(program).name == "greenroom"
    daemon = Daemon(tmp_path, command=(sys.executable, "-m", "runtime.cli", arguments[0]))
    flags = [argument for argument in arguments[1:] if argument.startswith("--")]
    assert flags == ["--config", "--data-dir"], "what the harness gives in its own words"
    yield daemon
    daemon.end()


def test_the_command_of_the_unit_starts_reloads_and_stops_cleanly(as_started_by_the_unit: Daemon) -> None:
    as_started_by_the_unit.start()
    as_started_by_the_unit.signal(signal.SIGHUP)
    assert as_started_by_the_unit.running
    assert as_started_by_the_unit.stop() == 0


def test_only_ends_that_starting_again_may_mend_are_started_again(service: configparser.SectionProxy) -> None:
    assert service["Restart"] == "on-failure"
    stays_down = {int(code) for code in service["RestartPreventExitStatus"].split()}
    assert stays_down == {EXIT_CONFIGURATION, EXIT_IN_USE, EXIT_DATABASE}


def test_the_home_of_the_service_is_not_in_its_data_folder(service: configparser.SectionProxy) -> None:
    arguments = shlex.split(service["ExecStart"])
    data = Path(arguments[arguments.index("--data-dir") + 1])
    home = Path(service["Environment"].partition("HOME=")[2])
    made = {Path("/var/lib") / folder for folder in service["StateDirectory"].split()}
    assert {data, home} <= made
    assert not home.is_relative_to(data)
