"""The command line with a real agent behind the daemon."""

import sys

import pytest
import trio

from tests.doubles.model_script import refuse, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import Daemon
from tests.providers_real.codex_acp import TARGET, WAIT_SECONDS

pytestmark = pytest.mark.real_agent

COMMAND = (sys.executable, "-c", "import sys; from runtime.cli import main; sys.exit(main())")


async def run(daemon: Daemon, prompt: str) -> tuple[int, str]:
    """`greenroom run` against that daemon: exit code and stdout."""
    options = ("--data-dir", str(daemon.data_dir), "--config", str(daemon.folder / "config.toml"))
    with trio.fail_after(WAIT_SECONDS):
        ended = await trio.run_process(
            (*COMMAND, "run", *options, "--target", TARGET, prompt),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env={"HOME": str(daemon.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
    return ended.returncode, ended.stdout.decode()


async def test_run_prints_the_answer(daemon: Daemon, model: ModelServer) -> None:
    code, printed = await run(daemon, "Say it. " + script(["The answer ", "is green."]))
    assert (code, len(model.asked("Say it."))) == (0, 1)
    assert "The answer is green." in printed


async def test_run_tells_a_failed_turn_by_its_exit_code(daemon: Daemon) -> None:
    code, printed = await run(daemon, script([refuse(400, "words of the host")]))
    assert code == 1
    assert "words of the host" not in printed
