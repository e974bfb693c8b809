"""Directories of sessions without one of their own: one each, made and taken back, never shared by accident."""

from pathlib import Path

import pytest

from runtime.operations.create_session import WorkDirectoryUnavailable
from runtime.service.work_directories import DiskWorkDirectories
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId


def key(session: str, workspace: str = "w") -> SessionKey:
    return SessionKey(WorkspaceId(workspace), SessionId(session))


@pytest.mark.rule("RT-059")
def test_a_directory_is_made_once_and_taken_back_while_it_is_empty(tmp_path: Path) -> None:
    directories = DiskWorkDirectories(tmp_path / "root")
    made = Path(directories.allocate(key("s")))
    assert made.is_dir()
    assert directories.allocate(key("s")) == str(made)
    directories.release(key("s"))
    assert not made.exists()
    directories.release(key("s"))
    made = Path(directories.allocate(key("s")))
    (made / "work").write_text("kept")
    directories.release(key("s"))
    assert (made / "work").read_text() == "kept"


def test_every_identifier_has_a_directory_of_its_own_below_the_root(tmp_path: Path) -> None:
    directories = DiskWorkDirectories(tmp_path)
    names = [".", "..", "_.", "_..", "__..", "_", "a", "_a", ".a", "a.b:c-d"]
    made = {directories.allocate(key(session, workspace)) for session in names for workspace in names}
    assert len(made) == len(names) ** 2
    for path in made:
        assert len(Path(path).relative_to(tmp_path).parts) == 2
        assert Path(path).resolve() == Path(path)


def test_what_is_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("a file")
    with pytest.raises(WorkDirectoryUnavailable):
        DiskWorkDirectories(tmp_path).allocate(key("s"))


def test_paths_are_judged_by_where_they_lead(tmp_path: Path) -> None:
    directories = DiskWorkDirectories(tmp_path / "root")
    (tmp_path / "inside" / "deep").mkdir(parents=True)
    (tmp_path / "inside" / "out").symlink_to("/")
    roots = (str(tmp_path / "inside"),)
    assert directories.is_within(str(tmp_path / "inside"), roots)
    assert directories.is_within(str(tmp_path / "inside" / "deep"), roots)
    assert not directories.is_within(str(tmp_path / "inside" / "out"), roots)
    assert not directories.is_within(str(tmp_path / "inside" / ".."), roots)
    assert not directories.is_within(f"{tmp_path}/inside-not", roots)
    assert not directories.is_within("/nul\0", roots)
    assert not directories.is_directory("relative")
    assert not directories.is_directory("/nul\0")
    assert not directories.is_directory(str(tmp_path / "nothing"))
    assert directories.is_directory(str(tmp_path / "inside"))
