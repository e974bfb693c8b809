"""A root and its sub-agent at every moment at which one thing can meet another: cancel, end, guidance, answer."""

import pytest

from runtime.simulation.protocols.protocol import walk
from runtime.simulation.protocols.registry import PROTOCOLS


@pytest.mark.rule("RT-135", "RT-008")
def test_a_sub_agent_that_begins_as_its_root_is_cancelled_is_stopped_with_it_or_has_no_session() -> None:
    assert walk(PROTOCOLS["cancel-delegate"]).faults == []


@pytest.mark.rule("RT-134")
def test_a_root_settles_after_its_sub_agent_whichever_is_said_to_have_ended_first() -> None:
    assert walk(PROTOCOLS["delegate-settle"]).faults == []


@pytest.mark.rule("PR-013", "RT-079")
def test_guidance_after_the_response_goes_on_with_the_turn_or_leaves_nothing() -> None:
    assert walk(PROTOCOLS["delegate-guide"]).faults == []


@pytest.mark.rule("RT-024", "RT-009")
def test_an_answer_to_a_sub_agent_that_meets_a_cancel_is_given_or_refused() -> None:
    assert walk(PROTOCOLS["delegate-answer"]).faults == []
