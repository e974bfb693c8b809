"""Guidance under every schedule there is: against the end of its turn, against a stop, against itself."""

import pytest
import trio

from runtime.actors.replies import TurnReply
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import CancelTurn, GuideTurn
from runtime.refusal import Refusal
from runtime.simulation.explore import choose, explore
from store.canonical.common import TurnError
from store.canonical.message import TextBlock
from tests.lifecycle.playbook import GUIDED, a_claim
from tests.simulation.session_stage import Answers, Stage

SETTLED = TurnError("turn.settled", "The turn has ended.", "runtime")


def guidance(caller: Answers, stage: Stage, submit_id: str = "g1") -> i.RequestGuide:
    """A client says more in the turn."""
    claim = a_claim(submit_id, digest=f"guide {submit_id}")
    prompt = i.Prompt((TextBlock("rather oaks"),))
    return i.RequestGuide(caller, stage.last_turn.turn_id, i.Submission(claim, prompt))


def outcome_of(caller: Answers) -> str:
    """The code of a refusal, or that it was taken."""
    return caller.outcome.code if isinstance(caller.outcome, Refusal) else "taken"


def check(stage: Stage, *callers: Answers) -> None:
    """What was answered is what stands: said and bound, or neither, or bound alone where nobody knows."""
    told = [command.guide_id for command in stage.told if isinstance(command, GuideTurn)]
    assert len(told) == len(set(told)), "told once"
    for caller in callers:
        stands = ("g1" in stage.said, "g1" in stage.claims)
        match outcome_of(caller):
            case "taken":
                assert isinstance(caller.outcome, TurnReply)
                assert stands == (True, True)
            case "submit.delivery_unknown":
                assert stands == (False, True)
            case _:
                assert stands == (False, False), "nothing is left, and the id is free"
    assert len({turn.outcome for turn in stage.turns if turn.settled}) <= 1, "a settled outcome stands"


async def now_or_later() -> None:
    if choose(2):
        await trio.sleep(1)


async def guide_and_settle(knows_its_end: bool) -> tuple[str, str | None]:
    """What the caller was told, and the outcome of the turn."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, capabilities=GUIDED)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("guide")
        over: list[bool] = []

        def answer(told: GuideTurn) -> n.ProviderEvent:
            if over and knows_its_end:
                return n.GuideRefused(told.turn_id, told.guide_id, SETTLED)
            return n.GuideAccepted(told.turn_id, told.guide_id)

        stage.guided = answer

        async def guide() -> None:
            stage.offer(guidance(caller, stage))

        async def settle() -> None:
            await now_or_later()
            over.append(True)
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))

        nursery.start_soon(guide)
        nursery.start_soon(settle)
        await stage.until(lambda: caller.outcome is not None and stage.last_turn.settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()
    check(stage, caller)
    return outcome_of(caller), stage.last_turn.outcome


@pytest.mark.rule("RT-003", "RT-079")
@pytest.mark.parametrize("knows_its_end", [True, False])
def test_guidance_that_meets_the_end_is_taken_or_leaves_nothing(knows_its_end: bool) -> None:
    found = explore(guide_and_settle, knows_its_end)
    assert {code for code, _ in found} == {"taken", "turn.settled"}
    assert {outcome for _, outcome in found} == {"completed"}


async def guide_and_cancel(silent: bool) -> tuple[str, str | None]:
    """What the guide's caller was told, and the outcome of the turn."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, capabilities=GUIDED)
        if silent:
            stage.guided = lambda _: None
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        guiding, cancelling = stage.answers("guide"), stage.answers("cancel")

        async def guide() -> None:
            stage.offer(guidance(guiding, stage))

        async def cancel() -> None:
            await now_or_later()
            stage.offer(i.RequestCancel(cancelling, turn_id), control=True)

        nursery.start_soon(guide)
        nursery.start_soon(cancel)
        await stage.until(lambda: cancelling.outcome is not None and stage.last_turn.settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()
    assert guiding.outcome is not None, "within its time, whatever the agent does"
    check(stage, guiding)
    assert sum(isinstance(command, CancelTurn) for command in stage.told) == 1
    return outcome_of(guiding), stage.last_turn.outcome


@pytest.mark.rule("RT-007", "RT-079")
@pytest.mark.parametrize(("silent", "heard"), [(False, "taken"), (True, "submit.delivery_unknown")])
def test_guidance_that_meets_a_stop_does_not_keep_the_turn_alive(silent: bool, heard: str) -> None:
    found = explore(guide_and_cancel, silent)
    assert {code for code, _ in found} == {heard, "turn.mismatch"}
    assert {outcome for _, outcome in found} == {"canceled"}


async def the_same_twice() -> tuple[str, str]:
    """What the two callers of one guidance were told."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, capabilities=GUIDED)
        await stage.start_turn()
        callers = [stage.answers("guide"), stage.answers("again")]

        async def guide(caller: Answers) -> None:
            stage.offer(guidance(caller, stage))

        for caller in callers:
            nursery.start_soon(guide, caller)
        await stage.until(lambda: all(caller.outcome is not None for caller in callers))
        nursery.cancel_scope.cancel()
    check(stage, *callers)
    assert stage.said.count("g1") == 1
    return outcome_of(callers[0]), outcome_of(callers[1])


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
def test_the_same_guidance_twice_is_told_once_and_answered_twice() -> None:
    assert set(explore(the_same_twice)) == {("taken", "taken")}
