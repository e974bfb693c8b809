"""The record of one instance's processes, made before they are used and read by the next start.

Owns the file format: JSON lines, first the daemon, then spawners, reapers and providers, each a pid with
its start time and boot id. The file needs no fsync: what ends the host ends the processes too. It must
not look at processes; `sweep.py` does.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal, Protocol

import attrs

from supervisor.process_guard.process_table import ProcessIdentity

SUFFIX = ".jsonl"
FRESH_SUFFIX = ".new"
SPARE_LINES_MAX = 1024
"""The file is rewritten when this many more lines than living entries are in it."""

Role = Literal["daemon", "spawner", "reaper", "provider"]
ROLES: tuple[Role, ...] = ("daemon", "spawner", "reaper", "provider")


class RecordFile(Protocol):
    """Where lines are kept. Every method may raise OSError."""

    def append(self, text: str) -> None: ...
    def rewrite(self, text: str) -> None:
        """Replace everything at once."""

    def remove(self) -> None: ...


class DiskRecordFile:
    """`RecordFile` on disk, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, text: str) -> None:
        self._write(self._path, text, os.O_APPEND)

    def rewrite(self, text: str) -> None:
        fresh = self._path.with_suffix(FRESH_SUFFIX)
        self._write(fresh, text, os.O_TRUNC)
        fresh.replace(self._path)

    def remove(self) -> None:
        for path in (self._path, self._path.with_suffix(FRESH_SUFFIX)):
            path.unlink(missing_ok=True)

    @staticmethod
    def _write(path: Path, text: str, mode: int) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | mode, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())


class InstanceJournal:
    """Writes the record of the present instance."""

    def __init__(self, file: RecordFile, boot_id: str) -> None:
        self._file = file
        self._boot_id = boot_id
        self._living: dict[tuple[Role, int], str] = {}
        self._lines = 0
        self._torn = False

    def record(self, role: Role, identity: ProcessIdentity, *, launch: int = 0, label: str = "") -> None:
        """Note one process. It must not be put to use when this raises OSError (a full disk)."""
        entry = {
            f"{role}Pid": identity.pid,
            "startTime": identity.start_time_ticks,
            "bootId": self._boot_id,
            "launch": launch,
            "label": label,
        }
        line = json.dumps(entry) + "\n"
        if self._torn or self._lines > len(self._living) + SPARE_LINES_MAX:
            self._rewrite()
        self._torn = True  # until the line is whole: the next one must not be appended to half of it
        self._file.append(line)
        self._torn = False
        self._lines += 1
        self._living[role, launch] = line

    def forget(self, launch: int) -> None:
        """The processes of one launch have ended; their lines go with the next rewrite."""
        self._living.pop(("reaper", launch), None)
        self._living.pop(("provider", launch), None)

    def remove(self) -> None:
        """Everything has ended: the next start has nothing to do."""
        self._file.remove()

    def _rewrite(self) -> None:
        self._file.rewrite("".join(self._living.values()))
        self._lines, self._torn = len(self._living), False


@attrs.frozen
class Recorded:
    """One line read back."""

    role: Role
    identity: ProcessIdentity
    boot_id: str


def read_records(path: Path) -> list[Recorded]:
    """What can be read of a dead instance's file.

    A torn line is passed over: a reaper gets its order only once its line is whole, so that one without a
    whole line had no provider.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    return [record for line in text.splitlines() if (record := _parse_line(line)) is not None]


def _parse_line(line: str) -> Recorded | None:
    try:
        entry = json.loads(line)
        role = next(role for role in ROLES if f"{role}Pid" in entry)
        identity = ProcessIdentity(int(entry[f"{role}Pid"]), int(entry["startTime"]))
        return Recorded(role, identity, str(entry["bootId"]))
    except (ValueError, TypeError, KeyError, StopIteration):
        return None
