"""A held Session in its cell: still once it says so, free again however the operation ends, forgotten when purged."""

import attrs
import trio
import trio.testing

from runtime.actors.holds import SessionHold
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import StartTurn
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import a_claim, a_session
from runtime.simulation.protocols.session_stage import Stage


def a_prompt(stage: Stage, name: str) -> i.SendPrompt:
    return i.SendPrompt(stage.answers(name), i.Submission(a_claim(name), i.Prompt(())))


def outcome_of(stage: Stage, name: str) -> object:
    return next((detail for what, detail in stage.log if what == name), None)


async def running(stage: Stage) -> None:
    """A session whose turn runs, so that its cell stays."""
    prompt = i.Prompt(())
    created = stage.answers("create")
    claims = a_claim("c", scope="workspace"), a_claim("c")
    stage.offer(i.CreateSession(created, a_session(), *claims, prompt))
    await stage.until(lambda: any(isinstance(command, StartTurn) for command in stage.told))
    stage.says(n.TurnAccepted(stage.last_turn.turn_id))
    await trio.testing.wait_all_tasks_blocked()
    assert stage.last_turn.phase == "running"


async def held(stage: Stage) -> None:
    """The same, held: nothing runs any more."""
    await running(stage)
    hold = SessionHold()
    stage.offer(i.HoldSession(hold), control=True)
    await hold.settled.wait()
    assert hold.refusal is None


async def test_a_running_turn_ends_and_nothing_begins_until_the_hold_is_lifted(nursery: trio.Nursery) -> None:
    stage = Stage(nursery)
    await held(stage)
    assert stage.last_turn.outcome == "canceled"
    stage.offer(a_prompt(stage, "while"))
    await trio.testing.wait_all_tasks_blocked()
    assert outcome_of(stage, "while") == "session.busy"
    stage.offer(a_prompt(stage, "after"))
    stage.cell.mailbox.put_first(i.HoldLifted())
    await trio.testing.wait_all_tasks_blocked()
    assert isinstance(outcome_of(stage, "after"), int), "taken, under the number of its commit"


async def test_a_hold_whose_operation_ended_before_it_was_read_holds_nobody(nursery: trio.Nursery) -> None:
    stage = Stage(nursery)
    await running(stage)
    hold = SessionHold()
    hold.over = True
    stage.offer(i.HoldSession(hold))
    stage.cell.mailbox.put_first(i.HoldLifted())
    await trio.testing.wait_all_tasks_blocked()
    assert not hold.settled.is_set()
    assert stage.last_turn.phase == "running"


async def test_a_cell_that_ends_settles_the_hold_that_waits_in_it(nursery: trio.Nursery) -> None:
    stage = Stage(nursery)
    await running(stage)
    hold = SessionHold()
    stage.offer(i.HoldSession(hold))
    stage.cell.close()
    assert hold.settled.is_set()
    assert hold.refusal == Refusal("shutdown.in_progress")


async def test_what_waits_behind_a_deletion_is_told_of_it(nursery: trio.Nursery) -> None:
    stage = Stage(nursery)
    await held(stage)
    stage.offer(a_prompt(stage, "late"))
    stage.cell.mailbox.put_first(i.HoldLifted(attrs.evolve(a_session(), deleted_at=5_000)))
    await trio.testing.wait_all_tasks_blocked()
    assert outcome_of(stage, "late") == "session.deleted"


async def test_a_purged_session_is_not_there_and_can_be_made_anew(nursery: trio.Nursery) -> None:
    stage = Stage(nursery)
    await held(stage)
    stage.offer(a_prompt(stage, "late"))
    claims = a_claim("d", scope="workspace"), a_claim("d")
    stage.offer(i.CreateSession(stage.answers("again"), a_session(), *claims, None))
    stage.cell.mailbox.put_first(i.SessionPurged())
    await trio.testing.wait_all_tasks_blocked()
    assert outcome_of(stage, "late") == "session.not_found"
    assert isinstance(outcome_of(stage, "again"), int)
