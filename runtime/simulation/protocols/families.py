"""A root against what its sub-agent does meanwhile: cancel, end, guidance and answers that meet each other."""

from typing import Final

import trio
import trio.testing

from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, CancelTurn, DropChild, ForChild, GuideTurn
from runtime.simulation.explore import one_order, pause
from runtime.simulation.protocols.family_stage import CHILD, WORK, FamilyStage
from runtime.simulation.protocols.guidance import SETTLED, guidance
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.rows import GUIDED, KEY
from runtime.simulation.protocols.session_stage import REQUEST
from runtime.simulation.protocols.turns import code_of
from store.canonical.interaction import OptionAnswer

MOMENTS: Final = 14
"""Turns of the loop within which one thing meets another. All orders of all tasks of two sessions are too many to walk:
here the moment is what is tried, and the rest takes one order."""
FEW_MOMENTS: Final = 2


def check(stage: FamilyStage) -> str:
    """What stands in the end: nothing is open, the root settled last, and each turn has one outcome."""
    assert stage.all_settled
    assert stage.forced == []
    child = stage.child_turn
    if child is not None:
        assert stage.settled_in_order == [CHILD.agent_session_id, KEY.agent_session_id]
    else:
        assert stage.settled_in_order == [KEY.agent_session_id]
    return f"{stage.last_turn.outcome}, {child.outcome if child is not None else 'no sub-agent'}"


async def cancel_and_delegate() -> str:
    """How both ended, when a cancel meets the beginning of a sub-agent."""
    async with trio.open_nursery() as nursery:
        stage = FamilyStage(nursery)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("cancel")

        async def cancel() -> None:
            await pause(MOMENTS)
            stage.offer(i.RequestCancel(caller, turn_id), control=True)

        async def delegate() -> None:
            await pause(FEW_MOMENTS)
            stage.begins_child()

        with one_order():
            nursery.start_soon(cancel)
            nursery.start_soon(delegate)
            await stage.until(lambda: caller.outcome is not None and stage.all_settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    dropped = any(isinstance(command, DropChild) for command in stage.told)
    stopped = [
        told for told in stage.told if isinstance(told, ForChild) and isinstance(told.command, CancelTurn)
    ]
    assert len(stopped) == (stage.child_turn is not None), "each open turn is stopped once, and no other"
    assert not (dropped and CHILD in stage.rows), "what has a session is not dropped"
    return check(stage)


async def both_settle() -> str:
    """How both ended, when the end of the response meets that of the sub-agent."""
    async with trio.open_nursery() as nursery:
        stage = FamilyStage(nursery)
        await stage.start_turn()
        await stage.start_child()
        turn_id = stage.last_turn.turn_id

        async def settle() -> None:
            await pause(FEW_MOMENTS)
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))

        async def settle_child() -> None:
            await pause(MOMENTS)
            stage.of_child(n.TurnEnded(WORK, "completed", stop_reason="end_turn"))

        with one_order():
            nursery.start_soon(settle)
            nursery.start_soon(settle_child)
            await stage.until(lambda: stage.all_settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()
    return check(stage)


async def guide_while_it_works() -> str:
    """What guidance was told, and how both ended, when it meets the end of the sub-agent after the response."""
    async with trio.open_nursery() as nursery:
        stage = FamilyStage(nursery, capabilities=GUIDED)
        await stage.start_turn()
        await stage.start_child()
        turn_id = stage.last_turn.turn_id
        with one_order():
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))
            await trio.testing.wait_all_tasks_blocked()
        over: list[bool] = []
        caller = stage.answers("guide")

        async def ends() -> None:
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))

        def answer(told: GuideTurn) -> n.ProviderEvent:
            if over:
                return n.GuideRefused(told.turn_id, told.guide_id, SETTLED)
            nursery.start_soon(ends)
            return n.GuideAccepted(told.turn_id, told.guide_id, continued=True)

        stage.guided = answer

        async def guide() -> None:
            await pause(FEW_MOMENTS)
            stage.offer(guidance(caller, stage))

        async def settle_child() -> None:
            await pause(MOMENTS)
            over.append(True)
            stage.of_child(n.TurnEnded(WORK, "completed", stop_reason="end_turn"))

        with one_order():
            nursery.start_soon(guide)
            nursery.start_soon(settle_child)
            await stage.until(lambda: caller.outcome is not None and stage.all_settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()
    return f"{code_of(caller)}, {check(stage)}"


async def answer_child_and_cancel() -> str:
    """What became of a sub-agent's question, when its answer meets a cancel of the root."""
    async with trio.open_nursery() as nursery:
        stage = FamilyStage(nursery)
        await stage.start_turn()
        await stage.start_child(asks=True)
        turn_id = stage.last_turn.turn_id
        answering, cancelling = stage.answers("respond"), stage.answers("cancel")

        async def answer() -> None:
            await pause(MOMENTS // 2)
            respond = i.Respond(answering, WORK, REQUEST, OptionAnswer("yes"))
            stage.child_cell(CHILD).mailbox.offer(respond, control=True)

        async def cancel() -> None:
            await pause(FEW_MOMENTS)
            stage.offer(i.RequestCancel(cancelling, turn_id), control=True)

        with one_order():
            nursery.start_soon(answer)
            nursery.start_soon(cancel)
            await stage.until(lambda: answering.outcome is not None and stage.all_settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    final = stage.interactions[-1]
    told = [each for each in stage.told if isinstance(each, ForChild)]
    answers = [each for each in told if isinstance(each.command, AnswerInteraction)]
    assert len(answers) == (final.status == "answered"), (
        "an answer is told once, and only one that is durable"
    )
    assert check(stage) == "canceled, canceled"
    return f"{final.status}, the answer was {code_of(answering)}"


PROTOCOLS: Final = (
    Protocol(
        name="cancel-delegate",
        shows="a sub-agent that begins as its root is cancelled is stopped with it, or has no session",
        program=cancel_and_delegate,
        ends=frozenset({"canceled, canceled", "canceled, no sub-agent"}),
        schedules_min=45,
    ),
    Protocol(
        name="delegate-settle",
        shows="a root settles after its sub-agent, whichever the agent says has ended first",
        program=both_settle,
        ends=frozenset({"completed, completed"}),
        schedules_min=45,
    ),
    Protocol(
        name="delegate-guide",
        shows="guidance after the response goes on with the turn, or leaves nothing",
        program=guide_while_it_works,
        ends=frozenset({"taken, completed, completed", "turn.settled, completed, completed"}),
        schedules_min=45,
    ),
    Protocol(
        name="delegate-answer",
        shows="an answer to a sub-agent that meets a cancel of the root is given or refused, but never both",
        program=answer_child_and_cancel,
        ends=frozenset(
            {"answered, the answer was taken", "superseded, the answer was interaction.not_pending"}
        ),
        schedules_min=24,
    ),
)
