"""A model of a disk: what is certainly on the platter, and what a power cut may still take away.

Pure. It is fed the operations of one folder in their order and can make the image that a cut at this moment leaves:
everything synchronised is kept; of what is not, a seeded choice is kept in whole, in part, torn into sectors, in
another order, or as rubbish; names of files come and go with their folder's synchronisation.
"""

import random
from collections.abc import Iterable
from typing import Final, TypeAlias, assert_never

import attrs

SECTOR_BYTES: Final = 512


@attrs.frozen
class Created:
    """A file was made; its name is durable once the folder is."""

    name: str


@attrs.frozen
class Deleted:
    """A file was removed; `folder_synced` when the removal was made durable at once."""

    name: str
    folder_synced: bool


@attrs.frozen
class Written:
    """Bytes were written; durable with the next `Synced`."""

    name: str
    offset: int
    data: bytes


@attrs.frozen
class Truncated:
    """A file was cut or lengthened to `size` bytes."""

    name: str
    size: int


@attrs.frozen
class Synced:
    """A file's content was made durable, with `folder` the names of its folder too."""

    name: str
    folder: bool


@attrs.frozen
class SyncFailed:
    """A synchronisation failed, and the system dropped the pages: they can be read, but never reach the platter."""

    name: str


@attrs.frozen
class Replaced:
    """A complete, synchronised file took the place of another one, durably."""

    name: str
    data: bytes


@attrs.frozen
class FolderSynced:
    """The names of the folder were made durable."""


DiskOperation: TypeAlias = (
    Created | Deleted | Written | Truncated | Synced | SyncFailed | Replaced | FolderSynced
)
Image: TypeAlias = dict[str, bytes]
"""Whole files by name: what a machine finds when it comes up again."""

_Change: TypeAlias = Written | Truncated


@attrs.define(eq=False)
class _File:
    durable: bytearray = attrs.field(factory=bytearray)
    pending: list[_Change] = attrs.field(factory=list)


class DiskModel:
    """The files of one folder, on the platter and in the cache."""

    def __init__(self, image: Image | None = None) -> None:
        self._live = {name: _File(bytearray(data)) for name, data in (image or {}).items()}
        self._durable_names = dict(self._live)
        self._pending_names: list[tuple[str, _File | None]] = []

    def apply(self, operation: DiskOperation) -> None:
        """Account for one operation that has been performed."""
        match operation:
            case Created(name):
                self._live[name] = file = _File()
                self._pending_names.append((name, file))
            case Deleted(name, folder_synced):
                self._live.pop(name, None)
                self._pending_names.append((name, None))
                if folder_synced:
                    self._sync_names()
            case Written(name) | Truncated(name):
                self._live[name].pending.append(operation)
            case Synced(name, folder):
                file = self._live[name]
                _perform(file.durable, file.pending)
                file.pending.clear()
                if folder:
                    self._sync_names()
            case SyncFailed(name):
                self._live[name].pending.clear()
            case Replaced(name, data):
                self._sync_names()
                self._live[name] = self._durable_names[name] = _File(bytearray(data))
            case FolderSynced():
                self._sync_names()
            case _:
                assert_never(operation)

    def image_after_cut(self, chance: random.Random) -> Image:
        """What a power cut now may leave, one of many possibilities; the model itself is unchanged."""
        names = dict(self._durable_names)
        for name, file in self._pending_names[: chance.randint(0, len(self._pending_names))]:
            if file is None:
                names.pop(name, None)
            else:
                names[name] = file
        image = {}
        for name in sorted(names):
            content = bytearray(names[name].durable)
            _perform(content, _surviving(names[name].pending, chance))
            image[name] = bytes(content)
        return image

    def _sync_names(self) -> None:
        for name, file in self._pending_names:
            if file is None:
                self._durable_names.pop(name, None)
            else:
                self._durable_names[name] = file
        self._pending_names.clear()


def _surviving(changes: list[_Change], chance: random.Random) -> list[_Change]:
    """What of a file's unsynchronised changes reached the platter, by one of the ways disks have."""
    if not changes:
        return []
    match chance.choice(("none", "all", "prefix", "prefix_torn", "subset", "torn", "rubbish")):
        case "all":
            return changes
        case "prefix":
            return changes[: chance.randint(0, len(changes))]
        case "prefix_torn":
            count = chance.randint(0, len(changes) - 1)
            return [*changes[:count], *_torn(changes[count], chance, rubbish=False)]
        case "subset":
            return [change for change in changes if chance.random() < 0.5]
        case "torn":
            return [part for change in changes for part in _torn(change, chance, rubbish=False)]
        case "rubbish":
            return [part for change in changes for part in _torn(change, chance, rubbish=True)]
        case _:
            return []


def _torn(change: _Change, chance: random.Random, *, rubbish: bool) -> Iterable[_Change]:
    """Some sectors of a write; with `rubbish` some others hold bytes nobody wrote."""
    if isinstance(change, Truncated):
        if chance.random() < 0.5:
            yield change
        return
    position = 0
    while position < len(change.data):
        offset = change.offset + position
        step = min(SECTOR_BYTES - offset % SECTOR_BYTES, len(change.data) - position)
        fate = chance.random()
        if fate < 0.5:
            yield Written(change.name, offset, change.data[position : position + step])
        elif rubbish and fate < 0.75:
            yield Written(change.name, offset, chance.randbytes(step))
        position += step


def _perform(content: bytearray, changes: Iterable[_Change]) -> None:
    for change in changes:
        match change:
            case Truncated(size=size):
                del content[size:]
                content.extend(bytes(size - len(content)))
            case Written(offset=offset, data=data):
                end = offset + len(data)
                content.extend(bytes(max(0, end - len(content))))
                content[offset:end] = data
            case _:
                assert_never(change)
