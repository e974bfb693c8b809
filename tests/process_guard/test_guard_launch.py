"""Launching: what a provider gets, what an end looks like, what a failed launch says and leaves."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
import trio

from supervisor.process_guard import (
    ExitStatus,
    GuardLimits,
    LadderTimes,
    LaunchFailed,
    ProcessGuard,
    ProgramNotExecutable,
    ProgramNotFound,
    WorkingDirectoryMissing,
)
from tests.process_guard.support import (
    ENVIRONMENT,
    alive,
    eventually,
    kill_now,
    open_descriptors,
    own_zombies,
    python,
    read_all,
    request,
)

AT_ONCE = LadderTimes.at_once()


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pass", ExitStatus(0)),
        ("raise SystemExit(3)", ExitStatus(3)),
        ("import os; os.kill(os.getpid(), 9)", ExitStatus(None, signal.SIGKILL)),
        ("import os; os.kill(os.getpid(), 15)", ExitStatus(None, signal.SIGTERM)),
    ],
)
@pytest.mark.case("FC-10")
async def test_exit_is_reported_by_code_or_signal(guard: ProcessGuard, code: str, status: ExitStatus) -> None:
    process = await guard.launch(python(code))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.wait)  # any number of tasks may wait
        assert await process.wait() == status
    assert process.exited == status
    assert await process.close(AT_ONCE) == status


async def test_a_running_process_has_no_exit_status(guard: ProcessGuard) -> None:
    process = await guard.launch(request("cat"))
    assert process.exited is None
    assert alive(process.pid)
    assert alive(process.reaper_pid)
    await process.close(AT_ONCE)


async def test_what_was_written_before_the_exit_can_be_read_after_it(guard: ProcessGuard) -> None:
    process = await guard.launch(python("import os; os.write(1, b'out'); os.write(2, b'err')"))
    await process.wait()
    assert await read_all(process.stdout) == b"out"
    assert await read_all(process.stderr) == b"err"
    await process.close(AT_ONCE)


@pytest.mark.case("FC-51")
async def test_environment_is_exact_but_for_the_marks(
    guard: ProcessGuard, monkeypatch: pytest.MonkeyPatch, instance_id: str
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DAEMON", "x")
    process = await guard.launch(request("env", "-0", environment=ENVIRONMENT | {"A": "ä b=c\n"}))
    variables = dict(
        entry.split("=", 1) for entry in (await read_all(process.stdout)).decode().split("\0") if entry
    )
    assert variables == ENVIRONMENT | {
        "A": "ä b=c\n",
        "GREENROOM_INSTANCE": instance_id,
        "GREENROOM_LAUNCH": "1",
    }
    await process.close(AT_ONCE)


async def test_arguments_and_folder_arrive_as_bytes_unchanged(guard: ProcessGuard, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"not utf-8 \xff")
    folder.mkdir()
    code = "import os, sys; os.write(1, os.fsencode(sys.argv[1]) + b'|' + os.getcwdb())"
    process = await guard.launch(
        request(sys.executable, "-I", "-S", "-c", code, os.fsdecode(b"\xfe x"), cwd=str(folder))
    )
    assert await read_all(process.stdout) == b"\xfe x|" + os.fsencode(folder)
    await process.close(AT_ONCE)


async def test_provider_starts_with_a_clean_state_of_its_own(guard: ProcessGuard) -> None:
    code = """
import json, os, signal
handled = [n for n in signal.valid_signals() if signal.getsignal(n) is signal.SIG_IGN and n not in (13, 25)]
status = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
print(json.dumps({
    'descriptors': [os.readlink(f'/proc/self/fd/{n}')[:5] for n in sorted(os.listdir('/proc/self/fd'))[:3]],
    'count': len(os.listdir('/proc/self/fd')) - 1,
    'ignored': handled,
    'blocked': int(status['SigBlk'], 16),
    'leads_session': os.getsid(0) == os.getpid(),
}))
"""
    process = await guard.launch(python(code))
    assert json.loads(await read_all(process.stdout)) == {
        "descriptors": ["pipe:"] * 3,
        "count": 3,
        "ignored": [],
        "blocked": 0,
        "leads_session": True,
    }
    await process.close(AT_ONCE)


async def test_what_the_daemon_left_inheritable_reaches_no_provider(
    instances: Path, instance_id: str
) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    guard = ProcessGuard(instances, instance_id)
    guard.start()
    process = await guard.launch(request("cat"))
    assert len(_open_files(process.pid)) == 3
    assert os.readlink(f"/proc/self/fd/{write_end}") not in _open_files(process.reaper_pid)
    os.close(write_end)
    assert os.read(read_end, 1) == b""  # nobody else holds it
    os.close(read_end)
    await process.close(AT_ONCE)
    await guard.close()


async def test_a_reaper_holds_only_what_is_its_own(guard: ProcessGuard) -> None:
    processes = [await guard.launch(request("cat")) for _ in range(3)]
    for process in processes:
        files = _open_files(process.reaper_pid)
        assert files[:2] == ["/dev/null", "/dev/null"]
        assert sorted(name.partition(":")[0] for name in files[3:]) == ["pipe", "pipe", "socket"]
    sockets = {name for process in processes for name in _open_files(process.reaper_pid) if "socket" in name}
    assert len(sockets - {os.readlink("/proc/self/fd/2")}) == 3
    for process in processes:
        await process.close(AT_ONCE)


def _open_files(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    return [os.readlink(f"{folder}/{name}") for name in sorted(os.listdir(folder), key=int)]


async def test_a_broken_pipe_ends_a_provider_as_it_would_elsewhere(guard: ProcessGuard) -> None:
    process = await guard.launch(request("sh", "-c", "kill -PIPE $$; exit 1"))
    assert await process.wait() == ExitStatus(None, signal.SIGPIPE)
    await process.close(AT_ONCE)


def _file(path: Path, text: str, mode: int) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("name", ["no-such-program-anywhere", "/no/such/program", "/etc/passwd/program"])
async def test_a_missing_program_is_told_apart(guard: ProcessGuard, name: str) -> None:
    with pytest.raises(ProgramNotFound):
        await guard.launch(request(name))


async def test_a_file_that_cannot_run_is_told_apart(guard: ProcessGuard, tmp_path: Path) -> None:
    for program in (
        _file(tmp_path / "no-permission", "#!/bin/sh\n", 0o644),
        _file(tmp_path / "no-format", "not a program", 0o755),
        _file(tmp_path / "no-interpreter", "#!/no/such/interpreter\n", 0o755),
        str(tmp_path),
    ):
        with pytest.raises(ProgramNotExecutable):
            await guard.launch(request(program))


async def test_search_goes_on_behind_a_file_that_cannot_run(guard: ProcessGuard, tmp_path: Path) -> None:
    _file(tmp_path / "cat", "not to be run", 0o644)
    path = f"{tmp_path}:/no/such/folder:{ENVIRONMENT['PATH']}"
    process = await guard.launch(request("cat", environment={"PATH": path}))
    await process.close(AT_ONCE)


async def test_a_bad_working_directory_is_no_missing_program(guard: ProcessGuard, tmp_path: Path) -> None:
    file = _file(tmp_path / "file", "", 0o644)
    for cwd in (str(tmp_path / "gone"), file, f"{file}/below"):
        with pytest.raises(WorkingDirectoryMissing):
            await guard.launch(request("no-such-program-anywhere", cwd=cwd))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
async def test_a_forbidden_working_directory_is_told_apart(guard: ProcessGuard, tmp_path: Path) -> None:
    folder = tmp_path / "forbidden"
    folder.mkdir(mode=0o000)
    with pytest.raises(WorkingDirectoryMissing):
        await guard.launch(request("cat", cwd=str(folder)))


@pytest.mark.parametrize(
    ("argument", "variables"),
    [
        ("nul \0", {}),
        ("lone surrogate \ud99c", {}),
        ("x", {"A=B": "c"}),
        ("x", {"": "c"}),
        ("x" * 200_000, {}),
    ],
    ids=["nul", "surrogate", "equals-sign", "empty-name", "too-long"],
)
@pytest.mark.case("FC-19")
async def test_what_the_host_cannot_take_is_a_typed_failure(
    guard: ProcessGuard, argument: str, variables: dict[str, str]
) -> None:
    with pytest.raises(LaunchFailed):
        await guard.launch(request("echo", argument, environment=ENVIRONMENT | variables))
    process = await guard.launch(request("cat"))  # the guard lives on
    await process.close(AT_ONCE)


async def test_failed_and_closed_launches_leave_no_descriptor_and_no_process(guard: ProcessGuard) -> None:
    process = await guard.launch(request("cat"))
    await process.close(AT_ONCE)
    before = open_descriptors()
    for _ in range(50):
        process = await guard.launch(request("cat"))
        await process.close(AT_ONCE)
        assert not alive(process.pid)
    for _ in range(5):
        with pytest.raises(ProgramNotFound):
            await guard.launch(request("no-such-program-anywhere"))
    assert open_descriptors() == before
    assert own_zombies() == []
    spawner = guard.spawner_pid
    assert spawner is not None
    await eventually(lambda: not _children(spawner))


def _children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


async def test_many_launches_at_once_do_not_mix(guard: ProcessGuard) -> None:
    async def launch_and_check(number: int) -> None:
        process = await guard.launch(request("sh", "-c", f"cat; echo {number} >&2"))
        await process.stdin.write(b"%d" % number)
        process.stdin.close()
        assert await read_all(process.stdout) == b"%d" % number
        assert await read_all(process.stderr) == b"%d\n" % number
        assert await process.wait() == ExitStatus(0)
        await process.close(AT_ONCE)

    async with trio.open_nursery() as nursery:
        for number in range(12):
            nursery.start_soon(launch_and_check, number)


async def test_a_launch_without_an_answer_ends_at_its_deadline(
    instances: Path, monkeypatch: pytest.MonkeyPatch, instance_id: str
) -> None:
    monkeypatch.setattr("supervisor.process_guard.control.DISMISS_SECONDS", 0.05)
    guard = ProcessGuard(instances, instance_id, limits=GuardLimits(launch_timeout_seconds=0.05))
    guard.start()
    before = open_descriptors()
    spawner = guard.spawner_pid
    assert spawner is not None
    os.kill(spawner, signal.SIGSTOP)
    with pytest.raises(LaunchFailed):
        await guard.launch(request("cat"))
    assert open_descriptors() == before
    os.kill(spawner, signal.SIGCONT)
    await eventually(lambda: not _children(spawner))  # the reaper of that launch found nobody to serve
    await guard.close()


async def test_a_cancelled_launch_leaves_nothing(guard: ProcessGuard) -> None:
    await (await guard.launch(request("cat"))).close(AT_ONCE)
    before = open_descriptors()
    spawner = guard.spawner_pid
    assert spawner is not None
    for steps in range(12):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_launch_and_close, guard)
                for _ in range(steps):
                    await trio.lowlevel.checkpoint()
                scope.cancel()
    await eventually(lambda: not _children(spawner))
    assert open_descriptors() == before


async def _launch_and_close(guard: ProcessGuard) -> None:
    process = await guard.launch(request("cat"))
    await process.close(AT_ONCE)


@pytest.mark.case("FC-10")
async def test_provider_killed_from_outside_is_seen_and_its_children_end(guard: ProcessGuard) -> None:
    process = await guard.launch(request("sh", "-c", "sleep 60 & echo $!; wait"))
    child = int(await process.stdout.read(100))
    kill_now(process.pid)
    assert await process.wait() == ExitStatus(None, signal.SIGKILL)
    assert await read_all(process.stdout) == b""  # nobody is left to hold it open
    await eventually(lambda: not alive(child))
    await process.close(AT_ONCE)
