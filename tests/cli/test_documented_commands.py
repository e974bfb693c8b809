"""Every command line that the documentation shows, run in the order of its page, says what the page says.

Of the page's output any id, time and duration may be another, and `…` stands for anything. An id of the page means
the real one in its place from then on.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from tests.end_to_end.daemon import PATH, Daemon

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
PAGES = ("README.md", "docs/cli.md", "docs/operations.md")
PROMPT = re.compile(r"\$ (?:\.venv/bin/)?greenroom (?P<words>.*)")
BLOCK = re.compile(r"^```console\n(?P<lines>.*?)^```", re.MULTILINE | re.DOTALL)
NOT_RUN = ("serve",)
"""What has no end of its own; the daemon of the test is started by the same words."""
ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
TOKENS = re.compile(
    rf"(?P<id>{ID})|(?P<cut>[0-9a-f]{{8}}-[0-9a-f]{{4}}-…)|(?P<any>…)"
    r"|(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d)|(?P<seconds>\d+\.\d s)"
)


@attrs.frozen
class Shown:
    """One command of a page with the output it shows."""

    words: str
    output: str


def shown_commands(text: str) -> list[Shown]:
    commands = []
    for block in BLOCK.finditer(text):
        command, lines = None, []
        for line in (*block["lines"].splitlines(), "$ end"):
            if not line.startswith("$ "):
                lines.append(line)
                continue
            if command is not None:
                commands.append(Shown(command, "\n".join(lines)))
            found, lines = PROMPT.fullmatch(line), []
            command = found["words"] if found else None
    return [one for one in commands if one.words.split()[0] not in NOT_RUN]


def pattern_of(output: str) -> tuple[str, list[str]]:
    """A pattern of the output, and the page's ids in the order of its groups."""
    pattern, ids, end = "", [], 0
    for token in TOKENS.finditer(output):
        pattern += re.escape(output[end : token.start()])
        end = token.end()
        match token.lastgroup:
            case "id" if token[0] in ids:
                pattern += rf"(?P=id{ids.index(token[0])})"
            case "id":
                pattern += rf"(?P<id{len(ids)}>{ID})"
                ids.append(token[0])
            case "time":
                pattern += r"\d{4}-\d\d-\d\d \d\d:\d\d"
            case "seconds":
                pattern += r"\d+\.\d s"
            case _:
                pattern += ".*"
    return pattern + re.escape(output[end:]), ids


@attrs.define(eq=False)
class Reader:
    """Somebody who types what a page shows."""

    folder: Path
    known: dict[str, str] = attrs.field(factory=dict)
    """The real ids by those of the page."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def follows(self, shown: Shown) -> None:
        words = re.sub(r"\b[0-9a-f]{8}-[0-9a-f-]{4,}", self._real, shown.words)
        done = subprocess.run(
            ["bash", "-c", f"greenroom {words}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.home,
            timeout=SECONDS,
            env={
                "HOME": str(self.home),
                "PATH": f"{self.home / 'bin'}:{PATH}",
                "LANG": "C.UTF-8",
                "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "client"))),
            },
        )
        pattern, ids = pattern_of(shown.output)
        found = re.fullmatch(pattern, done.stdout.rstrip("\n"), re.DOTALL)
        assert found, f"$ greenroom {words}\n{done.stdout}\nis not what the page shows:\n{shown.output}"
        self.known |= {
            name: found[f"id{number}"] for number, name in enumerate(ids) if name not in self.known
        }
        assert [self.known[name] for name in ids] == [found[f"id{number}"] for number in range(len(ids))]

    def _real(self, typed: re.Match[str]) -> str:
        """The same beginning of the real id."""
        real = next(real for name, real in self.known.items() if name.startswith(typed[0]))
        return real[: len(typed[0])]


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    commands = reader.home / "bin"
    commands.mkdir(parents=True)
    shared = reader.home / ".local" / "share"
    shared.mkdir(parents=True)
    (shared / "greenroom").symlink_to(tmp_path / "data")  # the user's own data directory is the daemon's
    greenroom = commands / "greenroom"
    greenroom.write_text(f'#!/bin/sh\nexec {sys.executable} -m runtime.cli "$@"\n')
    greenroom.chmod(0o755)
    return reader


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_the_documentation_say_what_it_says(page, reader):
    commands = shown_commands((ROOT / page).read_text())
    if not commands:
        return
    daemon = Daemon(reader.folder)
    daemon.start()
    try:
        for shown in commands:
            reader.follows(shown)
        assert daemon.stop() == 0
    finally:
        daemon.end()


def test_the_page_of_the_command_line_shows_most_commands():
    names = {shown.words.split()[0] for shown in shown_commands((ROOT / "docs/cli.md").read_text())}
    assert names >= {
        "run",
        "send",
        "respond",
        "tail",
        "cancel",
        "sessions",
        "rename",
        "pin",
        "search",
        "show",
    }
    assert names >= {"set", "delete", "undelete", "unpin", "targets", "top", "completion"}


def test_the_page_for_operators_shows_what_looks_after_the_database_and_the_daemon():
    names = {shown.words.split()[0] for shown in shown_commands((ROOT / "docs/operations.md").read_text())}
    assert names >= {"backup", "check", "restore", "doctor", "top"}
