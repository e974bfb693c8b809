"""The pool on real child processes below the real process guard: pipes, signals, exits and trees."""

import signal
import sys
from os import kill
from pathlib import Path

import attrs
import pytest
import trio

from runtime.providers.limits import PoolLimits
from runtime.providers.normalized import TurnEnded
from runtime.providers.pool import ConnectionPool
from runtime.providers.registry import ProviderRegistry
from runtime.providers.tenancy import AcquireFailed
from runtime.providers.transport import ProcessTransports
from supervisor.process_guard.launcher import ProcessGuard
from supervisor.resource_sweeper import ResourceSweeper
from tests.doubles.line_provider import LineProvider, RecordingSink, launch, scope
from tests.doubles.pool_bench import Tenant

# What `line_agent` is in memory, in the few words that these tests need; each step of a prompt is Python.
AGENT = """
import os, subprocess, sys, time

def say(*lines):
    sys.stdout.write("".join(line + "\\n" for line in lines))
    sys.stdout.flush()

def ignore_term():
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

assert sys.stdin.readline() == "hello\\n"
say("ready line-agent 1.0")
for line in sys.stdin:
    word, name, *rest = line.split(" ", 3)
    if word == "prompt":
        exec(rest[1].split("#")[0])
        say(f"end {name} t")
"""


@attrs.define
class RealBench:
    pool: ConnectionPool
    folder: Path

    async def acquire(self, name="a", *, argv=(), cwd="/") -> Tenant:
        sink = RecordingSink()
        specification = attrs.evolve(
            launch(), argv=argv or (sys.executable, "-I", "-S", "-c", AGENT), cwd=cwd
        )
        return Tenant(name, await self.pool.acquire(specification, scope(name), sink), sink)


@pytest.fixture
async def bench(tmp_path):
    guard = ProcessGuard(tmp_path / "instances", "test")
    guard.start()
    sweeper = ResourceSweeper(on_abandoned=lambda resource: None)
    registry = ProviderRegistry([LineProvider(sessions_per_connection=4)])
    pool = ConnectionPool(registry, ProcessTransports(guard), PoolLimits(), sweeper)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            await nursery.start(pool.run)
            yield RealBench(pool, tmp_path)
            nursery.cancel_scope.cancel()
        await guard.close()
    assert sweeper.pending() == ()
    assert list((tmp_path / "instances").iterdir()) == [], "the guard knows of nothing that is left"


def is_alive(pid: int) -> bool:
    try:
        kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_two_scopes_share_a_process_that_ends_with_the_last(bench):
    first, second = await bench.acquire("a"), await bench.acquire("b")
    assert first.pid == second.pid
    for tenant in (first, second):
        tenant.prompt("t", f"say('text {tenant.name} t hello {tenant.name}')")
        await tenant.sink.wait_for(TurnEnded)
        assert tenant.sink.text == f"hello {tenant.name}"
    await first.leave()
    assert is_alive(second.pid)
    await second.leave()
    assert not is_alive(second.pid)
    assert second.reference.connection.exit_status == "exit code 0"


@pytest.mark.case("FC-10")
async def test_a_killed_agent_is_lost_with_its_signal_and_the_end_of_stderr(bench):
    tenant = await bench.acquire()
    tenant.prompt(
        "t", "print('out of memory', file=sys.stderr, flush=True); say('text a t half'); time.sleep(100)"
    )
    while not tenant.sink.text:
        await tenant.sink.wait_for_any()
    kill(tenant.pid, signal.SIGKILL)
    with trio.fail_after(2):
        while not tenant.sink.losses:
            await tenant.sink.wait_for_any()
    assert tenant.sink.text == "half"
    assert "signal 9" in tenant.sink.events[-1].error.message
    assert tenant.reference.connection.stderr_tail == "out of memory\n"
    again = await bench.acquire()
    assert again.open()


@pytest.mark.case("FC-50")
async def test_a_program_that_cannot_run_is_named(bench):
    plain = bench.folder / "plain-file"
    plain.write_text("no program")
    for argv, cwd, code, name in [
        (("/nowhere/no-such-agent",), "/", "provider.unavailable", "'no-such-agent' was not found"),
        ((str(plain),), "/", "provider.unavailable", "'plain-file' cannot be executed"),
        ((), str(bench.folder / "gone"), "session.cwd_missing", "working directory"),
    ]:
        with pytest.raises(AcquireFailed, match=name) as failure:
            await bench.acquire(argv=argv, cwd=cwd)
        assert failure.value.error.code == code
        assert str(bench.folder) not in failure.value.error.message


@pytest.mark.case("FC-55")
async def test_a_big_prompt_against_a_flood_of_output_locks_nothing(bench):
    tenant = await bench.acquire()
    flood = "for _ in range(200): say('x' * 65536)"
    tenant.prompt("t", flood + "#" + "y" * 5_000_000)
    tenant.prompt("t", flood + "#" + "y" * 5_000_000)
    await tenant.sink.wait_for(TurnEnded, 2)
    assert tenant.reference.connection.unwritten_bytes == 0


@pytest.mark.case("FC-18")
async def test_a_flood_of_stderr_blocks_nothing(bench):
    tenant = await bench.acquire()
    tenant.prompt("t", "for _ in range(400): os.write(2, bytes([255]) * 65536)")
    await tenant.sink.wait_for(TurnEnded)
    await tenant.leave()
    info = tenant.reference.connection
    assert info.stderr_bytes == 400 * 65536
    assert len(info.stderr_tail) == 16 * 1024


@pytest.mark.case("FC-03")
async def test_nothing_of_a_stubborn_tree_is_left_when_the_scope_is_gone(bench):
    tenant = await bench.acquire()
    sleeper = "[sys.executable, '-I', '-S', '-c', 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(999)']"
    tenant.prompt(
        "t",
        f"ignore_term(); c = [subprocess.Popen({sleeper}, start_new_session=own) for own in (True, False)];"
        " say('text a t ' + ' '.join(str(p.pid) for p in c)); time.sleep(999)",
    )
    while not tenant.sink.text:
        await tenant.sink.wait_for_any()
    children = [int(pid) for pid in tenant.sink.text.split()]
    assert len(children) == 2
    assert all(map(is_alive, children))
    tenant.reference.force("it does not stop")
    with trio.fail_after(10):
        await tenant.reference.wait_gone()
    assert not any(map(is_alive, [tenant.pid, *children]))


@pytest.mark.rule("RT-144")
async def test_closing_the_pool_leaves_no_process(bench):
    tenants = [await bench.acquire(name) for name in "abcdefgh"]
    pids = {tenant.pid for tenant in tenants}
    assert len(pids) == 2
    with trio.fail_after(6):
        await bench.pool.close(5)
    assert not any(map(is_alive, pids))
    assert all(tenant.sink.losses == ["shutdown.in_progress"] for tenant in tenants)
