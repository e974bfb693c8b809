"""The record of an instance's processes: what is written is what is read, and it stays bounded."""

import stat
from pathlib import Path

import pytest

from supervisor.process_guard.journal import SPARE_LINES_MAX, DiskRecordFile, InstanceJournal, read_records
from supervisor.process_guard.process_table import ProcessIdentity


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "instance.jsonl"


def test_every_line_is_on_disk_when_record_returns(path: Path) -> None:
    journal = InstanceJournal(DiskRecordFile(path), "boot")
    journal.record("daemon", ProcessIdentity(1, 10))
    journal.record("reaper", ProcessIdentity(2, 20), launch=1, label="codex")
    assert [(record.role, record.identity, record.boot_id) for record in read_records(path)] == [
        ("daemon", ProcessIdentity(1, 10), "boot"),
        ("reaper", ProcessIdentity(2, 20), "boot"),
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_of_a_long_life_stays_bounded_and_keeps_the_living(path: Path) -> None:
    journal = InstanceJournal(DiskRecordFile(path), "boot")
    journal.record("daemon", ProcessIdentity(1, 10))
    journal.record("provider", ProcessIdentity(2, 20), launch=1)
    for launch in range(2, 3 * SPARE_LINES_MAX):
        journal.record("reaper", ProcessIdentity(launch + 1000, 30), launch=launch)
        journal.forget(launch)
    records = read_records(path)
    assert len(records) <= SPARE_LINES_MAX + 3
    assert [record.identity.pid for record in records[:2]] == [1, 2]
    assert path.with_suffix(".new").exists() is False


def test_after_a_torn_line_the_next_begins_on_a_whole_file(path: Path) -> None:
    class TearingFile(DiskRecordFile):
        tear = False

        def append(self, text: str) -> None:
            if self.tear:
                super().append(text[:10])
                raise OSError(28, "No space left on device")
            super().append(text)

    file = TearingFile(path)
    journal = InstanceJournal(file, "boot")
    journal.record("daemon", ProcessIdentity(1, 10))
    file.tear = True
    with pytest.raises(OSError, match="No space"):
        journal.record("reaper", ProcessIdentity(2, 20), launch=1)
    file.tear = False
    journal.record("reaper", ProcessIdentity(3, 30), launch=2)
    assert [record.identity.pid for record in read_records(path)] == [1, 3]


def test_remove_leaves_no_file_behind(path: Path) -> None:
    file = DiskRecordFile(path)
    file.append("x\n")
    path.with_suffix(".new").touch()
    file.remove()
    file.remove()
    assert list(path.parent.iterdir()) == []
