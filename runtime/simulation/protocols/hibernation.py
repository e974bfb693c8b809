"""A release for idleness against what may happen in the same moment: a prompt, an answer, a close.

The machine decides again when the request to release reaches it (`ReleaseIfIdle`), so nothing that came before it may
be cut, and what comes after it starts a runtime of its own. A session that was released has nothing left to wait for and
its cell ends: who comes then is told so in the same step, and the directory makes the next cell (FC-49).
"""

from typing import Final

import trio

from runtime.actors.replies import InteractionReply, SessionReply, TurnReply
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, CloseThread, OpenThread, StartTurn
from runtime.simulation.explore import now_or_later, one_order
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.rows import a_claim
from runtime.simulation.protocols.session_stage import REQUEST, Stage
from store.canonical.interaction import OptionAnswer
from supervisor.errors import ActorStopped

ASLEEP = "the cell had ended"


async def release_and_prompt() -> str:
    """Whether the prompt found the runtime, or another one was started for it."""
    async with trio.open_nursery() as nursery:
        stage = await _idle_stage(nursery)
        caller = stage.answers("send")

        async def send() -> None:
            await now_or_later()
            _offer(stage, i.SendPrompt(caller, i.Submission(a_claim("c2", "d2"), i.Prompt(()))))

        nursery.start_soon(_release, stage)
        nursery.start_soon(send)
        await stage.until(
            lambda: _asleep(stage) or (_count(stage, StartTurn) == 2 and caller.outcome is not None)
        )
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    if _asleep(stage):
        assert _count(stage, StartTurn) == _count(stage, CloseThread) == 1
        return ASLEEP
    assert isinstance(caller.outcome, TurnReply)
    assert stage.last_turn.turn_id == caller.outcome.turn.turn_id
    assert _count(stage, StartTurn) == 2, "the prompt is told once"
    assert not stage.last_turn.settled, "the release does not end the turn that came"
    assert _count(stage, CloseThread) == _count(stage, OpenThread) - 1
    assert stage.forced == []
    return "released and started again" if _count(stage, CloseThread) else "kept"


async def release_and_answer() -> str:
    """What came of the turn that waits for an answer."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn(asks=True)
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("respond")

        async def answer() -> None:
            await now_or_later()
            stage.offer(i.Respond(caller, turn_id, REQUEST, OptionAnswer("yes")), control=True)

        nursery.start_soon(_release, stage)
        nursery.start_soon(answer)
        await stage.until(lambda: caller.outcome is not None and _count(stage, AnswerInteraction) == 1)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    assert isinstance(caller.outcome, InteractionReply)
    assert _count(stage, CloseThread) == 0, "a session with a turn is never released"
    return stage.interactions[-1].status


async def release_and_close() -> str:
    """Who released the runtime: once in all, and the close is answered once it is gone."""
    async with trio.open_nursery() as nursery:
        stage = await _idle_stage(nursery)
        caller = stage.answers("close")

        async def close() -> None:
            await now_or_later()
            _offer(stage, i.CloseSession(caller))

        nursery.start_soon(_release, stage)
        nursery.start_soon(close)
        await stage.until(lambda: _asleep(stage) or caller.outcome is not None)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    assert _count(stage, CloseThread) == 1
    if _asleep(stage):
        return ASLEEP
    assert isinstance(caller.outcome, SessionReply)
    assert stage.forced == []
    return caller.outcome.session.runtime.state


async def _idle_stage(nursery: trio.Nursery) -> Stage:
    """A session whose one turn has ended, with its runtime still there."""
    stage = Stage(nursery)
    await stage.start_turn()
    with one_order():
        stage.says(n.TurnEnded(stage.last_turn.turn_id, "completed", stop_reason="end_turn"))
        await stage.until(lambda: stage.last_turn.settled)
        await trio.testing.wait_all_tasks_blocked()
    return stage


async def _release(stage: Stage) -> None:
    await now_or_later()
    try:
        stage.cell.mailbox.put(i.ReleaseIfIdle())
    except ActorStopped:
        stage.note("released before", None)


def _offer(stage: Stage, command: i.SessionInput) -> None:
    try:
        stage.offer(command)
    except ActorStopped:
        stage.note(ASLEEP, None)


def _asleep(stage: Stage) -> bool:
    return any(what == ASLEEP for what, _ in stage.log)


def _count(stage: Stage, kind: type) -> int:
    return sum(isinstance(command, kind) for command in stage.told)


PROTOCOLS: Final = (
    Protocol(
        name="release-prompt",
        shows="a prompt that meets a release for idleness is told once, on the runtime that is there or the next",
        program=release_and_prompt,
        ends=frozenset({"kept", "released and started again", ASLEEP}),
        schedules_min=840,
    ),
    Protocol(
        name="release-answer",
        shows="a session that waits for an answer is never released for idleness",
        program=release_and_answer,
        ends=frozenset({"answered"}),
        schedules_min=480,
    ),
    Protocol(
        name="release-close",
        shows="a close that meets a release for idleness is answered, and the runtime is given back once",
        program=release_and_close,
        ends=frozenset({"absent", "hibernated", ASLEEP}),
        schedules_min=68,
    ),
)
