"""Hints to read again are said once a period, however often their cause occurred."""

import attrs
import pytest
import trio

from runtime.api.host_hints import PERIOD_SECONDS, HostHints
from runtime.wire.events import HostHint
from runtime.wire.replies import HealthReadReply
from runtime.wire.rows import HealthProblem, LiveCounts, SweeperHealth
from store.port import StoreHealth

WELL = HealthReadReply(
    status="ok",
    problems=(),
    store=StoreHealth("ok", 1, 0, 1, 0, 0),
    live=LiveCounts(0, 0, 0, 0),
    queues={},
    sweeper=SweeperHealth(0),
    quarantined=(),
    commit_seq=0,
)
FULL = attrs.evolve(WELL, status="degraded", problems=(HealthProblem("store.degraded", 1),))


@attrs.define(eq=False)
class Host:
    health: HealthReadReply = WELL
    said: list[str] = attrs.field(factory=list)

    def hear(self, hint: HostHint) -> None:
        self.said.append(hint.type)


@pytest.fixture
async def host(nursery, autojump_clock) -> tuple[Host, HostHints]:
    one = Host()
    hints = HostHints(lambda: one.health, one.hear)
    await nursery.start(hints.run)
    return one, hints


async def test_health_is_told_when_problems_come_and_go_and_not_for_figures(host, autojump_clock) -> None:
    one, _ = host
    await trio.sleep(5 * PERIOD_SECONDS)
    assert one.said == []
    one.health = FULL
    await trio.sleep(5 * PERIOD_SECONDS)
    assert one.said == ["health"]
    one.health = attrs.evolve(FULL, commit_seq=7, live=LiveCounts(1, 2, 3, 4))
    await trio.sleep(5 * PERIOD_SECONDS)
    assert one.said == ["health"]
    one.health = WELL
    await trio.sleep(5 * PERIOD_SECONDS)
    assert one.said == ["health", "health"]


async def test_many_causes_in_one_period_are_one_hint_of_each_kind(host, autojump_clock) -> None:
    one, hints = host
    for _ in range(10):
        hints.note("target")
        hints.note("models")
        hints.note("status")
    await trio.sleep(1.5 * PERIOD_SECONDS)
    assert one.said == ["models", "status", "target"]
    await trio.sleep(5 * PERIOD_SECONDS)
    assert len(one.said) == 3
