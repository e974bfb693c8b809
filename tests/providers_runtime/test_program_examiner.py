"""Programs are asked what they are once for each file, within bounds, and an answer that fails refuses nobody."""

import attrs
import pytest
import trio

from runtime.providers.examiner import ExaminationLimits
from runtime.providers.programs import Program, ProgramReport
from supervisor.process_guard.port import ProgramNotFound
from tests.doubles.program_bench import FILE, PROGRAM, examining
from tests.doubles.scripted_process import Agent

REPORT = ProgramReport("7.1", frozenset({"sing", "dance"}))


@pytest.mark.rule("RT-041")
async def test_a_program_is_asked_once_and_its_answers_are_kept(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with examining() as bench:
        assert bench.examiner.known(PROGRAM) is None
        assert await bench.examiner.report(PROGRAM) == REPORT
        assert await bench.examiner.report(PROGRAM) == REPORT
        assert bench.examiner.known(PROGRAM) == REPORT
        assert bench.commands() == ["version", "document"]
        assert len(bench.told) == 1
        assert await bench.another().report(PROGRAM) == REPORT
        assert bench.commands() == ["version", "document"]


async def test_many_who_need_it_at_once_wait_for_one_answer(autojump_clock: trio.testing.MockClock) -> None:
    async with examining() as bench, trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(bench.examiner.report, PROGRAM)
    assert bench.commands() == ["version", "document"]


@pytest.mark.parametrize(
    "change", [{"size": 101}, {"modified_ns": 2}, {"changed_ns": 2}, {"path": "/opt/line-agent"}]
)
async def test_another_file_is_another_program(autojump_clock: trio.testing.MockClock, change: dict) -> None:
    async with examining() as bench:
        await bench.examiner.report(PROGRAM)
        bench.files.file = attrs.evolve(FILE, **change)
        assert bench.examiner.known(PROGRAM) is None
        await bench.examiner.report(PROGRAM)
        assert bench.commands() == ["version", "document"] * 2


async def test_a_program_that_turned_out_to_be_another_is_asked_again(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with examining() as bench:
        await bench.examiner.report(PROGRAM)
        bench.examiner.forget(PROGRAM)
        assert bench.examiner.known(PROGRAM) is None
        assert bench.files.kept == {}
        await bench.examiner.report(PROGRAM)
        assert len(bench.commands()) == 4


async def test_the_program_sees_its_target_s_environment_and_no_input(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def reads_first(agent: Agent) -> int:
        assert await agent.read_line() is None
        await agent.say(agent.request.environment["WORD"])
        return 0

    async with examining(reads_first) as bench:
        report = await bench.examiner.report(PROGRAM)
        assert report is not None
        assert report.version == "x"


async def silent(agent: Agent) -> int:
    await trio.sleep_forever()
    return 0


async def fails(agent: Agent) -> int:
    await agent.say("7.1")
    return 1


async def says_nothing(agent: Agent) -> int:
    return 0


@pytest.mark.parametrize("script", [silent, fails, says_nothing])
async def test_a_program_that_does_not_say_what_it_is_stays_unknown_for_a_while(
    autojump_clock: trio.testing.MockClock, script
) -> None:
    async with examining(script) as bench:
        assert await bench.examiner.report(PROGRAM) is None
        tries = len(bench.commands())
        assert await bench.examiner.report(PROGRAM) is None
        assert len(bench.commands()) == tries, "not asked again at once"
        await trio.sleep(ExaminationLimits().retry_seconds)
        assert await bench.examiner.report(PROGRAM) is None
        assert len(bench.commands()) == 2 * tries
        assert bench.told == []
        assert bench.files.saves == 0


async def test_output_beyond_the_bound_is_read_and_dropped(autojump_clock: trio.testing.MockClock) -> None:
    async def talks(agent: Agent) -> int:
        if agent.request.argv[1] == "version":
            for _ in range(100):
                await agent.say("7" * 4096)
            await agent.stderr.write(b"x" * 1_000_000)
        return 0

    async with examining(talks, ExaminationLimits(printed_bytes_max=8)) as bench:
        report = await bench.examiner.report(PROGRAM)
        assert report is not None
        assert report.version == "7" * 8


@pytest.mark.parametrize("written", [{}, {"facts": b"x" * 17}], ids=["missing", "too large"])
async def test_without_documents_the_version_is_all_that_is_known(
    autojump_clock: trio.testing.MockClock, written: dict
) -> None:
    async with examining(limits=ExaminationLimits(document_bytes_max=16)) as bench:
        bench.files.written = written
        assert await bench.examiner.report(PROGRAM) == ProgramReport("7.1", None)


async def test_documents_of_a_command_that_failed_are_not_read(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def half(agent: Agent) -> int:
        await agent.say("7.1")
        return 0 if agent.request.argv[1] == "version" else 1

    async with examining(half) as bench:
        assert await bench.examiner.report(PROGRAM) == ProgramReport("7.1", None)


async def test_what_cannot_be_started_or_has_no_place_to_write_stays_unknown(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with examining() as bench:
        bench.launcher.fault = ProgramNotFound("line-agent")
        assert await bench.examiner.report(PROGRAM) is None
        bench.launcher.fault, bench.files.fault = None, OSError("full")
        await trio.sleep(ExaminationLimits().retry_seconds)
        assert await bench.examiner.report(PROGRAM) is None


async def test_programs_that_cannot_be_asked_are_not(autojump_clock: trio.testing.MockClock) -> None:
    async with examining() as bench:
        assert await bench.examiner.report(Program("nobody", ("x",), {})) is None
        assert await bench.examiner.report(Program("lines", ("wrapper",), {})) is None
        bench.files.file = None
        assert await bench.examiner.report(PROGRAM) is None
        assert bench.commands() == []


async def test_the_number_of_reports_is_bounded(autojump_clock: trio.testing.MockClock) -> None:
    async with examining(limits=ExaminationLimits(reports_max=2)) as bench:
        for size in range(4):
            bench.files.file = attrs.evolve(FILE, size=size)
            await bench.examiner.report(PROGRAM)
        assert len(bench.files.kept) == 2
        assert bench.examiner.known(PROGRAM) == REPORT


async def test_a_cancelled_examination_leaves_no_process(autojump_clock: trio.testing.MockClock) -> None:
    async with examining(silent) as bench:
        with trio.move_on_after(1):
            await bench.examiner.report(PROGRAM)
        assert bench.commands() == ["version"]
