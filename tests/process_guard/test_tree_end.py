"""The end of a whole process tree while the daemon lives, however it resists."""

import os
import signal
from pathlib import Path

import pytest
import trio

from supervisor.process_guard import (
    CloseFailed,
    ExitStatus,
    LadderTimes,
    LaunchRequest,
    ProcessGuard,
)
from supervisor.process_guard.process_table import LinuxProcessTable
from supervisor.process_guard.provider_process import ProviderProcess
from tests.process_guard.support import (
    ENVIRONMENT,
    STUBBORN_ROLES,
    StubbornTree,
    alive,
    eventually,
    kill_now,
    own_zombies,
    python,
    request,
    stubborn_argv,
    stubborn_tree,
)

AT_ONCE = LadderTimes.at_once()
IMPATIENT = LadderTimes(protocol_close_seconds=0.1, stdin_close_seconds=0.1, terminate_seconds=0.1)
UNTIL_TERM = LadderTimes(protocol_close_seconds=0.1, stdin_close_seconds=0.1, terminate_seconds=5)
PATIENT = LadderTimes(protocol_close_seconds=5, stdin_close_seconds=5)


async def launch_stubborn(guard: ProcessGuard, tree: StubbornTree) -> ProviderProcess:
    process = await guard.launch(LaunchRequest(stubborn_argv(tree.folder), "/", ENVIRONMENT, "stubborn"))
    assert await process.stdout.read(100) == b"ready\n"
    assert tree.survivors().keys() == STUBBORN_ROLES
    return process


@pytest.mark.case("FC-03")
async def test_close_leaves_nothing_of_a_tree_that_ignores_everything(
    guard: ProcessGuard, tmp_path: Path
) -> None:
    bystander = await guard.launch(request("cat"))
    with stubborn_tree(tmp_path / "tree") as tree:
        process = await launch_stubborn(guard, tree)
        assert await process.close(IMPATIENT) == ExitStatus(None, signal.SIGKILL)
        assert tree.survivors() == {}
        assert own_zombies() == []
        await eventually(lambda: not alive(process.reaper_pid))
    await bystander.stdin.write(b"untouched")
    assert await bystander.stdout.read(100) == b"untouched"
    await bystander.close(AT_ONCE)


@pytest.mark.case("FC-03")
async def test_what_a_provider_leaves_behind_ends_with_it(guard: ProcessGuard, tmp_path: Path) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        process = await launch_stubborn(guard, tree)
        kill_now(process.pid)
        assert await process.wait() == ExitStatus(None, signal.SIGKILL)
        await eventually(lambda: not tree.survivors())
        await process.close(AT_ONCE)


@pytest.mark.case("FC-03")
async def test_a_killed_reaper_takes_its_tree_along_at_once(guard: ProcessGuard, tmp_path: Path) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        process = await launch_stubborn(guard, tree)
        kill_now(process.reaper_pid)
        assert await process.wait() == ExitStatus()
        await eventually(lambda: not tree.survivors())
        assert await process.close(AT_ONCE) == ExitStatus()


@pytest.mark.case("FC-03")
async def test_a_stopped_reaper_is_passed_over(guard: ProcessGuard, tmp_path: Path) -> None:
    with stubborn_tree(tmp_path / "tree") as tree:
        process = await launch_stubborn(guard, tree)
        os.kill(process.reaper_pid, signal.SIGSTOP)
        await process.close(LadderTimes(0, 0, 0, kill_seconds=0.1))
        assert tree.survivors() == {}
        assert not alive(process.reaper_pid)


@pytest.mark.case("FC-03")
async def test_without_spawner_and_reaper_the_mark_still_finds_the_tree(
    guard: ProcessGuard, tmp_path: Path
) -> None:
    bystander = await guard.launch(request("cat"))
    with stubborn_tree(tmp_path / "tree") as tree:
        process = await launch_stubborn(guard, tree)
        assert guard.spawner_pid is not None
        kill_now(guard.spawner_pid, process.reaper_pid)
        await process.wait()
        await eventually(lambda: not alive(process.pid))  # the provider itself follows its reaper
        assert tree.survivors().keys() >= {"plain", "session", "double"}
        await process.close(AT_ONCE)
        # without mark and without reaper nothing says whose it is
        assert tree.survivors().keys() <= {"forgetful"}
    assert bystander.exited is None
    await bystander.close(AT_ONCE)


async def test_steps_are_taken_only_as_far_as_needed(guard: ProcessGuard) -> None:
    polite = await guard.launch(request("cat"))
    assert await polite.close(PATIENT) == ExitStatus(0)

    listening = await guard.launch(python("import sys; sys.exit(int(sys.stdin.readline()))"))
    assert await listening.close(PATIENT, lambda: listening.stdin.write(b"7\n")) == ExitStatus(7)

    deaf = await guard.launch(python("import time; print(flush=True); time.sleep(60)"))
    await deaf.stdout.read(1)
    assert await deaf.close(UNTIL_TERM) == ExitStatus(None, signal.SIGTERM)


async def test_terminate_reaches_the_group_and_not_other_sessions(guard: ProcessGuard) -> None:
    script = """
        trap 'kill -0 $! && exit 9 || exit 1' TERM
        setsid sh -c 'echo ready; exec sleep 60' &
        while :; do sleep 0.01; done
    """
    process = await guard.launch(request("sh", "-c", script))
    await process.stdout.read(100)
    process.terminate()
    assert await process.wait() == ExitStatus(9)
    await process.close(AT_ONCE)
    process.terminate()  # of no effect any more
    process.kill_tree()


@pytest.mark.case("FC-25")
async def test_a_protocol_close_to_a_deaf_provider_does_not_stop_the_ladder(guard: ProcessGuard) -> None:
    process = await guard.launch(python("import os, time; os.close(0); print(flush=True); time.sleep(60)"))
    await process.stdout.read(1)
    assert await process.close(UNTIL_TERM, lambda: process.stdin.write(b"bye\n")) == ExitStatus(
        None, signal.SIGTERM
    )


async def test_a_cancelled_close_is_still_a_close(guard: ProcessGuard) -> None:
    process = await guard.launch(request("cat"))
    with trio.CancelScope() as scope:
        scope.cancel()
        await process.close(PATIENT)
    assert process.exited == ExitStatus(0)
    assert not alive(process.pid)


async def test_closing_twice_at_once_is_closing_once(guard: ProcessGuard) -> None:
    process = await guard.launch(request("cat"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.close, PATIENT)
        nursery.start_soon(process.close, PATIENT)
    assert await process.close(AT_ONCE) == ExitStatus(0)


class PowerlessTable(LinuxProcessTable):
    """A table whose kills have no effect, as on processes of another user."""

    powerless = True

    def kill_all(self, victims: object) -> None:
        if not self.powerless:
            super().kill_all(victims)  # type: ignore[arg-type]


@pytest.mark.rule("RT-121")
async def test_a_close_that_fails_says_so_and_can_be_tried_again(instances: Path, instance_id: str) -> None:
    table = PowerlessTable()
    guard = ProcessGuard(instances, instance_id, table=table)
    guard.start()
    process = await guard.launch(request("sleep", "60"))
    os.kill(process.reaper_pid, signal.SIGSTOP)
    with pytest.raises(CloseFailed) as failure:
        await process.close(LadderTimes(0, 0, 0, kill_seconds=0.05, last_resort_seconds=0.05))
    assert process.pid in failure.value.remaining
    table.powerless = False
    await process.close(AT_ONCE)
    assert not alive(process.pid)
    assert not alive(process.reaper_pid)
    await guard.close()


@pytest.mark.case("FC-03")
async def test_guard_close_ends_what_nobody_closed_and_keeps_its_record(
    instances: Path, tmp_path: Path, instance_id: str
) -> None:
    guard = ProcessGuard(instances, instance_id)
    guard.start()
    with stubborn_tree(tmp_path / "tree") as tree:
        process = await launch_stubborn(guard, tree)
        await guard.close()
        assert tree.survivors() == {}
        assert process.exited == ExitStatus(None, signal.SIGKILL)
    assert [path.name for path in instances.iterdir()] == [f"{instance_id}.jsonl"]
    await process.close(AT_ONCE)


async def test_guard_close_removes_the_record_of_an_instance_that_left_nothing(
    instances: Path, instance_id: str
) -> None:
    guard = ProcessGuard(instances, instance_id)
    guard.start()
    spawner = guard.spawner_pid
    assert spawner is not None
    process = await guard.launch(request("cat"))
    assert [path.name for path in instances.iterdir()] == [f"{instance_id}.jsonl"]
    await process.close(AT_ONCE)
    await guard.close()
    assert list(instances.iterdir()) == []
    assert not alive(spawner)
    assert own_zombies() == []
