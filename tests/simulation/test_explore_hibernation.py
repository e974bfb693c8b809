"""A release for idleness, in every schedule with what may happen in the same moment."""

import pytest

from runtime.simulation.protocols.protocol import walk
from runtime.simulation.protocols.registry import PROTOCOLS


@pytest.mark.parametrize("name", ["release-prompt", "release-answer", "release-close"])
def test_a_release_for_idleness_cuts_nothing(name: str) -> None:
    walked = walk(PROTOCOLS[name])
    assert walked.faults == []
