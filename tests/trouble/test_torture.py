"""`greenroom torture`: a campaign ends with a verdict, and what it looks for it finds."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from runtime.simulation.operations import CreateSession, SendPrompt
from runtime.torture.round import LifeEnding, Plans, Round, work
from tests.end_to_end.daemon import PATH

CREATE = CreateSession("s", "create-s", "[[say hello]]")
SEND = SendPrompt("s", "send-s", "[[say again]]", waits_seconds=10.0)


async def lived(round_: Round, plans: Plans, *done: str) -> None:
    """One life, killed once these requests are answered."""

    def serve(nursery: trio.Nursery) -> None:
        work(round_.client(f"client {round_.lives}"), plans, answers=False)(nursery)
        nursery.start_soon(watch)

    async def watch() -> None:
        while not all(round_.history.answered(method) for method in done):
            await trio.sleep(0.01)
        round_.enough.set()

    await round_.live(LifeEnding("kill", 30.0), serve)
    assert round_.enough.is_set()


async def test_a_life_that_forgets_what_was_acknowledged_is_found_out(tmp_path: Path) -> None:
    round_ = Round(tmp_path / "round", random.Random(1))
    await lived(round_, [[CREATE]], "session/create")
    assert round_.history.violations == []
    older = [file for file in round_.daemon.data_dir.glob("greenroom.db*") if not file.name.endswith("-shm")]
    kept = {file: file.read_bytes() for file in older}
    await lived(round_, [[SEND]], "session/create", "session/send")
    assert round_.history.violations == []
    for file in round_.daemon.data_dir.glob("greenroom.db*"):
        file.unlink()
    for file, content in kept.items():
        file.write_bytes(content)
    await round_.live(LifeEnding("kill", 0.1), lambda _: None)
    assert "acknowledged is durable" in {violation.promise for violation in round_.history.violations}


async def test_an_agent_that_is_told_twice_is_found_out(tmp_path: Path) -> None:
    round_ = Round(tmp_path / "round", random.Random(1))
    await lived(round_, [[CREATE]], "session/create")
    prompt = {"method": "session/prompt", "params": {"prompt": [{"text": "<<create-s>> [[say hello]]"}]}}
    with (tmp_path / "round" / "told.jsonl").open("a") as told:
        told.write(f"{json.dumps(prompt)}\n" * 2)
    await round_.live(LifeEnding("kill", 0.1), lambda _: None)
    assert "a submit id is dispatched at most once" in {
        violation.promise for violation in round_.history.violations
    }


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(tmp_path), "PATH": PATH, "LANG": "C.UTF-8", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "runtime.cli", "torture", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, check=False)


@pytest.mark.timeout(240)
def test_a_short_campaign_gives_its_verdict_and_leaves_nothing(tmp_path: Path) -> None:
    ended = run(tmp_path, "--sessions", "2", "--minutes", "0.05", "--seed", "3", "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads(ended.stdout)
    assert (report["verdict"], report["violations"]) == ("kept", [])
    assert report["lives"] >= 2
    assert report["requests"]["answered"] > 0
    kept = report["goals"]["R5 kill -9"]
    assert kept == f"kept after {report['kills']} kills in {report['lives']} lives"
    assert report["replay"] == "greenroom torture --sessions 2 --minutes 0.05 --seed 3"
    assert not list(tmp_path.glob("greenroom-torture-*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sessions", "0"), "no whole number"),
        (("--minutes", "none"), "no number of minutes"),
        (("--target", "nobody"), "no target 'nobody'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ended = run(tmp_path, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert said in ended.stderr
