"""Restart intensity: a sliding window."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supervisor import RestartIntensity


def admitted(intensity, times):
    """The times at which a restart was admitted, up to the first refusal."""
    recent, done = (), []
    for at in times:
        recent = intensity.admit(recent, at)
        if recent is None:
            return done
        done.append(at)
    return done


def test_by_default_the_fourth_restart_within_a_minute_is_too_many():
    assert admitted(RestartIntensity(), [0, 10, 20, 59]) == [0, 10, 20]


def test_a_restart_no_longer_counts_when_the_window_has_passed():
    assert admitted(RestartIntensity(), [0, 10, 20, 60, 69]) == [0, 10, 20, 60]


def test_no_restart_at_all_may_be_allowed():
    assert RestartIntensity(restarts_max=0).admit((), 0) is None


@pytest.mark.parametrize("wrong", [{"restarts_max": -1}, {"window_seconds": 0}])
def test_senseless_bounds_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RestartIntensity(**wrong)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 4),
    st.integers(1, 20),
    st.lists(st.integers(0, 100), max_size=30).map(sorted),
)
def test_it_refuses_exactly_when_the_window_is_full(restarts_max, window_seconds, times):
    intensity = RestartIntensity(restarts_max, window_seconds)
    recent, earlier = (), []
    for at in times:
        within = [it for it in earlier if at - it < window_seconds]
        next_recent = intensity.admit(recent, at)
        assert (next_recent is None) == (len(within) >= restarts_max)
        if next_recent is not None:
            recent = next_recent
            earlier.append(at)
            assert len(recent) <= restarts_max
