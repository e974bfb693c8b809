"""Small protocols under every schedule there is, on the objects that play them in the service."""

import pytest
import trio

from runtime.actors.replies import InteractionReply, TurnReply
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, CancelTurn, StartTurn
from runtime.refusal import Refusal
from runtime.simulation.explore import NotRepeatable, TooManySchedules, choose, explore, pause
from store.canonical.interaction import OptionAnswer
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks
from tests.simulation.session_stage import REQUEST, Stage

SOURCE = LifecycleIdentity("session", "w", "source")
SIDE = LifecycleIdentity("side", "w", "side")


# --- the explorer itself --------------------------------------------------------------------------------------


def test_every_order_of_a_batch_is_run():
    async def program():
        order = []

        async def step(name):
            order.append(name)

        async with trio.open_nursery() as nursery:
            for name in "abc":
                nursery.start_soon(step, name)
        return "".join(order)

    assert set(explore(program)) == {"abc", "acb", "bac", "bca", "cab", "cba"}


def test_a_lost_update_is_found():
    async def program(turns_max):
        box = [0]

        async def add():
            await pause(turns_max)
            seen = box[0]
            await trio.lowlevel.checkpoint()
            box[0] = seen + 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(add)
            nursery.start_soon(add)
        return box[0]

    assert set(explore(program, 2)) == {1, 2}


def test_choices_are_all_taken():
    async def program():
        return choose(2), choose(3)

    assert set(explore(program)) == {(first, second) for first in range(2) for second in range(3)}


def test_a_program_with_too_many_schedules_is_refused():
    async def program():
        return choose(10)

    with pytest.raises(TooManySchedules, match="more than 9 schedules"):
        explore(program, limit=9)


def test_a_program_that_takes_other_chances_is_refused():
    widths = iter(range(2, 100))

    async def program():
        return choose(next(widths)), choose(2)

    with pytest.raises(NotRepeatable):
        explore(program)


# --- two lifecycle locks: opening a Side, closing its source ------------------------------------------------------


async def open_and_close(ordered: bool) -> bool:
    """Whether both got both locks; two who take them one by one, in opposite order, may wait for one another."""
    locks = LifecycleLocks()
    done = []

    async def take(identity, holder):
        """One lock, without regard to what else is held."""
        while (held := locks.try_hold(identity, holder=holder)) is None:
            await trio.sleep(1)
        return held

    async def open_side():
        await pause(1)
        if ordered:
            async with locks.hold(SOURCE, SIDE, holder="open", deadline_seconds=5):
                await pause(1)
        else:
            with await take(SOURCE, "open"):
                await pause(1)
                with await take(SIDE, "open"):
                    await pause(1)
        done.append("open")

    async def close_source():
        await pause(1)
        if ordered:
            async with locks.hold(SIDE, SOURCE, holder="close", deadline_seconds=5):
                await pause(1)
        else:
            with await take(SIDE, "close"):
                await pause(1)
                with await take(SOURCE, "close"):
                    await pause(1)
        done.append("close")

    with trio.move_on_after(3):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(open_side)
            nursery.start_soon(close_source)
    assert locks.holders() == {}
    return len(done) == 2


@pytest.mark.rule("RT-113")
def test_two_lifecycle_locks_never_wait_for_one_another():
    assert set(explore(open_and_close, True)) == {True}
    assert set(explore(open_and_close, False)) == {True, False}, "without the order some schedules lock up"


async def now_or_later() -> None:
    """At once with others who are at it, or when what they do has had its effect."""
    if choose(2):
        await trio.sleep(1)


# --- cancel and settle ----------------------------------------------------------------------------------------


async def cancel_and_settle() -> tuple[str | None, str]:
    """The outcome of the turn, and the phase the caller of the cancel was told."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("cancel")

        async def cancel():
            await now_or_later()
            stage.offer(i.RequestCancel(caller, turn_id), control=True)

        async def settle():
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
    _reply_precedes_its_event(stage)
    return stage.last_turn.outcome, caller.outcome.turn.phase


@pytest.mark.rule("RT-003", "RT-007")
def test_a_cancel_that_meets_the_end_of_its_turn_changes_nothing_that_stands():
    found = explore(cancel_and_settle)
    assert sum(found.values()) > 50
    assert {outcome for outcome, _ in found} == {"completed", "canceled"}
    assert {phase for _, phase in found} == {"settling", "settled"}


# --- answer and cancel, answer and answer -----------------------------------------------------------------------


async def answer_and_cancel() -> tuple[str, str | None]:
    """What became of the interaction, and of the answer's caller."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn(asks=True)
        turn_id = stage.last_turn.turn_id
        answering, cancelling = stage.answers("respond"), stage.answers("cancel")

        async def answer():
            stage.offer(i.Respond(answering, turn_id, REQUEST, OptionAnswer("yes")), control=True)

        async def cancel():
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
    _reply_precedes_its_event(stage)
    code = answering.outcome.code if isinstance(answering.outcome, Refusal) else None
    return final.status, code


@pytest.mark.rule("RT-009", "RT-010", "RT-011")
@pytest.mark.case("FC-04")
def test_an_answer_that_meets_a_cancel_is_given_or_refused_but_never_both():
    found = explore(answer_and_cancel)
    assert sum(found.values()) > 50
    assert ("superseded", "interaction.not_pending") in found
    assert ("answered", None) in found
    assert not any(status == "superseded" and code is None for status, code in found)


async def two_answers() -> tuple[str, frozenset[str | None]]:
    """The answer that stands, and what the two callers were told."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn(asks=True)
        turn_id = stage.last_turn.turn_id
        callers = {option: stage.answers(option) for option in ("yes", "no")}

        async def answer(option):
            stage.offer(i.Respond(callers[option], turn_id, REQUEST, OptionAnswer(option)), control=True)

        for option in callers:
            nursery.start_soon(answer, option)
        await stage.until(lambda: all(caller.outcome is not None for caller in callers.values()))
        nursery.cancel_scope.cancel()

    stands = stage.interactions[-1].answer.option_id
    told = [command.answer.option_id for command in stage.told if isinstance(command, AnswerInteraction)]
    assert told == [stands], "the agent hears the answer that stands, once"
    assert isinstance(callers[stands].outcome, InteractionReply)
    assert sum(isinstance(command, StartTurn) for command in stage.told) == 1
    return stands, frozenset(getattr(caller.outcome, "code", None) for caller in callers.values())


@pytest.mark.rule("RT-010")
def test_of_two_answers_the_first_one_stands_whoever_that_is():
    found = explore(two_answers)
    assert {stands for stands, _ in found} == {"yes", "no"}
    assert {codes for _, codes in found} == {frozenset({None, "interaction.not_pending"})}


def _reply_precedes_its_event(stage: Stage) -> None:
    names = [what for what, _ in stage.log]
    if "event that shows the cancel" in names:
        assert names.index("cancel") < names.index("event that shows the cancel")
