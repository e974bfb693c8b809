"""Messages: one for each thing the provider produced, in its order, text through the live tail."""

import attrs
import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.live_tail import LiveTail
from runtime.providers import normalized as n
from store.canonical.identifiers import CallId
from store.canonical.message import PlanBlock, PlanEntry
from tests.lifecycle.playbook import Playbook

CALL = CallId("call-1")


@pytest.mark.rule("ST-008", "ST-009")
def test_reasoning_text_and_tool_calls_are_messages_of_their_own_in_order() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.TextChunk(turn_id, "a", "reasoning", "hm"))
    book.say(n.ItemEnded(turn_id, "a"))
    book.say(n.ToolCallReported(turn_id, CALL, "run", "Run ls", "execute", "pending"))
    book.say(n.TextChunk(turn_id, "b", "text", "do"))
    book.say(n.TextChunk(turn_id, "b", "text", "ne"))
    book.say(n.ToolCallReported(turn_id, CALL, status="completed", output_text="files"))
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    rows = book.agent_messages()
    assert [row.kind for row in rows] == ["reasoning", "tool_call", "text"]
    assert [row.sequence for row in rows] == [2, 3, 4]
    assert [book.texts.get(row.message_id) for row in rows] == ["hm", "files", "done"]
    assert all(row.status == "completed" and row.delta_seq is None for row in rows)
    versions = [effect.message.version for effect in book.effects if isinstance(effect, fx.PersistMessage)]
    assert versions == sorted(set(versions))


def test_a_messages_row_precedes_its_text_and_its_text_the_row_that_ends_it() -> None:
    book = Playbook()
    turn_id = book.running()
    effects = [
        *book.say(n.TextChunk(turn_id, "a", "text", "x")),
        *book.say(n.TextChunk(turn_id, "a", "text", "y")),
        *book.say(n.ItemEnded(turn_id, "a")),
    ]
    kinds = [type(effect) for effect in effects]
    assert kinds == [fx.OpenMessage, fx.AppendText, fx.AppendText, fx.PersistMessage]


def test_growing_output_travels_as_deltas_and_changed_output_with_the_row() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.ToolCallReported(turn_id, CALL, "run", status="running", output_text="one"))
    grown = book.say(n.ToolCallReported(turn_id, CALL, output_text="one two"))
    assert [effect.text for effect in grown if isinstance(effect, fx.AppendText)] == [" two"]
    changed = book.say(n.ToolCallReported(turn_id, CALL, output_text="other"))
    assert [effect.text for effect in changed if isinstance(effect, fx.ReplaceText)] == ["other"]


def test_a_row_that_changes_often_is_written_once_an_interval() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.ToolCallReported(turn_id, CALL, "run", "Step 0", status="running"))
    for step in range(1, 20):
        assert not [
            effect
            for effect in book.say(n.ToolCallReported(turn_id, CALL, title=f"Step {step}"))
            if isinstance(effect, fx.PersistMessage)
        ]
    [timer] = [timer for timer in book.timers if timer.kind == "message_update"]
    book.now_ms += 100
    [written] = [e for e in book.give(i.TimerFired(timer)) if isinstance(e, fx.PersistMessage)]
    assert written.message.tool_call is not None
    assert written.message.tool_call.title == "Step 19"


def test_a_plan_is_one_message_that_is_written_anew() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.PlanReported(turn_id, "plan", (PlanEntry("look"),)))
    book.now_ms += 200
    book.say(n.PlanReported(turn_id, "plan", (PlanEntry("look", "completed"), PlanEntry("act"))))
    [row] = book.agent_messages()
    assert [entry.text for entry in row.content[0].entries] == ["look", "act"]


@pytest.mark.case("FC-11")
def test_a_tool_call_the_agent_never_ended_is_interrupted_with_the_turn() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.ToolCallReported(turn_id, CALL, "run", status="running"))
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    [row] = book.agent_messages()
    assert row.tool_call is not None
    assert (row.status, row.tool_call.status) == ("interrupted", "interrupted")


@pytest.mark.case("FC-53")
def test_output_of_a_call_never_announced_opens_it() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.ToolOutputChunk(turn_id, CALL, "text"))
    [row] = book.agent_messages()
    assert row.kind == "tool_call"
    assert book.texts[row.message_id] == "text"


@pytest.mark.case("FC-13")
def test_words_about_another_turn_are_counted_and_change_nothing() -> None:
    book = Playbook()
    first = book.running()
    book.say(n.TurnEnded(first, "completed", "end_turn"))
    second = book.send("next", "c2", "second").turn_id
    book.say(n.TurnAccepted(second))
    rows = dict(book.messages)
    book.say(n.TextChunk(first, "late", "text", "old words"))
    book.say(n.TurnEnded(first, "failed", None))
    assert book.messages == rows
    assert book.turns[first].outcome == "completed"
    assert book.turns[second].outcome is None
    assert book.counts == ["late_event", "late_event"]


def test_a_streaming_plan_counts_no_deltas_and_keeps_its_entries_in_the_tail() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.PlanReported(turn_id, "p1", (PlanEntry("look"),)))
    [message] = book.agent_messages()
    assert (message.kind, message.status, message.delta_seq) == ("plan", "streaming", 0)
    tail = LiveTail()
    tail.open(message)
    [snapshot] = tail.snapshots()
    assert snapshot == message
    changed = attrs.evolve(message, content=(PlanBlock((PlanEntry("look", "completed"),)),))
    tail.revise(changed)
    assert tail.complete(changed) == changed
    ended = attrs.evolve(changed, status="completed", delta_seq=None)
    assert tail.complete(ended) == ended
