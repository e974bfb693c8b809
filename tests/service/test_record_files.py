"""Files that providers keep: found in their home, read at their end, and nothing outside of it."""

import os
from pathlib import Path

import pytest
import trio

from runtime.providers.records import RecordLimits, RecordPlace
from runtime.service.record_files import RecordFiles, home_of, read_end

PLACE = RecordPlace((("AGENT_HOME", ""), ("HOME", ".agent")), "projects", "talk.jsonl")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A provider's home with one project and no conversation."""
    (tmp_path / "home" / "projects" / "one").mkdir(parents=True)
    return tmp_path / "home"


def kept(home: Path, words: bytes, project: str = "one") -> Path:
    file = home / "projects" / project / "talk.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(words)
    return file


@pytest.mark.parametrize(
    ("environment", "home"),
    [
        ({"AGENT_HOME": "/a", "HOME": "/h"}, "/a"),
        ({"AGENT_HOME": "", "HOME": "/h"}, "/h/.agent"),
        ({"PATH": "/bin"}, None),
    ],
)
def test_the_home_is_where_the_process_sees_it(environment: dict[str, str], home: str | None) -> None:
    assert home_of(PLACE, environment) == home


def test_the_end_of_a_long_file_is_read_in_whole_lines(home: Path) -> None:
    kept(home, b"first\nsecond\nthird\n")
    assert read_end(PLACE, str(home), 100) == b"first\nsecond\nthird\n"
    assert read_end(PLACE, str(home), 9) == b"third\n", "half a line is none"
    assert read_end(PLACE, str(home), 3) == b""


def test_of_two_files_of_that_name_the_newer_one_counts(home: Path) -> None:
    kept(home, b"new\n", "two")
    old = kept(home, b"old\n")
    os.utime(old, (1, 1))
    assert read_end(PLACE, str(home), 100) == b"new\n"


def test_a_conversation_that_is_not_kept_has_no_file(home: Path) -> None:
    assert read_end(PLACE, str(home), 100) is None
    with pytest.raises(FileNotFoundError):
        read_end(PLACE, str(home / "elsewhere"), 100)


@pytest.mark.parametrize("what", ["file", "folder", "projects", "pipe"])
def test_nothing_outside_of_the_home_is_followed_and_nothing_but_a_file_is_opened(
    home: Path, tmp_path: Path, what: str
) -> None:
    outside = tmp_path / "outside" / "one"
    outside.mkdir(parents=True)
    (outside / "talk.jsonl").write_bytes(b"a secret\n")
    project = home / "projects" / "one"
    if what == "file":
        (project / "talk.jsonl").symlink_to(outside / "talk.jsonl")
    elif what == "pipe":
        os.mkfifo(project / "talk.jsonl")
    else:
        project.rmdir()
        link = project if what == "folder" else home / "projects"
        if what == "projects":
            link.rmdir()
        link.symlink_to(outside if what == "folder" else outside.parent)
    if what == "projects":
        with pytest.raises(OSError, match=r"Not a directory|symbolic"):
            read_end(PLACE, str(home), 100)
    else:
        assert read_end(PLACE, str(home), 100) is None


def test_a_home_that_is_a_link_itself_is_the_users_own_choice(home: Path, tmp_path: Path) -> None:
    kept(home, b"words\n")
    (tmp_path / "link").symlink_to(home)
    assert read_end(PLACE, str(tmp_path / "link"), 100) == b"words\n"


async def test_it_is_digested_in_a_thread_and_not_waited_for_longer_than_its_bound(home: Path) -> None:
    kept(home, b"one\ntwo\n")
    files, environment = RecordFiles(), {"AGENT_HOME": str(home)}
    read = files.read(PLACE, environment, lambda data: len(data.split()), RecordLimits())
    assert await read == 2
    assert await files.read(PLACE, {}, len, RecordLimits()) is None
    nowhere = {"AGENT_HOME": str(home / "gone")}
    assert await files.read(PLACE, nowhere, len, RecordLimits()) is None
    with trio.fail_after(10):
        reader, writer = os.pipe()
        slow = files.read(PLACE, environment, lambda _: os.read(reader, 1), RecordLimits(seconds=0.01))
        assert await slow is None
        os.close(writer)
