"""Lets one daemon alone use a data directory (FC-32).

An advisory lock on a file inside it, which the kernel releases when its holder ends, however it ends: there is
nothing to clean up after a crash. The file keeps the holder's process id for the message of the second one.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from store.errors import DataDirectoryInUse, NetworkFileSystem

LOCK_FILE_NAME: Final = "greenroom.lock"

_MOUNTS: Final = Path("/proc/self/mountinfo")
_NETWORK_KINDS: Final = frozenset(
    (
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fuse.glusterfs",
        "fuse.sshfs",
        "lustre",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    )
)


class InstanceLock:
    """The held lock. Release it with `release`, or by leaving the `with` block."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Let another daemon in. The file stays: removing it would let two of them hold different files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def acquire_instance_lock(data_directory: Path) -> InstanceLock:
    """Take the data directory for this process, at once or not at all.

    Raises `DataDirectoryInUse`, or `NetworkFileSystem` before anything in it is touched.
    """
    kind = file_system_kind(data_directory)
    if kind in _NETWORK_KINDS:
        raise NetworkFileSystem(data_directory, kind)
    descriptor = os.open(data_directory / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = _written_pid(descriptor)
        os.close(descriptor)
        raise DataDirectoryInUse(data_directory, pid) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return InstanceLock(descriptor)


def file_system_kind(folder: Path) -> str | None:
    """The kind of file system `folder` lies on, as the kernel names it; None where that cannot be told."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return kind_of_mount(mounts, folder.resolve())


def kind_of_mount(mounts: str, folder: Path) -> str | None:
    """The file system kind of the innermost mount point above `folder`, from the text of a mountinfo file."""
    kind, depth = None, -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split(" ")[4]))
        # A later mount on the same point covers the earlier one.
        if folder.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = after.split(" ")[0], len(point.parts)
    return kind


def _unescaped(text: str) -> str:
    """The kernel writes white space and backslashes in a path as three octal digits."""
    for code in ("040", "011", "012", "134"):
        text = text.replace("\\" + code, chr(int(code, 8)))
    return text


def _written_pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode("ascii", errors="replace").strip()
    return int(text) if text.isdecimal() else None
