"""The demo agent as a real child process over pipes: its start, its ends, what it leaves behind."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.providers.demo import demo_command
from runtime.providers.normalized import InteractionRequested, TextChunk, ThreadOpened, TurnEnded
from runtime.providers.port import AnswerInteraction, HandshakeDone, OpenThread, StartTurn, Write
from store.canonical.interaction import OptionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, A, Playbook
from tests.providers.demo_driver import DEADLINE_SECONDS, RealAgent, start, wait_until


@pytest.fixture
def agents() -> Iterator[list[RealAgent]]:
    started: list[RealAgent] = []
    yield started
    for agent in started:
        agent.end()


def test_program_answers_a_prompt_and_ends_with_its_input(agents: list[RealAgent]) -> None:
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), "hi")
    *updates, end = agent.answer(3)
    text = "".join(u["params"]["update"].get("content", {}).get("text", "") for u in updates)
    assert "“hi”" in text
    assert end["result"] == {"stopReason": "end_turn"}
    agent.process.stdin.close()
    assert agent.wait() == 0


def test_program_needs_nothing_but_the_standard_library_and_trusts_no_working_directory(
    tmp_path: Path,
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the project was imported')")
    command = demo_command()
    command[-1] = command[-1].replace("main()", "import sys as s; print(sorted(s.modules))")
    modules = subprocess.run(
        command, cwd=tmp_path, env={}, capture_output=True, check=True, timeout=60
    ).stdout.decode()
    assert "'runtime.providers.demo.process'" in modules
    assert not [
        name
        for name in ("attrs", "trio", "orjson", "dataclasses", "pathlib", "subprocess")
        if f"'{name}'" in modules
    ]


def test_sessions_are_loaded_by_the_next_process(agents: list[RealAgent], tmp_path: Path) -> None:
    first = start(state_folder=str(tmp_path / "state"))
    agents.append(first)
    session_id = first.session()
    first.prompt(session_id, "[[say one]]")
    first.answer(3)
    first.process.kill()
    first.wait()
    second = start(state_folder=str(tmp_path / "state"))
    agents.append(second)
    second.write(id=1, method="session/resume", params={"sessionId": session_id, "cwd": "/w"})
    assert "result" in second.answer(1)[-1]
    second.prompt(session_id, "[[recall]]")
    texts = [f["params"]["update"]["content"]["text"] for f in second.answer(3)[:-1]]
    assert texts == ["I remember 1: [[say one]]"]


def test_half_written_or_foreign_state_counts_as_not_there(agents: list[RealAgent], tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    agent = start(state_folder=str(tmp_path))
    agents.append(agent)
    for request_id, session_id in enumerate(("broken", "../broken", "missing"), start=1):
        agent.write(id=request_id, method="session/load", params={"sessionId": session_id})
        assert agent.answer(request_id)[-1]["error"]["code"] == -32002


@pytest.mark.case("FC-10", "FC-11")
@pytest.mark.parametrize(
    ("directive", "status"), [("crash", 1), ("exit 0", 0), ("exit 7", 7), ("die", -signal.SIGKILL)]
)
def test_ends_of_the_process_are_the_asked_ones(agents: list[RealAgent], directive: str, status: int) -> None:
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), f"[[say bye]] [[{directive}]]")
    assert "bye" in str(agent.read_until(lambda frame: "bye" in str(frame)))
    assert agent.line() == b""
    assert agent.wait() == status


@pytest.mark.case("FC-50")
def test_environment_decides_about_the_start(agents: list[RealAgent], tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = start(
        {
            "DEMO_BANNER": "Welcome",
            "DEMO_PROTOCOL_VERSION": "2",
            "DEMO_LOG": str(log),
            "DEMO_STARTUP_MS": "30",
        }
    )
    agents.append(agent)
    agent.write(id=1, method="initialize", params={})
    assert agent.line() == b"Welcome"
    assert json.loads(agent.line())["result"]["protocolVersion"] == 2
    assert json.loads(log.read_text())["method"] == "initialize"
    failing = start({"DEMO_EXIT_CODE": "9"})
    agents.append(failing)
    assert failing.wait() == 9


@pytest.mark.case("FC-18")
def test_flood_on_stderr_is_as_large_as_asked_for(agents: list[RealAgent]) -> None:
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), "[[stderr 1000000]] [[say done]]")
    received = 0
    while received < 1_000_000:
        data = agent.process.stderr.read1(65536)
        assert data
        received += len(data)
    assert agent.answer(3)[-1]["result"] == {"stopReason": "end_turn"}


@pytest.mark.case("FC-08")
def test_big_line_is_one_legal_frame(agents: list[RealAgent]) -> None:
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), "[[bigline 3000000]] [[bytes]] [[say \U0001f642]]")
    big, small, end = [f for f in agent.answer(3) if "available" not in str(f)]
    assert big["params"]["update"]["content"]["text"] == "b" * 3_000_000
    assert small["params"]["update"]["content"]["text"] == "\U0001f642"
    assert end["result"] == {"stopReason": "end_turn"}


@pytest.mark.case("FC-03")
def test_stubborn_agent_outlives_sigterm_and_the_end_of_its_input(agents: list[RealAgent]) -> None:
    agent = start({"DEMO_STUBBORN": "1"})
    agents.append(agent)
    session_id = agent.session()
    agent.process.terminate()
    agent.prompt(session_id, "[[stream 5 delay=20]]")
    agent.process.stdin.close()
    assert agent.answer(3)[-1]["result"] == {"stopReason": "end_turn"}
    assert agent.process.poll() is None


@pytest.mark.case("FC-25")
def test_closed_input_leaves_the_agent_alive_and_breaks_the_pipe(agents: list[RealAgent]) -> None:
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), "[[close-stdin]] [[say still here]]")
    assert "still here" in str(agent.answer(3))
    with pytest.raises(BrokenPipeError):
        agent.prompt("any", "x" * 1_000_000)
    assert agent.process.poll() is None


@pytest.mark.case("FC-03")
def test_grandchildren_live_in_sessions_of_their_own_and_may_ignore_sigterm(
    agents: list[RealAgent], tmp_path: Path
) -> None:
    file = tmp_path / "pids"
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), f"[[grandchild setsid stubborn file={file}]] [[grandchild file={file}]]")
    agent.answer(3)
    detached, plain = (int(line) for line in file.read_text().split())
    try:
        wait_until(lambda: os.getsid(detached) == detached)
        assert os.getsid(plain) != plain
        os.kill(plain, signal.SIGTERM)
        wait_until(lambda: _state(plain) in ("Z", ""))
        os.kill(detached, signal.SIGTERM)
        assert _state(detached) in ("S", "R")
    finally:
        os.kill(detached, signal.SIGKILL)


@pytest.mark.case("FC-55")
def test_slow_reader_still_takes_a_big_prompt_whole(agents: list[RealAgent]) -> None:
    agent = start({"DEMO_READ_RATE": "20000000"})
    agents.append(agent)
    agent.prompt(agent.session(), "[[say got it]]" + "x" * 300_000)
    assert "got it" in str(agent.answer(3))


@pytest.mark.case("FC-20")
def test_adapter_and_program_understand_each_other_over_real_pipes(agents: list[RealAgent]) -> None:
    agent = start()
    agents.append(agent)
    book = Playbook()
    stdin = agent.process.stdin

    def go_on(until: type) -> None:
        """Write what the adapter wants written, read until an event of this kind."""
        while not any(isinstance(event, until) for event in book.events()[seen:]):
            for output in book.outputs:
                if isinstance(output, Write):
                    stdin.write(output.data)
            stdin.flush()
            book.skip().written().receive(agent.read())

    seen = 0
    book.begin()
    while not any(isinstance(output, HandshakeDone) for output in book.everything):
        stdin.write(b"".join(output.data for output in book.outputs if isinstance(output, Write)))
        stdin.flush()
        book.skip().receive(agent.read())
    book.command(OpenThread(A, "/w", {"model": "demo-large"}))
    go_on(ThreadOpened)
    book.command(
        StartTurn(
            A, T1, (TextBlock("[[settings]] [[stream 2000 size=50]] [[ask]] [[bytes]] [[say \U0001f642]]"),)
        )
    )
    go_on(InteractionRequested)
    asked = book.events()[-1]
    assert isinstance(asked, InteractionRequested)
    seen = len(book.events())
    book.command(AnswerInteraction(A, T1, asked.request_id, OptionAnswer("allow-once")))
    go_on(TurnEnded)
    text = "".join(event.text for event in book.events() if isinstance(event, TextChunk))
    assert text.startswith('{"model": "demo-large", "mode": "ask"}0 xxx')
    assert text.endswith("1999 " + "x" * 45 + "Permission: allow_once (allow-once).\U0001f642")
    assert book.diagnostics() == []


def test_broken_output_pipe_ends_the_agent(agents: list[RealAgent]) -> None:
    agent = start()
    agents.append(agent)
    agent.prompt(agent.session(), "[[stream 1000000 size=1000]]")
    agent.process.stdout.close()
    assert agent.process.wait(DEADLINE_SECONDS) == 0


def _state(pid: int) -> str:
    """The state letter of a process, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""
