"""What users edit is checked over a finished history, and a service that forgets an edit is found."""

import random

import pytest

from runtime.lifecycle import settlement
from runtime.simulation.contents import Contents
from runtime.simulation.edits import edits_stand, some_edit
from runtime.simulation.history import History, Request
from runtime.simulation.run import run_seed
from tests.simulation.test_checkers import NAMES, Json, S

SEEDS_MAX = 60
PROMISE = "an acknowledged edit stands"


def edited(method: str, commit_seq: int | None, state: str = "answered", **params: object) -> Request:
    result: Json = {} if commit_seq is None else {"commitSeq": commit_seq}
    return Request("a client", 1, method, {**NAMES, **params}, state=state, result=result)


def a_row(**members: object) -> Contents:
    row: Json = {"title": None, "titleSource": "none", "pinned": False, "settings": {}, "settingsSource": {}}
    return Contents(sessions={S: {**NAMES, **row, **members}})


MINE = edited("session/rename", 5, title="Mine")
LATER = edited("session/rename", 7, title="Later")
LOST = edited("session/rename", None, "unknown", title="Lost")
PINNED = edited("session/pin", 5, pinned=True)
LARGE = edited("session/updateSettings", 5, settings={"model": "large", "mode": "auto"})
OTHER = edited("session/updateSettings", 7, settings={"mode": "ask"})
UNSET = edited("session/updateSettings", 8, settings={"model": None})
NAMED = {"title": "Mine", "titleSource": "user"}
CHOSEN = {"settings": {"model": "large"}, "settingsSource": {"model": "explicit"}}


@pytest.mark.parametrize(
    ("edits", "held"),
    [
        ([MINE], a_row()),
        ([MINE], a_row(title="Theirs", titleSource="provider")),
        ([LATER, MINE], a_row(**NAMED)),
        ([MINE, edited("session/rename", 6, title="")], a_row(**NAMED)),
        ([PINNED], a_row()),
        ([LARGE, OTHER], a_row()),
        ([LARGE, UNSET], a_row(**CHOSEN)),
        ([LARGE], a_row(settings={"model": "large"}, settingsSource={"model": "provider"})),
    ],
)
def test_an_acknowledged_edit_that_does_not_stand_is_found(edits: list[Request], held: Contents) -> None:
    found = list(edits_stand(History(requests=edits), held))
    assert {violation.promise for violation in found} == {PROMISE}


@pytest.mark.parametrize(
    ("edits", "held"),
    [
        ([], a_row(title="Theirs", titleSource="provider")),
        ([MINE], a_row(**NAMED)),
        ([MINE, LOST], a_row(title="Lost", titleSource="user")),
        ([LOST], a_row()),
        ([edited("session/rename", 6, title="")], a_row(title="Theirs", titleSource="provider")),
        ([PINNED], a_row(pinned=True)),
        ([LARGE, OTHER], a_row(**CHOSEN)),
        ([LARGE, UNSET], a_row(settings={"model": "small"}, settingsSource={"model": "default"})),
    ],
)
def test_one_that_stands_or_may_have_been_overtaken_is_fine(edits: list[Request], held: Contents) -> None:
    assert list(edits_stand(History(requests=edits), held)) == []


def test_all_kinds_are_drawn() -> None:
    chance = random.Random(1)
    drawn = {some_edit("s", chance).method for _ in range(50)}
    assert drawn == {"session/rename", "session/pin", "session/updateSettings"}


def first_finding() -> int:
    return next(
        seed
        for seed in range(SEEDS_MAX)
        if PROMISE in {violation.promise for violation in run_seed(seed).violations}
    )


def test_a_turns_end_that_writes_back_an_old_session_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """RT-048 broken: the row as it was before the edits."""
    after = settlement._after_turn

    def as_it_was_created(session, settled):
        stale = settlement.attrs.evolve(
            session, title=None, title_source="none", pinned=False, settings={}, settings_source={}
        )
        return after(stale, settled)

    monkeypatch.setattr(settlement, "_after_turn", as_it_was_created)
    first_finding()
