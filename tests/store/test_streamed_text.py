"""Text written behind is joined when read, and void as soon as its message ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from store.canonical.message import TextBlock, ToolCall, ToolOutput
from store.canonical.projection import join_pieces
from store.open import Store
from store.port import MessageQuery
from tests.store.builders import key, message_row, piece, session_row, unit, write_pieces, written

FINAL = MessageQuery(after_version=0)


def streaming(text: str = "", version: int = 1, delta_seq: int | None = 0):
    return message_row("s", "m", 1, version, text, status="streaming", delta_seq=delta_seq)


def read(store: Store):
    (message,) = store.reader.messages(key("s"), FINAL).value.messages
    return message.content[0].text, message.delta_seq


def stored_pieces(store: Store) -> int:
    return store.committer.connection.execute("SELECT count(*) FROM message_pieces").get


def test_pieces_are_joined_in_their_order(store: Store):
    written(store, unit("s", session_row("s"), streaming("Dear ")))
    write_pieces(store, piece("s", "m", 0, "re"))
    write_pieces(store, piece("s", "m", 2, "ader"))
    assert read(store) == ("Dear reader", 6)
    loaded = store.reader.load(key("s")).value
    assert loaded.streaming_messages == store.reader.messages(key("s"), FINAL).value.messages


@pytest.mark.rule("ST-009")
def test_writing_behind_raises_no_version_and_publishes_nothing(store: Store):
    (created,) = written(store, unit("s", session_row("s"), streaming()))
    assert write_pieces(store, piece("s", "m", 0, "text"))
    after = store.reader.messages(key("s"), FINAL)
    assert after.value.message_version == 1
    assert after.commit_seq == created.commit_seq
    assert len(store.reader.log_after(0, 99, 9_999)) == 1


@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_pieces_are_dropped_with_the_end_of_their_message(store: Store, status):
    written(store, unit("s", session_row("s"), streaming()))
    write_pieces(store, piece("s", "m", 0, "abc"))
    written(store, unit("s", message_row("s", "m", 1, 2, "abc!", status=status)))
    assert read(store) == ("abc!", None)
    assert stored_pieces(store) == 0


def test_a_piece_that_comes_after_the_end_is_dropped(store: Store):
    written(store, unit("s", session_row("s"), message_row("s", "m", 1, 1, "whole")))
    assert write_pieces(store, piece("s", "m", 0, "late"))
    assert write_pieces(store, piece("s", "unheard-of", 0, "late"))
    assert stored_pieces(store) == 0
    assert read(store) == ("whole", None)


def test_a_row_written_anew_contains_the_pieces_before_it(store: Store):
    written(store, unit("s", session_row("s"), streaming()))
    write_pieces(store, piece("s", "m", 0, "abc"))
    written(store, unit("s", streaming("abcd", version=2, delta_seq=4)))
    assert stored_pieces(store) == 0
    write_pieces(store, piece("s", "m", 3, "d"))  # was on its way when the row was written
    write_pieces(store, piece("s", "m", 4, "ef"))
    assert read(store) == ("abcdef", 6)


def test_a_piece_sent_again_after_an_unknown_outcome_counts_once(store: Store):
    written(store, unit("s", session_row("s"), streaming()))
    write_pieces(store, piece("s", "m", 0, "ab"))
    write_pieces(store, piece("s", "m", 2, "cd"))
    write_pieces(store, piece("s", "m", 0, "abcdef"))
    assert read(store) == ("abcdef", 6)


def test_output_of_a_tool_call_grows_apart_from_text(store: Store):
    call = ToolCall("c", "shell", "ls", output=ToolOutput("$ ls\n"))
    row = message_row("s", "m", 1, 1, kind="tool_call", content=(), tool_call=call)
    row = message_row(
        "s", "m", 1, 1, kind="tool_call", content=(), tool_call=call, status="streaming", delta_seq=2
    )
    written(store, unit("s", session_row("s"), row))
    write_pieces(store, piece("s", "m", 2, "a.py\n", field="output"))
    (message,) = store.reader.load(key("s")).value.streaming_messages
    assert message.tool_call.output.text == "$ ls\na.py\n"
    assert message.content == ()
    assert message.delta_seq == 7


@given(some.lists(some.text(min_size=1, max_size=5), max_size=8), some.data())
def test_whatever_of_the_pieces_is_already_contained_the_text_is_the_same(parts, data):
    """A row that contains a prefix of the deltas reads like one that contains none."""
    pieces, first = [], 0
    for part in parts:
        pieces.append(piece("s", "m", first, part))
        first += len(part)
    contained = data.draw(some.sampled_from([0, *(one.first_delta_seq for one in pieces), first]))
    whole = "".join(parts)
    row = streaming(whole[:contained], delta_seq=contained)
    joined = join_pieces(row, pieces)
    assert joined.content == (TextBlock(whole),)
    assert joined.delta_seq == len(whole)


def test_nothing_is_joined_beyond_a_hole():
    joined = join_pieces(streaming("a"), [piece("s", "m", 0, "b"), piece("s", "m", 2, "d")])
    assert joined.content == (TextBlock("ab"),)
    assert joined.delta_seq == 1


def test_the_first_text_of_a_message_without_any_makes_its_block():
    row = message_row("s", "m", 1, 1, status="streaming", content=())
    assert join_pieces(row, [piece("s", "m", 0, "hi")]).content == (TextBlock("hi"),)


@pytest.mark.case("FC-29")
def test_a_flood_of_deltas_leaves_one_row(store: Store):
    written(store, unit("s", session_row("s"), streaming()))
    for first in range(0, 5_000, 100):
        write_pieces(store, piece("s", "m", first, "x" * 100))
    assert stored_pieces(store) == 50
    written(store, unit("s", message_row("s", "m", 1, 2, "x" * 5_000)))
    assert stored_pieces(store) == 0
    assert read(store) == ("x" * 5_000, None)
    assert len(store.reader.log_after(0, 99, 9_999_999)) == 2
