"""The turn table against the contract's words."""

import pytest

from runtime.lifecycle.turn import TRANSITIONS

# contract §3: submitted -> running | settling | settled; running <-> waiting; running | waiting -> settling |
# settled; settling -> settled, and never back.
ALLOWED = {
    ("submitted", "running"),
    ("submitted", "settling"),
    ("submitted", "settled"),
    ("running", "waiting"),
    ("waiting", "running"),
    ("running", "settling"),
    ("running", "settled"),
    ("waiting", "settling"),
    ("waiting", "settled"),
    ("settling", "settled"),
}


@pytest.mark.rule("RT-002")
def test_every_transition_is_one_the_contract_allows() -> None:
    moves = {(t.source, t.target) for t in TRANSITIONS.transitions if t.source != t.target}
    assert moves == ALLOWED


@pytest.mark.rule("RT-003")
def test_nothing_leaves_settled() -> None:
    assert not [t for t in TRANSITIONS.transitions if t.source == "settled"]


def test_a_table_refuses_two_targets_for_one_event() -> None:
    from runtime.lifecycle.transitions import Transition, TransitionTable

    with pytest.raises(ValueError, match="two transitions"):
        TransitionTable("bad", "a", (Transition("a", "e", "b"), Transition("a", "e", "c")))
