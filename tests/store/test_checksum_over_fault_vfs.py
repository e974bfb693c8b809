"""Page checksums over a faulty disk: SQLite, then the sums, then the recording layer, then the system.

`checksum_layer(base)` loads cksumvfs while `base` is SQLite's default VFS, which is the one it wraps, and puts the
default back. Asked for another base it unregisters its layer and loads again, so one process can go to and fro.
"""

from pathlib import Path

import apsw
import pytest

from runtime.simulation.disk import LAYER, SimulatedDisk, simulated_layer
from runtime.simulation.disk_model import Written
from store.checksums import RESERVED_BYTES, SYSTEM_LAYER, checksum_layer
from store.connection import check_whole
from store.errors import StoreDamaged
from store.open import DATABASE_FILE_NAME
from tests.store.builders import open_in, running_session, session_row, unit, written
from tests.store.crash_images import open_on


def test_what_reaches_the_faulty_disk_is_summed(disk: SimulatedDisk):
    recording = disk.state.recording = []
    store = open_on(disk)
    assert store.report.pages_summed
    written(store, running_session("s"))
    store.close()
    pages = [
        operation
        for operation in recording
        if isinstance(operation, Written)
        and operation.name == DATABASE_FILE_NAME
        and len(operation.data) == 4_096
    ]
    assert pages
    header = next(page for page in pages if page.offset == 0)
    assert header.data[20] == RESERVED_BYTES
    assert all(any(page.data[-RESERVED_BYTES:]) for page in pages)


def test_a_bit_flipped_below_the_sums_is_noticed_above_them(disk: SimulatedDisk):
    store = open_on(disk)
    written(store, running_session("s"))
    store.close()
    path = disk.folder / DATABASE_FILE_NAME
    content = bytearray(path.read_bytes())
    content[len(content) - 5_000] ^= 4
    path.write_bytes(content)
    with pytest.raises(StoreDamaged):
        open_on(disk)


def test_the_default_of_sqlite_stays_what_it_was(disk: SimulatedDisk):
    before = apsw.vfs_names()[0]
    open_on(disk).close()
    assert apsw.vfs_names()[0] == before == SYSTEM_LAYER


def test_one_process_goes_from_the_real_disk_to_the_simulated_one_and_back(
    disk: SimulatedDisk, tmp_path: Path
):
    """What a test run does, in whatever order its tests come."""
    simulated_layer()
    for base in (SYSTEM_LAYER, LAYER, SYSTEM_LAYER, LAYER):
        disk.state.recording = recording = []
        if base == LAYER:
            store = open_on(disk)
        else:
            store = open_in(tmp_path)
        written(store, unit("s", session_row("s", title=base)))
        check_whole(store.committer.connection, store.committer.connection.filename)
        assert store.report.pages_summed
        store.close()
        assert bool(recording) == (base == LAYER)


def test_the_layer_is_put_up_once_for_one_base():
    simulated_layer()
    assert checksum_layer(LAYER) == checksum_layer(LAYER) == checksum_layer() == "cksmvfs"
    assert apsw.vfs_names().count("cksmvfs") == 1
