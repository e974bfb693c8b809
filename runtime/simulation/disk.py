"""The simulated disk: real SQLite on a RAM folder, below it a layer that records, fails and fills up on demand.

`RecordingVFS` sits between SQLite (with its page checksums) and the system's own layer; `SimulatedDisk` is one
machine's folder through power cuts and kills. What a cut leaves is decided by `runtime.simulation.disk_model`.
"""

import errno
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import apsw
import attrs

from runtime.simulation.disk_model import (
    Created,
    Deleted,
    DiskModel,
    DiskOperation,
    FolderSynced,
    Image,
    Replaced,
    Synced,
    SyncFailed,
    Truncated,
    Written,
)
from store.files import FileSizes, earlier_store, opened_log, sign_of

LAYER: Final = "greenroom-simulated-disk"
_SYSTEM_LAYER: Final = "unix"
_RAM_FOLDER: Final = Path("/dev/shm")  # noqa: S108 - the folders made in it have names nobody can foresee

FaultyCall = Literal["write", "sync", "truncate", "delete", "read", "open"]
FaultKind = Literal["io_error", "full", "short"]

_IO_ERRORS: Final[dict[FaultyCall, int]] = {
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "read": apsw.SQLITE_IOERR_READ,
}


@attrs.define
class DiskFault:
    """Fails the `nth` call of a kind from now on (counted from 1), once or, if `sticky`, from then on.

    `short` writes a third of the bytes and fails. `name_ends` limits it to some files, such as "-wal".
    """

    call: FaultyCall
    nth: int = 1
    kind: FaultKind = "io_error"
    sticky: bool = False
    name_ends: str = ""
    seen: int = 0
    fired: int = 0

    def strikes(self, call: FaultyCall, name: str) -> bool:
        """Count this call; whether it is one that fails."""
        if call != self.call or not name.endswith(self.name_ends):
            return False
        self.seen += 1
        if self.seen == self.nth or (self.sticky and self.seen > self.nth):
            self.fired += 1
            return True
        return False

    def error(self) -> apsw.Error:
        """What the failing call raises."""
        if self.call == "open":
            return _as_raised_by_sqlite(apsw.CantOpenError("injected"), apsw.SQLITE_CANTOPEN)
        if self.kind != "io_error":
            return _disk_full("injected")
        return _as_raised_by_sqlite(apsw.IOError("injected"), apsw.SQLITE_IOERR, _IO_ERRORS[self.call])


def _disk_full(text: str) -> apsw.Error:
    return _as_raised_by_sqlite(apsw.FullError(text), apsw.SQLITE_FULL)


def _as_raised_by_sqlite(error: apsw.Error, result: int, extended: int | None = None) -> apsw.Error:
    """An error of this layer surfaces as the object it raised, so it must carry the codes SQLite would set."""
    error.result = result  # type: ignore[attr-defined]
    error.extendedresult = result if extended is None else extended  # type: ignore[attr-defined]
    return error


@attrs.define
class FolderState:
    """What the layer knows of one attached folder."""

    model: DiskModel
    faults: list[DiskFault] = attrs.field(factory=list)
    recording: list[DiskOperation] | None = None
    on_operation: Callable[[DiskOperation], None] | None = None
    """Told of every operation after it was performed, in the middle of whatever SQLite is doing."""
    capacity_bytes: int | None = None
    file_sizes: dict[str, int] = attrs.field(factory=dict)
    reserved_bytes: int = 0

    def note(self, operation: DiskOperation) -> None:
        """An operation was performed."""
        self.model.apply(operation)
        if self.recording is not None:
            self.recording.append(operation)
        if self.on_operation is not None:
            self.on_operation(operation)

    def fault(self, call: FaultyCall, name: str) -> DiskFault | None:
        """The fault that strikes this call."""
        for fault in self.faults:
            if fault.strikes(call, name):
                return fault
        return None

    def check_room(self, name: str, end: int) -> None:
        """Raise as a full disk does when the file may not grow to `end` bytes."""
        grown = max(0, end - self.file_sizes.get(name, 0))
        if grown and self.capacity_bytes is not None and self.used_bytes + grown > self.capacity_bytes:
            raise _disk_full("the simulated disk is full")

    @property
    def used_bytes(self) -> int:
        """What the files and the reserve take."""
        return sum(self.file_sizes.values()) + self.reserved_bytes


class RecordingVFS(apsw.VFS):
    """SQLite's view of all simulated disks of this process; folders it does not know pass through untouched."""

    def __init__(self) -> None:
        self._folders: dict[str, FolderState] = {}
        super().__init__(LAYER, _SYSTEM_LAYER, maxpathname=0)

    def attach(self, folder: Path, state: FolderState) -> None:
        """From now on account for the files of `folder`."""
        self._folders[str(folder)] = state

    def detach(self, folder: Path) -> None:
        """The machine that used this folder is gone: what is still done to it does not count."""
        self._folders.pop(str(folder), None)

    def place_of(self, path: str | None) -> tuple[FolderState, str] | None:
        """The attached folder a file lies in and its name there."""
        if path is None:
            return None
        folder, _, name = path.rpartition("/")
        state = self._folders.get(folder)
        return None if state is None else (state, name)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file, noting when that makes it."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        place = self.place_of(path)
        if place is not None:
            state, short = place
            if fault := state.fault("open", short):
                raise fault.error()
            if flags[0] & apsw.SQLITE_OPEN_CREATE and short not in state.file_sizes:
                state.file_sizes[short] = 0
                state.note(Created(short))
        return _RecordedFile(self, path, name, flags)

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802
        """Remove a file."""
        place = self.place_of(name)
        if place is not None and (fault := place[0].fault("delete", place[1])):
            raise fault.error()
        super().xDelete(name, sync_folder)
        if place is not None:
            state, short = place
            state.file_sizes.pop(short, None)
            state.note(Deleted(short, bool(sync_folder)))


class _RecordedFile(apsw.VFSFile):
    _SYNCS_FOLDER = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_SUPER_JOURNAL

    def __init__(
        self, layer: RecordingVFS, path: str | None, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._layer = layer
        self._path = path
        self._syncs_folder = bool(flags[0] & self._SYNCS_FOLDER)
        super().__init__(_SYSTEM_LAYER, name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        place = self._layer.place_of(self._path)
        if place is None:
            super().xWrite(data, offset)
            return
        state, name = place
        if fault := state.fault("write", name):
            if fault.kind == "short":
                self._write(state, name, bytes(data)[: max(1, len(data) // 3)], offset)
            raise fault.error()
        state.check_room(name, offset + len(data))
        self._write(state, name, bytes(data), offset)

    def _write(self, state: FolderState, name: str, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        state.file_sizes[name] = max(state.file_sizes.get(name, 0), offset + len(data))
        state.note(Written(name, offset, data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        place = self._layer.place_of(self._path)
        if place is not None and (fault := place[0].fault("truncate", place[1])):
            raise fault.error()
        super().xTruncate(size)
        if place is not None:
            state, name = place
            state.file_sizes[name] = size
            state.note(Truncated(name, size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        place = self._layer.place_of(self._path)
        if place is not None and (fault := place[0].fault("sync", place[1])):
            place[0].note(SyncFailed(place[1]))
            raise fault.error()
        super().xSync(flags)
        if place is not None:
            place[0].note(Synced(place[1], self._syncs_folder))

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        place = self._layer.place_of(self._path)
        if place is not None and (fault := place[0].fault("read", place[1])):
            raise fault.error()
        return super().xRead(amount, offset)


_layer: RecordingVFS | None = None


def simulated_layer() -> RecordingVFS:
    """The layer of this process, registered with SQLite under `LAYER` when it is first asked for."""
    global _layer
    if _layer is None:
        _layer = RecordingVFS()
    return _layer


class SimulatedDisk:
    """One machine's data folder. After `cut_power` or `kill` it lies elsewhere: open the store anew at `folder`."""

    def __init__(self, image: Image | None = None, *, capacity_bytes: int | None = None) -> None:
        self.folder = Path()
        self._home = Path(tempfile.mkdtemp(prefix="greenroom-disk-", dir=_ram_folder()))
        self._lives = 0
        self._capacity_bytes = capacity_bytes
        self._start_life(image or {}, DiskModel(image))

    @property
    def state(self) -> FolderState:
        """Faults, recording and capacity of the present life."""
        return self._state

    def cut_power(self, chance: random.Random) -> Image:
        """End the machine: what comes up again is one of the images the disk may hold."""
        image = self._state.model.image_after_cut(chance)
        self._start_life(image, DiskModel(image))
        return image

    def kill(self) -> None:
        """End the process only: the system still has everything written, durable or not."""
        image = {
            file.name: file.read_bytes() for file in self.folder.iterdir() if not file.name.endswith("-shm")
        }
        dead = self._state
        self._start_life(image, dead.model)
        # What the killed process's code still does on its way out reaches no disk, though it holds the same files.
        dead.model = DiskModel(image)

    def remove(self) -> None:
        """Delete everything; connections of all lives must be closed."""
        simulated_layer().detach(self.folder)
        shutil.rmtree(self._home)

    def _start_life(self, image: Image, model: DiskModel) -> None:
        if self._lives:
            simulated_layer().detach(self.folder)
        self._lives += 1
        self.folder = self._home / str(self._lives)
        self.folder.mkdir()
        write_image(self.folder, image)
        sizes = {name: len(data) for name, data in image.items()}
        self._state = FolderState(model, capacity_bytes=self._capacity_bytes, file_sizes=sizes)
        simulated_layer().attach(self.folder, self._state)


class SimulatedFiles:
    """`store.files.DatabaseFiles` on a simulated disk, for one life of it."""

    def __init__(self, disk: SimulatedDisk, database_name: str, reserve_bytes: int = 0) -> None:
        self._state = disk.state
        self._reserve_bytes = reserve_bytes
        self.database = disk.folder / database_name

    def renew_wal(self) -> bool:
        """See `DatabaseFiles`."""
        wal = self.database.with_name(self.database.name + "-wal")
        if not wal.exists() or wal.stat().st_size == 0:
            return False
        copied = wal.stat().st_size
        try:
            self._state.check_room("", copied)
        except apsw.FullError as error:
            raise OSError(errno.ENOSPC, "the simulated disk is full") from error
        self._state.note(Replaced(wal.name, wal.read_bytes()))
        return True

    def open_log(self) -> BinaryIO | None:
        """See `DatabaseFiles`."""
        return opened_log(self.database)

    def earlier_store(self) -> str | None:
        """See `DatabaseFiles`."""
        return earlier_store(self.database)

    def note_store(self, store_id: str) -> None:
        """See `DatabaseFiles`."""
        sign, content = sign_of(self.database), f"{store_id}\n".encode()
        if not sign.exists():
            sign.write_bytes(content)
            self._state.note(Replaced(sign.name, content))

    def discard(self, path: Path) -> None:
        """See `DatabaseFiles`."""
        if path.exists():
            path.unlink()
            self._state.file_sizes.pop(path.name, None)
            self._state.note(Deleted(path.name, folder_synced=False))

    def sync_folder(self) -> None:
        """See `DatabaseFiles`."""
        self._state.note(FolderSynced())

    def hold_reserve(self) -> bool:
        """See `DatabaseFiles`."""
        state = self._state
        if state.reserved_bytes == self._reserve_bytes:
            return True
        if state.capacity_bytes is not None:
            free = state.capacity_bytes - state.used_bytes
            if free < 2 * self._reserve_bytes:
                return False
        state.reserved_bytes = self._reserve_bytes
        return True

    def release_reserve(self) -> bool:
        """See `DatabaseFiles`."""
        held = self._state.reserved_bytes > 0
        self._state.reserved_bytes = 0
        return held

    def sizes(self) -> FileSizes:
        """See `DatabaseFiles`."""
        sizes, name = self._state.file_sizes, self.database.name
        capacity = self._state.capacity_bytes
        free = 2**40 if capacity is None else max(0, capacity - self._state.used_bytes)
        return FileSizes(sizes.get(name, 0), sizes.get(f"{name}-wal", 0), free)


def write_image(folder: Path, image: Image) -> None:
    """Write the files of an image."""
    for name, data in image.items():
        (folder / name).write_bytes(data)


def _ram_folder() -> str | None:
    """Where recording costs no disk; the system's own temporary folder where there is no RAM one."""
    return str(_RAM_FOLDER) if _RAM_FOLDER.is_dir() else None
