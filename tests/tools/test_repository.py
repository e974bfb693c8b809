"""A fresh clone needs nothing but Python, pip and make, and CI is red when any of its steps is."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.files import ROOT

LOCKS = ("runtime.lock", "build.lock", "development.lock")
NPM_LOCK = ROOT / "tests" / "providers_real" / "package-lock.json"


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "requirements" / lock).read_text()
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_every_package_by_hash_and_names_no_host(lock: str):
    text = (ROOT / "requirements" / lock).read_text()
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert [block for block in blocks if "--hash=sha256:" not in block or "==" not in block] == []
    assert "://" not in text


@pytest.mark.parametrize("lock", ["runtime.lock", "build.lock"])
def test_what_runs_is_what_was_tested(lock: str):
    assert pins(lock).items() <= pins("development.lock").items()


def test_the_scheduler_that_the_simulation_relies_on_is_pinned_to_one_minor_version():
    assert re.fullmatch(r"0\.35\.\d+", pins("runtime.lock")["trio"])


def test_the_real_agent_is_pinned_by_hash_and_names_no_host():
    text = NPM_LOCK.read_text()
    packages = json.loads(text)["packages"]
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []
    assert "://" not in text


def test_make_says_what_is_missing_when_python_is_too_old(tmp_path: Path):
    shutil.copyfile(ROOT / "Makefile", tmp_path / "Makefile")
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    command = ["make", "PYTHON=false", "test"]
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert refused.returncode == 2
    assert "needs Python 3.11 or newer" in refused.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.fixture
def ci(tmp_path: Path):
    """Runs .ci/run with a stand-in for make that fails for the given target."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    program = tmp_path / "commands" / "make"
    program.parent.mkdir()

    def run(failing: str) -> subprocess.CompletedProcess[str]:
        program.write_text(f'#!/bin/sh\necho "ran $3" >> "{tmp_path}/steps"\n[ "$3" != "{failing}" ]\n')
        program.chmod(0o755)
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin"}
        return subprocess.run(
            [str(tmp_path / ".ci" / "run")],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    run.steps = lambda: (tmp_path / "steps").read_text().split("\n")[:-1]
    return run


@pytest.mark.parametrize("failing", ["test", "check", "test-providers"])
def test_ci_is_red_when_one_step_fails_and_still_runs_the_others(ci, failing: str):
    finished = ci(failing)
    assert finished.returncode == 1
    assert f"FAILED: {failing}" in finished.stdout
    assert ci.steps() == ["ran test", "ran check", "ran test-providers"]


def test_ci_is_green_when_every_step_passes(ci):
    assert ci("none").returncode == 0
