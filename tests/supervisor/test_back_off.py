"""Back-off: doubles, and has a ceiling."""

import pytest

from supervisor import BackOff


def test_it_doubles_from_the_minimum_up_to_the_maximum():
    back_off = BackOff(0.5, 3)
    assert [back_off.seconds(failures) for failures in range(6)] == [0, 0.5, 1, 2, 3, 3]


def test_it_bears_any_number_of_failures():
    assert BackOff(0.5, 3).seconds(10**9) == 3


@pytest.mark.parametrize("wrong", [(0, 1), (1, 0), (-1, 1)])
def test_senseless_bounds_are_refused(wrong):
    with pytest.raises(ValueError, match="_seconds"):
        BackOff(*wrong)
