"""`greenroom simulate`: one object, one exit code, and for a failing seed everything needed to see it again."""

import json

import attrs
import pytest

from runtime.actors.session import SessionActor
from runtime.simulation.command import run_seeds, simulate
from runtime.simulation.protocols.locks import open_and_close
from runtime.simulation.protocols.registry import PROTOCOLS


def test_one_json_object_tells_what_was_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(["--seeds", "2", "--seed", "40", "--json"]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert list(report) == ["seeds", "lives", "powerCuts", "faults", "seconds", "digest", "violations"]
    assert report["seeds"] == 2
    assert report["lives"] >= 2
    assert report["violations"] == []
    assert printed.err == ""


def test_without_json_it_talks_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(["--seeds", "1"]) == 0
    assert capsys.readouterr().out.startswith("1 seeds, ")


def test_a_protocol_is_walked_through_all_its_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(["--explore", "two-locks", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (walked,) = report["protocols"]
    assert report["schedules"] == walked["schedules"] >= 75
    assert walked == {
        "name": "two-locks",
        "verdict": "kept",
        "schedules": walked["schedules"],
        "ends": {"both done": walked["schedules"]},
        "faults": [],
    }


def test_a_protocol_that_does_not_hold_exits_with_1_and_says_where_it_breaks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def lock_up() -> str:
        return await open_and_close(False)

    planted = attrs.evolve(PROTOCOLS["two-locks"], program=lock_up, arguments=())
    monkeypatch.setitem(PROTOCOLS, "two-locks", planted)
    assert simulate(["--explore", "two-locks"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("two-locks: BROKEN in ")
    assert "it ended in a way it must not: stuck" in printed
    assert "to run it again: greenroom simulate --explore two-locks" in printed


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--explore", "nothing-of-that-name"],
        ["--explore", "two-locks", "--seeds", "1"],
        ["--seeds", "0"],
        ["--seeds", "many"],
        ["--seeds", "1", "--seed", "-1"],
        ["--faster"],
    ],
)
def test_arguments_that_make_no_sense_exit_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(arguments) == 2
    assert capsys.readouterr().out == ""


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(["--help"]) == 0
    assert "--seeds" in capsys.readouterr().out


def test_a_failing_seed_exits_with_1_and_says_how_to_run_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = SessionActor._commit

    async def reply_then_commit(self, segment):
        self._reply(segment, self._services.writer.head_commit_seq)
        await commit(self, segment)

    monkeypatch.setattr(SessionActor, "_commit", reply_then_commit)
    failing = run_seeds(0, 20).violations[0]["seed"]
    assert simulate(["--seeds", "1", "--seed", str(failing), "--json"]) == 1
    printed = capsys.readouterr()
    violation = json.loads(printed.out)["violations"][0]
    assert violation["seed"] == failing
    assert violation["promise"]
    assert f"to run it again: greenroom simulate --seeds 1 --seed {failing}" in printed.err
    for told in ("limits = ", "step digest", "the last events:"):
        assert told in printed.err


def test_a_run_that_breaks_off_is_a_violation_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(self, *_, **__):
        raise LookupError("planted")

    monkeypatch.setattr("runtime.controller.Controller.run", crash)
    violations = run_seeds(0, 1).violations
    assert violations[0]["promise"] == "the run ends"
