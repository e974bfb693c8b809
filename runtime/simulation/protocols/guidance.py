"""Guidance against the end of its turn, against a stop, against itself."""

from typing import Final

import trio

from runtime.actors.replies import TurnReply
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import CancelTurn, GuideTurn
from runtime.simulation.explore import now_or_later
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.rows import GUIDED, a_claim
from runtime.simulation.protocols.session_stage import Answers, Stage
from runtime.simulation.protocols.turns import code_of
from store.canonical.common import TurnError
from store.canonical.message import TextBlock

SETTLED: Final = TurnError("turn.settled", "The turn has ended.", "runtime")


def guidance(caller: Answers, stage: Stage) -> i.RequestGuide:
    """A client says more in the turn."""
    claim = a_claim("g1", digest="guide g1")
    prompt = i.Prompt((TextBlock("rather oaks"),))
    return i.RequestGuide(caller, stage.last_turn.turn_id, i.Submission(claim, prompt))


def check(stage: Stage, *callers: Answers) -> None:
    """What was answered is what stands: said and bound, or neither, or bound alone where nobody knows."""
    told = [command.guide_id for command in stage.told if isinstance(command, GuideTurn)]
    assert len(told) == len(set(told)), "told once"
    for caller in callers:
        stands = ("g1" in stage.said, "g1" in stage.claims)
        match code_of(caller):
            case "taken":
                assert isinstance(caller.outcome, TurnReply)
                assert stands == (True, True)
            case "submit.delivery_unknown":
                assert stands == (False, True)
            case _:
                assert stands == (False, False), "nothing is left, and the id is free"
    assert len({turn.outcome for turn in stage.turns if turn.settled}) <= 1, "a settled outcome stands"


async def guide_and_settle(knows_its_end: bool) -> str:
    """What the caller was told, and the outcome of the turn. Some agents take guidance after the end of the turn."""
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
    return f"{code_of(caller)}, {stage.last_turn.outcome}"


async def guide_and_cancel(silent: bool) -> str:
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
    return f"{code_of(guiding)}, {stage.last_turn.outcome}"


async def the_same_twice() -> str:
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
    return f"{code_of(callers[0])}, {code_of(callers[1])}"


def _guide_settle(name: str, knows_its_end: bool) -> Protocol:
    return Protocol(
        name=name,
        shows="guidance that meets the end of its turn is taken or leaves nothing",
        program=guide_and_settle,
        arguments=(knows_its_end,),
        ends=frozenset({"taken, completed", "turn.settled, completed"}),
        schedules_min=250,
    )


def _guide_cancel(name: str, silent: bool, heard: str, schedules_min: int) -> Protocol:
    return Protocol(
        name=name,
        shows="guidance that meets a stop does not keep the turn alive",
        program=guide_and_cancel,
        arguments=(silent,),
        ends=frozenset({f"{heard}, canceled", "turn.mismatch, canceled"}),
        schedules_min=schedules_min,
    )


PROTOCOLS: Final = (
    _guide_settle("guide-settle", knows_its_end=True),
    _guide_settle("guide-settle-late", knows_its_end=False),
    _guide_cancel("guide-cancel", silent=False, heard="taken", schedules_min=1_300),
    _guide_cancel("guide-cancel-silent", silent=True, heard="submit.delivery_unknown", schedules_min=240),
    Protocol(
        name="guide-twice",
        shows="the same guidance twice is told once and answered twice",
        program=the_same_twice,
        ends=frozenset({"taken, taken"}),
        schedules_min=150,
    ),
)
