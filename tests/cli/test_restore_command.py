"""`greenroom restore` lists copies, puts one in place with no daemon running, and says what became of the other."""

import json

import pytest

from runtime.cli.restore_command import restore_command
from store.instance_lock import acquire_instance_lock
from store.open import DATABASE_FILE_NAME
from tests.store.builders import open_in


@pytest.fixture
def copy(data_dir):
    """A data directory with a database, and a copy of it elsewhere."""
    data_dir.mkdir()
    store = open_in(data_dir)
    path = data_dir.parent / "copy.db"
    store.committer.connection.execute("VACUUM INTO ?", (str(path),))
    store.close()
    return path


def test_without_a_copy_named_those_there_are_are_listed(data_dir, flags, copy, capsys):
    assert restore_command(None, flags, as_json=False) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no copies are kept" in captured.err
    kept = data_dir / f"{DATABASE_FILE_NAME}.version-1"
    copy.rename(kept)
    assert restore_command(None, flags, as_json=False) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].startswith(f"{kept}\t")
    assert "greenroom restore --from COPY" in captured.err
    assert restore_command(None, flags, as_json=True) == 0
    assert [row["path"] for row in json.loads(capsys.readouterr().out)["copies"]] == [str(kept)]


def test_a_copy_is_put_in_place_and_the_new_store_is_named(data_dir, flags, copy, capsys):
    assert restore_command(str(copy), flags, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["restoredFrom"] == str(copy)
    assert told["setAside"] == str(data_dir / f"{DATABASE_FILE_NAME}.set-aside-1")
    store = open_in(data_dir)
    assert store.reader.store_id() == told["storeId"] != "store-1"
    store.close()
    assert restore_command(str(copy), flags, as_json=False) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"restored from {copy}; the store is ")
    assert "set-aside-2" in captured.err


def test_not_while_a_daemon_runs(data_dir, flags, copy, capsys):
    with acquire_instance_lock(data_dir):
        assert restore_command(str(copy), flags, as_json=False) == 3
    assert "is in use by process" in (said := capsys.readouterr().err)
    assert said.endswith("Next: stop the daemon, then try again\n")


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("missing.db", 1, "missing.db"),
        ("text.db", 4, "is damaged"),
        (f"data/{DATABASE_FILE_NAME}", 2, "is the database itself"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_exit_code(data_dir, flags, copy, capsys, name, code, said):
    (data_dir.parent / "text.db").write_text("no database " * 100)
    assert restore_command(str(data_dir.parent / name), flags, as_json=False) == code
    assert said in capsys.readouterr().err
