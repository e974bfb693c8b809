"""The host's process table: who is there, who is whose child, who carries a mark, and an exact kill.

Owns everything that reads /proc or signals by pidfd (Linux 5.3 or newer). An identity is a pid with its
start time, within one boot; a pid alone is never signalled. It must not decide who ought to die. Standard
library only: spawner and reapers use it too.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol


class ProcessIdentity(NamedTuple):
    pid: int
    start_time_ticks: int
    """Field 22 of /proc/pid/stat: clock ticks since boot."""


class ProcessRow(NamedTuple):
    """One line of the process table."""

    pid: int
    start_time_ticks: int
    parent_pid: int
    session_id: int
    state: str

    @property
    def identity(self) -> ProcessIdentity:
        return ProcessIdentity(self.pid, self.start_time_ticks)

    @property
    def living(self) -> bool:
        """A zombie has ended: it only waits to be counted."""
        return self.state not in "ZX"


def read_row(pid: int) -> ProcessRow | None:
    """What the table says of one process, None when there is none."""
    try:
        # plain descriptors: a third of the time of a file object, for every process of the host
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # the name may hold spaces and brackets, so fields count from its last bracket
        fields = os.read(descriptor, 4096).rpartition(b")")[2].split()
    except ProcessLookupError:
        return None
    finally:
        os.close(descriptor)
    return ProcessRow(pid, int(fields[19]), int(fields[1]), int(fields[3]), fields[0].decode())


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 -- names are enough


def read_rows() -> dict[int, ProcessRow]:
    """Every process there is, by pid."""
    rows = (read_row(pid) for pid in _pids())
    return {row.pid: row for row in rows if row is not None}


def descendants(rows: Mapping[int, ProcessRow], roots: Iterable[int]) -> list[ProcessRow]:
    """All processes below `roots`, zombies too (their children may live)."""
    children: dict[int, list[ProcessRow]] = {}
    for row in rows.values():
        children.setdefault(row.parent_pid, []).append(row)
    found, waiting = [], list(roots)
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += [row.pid for row in below]
    return found


def kill_exact(identity: ProcessIdentity) -> None:
    """KILL through a pidfd after comparing the start time: never hits a pid that was used again.

    Raises:
        PermissionError: it is there but not ours to signal.
    """
    try:
        descriptor = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return
    try:
        row = read_row(identity.pid)
        if row is not None and row.identity == identity:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        return  # ended between the look and the signal
    finally:
        os.close(descriptor)


def kill_all(victims: Iterable[ProcessRow]) -> None:
    """`kill_exact` for each. One that changed its user is passed over: a later look shows it remaining."""
    for row in victims:
        try:
            kill_exact(row.identity)
        except PermissionError:
            continue


class ProcessTable(Protocol):
    """The table as the daemon's side sees it; the simulator has one of its own."""

    def boot_id(self) -> str:
        """Changes with each start of the host: an identity of another boot speaks of nobody."""

    def own_pid(self) -> int: ...

    def rows(self) -> dict[int, ProcessRow]: ...

    def carriers(self, mark: Mapping[str, str]) -> set[int]:
        """Pids of all processes that were started with every variable of `mark` in their environment."""

    def kill_all(self, victims: Iterable[ProcessRow]) -> None: ...


class LinuxProcessTable:
    """`ProcessTable` of this host."""

    def boot_id(self) -> str:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def own_pid(self) -> int:
        return os.getpid()

    def rows(self) -> dict[int, ProcessRow]:
        return read_rows()

    def carriers(self, mark: Mapping[str, str]) -> set[int]:
        wanted = {os.fsencode(f"{name}={value}") for name, value in mark.items()}
        found = set()
        for pid in _pids():
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue  # ended, or another user's: not provably ours
            if wanted <= set(environment.split(b"\0")):
                found.add(pid)
        return found

    def kill_all(self, victims: Iterable[ProcessRow]) -> None:
        kill_all(victims)
