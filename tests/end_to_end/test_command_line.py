"""The command line as people and service managers use it: real processes, exit codes, streams, signals (contract §1)."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.end_to_end.daemon import PATH, Daemon, poll_until

GREENROOM = (sys.executable, "-c", "import sys; from runtime.cli import main; sys.exit(main())")
SECONDS = 40.0
"""How long a command may take on a busy machine; none is expected to."""


@attrs.frozen
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@attrs.define(eq=False)
class Running:
    """A command on its way; what it wrote is read from files, so that nothing blocks it."""

    process: subprocess.Popen
    out_file: Path
    err_file: Path

    @property
    def out(self) -> str:
        return self.out_file.read_text()

    @property
    def err(self) -> str:
        return self.err_file.read_text()

    def said(self, text: str) -> bool:
        return poll_until(
            lambda: text in self.out or text in self.err or self.process.poll() is not None, SECONDS
        )

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> Ended:
        code = self.process.wait(SECONDS)
        return Ended(code, self.out, self.err)


@attrs.define(eq=False)
class User:
    """A person with a home and a data directory, who types commands."""

    folder: Path
    started: list[Running] = attrs.field(factory=list)

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def start(self, *words: str, stdin=subprocess.DEVNULL) -> Running:
        self.home.mkdir(exist_ok=True)
        number = len(self.started)
        out_file, err_file = self.folder / f"{number}.out", self.folder / f"{number}.err"
        with out_file.open("wb") as out, err_file.open("wb") as err:
            process = subprocess.Popen(
                (*GREENROOM, *words, "--data-dir", str(self.data_dir)),
                stdin=stdin,
                stdout=out,
                stderr=err,
                cwd=self.home,
                env={"HOME": str(self.home), "PATH": PATH, "LANG": "C.UTF-8"},
                start_new_session=True,
            )
        self.started.append(Running(process, out_file, err_file))
        return self.started[-1]

    def do(self, *words: str) -> Ended:
        return self.start(*words).ended()

    def serve(self, *words: str) -> tuple[Running, dict]:
        """A daemon, once it is ready."""
        running = self.start("serve", "--listen", "127.0.0.1:0", *words)
        assert running.said("\n")
        assert running.process.poll() is None, running.err
        return running, json.loads(running.out)

    def providers(self) -> list[int]:
        looking = Daemon(self.folder)
        return looking.providers_left()


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    user = User(tmp_path)
    yield user
    for running in user.started:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
    assert user.providers() == []


@pytest.fixture
def served(user: User) -> dict:
    """A daemon on the user's data directory; its ready line."""
    return user.serve()[1]


# --- serve ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_ready_line_then_a_clean_stop_by_signal(user, number):
    daemon, ready = user.serve()
    assert ready == {
        "event": "ready",
        "pid": daemon.process.pid,
        "url": ready["url"],
        "console": ready["console"],
        "tokenFile": str(user.data_dir / "token"),
        "dataDir": str(user.data_dir),
    }
    assert ready["url"].startswith("ws://127.0.0.1:")
    announced = user.data_dir / "daemon.json"
    assert json.loads(announced.read_text()) == ready
    assert announced.stat().st_mode & 0o777 == 0o600
    daemon.signal(number)
    ended = daemon.ended()
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 1
    assert not announced.exists()
    assert all(json.loads(line)["event"] for line in ended.err.splitlines())


def test_a_second_signal_stops_at_once_with_nothing_left(user):
    daemon, _ = user.serve()
    turn = user.start("run", "[[hang]]")
    assert poll_until(lambda: '"provider ready"' in daemon.err, SECONDS)
    daemon.signal(signal.SIGTERM)
    assert poll_until(lambda: "SIGTERM" in daemon.err, SECONDS)
    daemon.signal(signal.SIGTERM)
    assert daemon.ended().code == 0
    assert turn.ended().code == 1
    assert user.providers() == []
    assert user.do("sessions").code == 0


def test_a_hangup_does_not_end_the_daemon(user):
    daemon, _ = user.serve()
    daemon.signal(signal.SIGHUP)
    assert poll_until(lambda: "tokens read again" in daemon.err, SECONDS)
    assert user.do("sessions").code == 0


@pytest.mark.case("FC-32")
def test_a_second_daemon_on_the_directory_is_exit_code_3_and_the_first_notices_nothing(user):
    daemon, ready = user.serve()
    second = user.do("serve", "--listen", "127.0.0.1:0")
    assert second.code == 3
    assert second.out == ""
    assert f"is in use by process {daemon.process.pid}" in second.err
    assert len(second.err.splitlines()) == 1
    assert user.do("run", "still there?").code == 0
    assert json.loads((user.data_dir / "daemon.json").read_text()) == ready
    daemon.process.kill()
    daemon.process.wait()
    user.serve()


@pytest.mark.case("FC-33")
def test_a_taken_port_is_exit_code_5_before_anything_else(user):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = user.do("serve", "--listen", address)
    assert refused.code == 5
    assert refused.out == ""
    assert address in refused.err
    assert len(refused.err.splitlines()) == 1
    assert not (user.data_dir / "greenroom.db").exists()
    user.serve()  # the lock is free again


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = 1", "colour: is unknown"),
        ("[limits]\npingSeconds = 0", "limits.pingSeconds: must be above 0"),
    ],
)
def test_a_wrong_configuration_is_exit_code_2_and_one_line(user, text, said):
    config = user.folder / "config.toml"
    config.write_text(text)
    refused = user.do("serve", "--config", str(config))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"greenroom: {config}: {said}")
    assert len(refused.err.splitlines()) == 1
    assert not user.data_dir.exists()


def test_a_damaged_database_is_exit_code_4_and_restore_is_the_way_out(user):
    user.data_dir.mkdir(mode=0o700)
    database = user.data_dir / "greenroom.db"
    assert user.do("run", "remember me").code == 0
    backup = user.folder / "backup.db"
    backup.write_bytes(database.read_bytes())
    garbage = b"garbage " * 10_000
    database.write_bytes(garbage)
    refused = user.do("serve", "--listen", "127.0.0.1:0")
    assert refused.code == 4
    assert len(refused.err.splitlines()) == 1
    assert "greenroom restore" in refused.err
    assert database.read_bytes() == garbage
    assert user.do("restore", "--from", str(backup)).code == 0
    listed = user.do("sessions", "--json")
    assert len(json.loads(listed.out)["items"]) == 1
    assert (user.data_dir / "greenroom.db.set-aside-1").read_bytes() == garbage


# --- run, sessions, show ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("served")
def test_a_prompt_through_the_running_daemon_can_be_listed_shown_and_continued(user):
    first = user.do("run", "hello there")
    assert first.code == 0
    assert "You said: “hello there”." in first.out
    listed = user.do("sessions", "--json")
    (session,) = json.loads(listed.out)["items"]
    session_id = session["agentSessionId"]
    assert f"greenroom run --session {session_id}" in first.err
    assert session["agentTargetId"] == "demo"
    assert session["cwd"].startswith(str(user.home / "greenroom"))
    again = user.do("run", "--session", session_id, "and again")
    assert again.code == 0
    assert "“and again”" in again.out
    shown = user.do("show", session_id)
    assert shown.code == 0
    assert [line for line in shown.out.splitlines() if line.startswith("> ")] == [
        "> hello there",
        "> and again",
    ]
    detail = json.loads(user.do("show", session_id, "--json").out)
    assert [turn["outcome"] for turn in detail["turns"]] == ["completed", "completed"]


def test_without_a_daemon_a_prompt_brings_its_own_and_leaves_nothing_behind(user):
    first = user.do("run", "alone")
    assert first.code == 0
    assert "“alone”" in first.out
    assert not (user.data_dir / "daemon.json").exists()
    assert user.providers() == []
    listed = user.do("sessions")
    assert listed.code == 0
    assert len(listed.out.splitlines()) == 2


def test_the_announcement_of_a_daemon_that_was_killed_is_no_obstacle(user):
    daemon, _ = user.serve()
    daemon.process.kill()
    daemon.process.wait()
    assert (user.data_dir / "daemon.json").exists()
    assert user.do("run", "hello").code == 0


@pytest.mark.usefixtures("served")
def test_events_come_as_json_lines(user):
    ended = user.do("run", "--json", "hello")
    assert ended.code == 0
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert {event["type"] for event in events} >= {"commit", "message_delta"}
    rows = [change["row"] for event in events if event["type"] == "commit" for change in event["changes"]]
    assert any(row.get("outcome") == "completed" for row in rows)


@pytest.mark.usefixtures("served")
def test_off_a_terminal_what_the_agent_asks_is_refused_aloud(user):
    ended = user.do("run", "[[ask allow_once,reject_once]]")
    assert "refused 'make demo': nobody could be asked" in ended.err
    assert "Permission: reject_once" in ended.out


@pytest.mark.usefixtures("served")
def test_at_a_terminal_the_person_decides(user):
    person, terminal = pty.openpty()
    try:
        running = subprocess.Popen(
            (*GREENROOM, "run", "[[ask allow_once,reject_once]]", "--data-dir", str(user.data_dir)),
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env={"HOME": str(user.home), "PATH": PATH, "LANG": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"},
            start_new_session=True,
        )
        try:
            seen = b""
            while b"Answer 1 to 2" not in seen:
                seen += os.read(person, 4096)
            os.write(person, b"1\n")
            out, _ = running.communicate(timeout=SECONDS)
        finally:
            running.kill()
            running.wait()
    finally:
        os.close(person)
        os.close(terminal)
    assert b"1) " in seen
    assert running.returncode == 0
    assert b"Permission: allow_once" in out


@pytest.mark.usefixtures("served")
def test_ctrl_c_cancels_the_turn_and_says_so(user):
    running = user.start("run", "[[stream 1]] [[hang]]")
    assert running.said("0 xxx")
    running.signal(signal.SIGINT)
    ended = running.ended()
    assert ended.code == 130
    assert "was canceled" in ended.err
    (session,) = json.loads(user.do("sessions", "--json").out)["items"]
    assert session["activity"]["phase"] is None
    shown = user.do("show", session["agentSessionId"])
    assert "canceled" in shown.out
    assert user.do("run", "--session", session["agentSessionId"], "go on").code == 0


def test_ctrl_c_in_a_prompt_with_a_daemon_of_its_own_leaves_no_process(user):
    running = user.start("run", "[[stream 1]] [[hang]]")
    assert running.said("0 xxx")
    running.signal(signal.SIGINT)
    assert running.ended().code == 130
    assert user.providers() == []
    assert not (user.data_dir / "daemon.json").exists()


@pytest.mark.usefixtures("served")
def test_a_failed_turn_is_exit_code_1_with_its_typed_code(user):
    ended = user.do("run", "[[crash]]")
    assert ended.code == 1
    assert "(provider.lost)" in ended.err
    assert "Next: " in ended.err


@pytest.mark.usefixtures("served")
def test_unknown_sessions_targets_and_directories_are_named(user):
    missing = str(user.folder / "missing")
    for words, said in (
        (("show", "nope"), "session nope: There is no such session (session.not_found)"),
        (("run", "--session", "nope", "hi"), "session nope: There is no such session (session.not_found)"),
        (("run", "--target", "nope", "hi"), "target nope: There is no such target (target.not_found)"),
        (("run", "--cwd", missing, "hi"), f"(session.cwd_missing). Next: make the directory {missing}"),
    ):
        ended = user.do(*words)
        assert ended.code == 1
        assert said in ended.err


def test_the_doctor_finds_a_fresh_user_healthy(user):
    ended = user.do("doctor", "--json")
    assert ended.code == 0
    assert {finding["verdict"] for finding in json.loads(ended.out)["findings"]} <= {"ok", "note"}
