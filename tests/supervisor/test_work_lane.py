"""Place marks: a source is held back behind its mark, nobody else is, and afterwards nothing remains."""

import pytest
import trio
import trio.testing

from tests.supervisor.notes import drained, make_mailbox, note


def test_a_mark_holds_back_only_what_its_own_source_offers_later():
    mailbox = make_mailbox()
    mailbox.offer(note("a1"), source="a")
    mark = mailbox.place_mark("a")
    mailbox.offer(note("a2"), source="a")
    mailbox.offer(note("a3"), source="a", control=True)
    mailbox.offer(note("b1"), source="b")
    mailbox.put(note("event"))
    assert drained(mailbox) == "a1 b1 event"
    mailbox.offer(note("a4"), source="a")
    assert drained(mailbox) == ""
    assert not mailbox.is_ready
    assert not mailbox.is_empty
    mark.release()
    mailbox.offer(note("a5"), source="a")
    assert drained(mailbox) == "a2 a3 a4 a5"


async def test_a_mark_is_reached_once_all_before_it_was_taken_also_by_a_reader_that_waits():
    mailbox = make_mailbox()
    mailbox.offer(note("a1"), source="a")
    first = mailbox.place_mark("a")
    second = mailbox.place_mark("a")
    assert not first.reached.is_set()
    assert drained(mailbox) == "a1"
    assert (first.reached.is_set(), second.reached.is_set()) == (True, False)
    first.release()
    await mailbox.wait()
    assert second.reached.is_set()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mailbox.wait)
        await trio.testing.wait_all_tasks_blocked()
        third = mailbox.place_mark("b")
        await third.reached.wait()
        mailbox.nudge()


def test_closing_reaches_every_mark_so_that_nobody_waits_for_ever():
    mailbox = make_mailbox()
    mailbox.put(note("event"))
    marks = [mailbox.place_mark(source) for source in ("a", "a", "b")]
    mailbox.close()
    assert all(mark.reached.is_set() for mark in marks)


def test_a_mark_released_before_it_is_reached_is_simply_gone():
    mailbox = make_mailbox()
    mailbox.put(note("event"))
    mark = mailbox.place_mark("a")
    mailbox.offer(note("a1"), source="a")
    mailbox.put(note("event2"))
    mark.release()
    assert drained(mailbox) == "event a1 event2"


def test_released_messages_go_on_in_order_of_arrival_whatever_the_order_of_release():
    mailbox = make_mailbox()
    marks = [mailbox.place_mark("a"), mailbox.place_mark("b")]
    for text, source in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")):
        mailbox.offer(note(text), source=source)
    assert not mailbox.is_ready
    mailbox.put(note("event"))
    marks[1].release()
    marks[0].release()
    assert drained(mailbox) == "a1 b1 a2 b2 event"


def test_two_marks_of_one_source_are_passed_one_by_one():
    mailbox = make_mailbox()
    first = mailbox.place_mark("a")
    mailbox.offer(note("a1"), source="a")
    second = mailbox.place_mark("a")
    mailbox.offer(note("a2"), source="a")
    third = mailbox.place_mark("a")
    mailbox.offer(note("a3"), source="a")
    assert drained(mailbox) == ""
    second.release()
    assert drained(mailbox) == ""
    first.release()
    assert drained(mailbox) == "a1 a2"
    third.release()
    assert drained(mailbox) == "a3"


@pytest.mark.case("FC-49")
def test_after_the_last_release_nothing_remains():
    """The way back: the source is as free as one that never had a mark."""
    mailbox = make_mailbox()
    marks = [mailbox.place_mark("a") for _ in range(3)]
    mailbox.offer(note("a1"), source="a")
    assert not mailbox.is_ready
    for mark in marks:
        mark.release()
        mark.release()
    assert drained(mailbox) == "a1"
    assert mailbox.is_empty
    assert mailbox.statistics().marks == 0
    mailbox.put(note("event"))
    mailbox.offer(note("cancel"), source="a", control=True)
    assert drained(mailbox) == "cancel event"
