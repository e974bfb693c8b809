"""Messages are complete whatever of their stream is missed, doubled or overtaken."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom_client import MessageAssembler, message_key, text_of
from tests.client.client_rows import commit, delta, gap, message, snapshot, tool

KEY = ("w", "s", "m")


def assembled(*events: Any) -> MessageAssembler:
    assembler = MessageAssembler()
    for event in events:
        list(assembler.receive(event))
    return assembler


def test_deltas_are_appended_to_their_row_and_the_events_stay_as_they_were():
    row = message(text="He")
    assembler = assembled(commit(1, ("message", row)), delta(0, "l"), delta(1, "lo"))
    assert text_of(assembler[KEY]) == "Hello"
    assert text_of(row) == "He"
    assert [message_key(one) for one in assembler.of_session("w", "s")] == [KEY]


def test_output_of_a_tool_is_appended_where_it_stands():
    assembler = assembled(
        commit(1, ("message", tool("m", "running", "a"))), delta(0, "b", field="output", kind="tool_call")
    )
    call = assembler[KEY]["toolCall"]
    assert call is not None
    assert (call["output"]["text"], call["status"]) == ("ab", "running")


@pytest.mark.rule("AP-010", "AP-013")
@pytest.mark.parametrize(
    ("events", "text"),
    [
        pytest.param([delta(0, "b"), delta(0, "b")], "ab", id="a delta twice"),
        pytest.param([delta(1, "c")], "a", id="a delta that is not the next"),
        pytest.param(
            [delta(1, "c"), snapshot(message(text="abc", deltas=2)), delta(2, "d")], "abcd", id="snapshot"
        ),
        pytest.param([delta(0, "b"), snapshot(message(text="a", deltas=0))], "ab", id="an old snapshot"),
        pytest.param(
            [commit(1, ("message", message(text="old", deltas=None)))], "a", id="a commit held already"
        ),
        pytest.param(
            [commit(2, ("message", message(text="abc", deltas=None))), delta(1, "x")], "abc", id="late delta"
        ),
        pytest.param(
            [
                commit(2, ("message", message(text="abc", deltas=None))),
                snapshot(message(text="ab", deltas=1)),
            ],
            "abc",
            id="a snapshot of what has ended",
        ),
    ],
)
def test_what_overlaps_is_held_once(events: list[Any], text: str):
    assert text_of(assembled(commit(1, ("message", message(text="a"))), *events)[KEY]) == text


def test_a_delta_of_an_unknown_message_is_nothing_to_act_on():
    assembler = assembled(delta(0, "x"))
    assert (len(assembler), assembler.get(KEY)) == (0, None)


def test_a_read_of_the_same_commit_may_hold_more_text_and_one_with_less_is_dropped():
    assembler = assembled(commit(1, ("message", message(text="a"))), delta(0, "b"))
    assert list(assembler.learn([message(text="a", deltas=0)], 1)) == []
    assert list(assembler.learn([message(text="abc", deltas=2)], 1)) == [KEY]
    assert text_of(assembler[KEY]) == "abc"


def test_the_numbers_of_another_store_are_no_reason_to_keep_old_rows():
    assembler = assembled(commit(90, ("message", message(text="old", deltas=None))))
    assembler.forget_order()
    list(assembler.receive(commit(1, ("message", message(text="new", deltas=None)))))
    assert text_of(assembler[KEY]) == "new"


PIECES = st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=12)


@pytest.mark.case("FC-14")
@given(pieces=PIECES, data=st.data())
def test_any_stretch_may_be_lost_when_a_snapshot_or_the_last_row_follows(
    pieces: list[str], data: st.DataObject
):
    stream = [commit(1, ("message", message()))]
    stream += [delta(number, piece) for number, piece in enumerate(pieces)]
    lost_from = data.draw(st.integers(0, len(pieces)), "lost from delta")
    lost_to = data.draw(st.integers(lost_from, len(pieces)), "up to")
    row = snapshot(message(text="".join(pieces[:lost_to]), deltas=lost_to))
    heard = [*stream[: 1 + lost_from], gap("text", 1), row, *stream[1 + lost_to :]]
    again = data.draw(st.integers(0, len(heard)), "repeated from")
    assembler = assembled(*heard, *(event for event in heard[again:] if event["type"] != "message_snapshot"))
    assert text_of(assembler[KEY]) == "".join(pieces)
    list(assembler.receive(commit(2, ("message", message(text="".join(pieces), deltas=None)))))
    assert text_of(assembler[KEY]) == "".join(pieces)
