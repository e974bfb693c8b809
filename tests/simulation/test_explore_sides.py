"""Opening a Side under every schedule there is: against the end of its source, its process, its owner and itself."""

import pytest

from runtime.simulation.protocols.protocol import walk
from runtime.simulation.protocols.registry import PROTOCOLS


@pytest.mark.rule("RT-113", "RT-131")
@pytest.mark.case("FC-38")
def test_a_deletion_waits_for_an_opening_or_refuses_it_and_no_side_outlives_it() -> None:
    assert walk(PROTOCOLS["side-delete"]).faults == []


@pytest.mark.rule("RT-111", "RT-118")
def test_a_process_that_dies_fails_the_opening_or_expires_the_side() -> None:
    assert walk(PROTOCOLS["side-process"]).faults == []


@pytest.mark.rule("RT-111")
def test_a_provider_that_never_answers_leaves_nothing_behind() -> None:
    assert walk(PROTOCOLS["side-silent"]).faults == []


def test_an_owner_that_is_lost_while_it_opens_takes_the_side_along() -> None:
    assert walk(PROTOCOLS["side-owner"]).faults == []


@pytest.mark.rule("RT-112")
def test_two_openings_of_one_id_make_one_fork() -> None:
    assert walk(PROTOCOLS["side-twice"]).faults == []


def test_a_stop_ends_what_opens_meanwhile() -> None:
    assert walk(PROTOCOLS["side-stop"]).faults == []


def test_a_place_that_is_left_while_its_side_opens_has_none_afterwards() -> None:
    assert walk(PROTOCOLS["side-place"]).faults == []


def test_a_side_that_is_closed_tells_its_provider_and_gives_the_connection_back() -> None:
    assert walk(PROTOCOLS["side-close"]).faults == []
