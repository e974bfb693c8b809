"""How long a start takes after an unclean end: 1,000 sessions and a write-ahead log of 100 MB, until clients may connect.

The start renews the log, walks it, checks the whole file and settles what was left open (R11: within 2 s). Run it with
`make bench-startup`; --sessions and --megabytes change the size, --unsettled how many sessions were in a turn.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runtime.api.commit_events import CommitEvents
from runtime.system_ports import SystemClock, SystemIdentifiers
from store.canonical.change import SessionState, Unit
from store.canonical.identifiers import MessageId, SessionId, SessionKey, TargetId, TurnId, WorkspaceId
from store.canonical.message import Message, TextBlock
from store.canonical.session import Session, SessionCounters
from store.canonical.turn import Turn
from store.files import LocalFiles
from store.group import UnitJob
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store

WORKSPACE = WorkspaceId("bench")
TEXT_BYTES = 8_000
GROUP = 50


def main() -> None:
    """Print the seconds from the command to the ready line, of several starts of the same folder."""
    parser = argparse.ArgumentParser(prog="make bench-startup", description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--unsettled", type=int, default=100, help="sessions that were in a turn")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the write-ahead log")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="greenroom-startup-") as name:
        folder = Path(name)
        log_bytes = _leave_behind(folder, options.sessions, options.unsettled, options.megabytes * 1_000_000)
        seconds = [_ready_after(folder, number) for number in range(options.rounds)]
        empty = [_ready_after(folder, number, with_store=False) for number in range(options.rounds)]
    figures = {
        "sessions": options.sessions,
        "unsettled": options.unsettled,
        "walBytes": log_bytes,
        "readySeconds": [round(one, 3) for one in seconds],
        "readySecondsOfAnEmptyFolder": [round(one, 3) for one in empty],
        "load": round(os.getloadavg()[0], 1),
    }
    if options.json:
        print(json.dumps(figures))
        return
    print(
        f"ready after {min(seconds):.2f} s (best of {len(seconds)}; {max(seconds):.2f} at most) with {options.sessions} sessions, "
        f"{options.unsettled} in a turn, and {log_bytes / 1e6:.0f} MB of log; an empty folder {min(empty):.2f} s; load {figures['load']}"
    )


def _leave_behind(folder: Path, sessions: int, unsettled: int, log_bytes: int) -> int:
    """What a killed daemon leaves: nothing was moved out of the log."""
    live = folder / "live"
    live.mkdir()
    clock = SystemClock()
    store = open_store(
        LocalFiles(live / DATABASE_FILE_NAME, 0),
        StoreOptions(clock.now_ms, SystemIdentifiers().new_id, CommitEvents(8 * 1024 * 1024).encode),
    )
    log = live / f"{DATABASE_FILE_NAME}-wal"
    version = 0
    while version < 1 or log.stat().st_size < log_bytes:
        version += 1
        for start in range(0, sessions, GROUP):
            names = range(start, min(start + GROUP, sessions))
            _write(store, [_unit(number, version, number < unsettled) for number in names])
            if log.stat().st_size >= log_bytes and version > 1:
                break
    shutil.copytree(live, folder / "left")
    store.close()
    return (folder / "left" / log.name).stat().st_size


def _write(store: Store, units: list[Unit]) -> None:
    result = store.committer.commit([UnitJob(unit, lambda _: None) for unit in units])
    assert result.failure is None


def _unit(number: int, version: int, in_turn: bool) -> Unit:
    session_id, turn_id, now = SessionId(f"s{number}"), TurnId("t1"), 1_000_000
    session = Session(
        WORKSPACE,
        session_id,
        agent_target_id=TargetId("demo"),
        provider="acp",
        cwd="/",
        created_at=now,
        updated_at=now,
        message_version=version,
        active_turn_id=turn_id if in_turn else None,
    )
    turn = Turn(WORKSPACE, session_id, turn_id, 1, submitted_at=now, phase="running", delivery="accepted")
    message = Message(
        workspace_id=WORKSPACE,
        agent_session_id=session_id,
        message_id=MessageId(f"m{version}"),
        sequence=version,
        version=version,
        role="assistant",
        kind="text",
        created_at=now,
        content=(TextBlock(f"{number} {version} ".ljust(12) * (TEXT_BYTES // 12)),),
    )
    rows = (session, turn, message) if in_turn else (session, message)
    state = SessionState(version, now, SessionCounters(int(in_turn), version))
    return Unit(SessionKey(WORKSPACE, session_id), session_id, rows, state)


def _ready_after(folder: Path, number: int, *, with_store: bool = True) -> float:
    """Seconds from the command to its ready line, on a copy of what was left."""
    data_dir = folder / f"run-{number}-{with_store}"
    if with_store:
        shutil.copytree(folder / "left", data_dir)
    else:
        data_dir.mkdir()
    command = [
        sys.executable,
        "-m",
        "runtime.cli",
        "serve",
        "--data-dir",
        str(data_dir),
        "--listen",
        "127.0.0.1:0",
    ]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as daemon:
        assert daemon.stdout is not None
        line = daemon.stdout.readline()
        seconds = time.perf_counter() - began
        daemon.terminate()
        daemon.wait(30)
    if not line.startswith(b'{"event":"ready"'):
        raise SystemExit(f"the daemon did not start: {line!r}")
    shutil.rmtree(data_dir)
    return seconds


if __name__ == "__main__":
    main()
