"""`greenroom backup` makes a copy that `greenroom check` finds sound and `greenroom restore` lists and puts in place."""

import json
import stat
from pathlib import Path

import pytest

from runtime.cli.backup_command import backup_command
from runtime.cli.check_command import check_command
from runtime.cli.doctor import doctor_command
from runtime.cli.restore_command import restore_command
from store.connection import open_for_writing
from store.instance_lock import acquire_instance_lock
from store.migrations import shipped_migrations
from store.open import DATABASE_FILE_NAME
from tests.store.builders import message_row, open_in, session_row, unit, written


@pytest.fixture
def database(data_dir: Path) -> Path:
    data_dir.mkdir()
    store = open_in(data_dir)
    written(store, unit("s", session_row("s"), message_row("s", "m", 1, 1, "rotten" * 2_000)))
    store.close()
    return data_dir / DATABASE_FILE_NAME


def document(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def rot(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(b"rottenrotten") + 500] ^= 1
    path.write_bytes(content)


def test_a_backup_beside_a_running_daemon_is_sound_and_listed(database, flags, capsys):
    with acquire_instance_lock(database.parent):
        store = open_in(database.parent)
        written(store, unit("t", session_row("t")))
        assert backup_command(None, flags, as_json=True) == 0
        made = document(capsys)
        written(store, unit("u", session_row("u")))
        assert (made["sessions"], made["commitSeq"], made["storeId"]) == (2, 2, "store-1")
        assert stat.S_IMODE(Path(made["path"]).stat().st_mode) == 0o600
        assert check_command(made["path"], flags, as_json=True) == 0
        assert document(capsys)["sound"]
        assert restore_command(None, flags, as_json=True) == 0
        (listed,) = document(capsys)["copies"]
        assert (listed["path"], listed["lacksCommits"], listed["readable"]) == (made["path"], 1, True)
        assert restore_command(None, flags, as_json=False) == 0
        assert capsys.readouterr().out.splitlines()[1].endswith("\t1 newer commits")
        store.close()


def test_a_restore_says_what_the_copy_lacks(database, flags, capsys):
    assert backup_command(None, flags, as_json=True) == 0
    made = document(capsys)
    store = open_in(database.parent)
    for number in range(3):
        written(store, unit("t", session_row("t", title=f"round {number}")))
    store.close()
    assert restore_command(made["path"], flags, as_json=False) == 0
    assert "it lacks 3 commits that the database before has" in capsys.readouterr().err


def test_a_backup_goes_where_it_is_told_and_over_nothing(database, flags, capsys, tmp_path):
    out = tmp_path / "mine.db"
    assert backup_command(str(out), flags, as_json=False) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{out}\n"
    assert "checked; it holds 1 sessions as of commit 1" in captured.err
    before = out.read_bytes()
    assert backup_command(str(out), flags, as_json=False) == 2
    assert "is there already" in capsys.readouterr().err
    assert out.read_bytes() == before


def test_what_a_killed_backup_left_is_named_by_doctor_and_gone_with_the_next(database, flags, capsys):
    left = database.with_name(f"{database.name}.backup-20200101T000000Z.unfinished")
    left.write_bytes(b"half")
    doctor_command(flags, as_json=True)
    (found,) = [finding for finding in document(capsys)["findings"] if finding["check"] == "copies"]
    assert found["verdict"] == "note"
    assert str(left) in found["text"]
    assert left.exists()
    assert backup_command(None, flags, as_json=False) == 0
    assert f"removed {left.name}" in capsys.readouterr().err
    assert not left.exists()
    doctor_command(flags, as_json=True)
    assert "copies" not in {finding["check"] for finding in document(capsys)["findings"]}


def test_without_a_database_there_is_nothing_to_back_up(data_dir, flags, capsys):
    assert backup_command(None, flags, as_json=False) == 1
    assert "is not there" in capsys.readouterr().err
    assert not data_dir.exists()


def test_a_damaged_database_is_not_backed_up(database, flags, capsys):
    rot(database)
    assert backup_command(None, flags, as_json=False) == 4
    assert "greenroom restore lists the copies" in capsys.readouterr().err


def test_a_check_says_what_a_sound_database_is(database, flags, capsys):
    assert check_command(None, flags, as_json=True) == 0
    found = document(capsys)
    assert found["sound"]
    assert found["pageChecksums"]
    assert (found["schemaVersion"], found["sessions"]) == (len(shipped_migrations()), 1)
    assert check_command(None, flags, as_json=False) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "sound"


def test_a_check_finds_a_rotten_page_and_changes_nothing(database, flags, capsys):
    rot(database)
    before = database.read_bytes()
    assert check_command(None, flags, as_json=False) == 4
    captured = capsys.readouterr()
    assert "damaged: " in captured.out
    assert "greenroom restore" in captured.err
    assert database.read_bytes() == before


def test_a_check_finds_damage_in_what_a_crash_left_and_leaves_a_live_log_alone(database, flags, capsys):
    store = open_in(database.parent)
    for number in range(1, 6):
        written(store, unit("t", session_row("t", title=f"round {number}")))
    log = database.with_name(f"{database.name}-wal")
    content = bytearray(log.read_bytes())
    store.close()
    content[2_000] ^= 1
    log.write_bytes(content)
    assert check_command(None, flags, as_json=True) == 4
    found = document(capsys)
    assert found["walChecked"]
    assert any("write-ahead log is damaged" in problem for problem in found["problems"])
    with acquire_instance_lock(database.parent):
        assert check_command(None, flags, as_json=True) == 0
        assert not document(capsys)["walChecked"]


@pytest.mark.parametrize("content", [b"", b"no database " * 1_000], ids=["empty", "text"])
def test_what_is_no_database_is_damaged(database, flags, capsys, content):
    path = database.with_name("other.db")
    path.write_bytes(content)
    assert check_command(str(path), flags, as_json=True) == 4
    assert not document(capsys)["sound"]


def test_a_newer_database_is_told_from_a_damaged_one(database, flags, capsys):
    connection = open_for_writing(database)
    connection.pragma("user_version", 9_999)
    connection.close()
    assert check_command(None, flags, as_json=True) == 4
    found = document(capsys)
    assert (found["sound"], found["newer"]) == (True, True)


def test_what_is_not_there_cannot_be_checked(database, flags, capsys):
    assert check_command(str(database.with_name("missing.db")), flags, as_json=False) == 1
    assert "is not there" in capsys.readouterr().err


def test_the_list_of_copies_says_which_cannot_be_read_and_which_are_of_another_store(database, flags, capsys):
    assert backup_command(None, flags, as_json=True) == 0
    other = Path(document(capsys)["path"])
    connection = open_for_writing(database)
    connection.execute("UPDATE meta SET store_id = 'store-2'")
    connection.close()
    database.with_name(f"{database.name}.copy-1").write_bytes(b"half")
    assert restore_command(None, flags, as_json=False) == 0
    lines = {line.split("\t")[0]: line.split("\t")[3] for line in capsys.readouterr().out.splitlines()[1:]}
    assert lines[str(other)] == "everything of the present store: it is of another one, store-1"
    assert lines[f"{database}.copy-1"] == "cannot be read"
    database.write_bytes(b"garbage" * 1_000)
    assert restore_command(None, flags, as_json=False) == 0
    assert "what came after commit 1; 1 sessions are in it" in capsys.readouterr().out
