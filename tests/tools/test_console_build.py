"""The console's build is compared with its sources, and its browser tests are red where there is no browser."""

import zipfile
from pathlib import Path

import pytest

from tools import console, wheel
from tools.npm_packages import PackagesNotInstalled

BUILT = {"index.html": "<!doctype html>", "console.js": "new"}


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose script is older than the sources; the tools stand still."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "index.html").write_text(BUILT["index.html"])
    (folder / "console.js").write_text("old")
    monkeypatch.setattr(console, "SHIPPED", folder)
    monkeypatch.setattr(console, "install", lambda: None)
    monkeypatch.setattr(console, "build", lambda: BUILT)
    monkeypatch.setattr(console, "_tool", lambda *_: None)
    return folder


def test_a_build_that_is_not_what_the_sources_give_is_refused(
    shipped: Path, capsys: pytest.CaptureFixture[str]
):
    (shipped / "left.js").touch()
    assert console.main(["check"]) == 1
    said = capsys.readouterr().err
    assert "runtime/api/console/console.js: stale" in said
    assert "runtime/api/console/left.js: nothing generates it" in said
    assert "make console" in said


def test_writing_the_build_makes_the_check_green(shipped: Path):
    assert console.main(["write", "check"]) == 0
    assert (shipped / "console.js").read_text() == "new"


def test_without_npm_the_steps_are_red(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def refuse() -> None:
        raise PackagesNotInstalled("npm is not on PATH")

    monkeypatch.setattr(console, "install", refuse)
    assert console.main(["check"]) == 1
    assert "npm is not on PATH" in capsys.readouterr().err


def test_without_a_browser_that_can_be_had_its_tests_are_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(console.StepFailed, match="apt-get install chromium"):
        console.browser()
    (tmp_path / "chromium").touch(mode=0o755)
    assert console.browser() == str(tmp_path / "chromium")


def test_a_wheel_without_the_console_is_refused(tmp_path: Path):
    archive = tmp_path / "greenroom.whl"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("runtime/api/console/console.js", "")
    missing = wheel.missing_console_files(archive)
    assert "runtime/api/console/index.html" in missing
    assert "runtime/api/console/console.js" not in missing
