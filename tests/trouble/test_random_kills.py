"""kill -9 of a real daemon with real agents at random moments: no promise of the contract is broken by it."""

import random
from pathlib import Path

import pytest

from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import agent
from tests.trouble.drill import LIMITS, TARGET, Drill

KILLS_A_SEED = 5


@pytest.mark.case("FC-06", "FC-32")
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_kills_at_random_moments_break_no_promise(tmp_path: Path, seed: int) -> None:
    daemon = Daemon(tmp_path, {"limits": LIMITS, "targets": [agent(TARGET, tmp_path)]})
    drill = Drill(daemon, random.Random(seed))
    daemon.start()
    try:
        for _ in range(KILLS_A_SEED):
            await drill.live_and_die()
        await drill.recall()
        print(f"seed {seed}: turns at the kills: {dict(drill.states)}")
        assert daemon.stop() == 0
    finally:
        daemon.end()
