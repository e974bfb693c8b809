"""Reads what providers keep in files, on the disk of this machine: bounded, in threads of its own, and never elsewhere.

Owns the way down to such a file. Below the provider's home every step is opened from the folder before it and no link is
followed, so that nothing which an agent puts there makes us read what it may not. Only the end of a long file is read.
"""

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import structlog
import trio

from runtime.providers.records import RecordLimits, RecordPlace

log = structlog.get_logger(__name__)

READERS_MAX: Final = 2
FOLDERS_MAX: Final = 10_000
"""In which a file is looked for."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@attrs.frozen
class RecordFiles:
    """Implements `RecordReader`."""

    _limiter: trio.CapacityLimiter = attrs.field(
        factory=lambda: trio.CapacityLimiter(READERS_MAX), init=False
    )

    async def read(
        self,
        place: RecordPlace,
        environment: Mapping[str, str],
        digest: Callable[[bytes], object],
        limits: RecordLimits,
    ) -> object | None:
        """See `RecordReader`. A thread that is too slow goes on by itself, and ends with its file."""
        home = home_of(place, environment)
        if home is None:
            return None
        with trio.move_on_after(limits.seconds):
            return await trio.to_thread.run_sync(
                partial(_digested, place, home, digest, limits.bytes_max),
                abandon_on_cancel=True,
                limiter=self._limiter,
            )
        log.warning("a provider's record was not read in time", file=place.name)
        return None


def home_of(place: RecordPlace, environment: Mapping[str, str]) -> str | None:
    """The provider's home as its process sees it."""
    for variable, below in place.homes:
        named = environment.get(variable)
        if named:
            return str(Path(named) / below)
    return None


def _digested(
    place: RecordPlace, home: str, digest: Callable[[bytes], object], bytes_max: int
) -> object | None:
    try:
        data = read_end(place, home, bytes_max)
    except OSError as fault:
        log.info("a provider's record was not read", file=place.name, fault=fault.strerror)
        return None
    return digest(data) if data is not None else None


def read_end(place: RecordPlace, home: str, bytes_max: int) -> bytes | None:
    """The whole lines at the end of that file, at most so many bytes of them; None where there is none.

    Raises:
        OSError: the home or its folder cannot be read.
    """
    with ExitStack() as opened:
        above = _opened(opened, home, _FOLDER)
        folder = _opened(opened, place.folder, _FOLDER | os.O_NOFOLLOW, above)
        newest: tuple[int, int] | None = None
        with os.scandir(folder) as entries:
            for _, entry in zip(range(FOLDERS_MAX), entries, strict=False):
                if not entry.is_dir(follow_symlinks=False):
                    continue
                found = _found(opened, entry.name, place.name, folder)
                if found is not None and (newest is None or newest < found):
                    newest = found
        return _end_of(newest[1], bytes_max) if newest is not None else None


def _found(opened: ExitStack, within: str, name: str, above: int) -> tuple[int, int] | None:
    """When the file in that folder was written, and its descriptor; None where there is no plain file of that name."""
    try:
        with ExitStack() as here:
            folder = _opened(here, within, _FOLDER | os.O_NOFOLLOW, above)
            file = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None  # most folders have none
    opened.callback(os.close, file)
    facts = os.fstat(file)
    return (facts.st_mtime_ns, file) if stat.S_ISREG(facts.st_mode) else None


def _opened(stack: ExitStack, path: str, flags: int, above: int | None = None) -> int:
    descriptor = os.open(path, flags, dir_fd=above)
    stack.callback(os.close, descriptor)
    return descriptor


def _end_of(file: int, bytes_max: int) -> bytes:
    size = os.fstat(file).st_size
    start = max(0, size - bytes_max)
    data = bytearray()
    while len(data) < bytes_max and (piece := os.pread(file, bytes_max - len(data), start + len(data))):
        data += piece
    first = data.find(b"\n") + 1 if start > 0 else 0
    return bytes(data[first:])
