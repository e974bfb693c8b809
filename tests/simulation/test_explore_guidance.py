"""Guidance under every schedule there is: against the end of its turn, against a stop, against itself."""

import pytest

from runtime.simulation.protocols.protocol import walk
from runtime.simulation.protocols.registry import PROTOCOLS


@pytest.mark.rule("RT-003", "RT-079")
@pytest.mark.parametrize("name", ["guide-settle", "guide-settle-late"])
def test_guidance_that_meets_the_end_is_taken_or_leaves_nothing(name: str) -> None:
    assert walk(PROTOCOLS[name]).faults == []


@pytest.mark.rule("RT-007", "RT-079")
@pytest.mark.parametrize("name", ["guide-cancel", "guide-cancel-silent"])
def test_guidance_that_meets_a_stop_does_not_keep_the_turn_alive(name: str) -> None:
    assert walk(PROTOCOLS[name]).faults == []


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
def test_the_same_guidance_twice_is_told_once_and_answered_twice() -> None:
    assert walk(PROTOCOLS["guide-twice"]).faults == []
