"""Child specifications: which ending asks for a restart."""

import pytest

from supervisor import ChildSpec, Crashed, Normal, RestartIntensity, Shutdown


async def start(*, task_status):
    raise AssertionError("not started here")


@pytest.mark.parametrize(
    ("restart", "expected"),
    [
        ("permanent", [True, True, True]),
        ("transient", [False, False, True]),
        ("temporary", [False, False, False]),
    ],
)
def test_which_endings_ask_for_a_restart(restart, expected):
    spec = ChildSpec(id="child", start=start, restart=restart)
    reasons = [Normal(), Shutdown(), Crashed(ValueError())]
    assert [spec.wants_restart(reason) for reason in reasons] == expected


def test_a_child_is_permanent_with_the_usual_intensity_unless_it_says_otherwise():
    spec = ChildSpec(id="child", start=start)
    assert (spec.restart, spec.intensity) == ("permanent", RestartIntensity(3, 60))


def test_a_negative_grace_is_refused():
    with pytest.raises(ValueError, match="grace_seconds"):
        ChildSpec(id="child", start=start, grace_seconds=-1)
