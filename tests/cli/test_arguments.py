"""The words of the command line: what each command is given, and what is said of words nobody knows."""

import json
import sys

import pytest

from runtime.cli import EXIT_BROKEN_PIPE, main
from runtime.cli.session_commands import ListRequest
from runtime.config import Flags


@pytest.fixture
def called(monkeypatch):
    """Catches what a command hands over; the command itself does not run."""
    calls = []

    def catch(module, name):
        def caught(*arguments, **more):
            calls.append((name, arguments, more))
            return 7

        monkeypatch.setattr(f"{module}.{name}", caught)

    catch("runtime.cli.serve_command", "serve_command")
    catch("runtime.cli.run_command", "run_command")
    catch("runtime.cli.session_commands", "sessions_command")
    catch("runtime.cli.session_commands", "show_command")
    catch("runtime.cli.doctor", "doctor_command")
    catch("runtime.cli.restore_command", "restore_command")
    return calls


def only(called):
    (call,) = called
    return call


def test_the_version_is_told_without_importing_the_commands(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "runtime.cli.application", None)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("greenroom ")


def test_serve_takes_the_flags_of_the_contract(called):
    words = "serve --data-dir d --listen 127.0.0.1:0 --config c --no-console --enable-faults --transport trio-websocket"
    assert main(words.split()) == 7
    _, (flags,), more = only(called)
    assert flags == Flags(
        config_file="c",
        data_dir="d",
        listen="127.0.0.1:0",
        console=False,
        enable_faults=True,
        transport="trio-websocket",
    )
    assert more == {"logs_as_json": False}


def test_flags_that_are_not_given_leave_the_choice_to_the_file(called):
    main(["serve"])
    assert only(called)[1] == (Flags(),)


def test_run_takes_a_prompt_and_where_it_goes(called):
    words = ["run", "do it", "--target", "t", "--cwd", "c", "--workspace", "w", "--json", "--data-dir", "d"]
    assert main(words) == 7
    _, (request, flags), more = only(called)
    assert (request.prompt, request.target_id, request.cwd, request.session_id, request.workspace_id) == (
        "do it",
        "t",
        "c",
        None,
        "w",
    )
    assert flags == Flags(data_dir="d")
    assert more == {"as_json": True}


def test_a_prompt_may_begin_with_a_dash_after_two_of_them(called):
    main(["run", "--session", "s", "--", "--help"])
    _, (request, _), _ = only(called)
    assert (request.prompt, request.session_id, request.workspace_id) == ("--help", "s", "default")


def test_a_prompt_that_is_left_out_is_left_to_stdin(called):
    main(["run", "--session", "s"])
    assert only(called)[1][0].prompt is None


@pytest.mark.parametrize(
    ("words", "name", "arguments", "more"),
    [
        (
            "sessions --workspace w --json --active",
            "sessions_command",
            (ListRequest(workspace_id="w", active=True), Flags()),
            {"as_json": True},
        ),
        ("show s1", "show_command", ("s1", "default", Flags()), {"newest": 500, "as_json": False}),
        ("show s1 --newest 3", "show_command", ("s1", "default", Flags()), {"newest": 3, "as_json": False}),
        ("doctor --config c", "doctor_command", (Flags(config_file="c"),), {"as_json": False}),
        ("restore", "restore_command", (None, Flags()), {"as_json": False}),
        ("restore --from x", "restore_command", ("x", Flags()), {"as_json": False}),
    ],
)
def test_the_other_commands_hand_over_what_they_were_given(called, words, name, arguments, more):
    assert main(words.split()) == 7
    assert only(called) == (name, arguments, more)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "srve",
            (
                'greenroom: Unknown command "srve". Did you mean "serve"? Available commands: run, send, '
                "tail, side, respond, cancel, sessions, show, ... Next: greenroom --help\n"
            ),
        ),
        (
            "serve --listn x",
            "greenroom: Unknown option: --listn. Did you mean --listen? Next: greenroom serve --help\n",
        ),
        (
            "serve --transport quic",
            (
                'greenroom: Invalid value "quic" for --transport. Choose from: "wsproto", "trio-websocket". '
                "Next: greenroom serve --help\n"
            ),
        ),
        (
            "show",
            'greenroom: Command "show" parameter SESSION requires an argument. Next: greenroom show --help\n',
        ),
        ("run a b", "greenroom: Unused Tokens: ['b']. Next: greenroom run --help\n"),
    ],
)
def test_a_wrong_word_is_one_line_and_exit_code_2(called, capsys, words, said):
    assert main(words.split()) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", said)
    assert called == []


def test_a_wrong_word_is_json_where_json_was_asked_for(capsys):
    assert main(["sessions", "--json", "--nope"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["exitCode"] == 2
    assert "--nope" in error["message"]


@pytest.mark.parametrize("words", [[], ["--help"], ["serve", "--help"]])
def test_help_is_plain_text_off_a_terminal(capsys, words):
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Usage: greenroom" in out
    assert "\x1b" not in out
    assert "─" not in out


def test_the_contract_is_written_where_it_was_asked_for(capsys, tmp_path):
    assert main(["contract", "--out", str(tmp_path / "new")]) == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "errors.json",
        "errors.md",
        "events.asyncapi.json",
        "greenroom.openrpc.json",
        "greenroom.ts",
        "schema.json",
    ]
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main(["contract", "--out", str(tmp_path / "new"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["written"]) == 6
    (tmp_path / "file").touch()
    assert main(["contract", "--out", str(tmp_path / "file")]) == 1
    assert "choose another directory with --out" in capsys.readouterr().err


def test_a_reader_that_has_had_enough_ends_the_command_quietly(monkeypatch, capfd):
    def refuse(*_):
        raise BrokenPipeError

    monkeypatch.setattr("runtime.cli.application.run_application", refuse)
    monkeypatch.setattr("os.dup2", lambda *_: None)
    assert main(["sessions"]) == EXIT_BROKEN_PIPE
    assert capfd.readouterr().err == ""


def test_names_that_are_said_again_to_spare_an_import_are_the_same():
    from runtime.cli import daemon_access, version
    from runtime.service import installation, ready

    assert daemon_access.ANNOUNCEMENT_NAME == ready.ANNOUNCEMENT_FILE
    assert version.DISTRIBUTION == installation.DISTRIBUTION
    assert version.program_version() == installation.VERSION
