"""The check against a real agent is red when the agent cannot be installed."""

import sys
from pathlib import Path

import pytest

from tools import real_agent


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for name in (".npmrc", "package.json", "package-lock.json"):
        (folder / name).write_text("{}")
    return folder


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    return tmp_path / "installed"


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a stand-in for npm on PATH that runs the given Python lines, and counts its runs."""
    commands = tmp_path / "commands"
    commands.mkdir()
    runs = tmp_path / "npm-runs"

    def stand_in(lines: str) -> Path:
        program = commands / "npm"
        program.write_text(
            f"#!{sys.executable}\nimport pathlib, sys\n"
            f"with open({str(runs)!r}, 'a') as log:\n    log.write(' '.join(sys.argv[1:]) + '\\n')\n{lines}\n"
        )
        program.chmod(0o755)
        return runs

    monkeypatch.setenv("PATH", str(commands))
    return stand_in


def test_it_is_red_without_npm(source: Path, installed: Path, npm):
    with pytest.raises(real_agent.AgentNotInstalled, match="npm is not on PATH"):
        real_agent.install(source, installed)


def test_it_is_red_when_npm_fails(source: Path, installed: Path, npm):
    npm("print('no such version'); sys.exit(3)")
    with pytest.raises(real_agent.AgentNotInstalled, match=r"ended with 3(?s:.)*no such version"):
        real_agent.install(source, installed)


def test_it_is_red_when_a_program_did_not_come(source: Path, installed: Path, npm):
    npm("")
    with pytest.raises(real_agent.AgentNotInstalled, match=r"codex-acp is missing"):
        real_agent.install(source, installed)
    program = real_agent.program_below(installed)
    program.parent.mkdir(parents=True)
    program.touch()
    for find, missing in (
        (real_agent.codex_below, r"bin/codex is"),
        (real_agent.claude_below, r"/claude is"),
    ):
        with pytest.raises(real_agent.AgentNotInstalled, match=f"{missing} missing"):
            real_agent.install(source, installed)
        find(installed).parent.mkdir(parents=True)
        find(installed).touch()


def test_the_command_ends_with_1_and_says_why(
    source: Path, installed: Path, npm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    install = real_agent.install
    monkeypatch.setattr(real_agent, "install", lambda: install(source, installed))
    assert real_agent.main([]) == 1
    assert "npm is not on PATH" in capsys.readouterr().err


def test_it_installs_by_the_lock_and_once_for_each_lock(source: Path, installed: Path, npm):
    program = real_agent.program_below(installed)
    below = (real_agent.codex_below, real_agent.claude_below)
    programs = [str(program), *(str(find(installed)) for find in below)]
    runs = npm(
        f"for path in map(pathlib.Path, {programs!r}):\n    path.parent.mkdir(parents=True)\n    path.touch()"
    )
    assert real_agent.install(source, installed) == program
    assert real_agent.install(source, installed) == program
    assert runs.read_text().splitlines() == ["ci --ignore-scripts --no-audit --no-fund"]
    (source / "package-lock.json").write_text('{"changed": true}')
    real_agent.install(source, installed)
    assert len(runs.read_text().splitlines()) == 2
