"""Streamed text that the store did not take is written with the next; being late for long is a problem of health."""

from collections.abc import Callable, Sequence

import attrs
import trio
from trio.testing import MockClock

from runtime.actors.tails import LATE_SECONDS, Flusher, TailRegistry
from runtime.lifecycle.live_tail import LiveTail, TailLimits
from store.canonical.change import StreamPiece
from tests.store.builders import key, message_row

PERIOD_MS = 250


@attrs.define(eq=False)
class Writer:
    """Answers as it is told, after a while."""

    takes: bool = True
    seconds: float = 0.0
    given: list[StreamPiece] = attrs.field(factory=list)
    nursery: trio.Nursery | None = None

    def submit_pieces(self, pieces: Sequence[StreamPiece], complete: Callable[[bool], None]) -> None:
        self.given += pieces
        assert self.nursery is not None
        self.nursery.start_soon(self._answer, complete, self.takes)

    async def _answer(self, complete: Callable[[bool], None], taken: bool) -> None:
        await trio.sleep(self.seconds)
        complete(taken)


def streaming(tails: TailRegistry, text: str = "") -> LiveTail:
    tail = tails.of(key("s"))
    tail.open(message_row("s", "m", 1, 1, text, status="streaming", delta_seq=1 if text else 0))
    return tail


def stage(nursery: trio.Nursery) -> tuple[Flusher, Writer, LiveTail]:
    tails, writer = TailRegistry(TailLimits()), Writer(nursery=nursery)
    return Flusher(tails, writer, PERIOD_MS), writer, streaming(tails)


async def test_what_was_not_taken_is_part_of_the_next_piece(nursery, autojump_clock: MockClock):
    flusher, writer, tail = stage(nursery)
    tail.append("m", "one ")
    await flusher.flush()
    tail.append("m", "two ")
    writer.takes = False
    await flusher.flush()
    tail.append("m", "three")
    writer.takes = True
    await flusher.flush()
    assert [(piece.first_delta_seq, piece.deltas, piece.text) for piece in writer.given] == [
        (0, 1, "one "),
        (1, 1, "two "),
        (1, 2, "two three"),
    ]
    assert tail.text("m") == "one two three"
    await flusher.flush()
    assert len(writer.given) == 3


async def test_text_read_meanwhile_is_given_back_all_the_same(nursery, autojump_clock: MockClock):
    """A read joins the texts of a tail; the first piece may also be the whole text."""
    flusher, writer, tail = stage(nursery)
    writer.takes, writer.seconds = False, 1.0
    tail.append("m", "one ")
    nursery.start_soon(flusher.flush)
    await trio.sleep(0.5)
    tail.append("m", "two")
    assert tail.text("m") == "one two"
    await trio.sleep(1)
    writer.takes = True
    await flusher.flush()
    assert (writer.given[-1].first_delta_seq, writer.given[-1].text) == (0, "one two")


async def test_what_a_row_has_by_now_is_not_written_again(nursery, autojump_clock: MockClock):
    flusher, writer, tail = stage(nursery)
    writer.takes, writer.seconds = False, 1.0
    tail.append("m", "one ")
    nursery.start_soon(flusher.flush)
    await trio.sleep(0.5)
    tail.append("m", "two")
    tail.mark_written("m")  # the row that was committed holds both
    await trio.sleep(1)
    await flusher.flush()
    assert len(writer.given) == 1
    tail.close("m")
    flusher.tails.give_back(writer.given)
    assert flusher.tails.take_unwritten() == []


async def test_text_that_stays_late_is_a_problem_until_it_is_in_time(nursery, autojump_clock: MockClock):
    flusher, writer, tail = stage(nursery)
    await nursery.start(flusher.run)
    writer.seconds = 1.0
    for _ in range(3):
        tail.append("m", "text ")
        await trio.sleep(1)
    assert list(flusher.problems()) == [], "a busy moment is no problem"
    for _ in range(int(2 * LATE_SECONDS)):
        tail.append("m", "text ")
        await trio.sleep(1)
    assert list(flusher.problems()) == ["store.text_late"]
    writer.seconds = 0
    await trio.sleep(3)
    assert list(flusher.problems()) == []


async def test_a_writer_that_does_not_answer_is_a_problem(nursery, autojump_clock: MockClock):
    flusher, writer, tail = stage(nursery)
    await nursery.start(flusher.run)
    writer.seconds = 100
    tail.append("m", "text")
    await trio.sleep(LATE_SECONDS + 1)
    assert list(flusher.problems()) == ["store.text_late"]
    await trio.sleep(200)
    assert list(flusher.problems()) == []


async def test_silence_is_no_problem(nursery, autojump_clock: MockClock):
    flusher, _, _ = stage(nursery)
    await nursery.start(flusher.run)
    await trio.sleep(100)
    assert list(flusher.problems()) == []
