"""What the kernel says of this process: an adapter over /proc and the resource limits. Figures only."""

import os
import resource
from pathlib import Path

import attrs

_OWN = Path("/proc/self")
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@attrs.frozen
class ProcessFigures:
    """One moment; all 0 where nothing can be read."""

    resident_bytes: int = 0
    cpu_seconds: float = 0.0
    open_files: int = 0
    open_files_max: int = 0
    """The soft limit: one more than the highest descriptor there may be."""
    threads: int = 0


def read_process_figures() -> ProcessFigures:
    """The figures of the calling process, read in one step: a few reads of a file system in memory."""
    try:
        # Fields are counted from behind the program's name, which may hold anything: proc(5).
        fields = (_OWN / "stat").read_text().rpartition(")")[2].split()
        open_files = len(os.listdir(_OWN / "fd")) - 1  # noqa: PTH208 -- names alone; one is that of this listing
    except OSError:
        return ProcessFigures(open_files_max=open_files_limit()[0])
    return ProcessFigures(
        resident_bytes=int(fields[21]) * _PAGE_BYTES,
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND,
        open_files=open_files,
        open_files_max=open_files_limit()[0],
        threads=int(fields[17]),
    )


def open_files_limit(pid: int = 0) -> tuple[int, int]:
    """RLIMIT_NOFILE of a process of this user, or of this one: the soft limit, and the hard one it may be raised to.

    Either may be -1, which is no limit. Raises OSError for a process that is gone or another user's.
    """
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)


def raise_open_files_limit(wanted: int) -> int:
    """Raise the soft limit towards `wanted` as far as the hard one lets us; never lower it. The limit now in force."""
    soft, hard = open_files_limit()
    target = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    return open_files_limit()[0]
