"""Starts that must be refused without touching anything, and stops in the middle of everything (`contract §1`)."""

import hashlib
import json
import shutil
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trio

from runtime.simulation import checkers
from runtime.simulation.contents import Contents, read_contents
from store.connection import open_for_reading, open_for_writing
from store.open import DATABASE_FILE_NAME
from store.reader import SqliteReader
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import COMMAND, Daemon
from tests.end_to_end.fixtures import MakeDaemon, agent
from tests.end_to_end.talk import Talk, start, text_of
from tests.trouble.beside import takes_prompts

WORKSPACE = "w"
RUNNING = 20
STORED = 1000

WITHOUT_POWERS = """
import ctypes, os, sys
prctl = ctypes.CDLL(None).prctl
for capability in (1, 2):  # DAC_OVERRIDE and DAC_READ_SEARCH: root then obeys the modes of files
    prctl(24, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Talk]]:
    """The data of a daemon that was killed in the middle of a turn, and the session it was in."""
    daemon = Daemon(tmp_path_factory.mktemp("killed"))
    daemon.start()

    async def live() -> Talk:
        async with connected(daemon) as client:
            await client.subscribe(WORKSPACE)
            talk = await start(client, WORKSPACE, "[[say in the middle]][[hang]]")
            await client.event("message_delta", agentSessionId=talk.session_id)
            return talk

    talk = trio.run(live)
    daemon.kill()
    assert daemon.providers_left() == []
    yield daemon.data_dir, talk
    daemon.end()


@pytest.fixture
def daemon(killed: tuple[Path, Talk], make_daemon: MakeDaemon) -> Daemon:
    """A daemon, not started, on a copy of that data."""
    one = make_daemon(start=False)
    shutil.copytree(killed[0], one.data_dir)
    return one


def refusal(daemon: Daemon, code: int) -> str:
    """The one line it refuses to start with."""
    before = daemon.log_file.stat().st_size if daemon.log_file.exists() else 0
    assert daemon.run_to_end() == code, daemon.log_tail()
    said = daemon.log_file.read_bytes()[before:].decode()
    assert len(said.splitlines()) == 1, said
    return said


def digest(data_dir: Path) -> dict[str, str]:
    """The database and its log as they are on the disk; the shared index beside them is rebuilt at every look."""
    files = [data_dir / f"{DATABASE_FILE_NAME}{suffix}" for suffix in ("", "-wal")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.exists()}


def contents_of(daemon: Daemon) -> Contents:
    path = daemon.data_dir / DATABASE_FILE_NAME
    connection = open_for_reading(path)
    try:
        return read_contents(SqliteReader(connection, path), WORKSPACE)
    finally:
        connection.close()


async def settled_by_restart(daemon: Daemon, talk: Talk) -> None:
    async with connected(daemon) as client:
        await client.subscribe(WORKSPACE)
        read = await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"])
        assert (read["turn"]["phase"], read["turn"]["outcome"]) == ("settled", "interrupted")
        await takes_prompts(Talk(client, talk.key, talk.created))


# --- starts -------------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-33")
async def test_taken_port_is_told_before_anything_is_settled(
    killed: tuple[Path, Talk], daemon: Daemon
) -> None:
    before = digest(daemon.data_dir)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        daemon.listen = f"127.0.0.1:{taken.getsockname()[1]}"
        assert daemon.listen in refusal(daemon, 5)
    assert digest(daemon.data_dir) == before
    daemon.start()
    await settled_by_restart(daemon, killed[1])


@pytest.mark.case("FC-32")
async def test_of_five_started_at_one_instant_exactly_one_runs(
    killed: tuple[Path, Talk], daemon: Daemon
) -> None:
    daemons = [daemon, *(Daemon(daemon.folder) for _ in range(4))]

    def outcome(one: Daemon) -> str:
        try:
            one.start()
        except AssertionError as ended:
            return str(ended).partition("\n")[0]
        return "runs"

    with ThreadPoolExecutor(len(daemons)) as threads:
        outcomes = list(threads.map(outcome, daemons))
    assert sorted(outcomes) == ["runs", *["the daemon ended with 3 before it was ready"] * 4]
    winner = daemons[outcomes.index("runs")]
    assert daemon.log_file.read_text().count(f"is in use by process {winner.pid}") == 4
    await settled_by_restart(winner, killed[1])
    winner.kill()
    successor = Daemon(daemon.folder)
    successor.start()
    successor.end()


async def test_log_whose_database_is_gone_is_no_reason_to_begin_anew(
    killed: tuple[Path, Talk], daemon: Daemon
) -> None:
    path = daemon.data_dir / DATABASE_FILE_NAME
    database = path.read_bytes()
    path.unlink()
    before = digest(daemon.data_dir)
    assert "greenroom restore" in refusal(daemon, 4)
    assert digest(daemon.data_dir) == before
    path.write_bytes(database)
    daemon.start()
    await settled_by_restart(daemon, killed[1])


async def test_damaged_database_is_refused_and_left_as_it_is(daemon: Daemon) -> None:
    daemon.start()
    assert daemon.stop() == 0
    path = daemon.data_dir / DATABASE_FILE_NAME
    sound = path.read_bytes()
    flipped = bytearray(sound)
    flipped[len(sound) // 2] ^= 0x10
    for spoiled in (bytes(flipped), sound[: len(sound) // 2]):
        path.write_bytes(spoiled)
        said = refusal(daemon, 4)
        assert "is damaged" in said
        assert said.count("greenroom restore") == 1
        assert path.read_bytes() == spoiled


async def test_database_of_a_newer_program_is_refused_and_left_as_it_is(daemon: Daemon) -> None:
    daemon.start()
    assert daemon.stop() == 0
    path = daemon.data_dir / DATABASE_FILE_NAME
    connection = open_for_writing(path)
    connection.pragma("user_version", 999)
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    before = digest(daemon.data_dir)
    said = refusal(daemon, 4)
    assert "schema version 999" in said
    assert "greenroom restore" not in said
    assert digest(daemon.data_dir) == before


async def test_data_directory_that_cannot_be_written_is_refused_by_name(daemon: Daemon) -> None:
    daemon.command = (sys.executable, "-c", WITHOUT_POWERS, *COMMAND)
    before = digest(daemon.data_dir)
    for path in (*daemon.data_dir.iterdir(), daemon.data_dir):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        said = refusal(daemon, 2)
        assert str(daemon.data_dir) in said
        assert digest(daemon.data_dir) == before
    finally:
        daemon.data_dir.chmod(0o700)


def test_announcement_comes_with_the_daemon_and_goes_with_it(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    announced = daemon.data_dir / "daemon.json"
    assert json.loads(announced.read_text()) == daemon.ready
    assert stat.S_IMODE(announced.stat().st_mode) == 0o600
    daemon.kill()
    daemon.start()
    assert json.loads(announced.read_text())["pid"] == daemon.pid
    assert daemon.stop() == 0
    assert not announced.exists()
    assert not list((daemon.data_dir / "instances").iterdir())


@pytest.mark.case("FC-47")
async def test_many_stored_sessions_do_not_keep_a_start_from_serving(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon, check_shapes=False) as client:
        sent = []
        for number in range(STORED):
            params = {"workspaceId": WORKSPACE, "agentTargetId": "demo", "clientSubmitId": f"stored-{number}"}
            sent.append(await client.send("session/create", **params))
            if number % 100 == 99:
                await sent[-1].result()
        talk = await start(client, WORKSPACE, "[[say one of many]]")
    assert daemon.stop() == 0
    began = time.monotonic()
    daemon.start()
    print(f"{STORED} stored sessions: ready after {time.monotonic() - began:.2f} s")
    async with connected(daemon) as client:
        await client.subscribe(WORKSPACE)
        listed = await client.request("session/list", workspaceId=WORKSPACE, limit=200)
        assert len(listed["items"]) == 200
        assert listed["nextCursor"]
        health = await client.request("health/read")
        assert (health["status"], health["live"]["sessions"], health["live"]["connections"]) == ("ok", 0, 0)
        await takes_prompts(Talk(client, talk.key, talk.created))


# --- stops --------------------------------------------------------------------------------------------------------

STATES = (
    "[[stream 100000 delay=10]]",
    "[[say asking]][[ask allow_once,reject_once]]",
    "[[ignore-cancel]][[say defiant]][[hang]]",
    "[[say silent]][[tool build status=running]][[hang]]",
)


async def begin_everything(client: Client, sessions: int) -> list[Talk]:
    """Sessions with a turn each, all of them heard of."""
    await client.subscribe(WORKSPACE)
    talks = [
        await start(
            client, WORKSPACE, STATES[number % len(STATES)], target="logged", clientSubmitId=f"s{number}"
        )
        for number in range(sessions)
    ]
    for talk in talks:
        await client.event("message_delta", agentSessionId=talk.session_id)
    for talk in talks[1 :: len(STATES)]:
        await talk.pending()
    return talks


async def test_clean_stop_in_the_middle_of_twenty_turns_keeps_everything_said(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon(start=False)
    daemon.settings = {
        "limits": {"shutdownGraceSeconds": 5},
        "targets": [agent("logged", daemon.folder), agent("deaf", daemon.folder, DEMO_NO_INITIALIZE="1")],
    }
    daemon.start()
    async with connected(daemon) as client:
        talks = await begin_everything(client, RUNNING)
        starting = await start(client, WORKSPACE, "never heard", target="deaf", clientSubmitId="starting")
        assert await trio.to_thread.run_sync(daemon.stop) == 0
        assert daemon.providers() == []
        code, _ = await client.end()
        assert code == 1001
        heard = {talk.session_id: _heard(client, talk) for talk in talks}

    contents = contents_of(daemon)
    assert not list(checkers.nothing_is_open(contents, "after a clean stop"))
    assert len(contents.turns) == RUNNING + 1
    for turn in contents.turns.values():
        heard_of = turn["turnId"] != starting.turn["turnId"]
        assert turn["outcome"] == "interrupted"
        assert turn["delivery"] == ("accepted" if heard_of else "not_dispatched")
    for message in contents.messages.values():
        if message["kind"] == "text" and message["role"] == "assistant":
            assert text_of(message).startswith(heard[message["agentSessionId"]])
            assert message["status"] in ("interrupted", "completed")
    assert {row["status"] for row in contents.interactions.values()} == {"superseded"}


async def test_second_signal_ends_a_slow_stop_at_once_and_loses_nothing(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    daemon.settings = {
        "limits": {"shutdownGraceSeconds": 60, "writeBehindMs": 50},
        "targets": [agent("logged", daemon.folder, DEMO_STUBBORN="1")],
    }
    daemon.start()
    async with connected(daemon) as client:
        talks = await begin_everything(client, len(STATES))
        daemon.signal(signal.SIGTERM)
        # The stubborn agents are being talked into ending; nobody waits for that any more.
        await client.event("runtime_activity", runtimeState="closing")
        assert await trio.to_thread.run_sync(daemon.stop) == 0
    assert daemon.providers_left() == []
    assert any(line.get("at_once") for line in daemon.log_lines())
    assert len(contents_of(daemon).turns) == len(STATES)
    daemon.start()
    assert not list(checkers.nothing_is_open(contents_of(daemon), "after a restart"))
    async with connected(daemon) as client:
        await client.subscribe(WORKSPACE)
        await takes_prompts(Talk(client, talks[0].key, talks[0].created))


def _heard(client: Client, talk: Talk) -> str:
    deltas = client.events("message_delta", agentSessionId=talk.session_id, kind="text")
    return "".join(delta["text"] for delta in deltas)
