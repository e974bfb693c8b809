"""A daemon whose surroundings are odd: closed or full streams, a folder that is gone, a name that is taken."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.service.ready import ReadyLine, StartRefused, announce, withdraw
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import COMMAND, START_SECONDS, Daemon, poll_until
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start

LINE = ReadyLine(1, "ws://127.0.0.1:1/v1/ws", None, "/t", "/d")


def through_shell(words: str) -> tuple[str, ...]:
    """`serve` with these redirections; its arguments come behind."""
    return ("/bin/sh", "-c", f'exec "$0" "$@" {words}', *COMMAND)


async def serves(daemon: Daemon) -> None:
    """It is found by its announcement, a prompt works, and SIGTERM ends it cleanly."""
    announced = daemon.data_dir / "daemon.json"
    assert poll_until(announced.exists, START_SECONDS), daemon.log_tail()
    daemon.ready = json.loads(announced.read_bytes())
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say x]]")
        assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert daemon.stop() == 0, daemon.log_tail()
    assert not announced.exists()


@pytest.mark.parametrize("words", ["<&- >&- 2>&-", ">/dev/full"], ids=["closed", "full"])
async def test_streams_that_are_closed_or_full_are_no_reason_not_to_serve(
    make_daemon: MakeDaemon, words: str
) -> None:
    daemon = make_daemon(start=False, command=through_shell(words))
    daemon._launch()
    await serves(daemon)
    assert "Traceback" not in daemon.log_tail()
    assert "crashed" not in daemon.log_tail()


async def test_a_folder_that_was_deleted_under_its_shell_is_no_reason_not_to_serve(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    script = f'mkdir {gone} && cd {gone} && rmdir {gone} && exec "$0" "$@"'
    daemon = make_daemon(start=False, command=("/bin/sh", "-c", script, *COMMAND))
    daemon._launch()
    await serves(daemon)


def test_what_could_not_be_printed_is_said_in_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        words = (sys.executable, "-m", "runtime.cli", "--version")
        buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
        ended = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, env=buffered, timeout=60, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr.decode().splitlines() == [
        "greenroom: what was to be printed could not be written: No space left on device"
    ]


def test_an_announcement_that_cannot_be_written_refuses_the_start_by_name(tmp_path: Path) -> None:
    taken = tmp_path / "daemon.json"
    taken.mkdir()
    with pytest.raises(StartRefused, match=str(taken)) as refused:
        announce(LINE, tmp_path)
    assert refused.value.exit_code == 2
    assert os.listdir(tmp_path) == ["daemon.json"]
    withdraw(tmp_path)
    assert taken.is_dir()
    taken.rmdir()
    announce(LINE, tmp_path)
    withdraw(tmp_path)
    assert os.listdir(tmp_path) == []
