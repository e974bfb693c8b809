"""A turn against what can happen to it: its cancel against its end, answers against the cancel and one another."""

from typing import Final

import trio

from runtime.actors.replies import InteractionReply, TurnReply
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, CancelTurn, StartTurn
from runtime.refusal import Refusal
from runtime.simulation.explore import now_or_later
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.session_stage import REQUEST, Answers, Stage
from store.canonical.interaction import OptionAnswer


async def cancel_and_settle() -> str:
    """The outcome of the turn, and the phase the caller of the cancel was told."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("cancel")

        async def cancel() -> None:
            await now_or_later()
            stage.offer(i.RequestCancel(caller, turn_id), control=True)

        async def settle() -> None:
            await now_or_later()
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))

        nursery.start_soon(cancel)
        nursery.start_soon(settle)
        await stage.until(lambda: caller.outcome is not None and stage.last_turn.settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    assert isinstance(caller.outcome, TurnReply)
    assert stage.forced == [], "the grace of a cancel ends with its turn"
    outcomes = {turn.outcome for turn in stage.turns if turn.settled}
    assert len(outcomes) == 1, "a settled outcome stands"
    assert sum(isinstance(command, CancelTurn) for command in stage.told) <= 1
    reply_precedes_its_event(stage)
    return f"{stage.last_turn.outcome}, the cancel was told {caller.outcome.turn.phase}"


async def answer_and_cancel() -> str:
    """What became of the interaction, and of the answer's caller."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn(asks=True)
        turn_id = stage.last_turn.turn_id
        answering, cancelling = stage.answers("respond"), stage.answers("cancel")

        async def answer() -> None:
            stage.offer(i.Respond(answering, turn_id, REQUEST, OptionAnswer("yes")), control=True)

        async def cancel() -> None:
            stage.offer(i.RequestCancel(cancelling, turn_id), control=True)

        nursery.start_soon(answer)
        nursery.start_soon(cancel)
        await stage.until(lambda: answering.outcome is not None and stage.last_turn.settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    final = stage.interactions[-1]
    told = [command for command in stage.told if isinstance(command, AnswerInteraction)]
    assert len(told) == (final.status == "answered"), "an answer is told once, and only one that is durable"
    assert stage.last_turn.outcome == "canceled"
    reply_precedes_its_event(stage)
    return f"{final.status}, the answer was {code_of(answering)}"


async def two_answers() -> str:
    """The answer that stands, and what the other caller was told."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn(asks=True)
        turn_id = stage.last_turn.turn_id
        callers = {option: stage.answers(option) for option in ("yes", "no")}

        async def answer(option: str) -> None:
            stage.offer(i.Respond(callers[option], turn_id, REQUEST, OptionAnswer(option)), control=True)

        for option in callers:
            nursery.start_soon(answer, option)
        await stage.until(lambda: all(caller.outcome is not None for caller in callers.values()))
        nursery.cancel_scope.cancel()

    answered = stage.interactions[-1].answer
    assert isinstance(answered, OptionAnswer)
    told = [command.answer for command in stage.told if isinstance(command, AnswerInteraction)]
    assert told == [answered], "the agent hears the answer that stands, once"
    assert isinstance(callers[answered.option_id].outcome, InteractionReply)
    assert sum(isinstance(command, StartTurn) for command in stage.told) == 1
    (other,) = (caller for option, caller in callers.items() if option != answered.option_id)
    return f"{answered.option_id} stands, the other was {code_of(other)}"


def code_of(caller: Answers) -> str:
    """The code of a refusal, or that it was taken."""
    return caller.outcome.code if isinstance(caller.outcome, Refusal) else "taken"


def reply_precedes_its_event(stage: Stage) -> None:
    """The caller of a cancel hears of it before anybody sees its effect."""
    names = [what for what, _ in stage.log]
    if "event that shows the cancel" in names:
        assert names.index("cancel") < names.index("event that shows the cancel")


PROTOCOLS: Final = (
    Protocol(
        name="cancel-settle",
        shows="a cancel that meets the end of its turn changes nothing that stands",
        program=cancel_and_settle,
        ends=frozenset(
            {
                "completed, the cancel was told settled",
                "completed, the cancel was told settling",
                "canceled, the cancel was told settling",
            }
        ),
        schedules_min=1_800,
    ),
    Protocol(
        name="answer-cancel",
        shows="an answer that meets a cancel is given or refused, but never both",
        program=answer_and_cancel,
        ends=frozenset(
            {"answered, the answer was taken", "superseded, the answer was interaction.not_pending"}
        ),
        schedules_min=570,
    ),
    Protocol(
        name="two-answers",
        shows="of two answers the first one stands, whoever that is",
        program=two_answers,
        ends=frozenset(
            {f"{option} stands, the other was interaction.not_pending" for option in ("yes", "no")}
        ),
        schedules_min=190,
    ),
)
