"""What the tests of the process guard share: programs to launch, looks at the host, waiting for other processes."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

from supervisor.process_guard import LaunchRequest
from supervisor.process_guard.port import ByteSource
from supervisor.process_guard.process_table import kill_exact, read_row, read_rows

HERE = Path(__file__).parent
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
WAIT_SECONDS = 4.0
STUBBORN_ROLES = {"provider", "plain", "session", "double", "forgetful", "respawner", "respawned"}


def request(*argv: str, cwd: str = "/", environment: dict[str, str] | None = None) -> LaunchRequest:
    return LaunchRequest(argv, cwd, ENVIRONMENT if environment is None else environment, "test")


def python(code: str) -> LaunchRequest:
    return request(sys.executable, "-I", "-S", "-c", code)


def stubborn_argv(folder: Path) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", str(HERE / "stubborn_child.py"), str(folder))


class StubbornTree:
    """The processes that a stubborn child noted in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def pids(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for name in os.listdir(self.folder):
            role, _, pid = name.rpartition(".")
            found.setdefault(role, []).append(int(pid))
        return found

    def survivors(self) -> dict[str, list[int]]:
        living = {role: [pid for pid in pids if alive(pid)] for role, pids in self.pids().items()}
        return {role: pids for role, pids in living.items() if pids}


@contextmanager
def stubborn_tree(folder: Path) -> Iterator[StubbornTree]:
    """Whatever the test comes to, the tree does not outlive it."""
    folder.mkdir()
    tree = StubbornTree(folder)
    try:
        yield tree
    finally:
        for _ in range(20):
            for pids in tree.survivors().values():
                kill_now(*pids)


def alive(pid: int) -> bool:
    row = read_row(pid)
    return row is not None and row.living


def kill_now(*pids: int) -> None:
    for pid in pids:
        row = read_row(pid)
        if row is not None:
            kill_exact(row.identity)


def own_zombies() -> list[int]:
    return [row.pid for row in read_rows().values() if row.parent_pid == os.getpid() and not row.living]


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def eventually(condition: Callable[[], object]) -> None:
    """Poll what other processes do, for a bounded time."""
    with trio.fail_after(WAIT_SECONDS):
        while not condition():
            await trio.sleep(0.01)


async def read_all(source: ByteSource) -> bytes:
    pieces = []
    with trio.fail_after(WAIT_SECONDS):
        while piece := await source.read(65536):
            pieces.append(piece)
    return b"".join(pieces)
