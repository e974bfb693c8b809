"""The declared failpoints and their places agree, every durable marker has one on each side, and decisions have none."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard, get_args

import attrs
import pytest

from runtime.actors.markers import MARKERS, TOLD, markers_of
from runtime.actors.units import segments
from runtime.failpoints import POINTS
from runtime.lifecycle import effects as fx
from store.canonical.turn import Delivery, TurnPhase
from tests.store.builders import interaction_row, turn_row

ROOT = Path(__file__).parents[2]
NAMES = {point.name for point in POINTS}


def places() -> Iterator[str]:
    """The name at each place of the sources, with `*` for what is put in as it runs."""
    for folder in ("runtime", "store", "supervisor"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if _is_place(node):
                    yield _spelled(node.args[0])


def _is_place(node: ast.AST) -> TypeGuard[ast.Call]:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in ("reach", "reach_now")


def _spelled(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
    return node.value if isinstance(node, ast.Constant) else ""


def test_names_say_seam_effect_and_side() -> None:
    for point in POINTS:
        seam, effect, side = point.name.split(".")
        assert seam.isidentifier()
        assert effect.isidentifier()
        assert side in ("before", "after")
        assert point.stands_for
    assert len(NAMES) == len(POINTS)


def test_every_declared_name_has_one_place_and_every_place_a_declared_name() -> None:
    found = Counter(place for place in places() if place)
    for name in NAMES:
        seam, _, side = name.split(".")
        standing = found[name] or found[f"{seam}.*.{side}"]
        assert standing == 1, f"{name} has {standing} places"
    for place in found:
        seam, effect, side = place.split(".")
        declared = place in NAMES or (
            effect == "*" and any(n.startswith(f"{seam}.") and n.endswith(side) for n in NAMES)
        )
        assert declared, f"{place} is not declared"


def test_every_durable_marker_has_a_failpoint_on_each_side() -> None:
    for marker in MARKERS:
        assert {f"marker.{marker}.before", f"marker.{marker}.after"} <= NAMES
    for told in TOLD.values():
        assert {f"session.{told}.before", f"session.{told}.after"} <= NAMES


@pytest.mark.parametrize("phase", get_args(TurnPhase))
@pytest.mark.parametrize("delivery", get_args(Delivery))
def test_every_state_of_a_turn_that_a_restart_goes_by_is_a_marker(
    phase: TurnPhase, delivery: Delivery
) -> None:
    turn = attrs.evolve(turn_row("a", "t", 1), phase=phase, delivery=delivery, outcome=None)
    [segment] = segments([fx.PersistTurn(turn)])
    found = markers_of(segment)
    if phase == "settled":
        assert found == ("settled",)
    elif delivery in ("dispatching", "not_dispatched", "accepted") and phase in ("submitted", "running"):
        known = {"not_dispatched": "submitted", "dispatching": "dispatching", "accepted": "accepted"}
        assert found in ((known[delivery],), ()), found
        assert found or (phase, delivery) != ("submitted", delivery)


@pytest.mark.parametrize(
    ("changes", "marker"),
    [
        ({}, "asked"),
        ({"status": "answered", "answer_delivery": "dispatching"}, "answered"),
        ({"status": "answered", "answer_delivery": "delivered"}, "delivered"),
        ({"status": "answered", "answer_delivery": "unknown"}, "delivered"),
        ({"status": "superseded"}, "superseded"),
    ],
)
def test_every_step_of_a_question_is_a_marker(changes: dict[str, str], marker: str) -> None:
    row = attrs.evolve(interaction_row("a", "t", "r"), **changes)
    [segment] = segments([fx.PersistInteraction(row)])
    assert markers_of(segment) == (marker,)
