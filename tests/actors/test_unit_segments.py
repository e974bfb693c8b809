"""Which of a machine's effects commit together: what clients then see keeps to the contract's order."""

import pytest

from runtime.actors.units import segments
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.simulation.protocols.rows import OPTIONS
from store.canonical.identifiers import RequestId
from store.canonical.interaction import ApprovalInput, Interaction
from store.canonical.turn import Turn
from tests.lifecycle.playbook import Playbook


def dispatched() -> tuple[Playbook, Turn]:
    """A turn whose prompt is on its way; the effects so far are forgotten."""
    book = Playbook()
    turn = book.send()
    book.connect()
    book.effects.clear()
    return book, turn


@pytest.mark.rule("RT-002")
def test_a_turn_that_asks_at_once_is_seen_running_before_it_waits() -> None:
    book, turn = dispatched()
    approval = ApprovalInput("call", "Run it", "execute")
    book.say(n.TurnAccepted(turn.turn_id))
    book.say(n.InteractionRequested(turn.turn_id, RequestId("r1"), "approval", approval, OPTIONS))
    units = [list(segment.rows.values()) for segment in segments(book.effects) if segment.writes]
    phases = [[row.phase for row in unit if isinstance(row, Turn)] for unit in units]
    assert phases == [["running"], ["waiting"]]
    assert [type(row) for row in units[1]] == [Interaction, Turn], "and waits with what it waits for"


def test_a_message_opened_and_ended_in_one_batch_is_one_row() -> None:
    book, turn = dispatched()
    book.say(n.ToolCallReported(turn.turn_id, "c1", name="build", status="running"))
    book.say(n.TurnEnded(turn.turn_id, "completed", "end_turn"))
    [unit] = [segment for segment in segments(book.effects) if segment.writes]
    [message] = [row for row in unit.rows.values() if getattr(row, "tool_call", None) is not None]
    assert (message.status, message.tool_call.status) == ("interrupted", "interrupted")
    assert [effect.message.message_id for effect in unit.opened] == [message.message_id]


def test_text_is_told_after_the_row_that_opens_its_message_and_before_the_one_that_ends_it() -> None:
    book, turn = dispatched()
    for text in ("one ", "two"):
        book.say(n.TextChunk(turn.turn_id, "t1", "text", text))
    book.say(n.TurnEnded(turn.turn_id, "completed", "end_turn"))
    opening, ending = [segment for segment in segments(book.effects) if segment.writes]
    assert [type(effect).__name__ for effect in opening.after if "Text" in type(effect).__name__] == [
        "AppendText",
        "AppendText",
    ]
    assert not any("Text" in type(effect).__name__ for effect in ending.after)
    settled = [row for row in ending.rows.values() if isinstance(row, Turn)]
    assert [row.outcome for row in settled] == ["completed"]


def test_a_prompt_is_marked_in_a_unit_before_its_provider_is_told() -> None:
    book = Playbook()
    book.send()
    book.give(i.ConnectionAcquired(book.generation))
    book.effects.clear()
    book.say(n.ThreadOpened("thread", False))
    *_, marked = segments(book.effects)
    assert [row.delivery for row in marked.rows.values() if isinstance(row, Turn)] == ["dispatching"]
    assert [type(effect).__name__ for effect in marked.after] == ["TellConnection", "ArmTimer"]
