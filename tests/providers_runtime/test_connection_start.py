"""A connection's start: handshake, what can keep it from becoming ready, and that the process is ended then."""

import attrs
import pytest
import trio

from runtime.providers.limits import ConnectionLimits
from runtime.providers.port import AdapterLimits
from supervisor.process_guard.port import (
    LaunchFailed,
    ProgramNotExecutable,
    ProgramNotFound,
    WorkingDirectoryMissing,
)
from tests.doubles.connection_bench import connected
from tests.doubles.line_provider import LineAdapter, launch, line_agent, shake_hands
from tests.doubles.scripted_process import Agent


async def start_error(script=line_agent, **options):
    async with connected(script, **options) as bench:
        await bench.connection.started.wait()
        assert bench.owner.starts == [bench.connection.start_error]
        await bench.connection.gone.wait()
        return bench.connection.start_error, bench


async def test_ready_once_the_handshake_is_done(autojump_clock):
    async with connected() as bench:
        assert bench.connection.state == "starting"
        await bench.connection.started.wait()
        info = bench.connection.info()
        assert (info.state, info.agent_name, info.agent_version) == ("ready", "line-agent", "1.0")
        assert (info.provider, info.program, info.pid) == ("lines", "line-agent", bench.process.pid)
        assert bench.owner.starts == [None]


@pytest.mark.case("FC-50")
async def test_a_slow_start_works(autojump_clock):
    async def slow(agent: Agent):
        await trio.sleep(25)
        return await line_agent(agent)

    async with connected(slow) as bench:
        await bench.connection.started.wait()
        assert bench.connection.state == "ready"


@pytest.mark.case("FC-50")
@pytest.mark.rule("RT-142")
async def test_a_handshake_that_never_ends_is_a_timeout_with_the_end_of_stderr(autojump_clock):
    async def silent(agent: Agent):
        await agent.stderr.write(b"waiting for a terminal")
        await trio.sleep_forever()

    began = trio.current_time()
    error, bench = await start_error(silent)
    assert (error.code, error.message) == ("provider.timeout", "line-agent was not ready within 60 s")
    assert trio.current_time() - began < 60 + 10
    assert bench.process.exited is not None
    assert bench.connection.info().stderr_tail == "waiting for a terminal"


async def test_the_launch_itself_counts_against_the_handshake(autojump_clock):
    def slow_launch(bench):
        bench.launcher.launch_seconds = 100

    limits = ConnectionLimits(adapter=AdapterLimits(initialize_timeout_seconds=3))
    error, bench = await start_error(limits=limits, prepare=slow_launch)
    assert error.code == "provider.timeout"
    assert bench.launcher.processes == []


@pytest.mark.case("FC-50")
@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        (ProgramNotFound("/x"), "provider.unavailable", "the program 'line-agent' was not found"),
        (ProgramNotExecutable("/x"), "provider.unavailable", "the program 'line-agent' cannot be executed"),
        (LaunchFailed("/x"), "provider.unavailable", "the program 'line-agent' could not be started"),
        (
            WorkingDirectoryMissing("/x"),
            "session.cwd_missing",
            "the working directory is missing or cannot be entered",
        ),
    ],
)
async def test_a_program_that_cannot_be_launched_is_named_without_its_path(
    fault, code, message, autojump_clock
):
    error, _ = await start_error(prepare=lambda bench: setattr(bench.launcher, "fault", fault))
    assert (error.code, error.message) == (code, message)


@pytest.mark.case("FC-11")
@pytest.mark.parametrize("code", [0, 3])
async def test_a_process_that_ends_before_it_is_ready_is_unavailable_whatever_its_exit_code(
    code, autojump_clock
):
    async def hasty(agent: Agent):
        await agent.read_line()
        return code

    error, bench = await start_error(hasty)
    assert error.code == "provider.unavailable"
    assert error.message == f"line-agent ended (exit code {code}) while it was starting"
    assert bench.connection.info().exit_status == f"exit code {code}"


@pytest.mark.parametrize(
    ("line", "code"), [("auth", "provider.auth_required"), ("giveup", "provider.protocol")]
)
async def test_what_the_adapter_gives_up_with_is_the_error_of_the_start(line, code, autojump_clock):
    async def refuse(agent: Agent):
        await agent.say(line)
        await trio.sleep_forever()

    error, _ = await start_error(refuse)
    assert error.code == code


@pytest.mark.case("FC-17")
async def test_a_banner_before_the_handshake_is_kept_as_a_diagnostic(autojump_clock):
    async def chatty(agent: Agent):
        await agent.say("Welcome back", "\x1b[0m")
        return await line_agent(agent)

    async with connected(chatty) as bench:
        await bench.connection.started.wait()
        assert bench.connection.state == "ready"
        assert bench.connection.info().diagnostics.counts == {"noise": 2}


@pytest.mark.case("FC-25")
@pytest.mark.parametrize("method", ["__init__", "begin", "receive"])
async def test_a_bug_of_the_adapter_is_a_fault_of_this_start_alone(method, autojump_clock):
    def broken(*arguments):
        raise LookupError("a bug")

    adapter = type("Broken", (LineAdapter,), {method: broken})
    error, bench = await start_error(make_adapter=adapter)
    assert error.code == "internal"
    assert bench.process.exited is not None


async def test_a_start_that_nobody_wants_any_more_ends_at_once(autojump_clock):
    async def silent(agent: Agent):
        await agent.read_line()
        await trio.sleep_forever()

    async with connected(silent) as bench:
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        bench.connection.leave()
        await bench.connection.gone.wait()
        assert trio.current_time() - began < 5
        assert bench.connection.unwanted
        assert bench.connection.start_error is not None


async def test_a_connection_stopped_before_it_ran_launches_nothing(autojump_clock):
    async with connected(prepare=lambda bench: bench.connection.stop()) as bench:
        await bench.connection.gone.wait()
        assert bench.launcher.attempts == 0


async def test_secrets_of_the_environment_are_not_shown(autojump_clock):
    async def leaky(agent: Agent):
        await agent.stderr.write(b"using key hunter2hunter2 now")
        await agent.say("key is hunter2hunter2")
        await shake_hands(agent)
        await trio.sleep_forever()

    async with connected(leaky, specification=launch(API_KEY="hunter2hunter2")) as bench:
        await bench.connection.started.wait()
        shown = repr(attrs.asdict(bench.connection.info()))
        assert "using key [redacted] now" in shown
        assert "hunter2" not in shown
