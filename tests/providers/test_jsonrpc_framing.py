"""Newline framing: the same lines however the reads were cut, and bounded memory for lines that are too long."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.jsonrpc.framing import Frame, LineEndless, LineFramer, LineTooLong


def frames_of(chunks: list[bytes], line_bytes: int = 100, discard_bytes: int = 100) -> list[Frame]:
    framer = LineFramer(line_bytes, discard_bytes)
    frames = [frame for chunk in chunks for frame in framer.receive(chunk)]
    return frames + framer.end_of_input()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.case("FC-20")
@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=60).map(str.encode), max_size=12),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
    st.lists(st.integers(0, 2000), max_size=30),
)
def test_random_chunking_gives_the_same_frames(
    lines: list[bytes], newline: bytes, ended: bool, places: list[int]
) -> None:
    data = newline.join(lines) + (newline if ended else b"")
    assert frames_of(cut(data, places)) == frames_of([data])


@given(st.lists(st.integers(0, 260), max_size=8), st.booleans(), st.lists(st.integers(0, 2000), max_size=30))
def test_random_chunking_gives_the_same_verdict_on_long_lines(
    sizes: list[int], ended: bool, places: list[int]
) -> None:
    data = b"\n".join(b"x" * size for size in sizes) + (b"\n" if ended else b"")
    assert frames_of(cut(data, places)) == frames_of([data])


@pytest.mark.case("FC-20")
def test_four_byte_characters_arrive_whole_when_written_byte_by_byte() -> None:
    data = '{"text":"\U0001f642\u6c34"}\r\n{"text":"\U0001f680"}\n'.encode()
    assert frames_of([data[i : i + 1] for i in range(len(data))]) == [
        '{"text":"\U0001f642\u6c34"}'.encode(),
        '{"text":"\U0001f680"}'.encode(),
    ]


@pytest.mark.case("FC-17")
def test_last_line_without_newline_counts_at_the_end_of_input() -> None:
    assert frames_of([b"one\ntwo"]) == [b"one", b"two"]
    assert frames_of([b"one\n"]) == [b"one"]
    assert frames_of([]) == []


def test_split_inside_crlf_leaves_no_carriage_return() -> None:
    assert frames_of([b"one\r", b"\ntwo\r\n"]) == [b"one", b"two"]


@pytest.mark.case("FC-08")
def test_line_of_exactly_the_limit_passes_and_one_byte_more_is_discarded_with_its_size() -> None:
    assert frames_of([b"x" * 100 + b"\nnext\n"]) == [b"x" * 100, b"next"]
    assert frames_of([b"x" * 101 + b"\nnext\n"]) == [LineTooLong(101, 100), b"next"]


@pytest.mark.case("FC-08")
def test_thirty_megabyte_line_in_small_reads_arrives_unharmed() -> None:
    framer = LineFramer(32 * 1024 * 1024, 32 * 1024 * 1024)
    piece = b"y" * 4096
    for _ in range(7500):
        assert framer.receive(piece) == []
    (line,) = framer.receive(b"\n")
    assert isinstance(line, bytes)
    assert len(line) == 7500 * 4096
    assert framer.receive(b"after\n") == [b"after"]


@pytest.mark.case("FC-08")
def test_endless_line_gives_up_once_and_holds_no_memory() -> None:
    framer = LineFramer(100, 100)
    seen: list[Frame] = []
    for _ in range(50):
        seen += framer.receive(b"z" * 10)
        assert framer._held_bytes <= 210
        assert sum(map(len, framer._held)) <= 100
    assert seen == [LineEndless(100, 100)]
    assert framer.receive(b"\nmore\n") == []
    assert framer.end_of_input() == []


def test_too_long_last_line_without_newline_is_reported_at_the_end() -> None:
    assert frames_of([b"x" * 150]) == [LineTooLong(150, 100)]
