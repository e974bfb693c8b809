"""Turns the agent begins by itself, and what it still says of a turn that has ended."""

import pytest

from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import CancelTurn
from runtime.simulation.protocols.rows import LOADS
from store.canonical.common import TurnError
from store.canonical.identifiers import CallId, TurnId
from tests.lifecycle.playbook import Playbook

GOAL = TurnId("01a22d36-aaaa-7000-8000-000000000001")
NEXT = TurnId("01a22d36-aaaa-7000-8000-000000000002")
CALL = CallId("call-1")


def an_open_session() -> Playbook:
    """A session whose first turn is over, with its conversation open."""
    book = Playbook()
    turn_id = book.running()
    book.say(n.TextChunk(turn_id, "a", "text", "hello"))
    book.say(n.TurnEnded(turn_id, "completed", "completed"))
    return book


def test_a_turn_of_the_agents_own_runs_is_busy_and_settles_like_any_other() -> None:
    book = an_open_session()
    book.say(n.TurnStartedByProvider(GOAL, GOAL))
    turn = book.turns[GOAL]
    assert (turn.phase, turn.delivery, turn.origin, turn.sequence) == ("running", "accepted", "provider", 2)
    assert turn.provider_turn_id == GOAL
    assert book.state.session.active_turn_id == GOAL
    book.say(n.TextChunk(GOAL, "a", "text", "a step"))
    book.say(n.TurnEnded(GOAL, "completed", "completed"))
    assert book.turns[GOAL].outcome == "completed"
    assert book.state.session.active_turn_id is None
    assert [row.turn_id for row in book.agent_messages()][-1] == GOAL
    assert not [row for row in book.messages.values() if row.role == "user" and row.turn_id == GOAL]

    book.say(n.TurnStartedByProvider(NEXT, NEXT))
    assert book.turns[NEXT].sequence == 3


@pytest.mark.rule("RT-007")
def test_it_can_be_cancelled_by_its_own_id() -> None:
    book = an_open_session()
    book.say(n.TurnStartedByProvider(GOAL, GOAL))
    book.cancel(GOAL)
    assert book.told[-1] == CancelTurn(book.state.scope, GOAL)
    book.say(n.TurnEnded(GOAL, "canceled", "interrupted"))
    assert book.turns[GOAL].cancel_confirmed_at is not None


def test_there_is_no_place_for_it_beside_a_turn_of_a_prompt() -> None:
    book = an_open_session()
    ours = book.send(submit_id="c2")
    book.say(n.TurnStartedByProvider(GOAL, GOAL))
    book.say(n.TextChunk(GOAL, "a", "text", "lost"))
    book.say(n.TurnEnded(GOAL, "completed", "completed"))
    assert GOAL not in book.turns
    assert book.state.turn is not None
    assert book.state.turn.turn_id == ours.turn_id
    assert book.counts == ["provider_turn_not_taken", "late_event", "late_event"]


def test_it_does_not_begin_in_a_session_that_stops() -> None:
    book = an_open_session()
    book.give(i.Shutdown())
    book.say(n.TurnStartedByProvider(GOAL, GOAL))
    assert GOAL not in book.turns


@pytest.mark.rule("RT-003", "ST-006")
def test_a_command_that_outlives_its_turn_ends_in_the_row_of_that_turn() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.ToolCallReported(turn_id, CALL, "command", "make", "execute", "running"))
    book.say(n.ToolOutputChunk(turn_id, CALL, "begun"))
    book.say(n.TurnEnded(turn_id, "completed", "completed"))
    settled = book.turns[turn_id]
    (row,) = book.agent_messages()
    assert (row.status, row.tool_call.status) == ("interrupted", "interrupted")

    later = book.send(submit_id="c2")
    book.say(n.TurnAccepted(later.turn_id))
    book.say(n.ToolOutputChunk(turn_id, CALL, " done"))
    ended = n.ToolCallReported(turn_id, CALL, status="completed", output_text="begun done", exit_code=0)
    book.say(ended)
    row = book.messages[row.message_id]
    assert (row.status, row.turn_id, row.delta_seq) == ("completed", turn_id, None)
    assert (row.tool_call.status, row.tool_call.output.text) == ("completed", "begun done")
    assert row.tool_call.output.exit_code == 0
    assert (row.tool_call.name, row.tool_call.title) == ("command", "make")
    assert book.turns[turn_id] == settled
    assert book.state.turn is not None
    assert book.state.turn.turn_id == later.turn_id

    book.say(ended)
    assert book.counts == ["late_event", "late_event"], "said once"


def test_how_many_late_commands_are_remembered_is_bounded() -> None:
    book = Playbook()
    turn_id = book.running()
    for number in range(40):
        book.say(n.ToolCallReported(turn_id, CallId(f"c{number}"), "command", "make", "execute", "running"))
    book.say(n.TurnEnded(turn_id, "completed", "completed"))
    assert len(book.state.late_calls) == 32
    book.say(n.ToolCallReported(turn_id, CallId("c39"), status="failed", output_text=""))
    assert book.counts == []
    book.say(n.ToolCallReported(turn_id, CallId("c0"), status="failed", output_text=""))
    assert book.counts == ["late_event"]


def test_text_the_agent_broke_off_is_interrupted_within_a_turn_that_completes() -> None:
    book = Playbook()
    turn_id = book.running(LOADS)
    book.say(n.TextChunk(turn_id, "a", "text", "half a"))
    book.say(n.ItemEnded(turn_id, "a", cut_short=True))
    book.say(n.TextChunk(turn_id, "b", "text", "whol"))
    book.say(n.ItemEnded(turn_id, "b", text="the whole"))
    book.say(n.TextChunk(turn_id, "p", "plan", "# Plan"))
    book.say(n.TurnEnded(turn_id, "completed", "completed"))
    rows = book.agent_messages()
    assert [row.status for row in rows] == ["interrupted", "completed", "completed"]
    assert [book.texts[row.message_id] for row in rows] == ["half a", "the whole", "# Plan"]
    assert rows[-1].kind == "plan"


@pytest.mark.rule("RT-006", "RT-008")
def test_a_prompt_that_is_refused_after_a_stop_was_asked_is_stopped_not_failed() -> None:
    book = an_open_session()
    turn = book.send("later", "c2", "second")
    book.cancel(turn.turn_id)
    assert book.turns[turn.turn_id].outcome is None
    book.say(n.TurnRejected(turn.turn_id, TurnError("session.busy", "no", "runtime")))
    row = book.turns[turn.turn_id]
    assert (row.outcome, row.delivery, row.error) == ("canceled", "rejected", None)
    assert row.cancel_confirmed_at is not None
    assert book.send("next", "c3", "third").sequence == 3
