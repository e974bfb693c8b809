"""What clients delete is checked over a finished history, and a service that brings deleted sessions back is found."""

import random

import pytest

from runtime.simulation.contents import Contents
from runtime.simulation.history import History, Request
from runtime.simulation.removals import DeleteAndRestore, MakeAndPurge, Search, removals_stand, some_removal
from runtime.simulation.run import run_seed
from store.statements import deleted_sessions
from tests.simulation.test_checkers import NAMES, Json, S

SEEDS_MAX = 60


def asked(method: str, commit_seq: int | None, state: str = "answered") -> Request:
    result: Json = {} if commit_seq is None else {"commitSeq": commit_seq}
    params = {"workspaceId": S[0], "agentSessionIds": [S[1]]}
    return Request("a client", 1, method, params, state=state, result=result)


def a_row(deleted_at: int | None) -> Contents:
    return Contents(sessions={S: {**NAMES, "deletedAt": deleted_at}})


DELETED = asked("session/delete", 5)
RESTORED = asked("session/restore", 7)
LOST = asked("session/restore", None, "unknown")


@pytest.mark.parametrize(
    ("requests", "held"),
    [
        ([DELETED], a_row(None)),
        ([DELETED, RESTORED], a_row(9)),
        ([RESTORED, asked("session/delete", 8)], a_row(None)),
        ([asked("session/purge", 9)], a_row(4)),
    ],
)
def test_a_deletion_that_does_not_stand_is_found(requests: list[Request], held: Contents) -> None:
    assert list(removals_stand(History(requests=requests), held))


@pytest.mark.parametrize(
    ("requests", "held"),
    [
        ([], a_row(None)),
        ([DELETED], a_row(9)),
        ([DELETED, RESTORED], a_row(None)),
        ([DELETED, LOST], a_row(None)),
        ([DELETED, LOST], a_row(9)),
        ([asked("session/purge", 9)], Contents()),
        ([asked("session/purge", None, "unknown")], a_row(4)),
    ],
)
def test_one_that_stands_or_may_have_been_overtaken_is_fine(requests: list[Request], held: Contents) -> None:
    assert list(removals_stand(History(requests=requests), held)) == []


def test_plans_hold_each_kind() -> None:
    chance = random.Random(1)
    kinds = {type(some_removal("s0", number, chance)) for number in range(40)}
    assert kinds == {DeleteAndRestore, MakeAndPurge, Search}


def test_a_deletion_that_is_told_and_not_written_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deleted_sessions, "remove", lambda _connection, _session: None)
    promises = {"a deletion stands until its restore", "rows and log agree", "a purge stands"}
    for seed in range(SEEDS_MAX):
        if {violation.promise for violation in run_seed(seed).violations} & promises:
            return
    raise AssertionError(f"not found in {SEEDS_MAX} seeds")
