"""Which file a program is, and reports that outlive the daemon without ever standing in its way."""

import os
from pathlib import Path

import pytest

from runtime.providers.programs import Program, ProgramReport
from runtime.service.program_files import DiskProgramFiles

REPORTS = {"a": ProgramReport("1.0", frozenset({"x/y", "x/y.z"})), "b": ProgramReport("2.0", None)}


@pytest.fixture
def files(tmp_path: Path) -> DiskProgramFiles:
    return DiskProgramFiles(tmp_path / "programs.json")


def program(folder: Path, name: str = "tool") -> Program:
    return Program("lines", (name,), {"PATH": str(folder)})


def make(folder: Path, name: str = "tool", text: str = "#!/bin/sh\n") -> Path:
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_a_program_is_the_file_its_target_s_path_leads_to(files: DiskProgramFiles, tmp_path: Path) -> None:
    real = make(tmp_path, "real")
    (tmp_path / "tool").symlink_to(real)
    found = files.identify(program(tmp_path))
    assert found is not None
    assert (found.path, found.size) == (str(real), real.stat().st_size)
    assert files.identify(program(tmp_path, "missing")) is None
    assert files.identify(program(tmp_path / "elsewhere")) is None


def test_a_replaced_file_differs_even_with_the_old_size_and_time(
    files: DiskProgramFiles, tmp_path: Path
) -> None:
    file = make(tmp_path)
    before, times = files.identify(program(tmp_path)), file.stat()
    replacement = make(tmp_path, "draft")
    replacement.replace(file)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = files.identify(program(tmp_path))
    assert before is not None
    assert after is not None
    assert (before.size, before.modified_ns) == (after.size, after.modified_ns)
    assert before != after


def test_reports_come_back_as_they_were(files: DiskProgramFiles) -> None:
    assert files.load() == {}
    files.save(REPORTS)
    assert files.load() == REPORTS
    assert [path.name for path in files.reports.parent.iterdir()] == ["programs.json"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": 2, "programs": {}}',
        '{"format": 1, "programs": []}',
        '{"format": 1, "programs": {"a": {}}}',
        '{"format": 1, "programs": {"a": {"version": 1, "facts": null}}}',
        "\0",
        "{" * 5000,
    ],
)
def test_a_file_that_cannot_be_read_counts_as_none(files: DiskProgramFiles, content: str) -> None:
    files.reports.write_text(content)
    assert files.load() == {}
    files.save(REPORTS)
    assert files.load() == REPORTS


def test_a_place_that_takes_nothing_loses_nothing_but_time(tmp_path: Path) -> None:
    files = DiskProgramFiles(tmp_path / "missing" / "programs.json")
    files.save(REPORTS)
    assert files.load() == {}


def test_whoever_only_looks_keeps_nothing(tmp_path: Path) -> None:
    files = DiskProgramFiles(tmp_path / "programs.json", keeps=False)
    files.save(REPORTS)
    assert list(tmp_path.iterdir()) == []


def test_a_scratch_folder_is_read_within_bounds_and_goes_with_its_content(files: DiskProgramFiles) -> None:
    with files.scratch() as folder:
        path = Path(folder.path)
        (path / "sub").mkdir()
        (path / "small").write_bytes(b"12345")
        assert folder.read("small", 5) == b"12345"
        assert folder.read("small", 4) is None
        assert folder.read("absent", 5) is None
    assert not path.exists()
