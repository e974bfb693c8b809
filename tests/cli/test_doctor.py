"""`greenroom doctor` finds what would stop a daemon, says who can read the token, and changes nothing."""

import json
import os
import re
import shutil

import apsw
import attrs
import pytest

from runtime.cli import doctor
from runtime.cli.commands import load
from runtime.cli.program_reports import AttestedProgram, attested_programs
from runtime.config import Flags
from runtime.providers.programs import ProgramReport
from tests.cli.fake_daemon import announce

NO_PROGRAMS = type(
    "NoPrograms", (), {"find": lambda _, program: "/bin/found" if program == "there" else None}
)()


def findings(flags):
    return {finding.check: finding for finding in doctor.examine(load(flags), NO_PROGRAMS, {})}


def test_before_the_first_start_everything_is_still_to_be_made(data_dir, flags):
    found = findings(flags)
    assert {check: finding.verdict for check, finding in found.items()} == {
        "versions": "ok",
        "configuration": "ok",
        "data directory": "ok",
        "disk": "ok",
        "daemon": "ok",
        "open files": "ok",
        "database": "ok",
        "token file": "ok",
        "agents and the token": "note",
        "target demo": "ok",
        "targets": "note",
    }
    assert found["data directory"].text == f"{data_dir} will be made at the first start"
    assert not data_dir.exists()


@pytest.mark.parametrize(
    ("free_bytes", "verdict"), [(2**24 - 1, "problem"), (2**24, "note"), (2**30 - 1, "note"), (2**30, "ok")]
)
def test_the_room_on_the_disk_is_told_before_it_is_gone(flags, monkeypatch, free_bytes, verdict):
    usage = shutil.disk_usage("/")._replace(free=free_bytes)
    monkeypatch.setattr("runtime.cli.doctor.shutil.disk_usage", lambda _: usage)
    found = findings(flags)["disk"]
    assert found.verdict == verdict
    assert bool(found.next_step) == (verdict != "ok")


def test_the_versions_that_a_report_has_to_name_are_told(flags):
    assert re.search(r"greenroom \S+, Python 3\.\d+\.\d+, SQLite 3\.", findings(flags)["versions"].text)


def test_a_directory_others_can_look_into_is_noted(data_dir, flags):
    data_dir.mkdir(mode=0o755)
    data_dir.chmod(0o755)
    found = findings(flags)["data directory"]
    assert (found.verdict, found.next_step) == ("note", f"chmod 700 {data_dir}")
    data_dir.chmod(0o700)
    assert findings(flags)["data directory"].verdict == "ok"


def test_a_data_directory_that_is_a_file_is_a_problem(data_dir, flags):
    data_dir.write_text("")
    assert findings(flags)["data directory"].verdict == "problem"


def test_a_running_daemon_is_named_a_dead_one_noted(data_dir, flags):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    assert findings(flags)["daemon"].text == f"process {os.getpid()} serves ws://127.0.0.1:1/v1/ws"
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", 2**22 + 1)
    assert findings(flags)["daemon"].verdict == "note"


def test_the_mode_of_the_token_file_decides(data_dir, flags):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    (data_dir / "token").chmod(0o644)
    found = findings(flags)["token file"]
    assert (found.verdict, found.next_step) == ("problem", f"chmod 600 {data_dir / 'token'}")
    (data_dir / "token").chmod(0o600)
    assert findings(flags)["token file"].verdict == "ok"


def test_who_can_read_the_token_is_said_either_way(data_dir, flags, monkeypatch):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    found = findings(flags)["agents and the token"]
    assert found.verdict == "note"
    assert "approvals guard against mistakes, not against a hostile agent" in found.text
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("token"))
    found = findings(flags)["agents and the token"]
    assert found.verdict == "ok"
    assert "cannot read it" in found.text


def test_whether_everybody_finds_a_descriptor_is_said(tmp_path, flags, data_dir):
    found = findings(flags)["open files"]
    assert (found.verdict, "the limits can come to" in found.text) == ("ok", True)
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    assert findings(flags)["open files"].text.startswith(f"process {os.getpid()} may open ")
    config = tmp_path / "config.toml"
    config.write_text("[limits]\nmaxClientConnections = 1000000000")
    found = findings(attrs.evolve(flags, config_file=str(config)))["open files"]
    assert found.verdict == "note"
    assert "maxClientConnections" in found.next_step


def test_a_damaged_or_newer_database_is_a_problem_with_a_way_out(data_dir, flags):
    data_dir.mkdir(mode=0o700)
    database = data_dir / "greenroom.db"
    database.write_bytes(b"this is no database, though it is long enough to be looked at" * 100)
    found = findings(flags)["database"]
    assert found.verdict == "problem"
    assert "greenroom restore" in found.next_step
    database.unlink()
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA user_version = 9999; CREATE TABLE t (x)")
    connection.close()
    found = findings(flags)["database"]
    assert found.verdict == "problem"
    assert "schema version 9999" in found.text


def test_targets_and_further_tokens_are_looked_at(tmp_path, data_dir):
    config = tmp_path / "config.toml"
    config.write_text(
        """
        demo = false
        [[targets]]
        id = "a"
        provider = "acp"
        command = ["there"]
        [[targets]]
        id = "b"
        provider = "acp"
        command = ["missing"]
        [[targets]]
        id = "c"
        provider = "acp"
        command = ["missing"]
        enabled = false
        [[tokens]]
        name = "api"
        tokenFile = "api.token"
        scope = "read"
        """
    )
    found = findings(Flags(config_file=str(config), data_dir=str(data_dir)))
    verdicts = {check: finding.verdict for check, finding in found.items()}
    assert verdicts["target a"] == "ok"
    assert verdicts["target b"] == "problem"
    assert verdicts["target c"] == "note"
    assert verdicts["token api"] == "problem"
    assert "target demo" not in verdicts


@pytest.mark.parametrize("as_json", [True, False])
def test_a_problem_is_exit_code_1(data_dir, flags, capsys, as_json):
    assert doctor.doctor_command(flags, as_json=as_json) == 0
    capsys.readouterr()
    data_dir.write_text("")
    assert doctor.doctor_command(flags, as_json=as_json) == 1
    out = capsys.readouterr().out
    if as_json:
        rows = json.loads(out)["findings"]
        assert [row["verdict"] for row in rows if row["check"] == "data directory"] == ["problem"]
    else:
        assert "problem data directory" in out


def test_a_configuration_that_does_not_load_is_its_one_problem(tmp_path, capsys):
    config = tmp_path / "config.toml"
    config.write_text("colour = 1")
    assert doctor.doctor_command(Flags(config_file=str(config)), as_json=True) == 1
    (row,) = json.loads(capsys.readouterr().out)["findings"]
    assert row["check"] == "configuration"
    assert "colour: is unknown" in row["text"]


CODEX = '[[targets]]\nid = "c"\nprovider = "codex"\ncommand = ["there", "app-server"]\n'


def attested_findings(flags, config_file, abilities, text=CODEX):
    config_file.write_text(text)
    program = AttestedProgram(ProgramReport("1.2.3", frozenset()), abilities)
    found = doctor.examine(
        load(attrs.evolve(flags, config_file=str(config_file))), NO_PROGRAMS, {"c": program}
    )
    return [(each.verdict, each.text) for each in found if each.check == "target c"][1:]


@pytest.mark.parametrize(
    ("abilities", "finding"),
    [
        ({"talk": True, "side": True}, ("ok", "version 1.2.3, attested: talk, side")),
        (
            {"talk": True, "side": False, "goal": False},
            ("note", "version 1.2.3, attested: talk; not attested, so not used: side, goal"),
        ),
        ({"talk": False}, ("problem", "version 1.2.3 shows nothing that can be used")),
        ({}, ("note", "version 1.2.3 is not tested and shows no schema; its first start decides")),
    ],
)
def test_it_says_which_version_a_program_is_and_what_is_attested_of_it(flags, tmp_path, abilities, finding):
    assert attested_findings(flags, tmp_path / "c.toml", abilities) == [finding]


def test_a_server_that_runs_already_is_named_without_its_path(flags, tmp_path):
    config_file = tmp_path / "c.toml"
    config_file.write_text('[[targets]]\nid = "c"\nprovider = "codex"\nurl = "ws://127.0.0.1:4500/path"\n')
    found = doctor.examine(load(attrs.evolve(flags, config_file=str(config_file))), NO_PROGRAMS, {})
    (finding,) = [each for each in found if each.check == "target c"]
    assert (finding.verdict, finding.text) == (
        "ok",
        "a server at 127.0.0.1:4500, reached when a session needs it",
    )


def test_programs_are_asked_on_a_guard_of_its_own_and_nothing_is_kept(flags, tmp_path, data_dir):
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "my-codex"
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo codex-cli 9.9.9\n')
    program.chmod(0o755)
    config_file = tmp_path / "c.toml"
    config_file.write_text(CODEX.replace("there", str(program)))
    configuration = load(attrs.evolve(flags, config_file=str(config_file)))
    attested = attested_programs(configuration)
    assert attested == {"c": AttestedProgram(ProgramReport("9.9.9", None), {})}
    assert not data_dir.exists()
