"""Bounds of text, byte by byte: what streams is what is stored, cut once, at a whole character, with the marker last."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.lifecycle.live_tail import TRUNCATION_MARKER, LiveTail, TailLimits, cut_text
from store.canonical.identifiers import CallId, MessageId, SessionId, TurnId, WorkspaceId
from store.canonical.message import Message, TextBlock, ToolCall

ODD = (
    "a",
    " ",
    "\n",
    "\r\n",
    "\x00",
    "\t",
    "é",
    "€",
    "\u200d",
    "👩\u200d🚀",
    "🏳️\u200d🌈",
    "𝄞",
    "\ufeff",
    "e\u0301",
)
"""Characters of one to four bytes, some of which belong together, and white space."""
pieces_of_text = st.lists(st.lists(st.sampled_from(ODD), min_size=1, max_size=6).map("".join), max_size=12)
kinds = st.sampled_from(["text", "reasoning", "tool_call"])


def opened(kind: str, limit: int, delta_bytes: int = 7) -> tuple[LiveTail, Message]:
    """A message that streams, with so many bytes to come."""
    tail = LiveTail(TailLimits(max_delta_bytes=delta_bytes, max_message_bytes=limit, max_output_bytes=limit))
    row = Message(
        workspace_id=WorkspaceId("w"),
        agent_session_id=SessionId("s"),
        message_id=MessageId("m"),
        turn_id=TurnId("t"),
        sequence=1,
        version=1,
        role="assistant",
        kind=kind,
        created_at=0,
        status="streaming",
        tool_call=ToolCall(CallId("c"), "n", "t") if kind == "tool_call" else None,
        delta_seq=0,
    )
    tail.open(row)
    return tail, row


def stored(tail: LiveTail, row: Message) -> tuple[str, bool]:
    """The text of the row that ends the message, and whether it says that it was cut."""
    ended = tail.complete(attrs.evolve(row, status="completed"))
    text = (
        ended.tool_call.output.text
        if ended.tool_call
        else "".join(block.text for block in ended.content if isinstance(block, TextBlock))
    )
    return text, ended.truncated


@pytest.mark.rule("ST-014", "ST-015", "ST-016", "ST-017", "ST-019")
@given(kind=kinds, pieces=pieces_of_text, limit=st.integers(1, 60), delta_bytes=st.integers(4, 16))
def test_what_was_streamed_is_what_is_stored_and_is_cut_once_at_a_whole_character(
    kind: str, pieces: list[str], limit: int, delta_bytes: int
) -> None:
    tail, row = opened(kind, limit, delta_bytes)
    deltas = [delta for piece in pieces for delta in tail.append(row.message_id, piece)]
    said = "".join(pieces)
    text, truncated = stored(tail, row)
    assert "".join(delta.text for delta in deltas) == text
    assert [delta.delta_seq for delta in deltas] == list(range(len(deltas)))
    assert all(delta.text and len(delta.text.encode()) <= delta_bytes for delta in deltas)
    assert truncated == (len(said.encode()) > limit)
    kept = text.removesuffix(TRUNCATION_MARKER) if truncated else text
    assert text == (kept + TRUNCATION_MARKER if truncated else said)
    assert said.startswith(kept)
    assert len(kept.encode()) <= limit
    if truncated:
        behind = said[len(kept)]
        assert len((kept + behind).encode()) > limit, "not a character less than fits"
        assert not tail.append(row.message_id, "more"), "nothing comes behind the cut"


@pytest.mark.rule("ST-017")
@given(kind=kinds, pieces=pieces_of_text, limit=st.integers(1, 60))
def test_a_whole_new_text_is_cut_as_if_it_had_streamed(kind: str, pieces: list[str], limit: int) -> None:
    streamed, row = opened(kind, limit)
    for piece in pieces:
        streamed.append(row.message_id, piece)
    replaced, other = opened(kind, limit)
    replaced.append(other.message_id, "what was said before")
    replaced.replace(other.message_id, "".join(pieces))
    assert stored(replaced, other) == stored(streamed, row)


@pytest.mark.rule("ST-016")
@pytest.mark.parametrize("character", ODD)
def test_a_cut_through_each_byte_of_a_character_leaves_it_out(character: str) -> None:
    size = len(character.encode())
    for bytes_max in range(size + 1):
        kept = cut_text(character, bytes_max)
        assert character.startswith(kept)
        assert len(kept.encode()) <= bytes_max
    assert cut_text(character, size) == character
    assert cut_text("x" + character, size) == "x" + cut_text(character, size - 1)


@pytest.mark.rule("ST-019")
@given(st.lists(st.sampled_from([" ", "\n", "\r\n", "\t", "\u00a0", "\u2028"]), min_size=1, max_size=20))
def test_white_space_alone_is_text_like_any_other(spaces: list[str]) -> None:
    tail, row = opened("text", 1000)
    for space in spaces:
        tail.append(row.message_id, space)
    assert stored(tail, row) == ("".join(spaces), False)
