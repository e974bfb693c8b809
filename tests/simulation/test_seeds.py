"""A hundred seeds of the whole service, with power cuts, crashes and faults: nothing that was promised is broken."""

from collections.abc import Callable

import pytest

from runtime.simulation.command import Summary

pytestmark = pytest.mark.timeout(600)  # the first of these tests runs the seeds for all of them


@pytest.mark.rule("RT-003", "RT-005", "RT-029", "RT-037", "RT-076", "ST-003", "ST-005")
@pytest.mark.case("FC-10", "FC-11", "FC-14", "FC-23", "FC-49")
def test_no_promise_is_broken_in_a_hundred_seeds(
    hundred_seeds: Summary, record_property: Callable[[str, object], None]
) -> None:
    record_property("simulation", hundred_seeds.as_text())
    assert hundred_seeds.violations == []


def test_power_is_cut_two_hundred_times_and_often_inside_a_commit(hundred_seeds: Summary) -> None:
    assert hundred_seeds.power_cuts >= 200
    assert hundred_seeds.faults["power cut in a commit"] >= 50
    assert hundred_seeds.faults["power cut at rest"] >= 50
    assert hundred_seeds.faults["power cut in a start"] >= 5
    assert hundred_seeds.faults["power cut in a stop"] >= 5
    assert hundred_seeds.faults["power cut at a failpoint"] >= 10


def test_every_kind_of_fault_takes_place(hundred_seeds: Summary) -> None:
    missing = {
        "agent died",
        "agent noise",
        "clean stop",
        "clock jump",
        "disk sync io_error",
        "disk write full",
        "disk write io_error",
        "disk write short",
        "kill at rest",
        "kill in a commit",
        "kill in a start",
        "launch failed",
        "torn frame",
    } - hundred_seeds.faults.keys()
    assert not missing
