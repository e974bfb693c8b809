"""The memory of failed starts: a few are allowed, then a back-off that doubles."""

import pytest

from runtime.providers.limits import PoolLimits
from runtime.providers.start_failures import StartFailures

LIMITS = PoolLimits(start_back_off_seconds=10, start_back_off_max_seconds=35)


def fail(failures, *times):
    for at in times:
        failures.begin("f", at)
        failures.failed("f", at)


@pytest.mark.case("FC-30")
def test_the_fifth_failure_in_a_minute_closes_the_launch():
    failures = StartFailures(LIMITS)
    fail(failures, 0, 1, 2, 3)
    assert failures.closed_for_seconds("f", 3) == 0
    fail(failures, 4)
    assert failures.closed_for_seconds("f", 4) == 10
    assert failures.closed_for_seconds("f", 13.5) == 0.5
    assert failures.failures("f") == 5
    assert failures.closed_for_seconds("other", 4) == 0


def test_failures_far_apart_close_nothing():
    failures = StartFailures(LIMITS)
    fail(failures, *range(0, 600, 16))
    assert failures.closed_for_seconds("f", 592) == 0


@pytest.mark.case("FC-30")
def test_each_further_failure_doubles_the_wait_up_to_a_bound():
    failures = StartFailures(LIMITS)
    fail(failures, 0, 0, 0, 0, 0)
    waits = []
    at = 0.0
    for _ in range(4):
        waits.append(failures.closed_for_seconds("f", at))
        at += waits[-1]
        fail(failures, at)
    assert waits == [10, 20, 35, 35]


def test_after_a_back_off_one_trial_at_a_time():
    failures = StartFailures(LIMITS)
    fail(failures, 0, 0, 0, 0, 0)
    assert failures.closed_for_seconds("f", 10) == 0
    failures.begin("f", 10)
    assert failures.closed_for_seconds("f", 10) == 10


def test_a_trial_that_was_given_up_lets_the_next_one_begin():
    failures = StartFailures(LIMITS)
    fail(failures, 0, 0, 0, 0, 0)
    failures.begin("f", 10)
    failures.abandoned("f", 11)
    assert failures.closed_for_seconds("f", 11) == 0


def test_a_good_start_forgets_everything():
    failures = StartFailures(LIMITS)
    fail(failures, 0, 0, 0, 0, 0)
    failures.succeeded("f")
    fail(failures, 1, 1, 1, 1)
    assert failures.closed_for_seconds("f", 1) == 0


def test_old_launches_are_forgotten():
    failures = StartFailures(LIMITS)
    for number in range(1000):
        failures.failed(f"session {number}", number)
    assert sum(failures.failures(f"session {number}") for number in range(1000)) <= 61
    fail(failures, 2000, 2000, 2000, 2000, 2000)
    failures.failed("g", 2010 + 60)
    assert failures.failures("f") == 0


def test_a_limit_of_one_failure_is_possible():
    failures = StartFailures(PoolLimits(start_failures_max=1))
    fail(failures, 0)
    assert failures.closed_for_seconds("f", 0) == 10
