"""The process table of this host: identities, marks, and a kill that hits nobody else."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest

from supervisor.process_guard.process_table import (
    LinuxProcessTable,
    ProcessIdentity,
    descendants,
    kill_exact,
    read_row,
    read_rows,
)

MARK = uuid.uuid4().hex


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"], env={"MARK": MARK, "OTHER": "x"}) as child:
        yield child
        child.kill()


@pytest.mark.case("FC-03")
def test_a_pid_with_another_start_time_is_not_signalled(child: "subprocess.Popen[bytes]") -> None:
    row = read_row(child.pid)
    assert row is not None
    kill_exact(ProcessIdentity(child.pid, row.start_time_ticks + 1))
    child.terminate()  # a KILL sent before would win over it
    assert child.wait(5) == -signal.SIGTERM


def test_the_recorded_process_is_killed_and_a_second_kill_is_harmless(
    child: "subprocess.Popen[bytes]",
) -> None:
    row = read_row(child.pid)
    assert row is not None
    kill_exact(row.identity)
    assert child.wait(5) == -signal.SIGKILL
    kill_exact(row.identity)
    assert read_row(child.pid) is None


def test_a_process_is_found_below_its_parent_with_its_state(child: "subprocess.Popen[bytes]") -> None:
    rows = read_rows()
    assert child.pid in {row.pid for row in descendants(rows, [os.getpid()])}
    assert rows[child.pid].living
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    zombie = read_row(child.pid)
    assert zombie is not None
    assert not zombie.living


def test_a_mark_is_found_only_whole(child: "subprocess.Popen[bytes]") -> None:
    table = LinuxProcessTable()
    assert table.carriers({"MARK": MARK}) == {child.pid}
    assert table.carriers({"MARK": MARK, "OTHER": "x"}) == {child.pid}
    assert table.carriers({"MARK": MARK, "OTHER": "y"}) == set()
    assert table.carriers({"MARK": MARK[:-1]}) == set()


def test_a_name_with_brackets_and_spaces_does_not_shift_the_fields() -> None:
    rename = "open('/proc/self/comm', 'w').write('a) R 1 (b'); print(flush=True); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", rename], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read(1)
        row = read_row(child.pid)
        child.kill()
    assert row is not None
    assert row.parent_pid == os.getpid()
