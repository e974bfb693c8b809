"""The link with the token: for the person at the terminal, and in no log (contract §1)."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from tests.end_to_end.daemon import PATH, START_SECONDS, STOP_SECONDS, Daemon

SERVE = (sys.executable, "-m", "runtime.cli", "serve", "--listen", "127.0.0.1:0")


def on_a_terminal(folder: Path, *options: str) -> tuple[dict, str]:
    """Runs the daemon with its stderr on a terminal until it is ready: its ready line, and what the terminal showed."""
    home = folder / "home"
    home.mkdir()
    person, terminal = pty.openpty()
    command = [*SERVE, "--data-dir", str(folder / "data"), *options]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={"HOME": str(home), "PATH": PATH},
    )
    os.close(terminal)
    try:
        assert process.stdout is not None
        ready = orjson.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        shown = read_to_end(person)
        assert process.wait(STOP_SECONDS) == 0
        assert process.stdout.read() == b"", "one line on stdout"
        return ready, shown
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(person)


def read_to_end(person: int) -> str:
    """What was shown until the last holder of the terminal closed it."""
    seen = b""
    deadline = time.monotonic() + START_SECONDS
    while select.select([person], [], [], max(0.0, deadline - time.monotonic()))[0]:
        try:
            piece = os.read(person, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    return seen.decode()


def test_on_a_terminal_one_line_links_to_the_console_with_the_token_in_its_fragment(tmp_path):
    ready, shown = on_a_terminal(tmp_path)
    token = Path(ready["tokenFile"]).read_text().strip()
    lines = [line.strip() for line in shown.splitlines() if token in line]
    assert lines == [f"Open the console: {ready['console']}#token={token}"]


def test_without_a_console_the_terminal_shows_no_token(tmp_path):
    ready, shown = on_a_terminal(tmp_path, "--no-console")
    assert ready["console"] is None
    assert Path(ready["tokenFile"]).read_text().strip() not in shown
    assert "console:" not in shown


@pytest.mark.case("FC-36")
def test_where_stderr_is_no_terminal_the_token_is_nowhere(tmp_path):
    daemon = Daemon(tmp_path)
    try:
        daemon.start()
        token = daemon.token
        assert daemon.ready["console"] is not None
        assert token not in str(daemon.ready)
        assert daemon.stop() == 0
        assert token not in daemon.log_file.read_text()
    finally:
        daemon.end()
