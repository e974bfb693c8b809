"""kill -9 of the daemon, of its spawner and its reapers in every order, and the sweep of the next start."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from supervisor.process_guard import sweep
from tests.process_guard.support import (
    HERE,
    STUBBORN_ROLES,
    StubbornTree,
    alive,
    eventually,
    kill_now,
    stubborn_argv,
    stubborn_tree,
)


class Daemon:
    """A helper process that runs a process guard with one stubborn provider."""

    def __init__(self, instances: Path, instance_id: str, tree: StubbornTree) -> None:
        paths = [str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            [
                sys.executable,
                str(HERE / "guard_daemon.py"),
                str(instances),
                instance_id,
                *stubborn_argv(tree.folder),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        self.facts: dict[str, Any] = {}

    def read_facts(self) -> None:
        assert self._process.stdout is not None
        self.facts = json.loads(self._process.stdout.readline())
        assert self.facts["ready"] == "ready\n"

    @property
    def spawner(self) -> int:
        return int(self.facts["spawner"])

    @property
    def reaper(self) -> int:
        return int(self.facts["reaper"])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        if self._process.poll() is None:
            self.kill()
        if self.facts:
            kill_now(self.reaper, self.spawner)
        assert self._process.stdout is not None
        self._process.stdout.close()


StartDaemon = Callable[..., Awaitable[Daemon]]


@pytest.fixture
async def start_daemon(instances: Path, instance_id: str) -> AsyncIterator[StartDaemon]:
    daemons: list[Daemon] = []

    async def start(tree: StubbornTree, successor: str = "") -> Daemon:
        daemon = Daemon(instances, instance_id + successor, tree)
        daemons.append(daemon)
        await trio.to_thread.run_sync(daemon.read_facts)
        return daemon

    yield start
    for daemon in daemons:
        daemon.end()


@pytest.mark.case("FC-03")
async def test_nothing_outlives_a_killed_daemon(
    start_daemon: StartDaemon, tmp_path: Path, instances: Path, instance_id: str
) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        daemon = await start_daemon(tree)
        assert tree.survivors().keys() == STUBBORN_ROLES
        daemon.kill()
        await eventually(lambda: not tree.survivors())
        await eventually(lambda: not alive(daemon.reaper) and not alive(daemon.spawner))
        report = await sweep(instances, own_instance_id="new")
        assert report.instances == (instance_id,)
        assert (report.ended, report.unproven, report.remaining) == ((), (), ())
        assert list(instances.iterdir()) == []


@pytest.mark.case("FC-03")
async def test_a_spawner_killed_first_harms_no_reaper_and_saves_no_provider(
    start_daemon: StartDaemon, tmp_path: Path
) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        daemon = await start_daemon(tree)
        kill_now(daemon.spawner)
        assert tree.survivors().keys() == STUBBORN_ROLES
        assert alive(daemon.reaper)
        daemon.kill()
        await eventually(lambda: not tree.survivors() and not alive(daemon.reaper))


@pytest.mark.case("FC-03")
async def test_a_stopped_reaper_does_not_save_its_provider_from_the_daemons_death(
    start_daemon: StartDaemon, tmp_path: Path
) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        daemon = await start_daemon(tree)
        os.kill(daemon.reaper, signal.SIGSTOP)
        daemon.kill()
        await eventually(
            lambda: not tree.survivors() and not alive(daemon.reaper) and not alive(daemon.spawner)
        )


@pytest.mark.case("FC-03")
async def test_next_start_ends_what_is_left_when_everything_that_guarded_it_was_killed(
    start_daemon: StartDaemon, tmp_path: Path, instance_id: str
) -> None:
    with stubborn_tree(tmp_path / "tree") as tree, stubborn_tree(tmp_path / "next") as next_tree:
        daemon = await start_daemon(tree)
        # this one carries no mark, so only a reaper or the spawner could have ended it
        kill_now(*tree.pids()["forgetful"])
        kill_now(daemon.spawner, daemon.reaper)
        daemon.kill()
        orphans = ("plain", "session", "double", "respawner")  # the provider itself followed its reaper
        left = tree.survivors()
        assert left.keys() >= set(orphans)

        successor = await start_daemon(next_tree, "-successor")
        assert tree.survivors() == {}
        assert successor.facts["instances"] == [instance_id]
        assert set(successor.facts["swept"]) >= {pid for role in orphans for pid in left[role]}
        assert next_tree.survivors().keys() == STUBBORN_ROLES


@pytest.mark.case("FC-03")
async def test_next_start_ends_stopped_guards_with_their_tree(
    start_daemon: StartDaemon, tmp_path: Path, instances: Path
) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        daemon = await start_daemon(tree)
        for pid in (daemon.spawner, daemon.reaper):
            os.kill(pid, signal.SIGSTOP)
        daemon.kill()
        assert tree.survivors().keys() == STUBBORN_ROLES
        report = await sweep(instances, own_instance_id="new")
        assert tree.survivors() == {}
        assert not alive(daemon.reaper)
        assert not alive(daemon.spawner)
        assert report.remaining == ()
        assert {daemon.reaper, daemon.spawner} <= {identity.pid for identity in report.ended}
