"""The spawner dies, is stopped, or cannot be started."""

import json
import os
import signal
from pathlib import Path

import pytest
import trio

from supervisor.process_guard import GuardLimits, LadderTimes, LaunchFailed, ProcessGuard, SpawnerUnavailable
from tests.process_guard.support import (
    alive,
    eventually,
    kill_now,
    open_descriptors,
    own_zombies,
    request,
)

AT_ONCE = LadderTimes.at_once()


def spawner_of(guard: ProcessGuard) -> int:
    assert guard.spawner_pid is not None
    return guard.spawner_pid


@pytest.mark.case("FC-30")
async def test_a_dead_spawner_is_replaced_once_and_its_reapers_live_on(guard: ProcessGuard) -> None:
    first = await guard.launch(request("cat"))
    dead = spawner_of(guard)
    before = open_descriptors()
    kill_now(dead)
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(_launch_and_close, guard)
    assert spawner_of(guard) != dead
    assert own_zombies() == []
    assert open_descriptors() == before
    await first.stdin.write(b"still served")
    assert await first.stdout.read(100) == b"still served"
    await first.close(AT_ONCE)
    assert not alive(first.pid)


async def _launch_and_close(guard: ProcessGuard) -> None:
    process = await guard.launch(request("cat"))
    await process.close(AT_ONCE)


@pytest.mark.case("FC-30")
async def test_a_spawner_that_does_not_answer_is_replaced(
    guard: ProcessGuard, mock_clock: trio.testing.MockClock
) -> None:
    first = await guard.launch(request("cat"))
    stopped = spawner_of(guard)
    os.kill(stopped, signal.SIGSTOP)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_launch_and_close, guard)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(GuardLimits().spawner_answer_seconds)
    assert not alive(stopped)
    assert first.exited is None
    await first.close(AT_ONCE)


@pytest.mark.case("FC-30")
async def test_a_spawner_that_dies_too_often_is_a_typed_error_until_the_window_has_passed(
    guard: ProcessGuard, mock_clock: trio.testing.MockClock
) -> None:
    intensity = GuardLimits().spawner_restarts
    for _ in range(intensity.restarts_max):
        kill_now(spawner_of(guard))
        await _launch_and_close(guard)
    kill_now(spawner_of(guard))
    with pytest.raises(SpawnerUnavailable):
        await guard.launch(request("cat"))
    mock_clock.jump(intensity.window_seconds)
    await _launch_and_close(guard)


async def test_a_spawner_that_cannot_be_started_is_a_typed_error(
    instances: Path, monkeypatch: pytest.MonkeyPatch, instance_id: str
) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    guard = ProcessGuard(instances, instance_id)
    before = open_descriptors()
    with pytest.raises(SpawnerUnavailable):
        guard.start()
    assert open_descriptors() == before


async def test_nothing_is_launched_before_start_or_after_close(instances: Path, instance_id: str) -> None:
    guard = ProcessGuard(instances, instance_id)
    with pytest.raises(SpawnerUnavailable):
        await guard.launch(request("cat"))
    guard.start()
    await guard.close()
    with pytest.raises(SpawnerUnavailable):
        await guard.launch(request("cat"))


async def test_nothing_is_launched_that_cannot_be_recorded(instances: Path, instance_id: str) -> None:
    file = FullDisk("reaperPid")
    guard = ProcessGuard(instances, instance_id, record_file=file)
    guard.start()
    before = open_descriptors()
    file.full = True
    with pytest.raises(LaunchFailed):
        await guard.launch(request("cat"))
    await eventually(
        lambda: not Path(f"/proc/{spawner_of(guard)}/task/{spawner_of(guard)}/children").read_text()
    )
    assert open_descriptors() == before
    file.full = False
    await _launch_and_close(guard)
    await guard.close()


async def test_a_provider_that_cannot_be_recorded_is_gone_when_its_launch_fails(
    instances: Path, instance_id: str
) -> None:
    file = FullDisk("providerPid")
    guard = ProcessGuard(instances, instance_id, record_file=file)
    guard.start()
    file.full = True
    with pytest.raises(LaunchFailed):
        await guard.launch(request("sleep", "60"))
    assert file.refused is not None
    assert not alive(file.refused)
    await guard.close()


class FullDisk:
    """A record file on a disk that can be full."""

    def __init__(self, refused_key: str) -> None:
        self.refused_key = refused_key
        self.full = False
        self.refused: int | None = None

    def append(self, text: str) -> None:
        if self.full and self.refused_key in text:
            self.refused = json.loads(text)[self.refused_key]
            raise OSError(28, "No space left on device")

    def rewrite(self, text: str) -> None:
        pass

    def remove(self) -> None:
        pass
