"""A claim that is only tried for: where the store does not take it, nothing is told and what runs goes on."""

from collections.abc import Callable

import attrs
import pytest
import trio

from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import GuideTurn
from runtime.refusal import Refusal
from runtime.simulation.explore import explore, one_order
from runtime.simulation.protocols.rows import GUIDED, a_claim
from runtime.simulation.protocols.session_stage import Answers, Stage
from store.canonical.change import NotCommitted, Unit, UnitOutcome
from store.canonical.message import TextBlock


@attrs.define(eq=False, slots=False)
class FullStage(Stage):
    """Takes no new claim while `full`, as a nearly full disk does."""

    full: bool = False

    def submit(self, unit: Unit, complete: Callable[[UnitOutcome], None]) -> None:
        if self.full and unit.claims_added:
            self.nursery.start_soon(self._refused, unit, complete)
        else:
            super().submit(unit, complete)

    async def _refused(self, unit: Unit, complete: Callable[[UnitOutcome], None]) -> None:
        complete(NotCommitted(unit, "store.full", "the disk is nearly full"))


def guidance(caller: Answers, stage: Stage) -> i.RequestGuide:
    claim = a_claim("g1", digest="guide")
    return i.RequestGuide(
        caller, stage.last_turn.turn_id, i.Submission(claim, i.Prompt((TextBlock("more"),)))
    )


async def guide_on_a_full_disk() -> str:
    """The phase of the turn when its guidance was refused."""
    async with trio.open_nursery() as nursery:
        stage = FullStage(nursery, capabilities=GUIDED)
        await stage.start_turn()
        with one_order():
            stage.full = True
            first, turn_id = stage.answers("first"), stage.last_turn.turn_id
            stage.offer(guidance(first, stage))
            await stage.until(lambda: first.outcome is not None)
            assert first.outcome == Refusal("store.full")
            assert not [command for command in stage.told if isinstance(command, GuideTurn)]
            phase = stage.last_turn.phase
            assert (stage.cell.restarts, stage.forced) == (0, [])

            stage.full = False
            second = stage.answers("second")
            stage.offer(guidance(second, stage))
            await stage.until(lambda: second.outcome is not None)
            assert stage.said[-1] == "g1", "the same id works once there is room"
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))
            await stage.until(lambda: stage.last_turn.settled)
        nursery.cancel_scope.cancel()
    return phase


@pytest.mark.rule("RT-079")
@pytest.mark.case("FC-34")
def test_guidance_on_a_full_disk_is_refused_and_its_turn_runs_on() -> None:
    assert set(explore(guide_on_a_full_disk)) == {"running"}
