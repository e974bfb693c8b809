"""Mailbox: order of the lanes, merging, bounds, the read gate, waiting and closing."""

import pytest
import trio
import trio.testing

from supervisor import ActorStopped, MailboxFull
from tests.supervisor.notes import delta, drained, make_mailbox, note, texts

# --- order


def test_control_commands_overtake_facts_and_other_clients():
    mailbox = make_mailbox()
    mailbox.put(note("event"))
    mailbox.offer(note("prompt"), source="a")
    mailbox.offer(note("cancel"), source="b", control=True)
    mailbox.offer(note("stop"), control=True)
    assert drained(mailbox) == "cancel stop event prompt"


def test_a_control_command_does_not_overtake_its_own_client():
    mailbox = make_mailbox()
    mailbox.put(note("event"))
    mailbox.offer(note("prompt"), source="a")
    mailbox.offer(note("cancel"), source="a", control=True)
    assert mailbox.statistics().control == 1
    assert drained(mailbox) == "event prompt cancel"
    mailbox.put(note("event"))
    mailbox.offer(note("cancel"), source="a", control=True)
    assert drained(mailbox) == "cancel event"


def test_drain_takes_no_more_than_asked():
    mailbox = make_mailbox()
    for text in "abc":
        mailbox.put(note(text))
    mailbox.offer(note("stop"), control=True)
    assert drained(mailbox, most=2) == "stop a"
    assert drained(mailbox, most=2) == "b c"
    assert drained(mailbox, most=2) == ""


def test_returned_messages_come_first_and_in_their_order():
    mailbox = make_mailbox()
    for text in "abcd":
        mailbox.offer(note(text), source="s")
    batch = mailbox.drain(3)
    mailbox.offer(note("cancel"), source="s", control=True)
    mailbox.return_to_front([batch[0], batch[2]])
    assert drained(mailbox) == "a c d cancel"


def test_what_is_put_first_is_read_before_all_that_waits():
    mailbox = make_mailbox()
    mailbox.put(note("event"))
    mailbox.offer(note("prompt"), source="s")
    mailbox.offer(note("stop"), control=True)
    mailbox.put_first(note("deleted"))
    assert drained(mailbox) == "deleted stop event prompt"
    mailbox.close()
    with pytest.raises(ActorStopped):
        mailbox.put_first(note("late"))


# --- merging


def test_adjacent_deltas_merge():
    mailbox = make_mailbox()
    for text in ("ab", "cd", "ef", "gh"):
        mailbox.put(delta(text))
    assert mailbox.statistics().merged == 2
    assert mailbox.statistics().bytes == 8
    assert drained(mailbox) == "abcdef gh"


@pytest.mark.parametrize("between", ["fact", "command", "mark"])
def test_deltas_do_not_merge_across_anything(between):
    mailbox = make_mailbox()
    mailbox.put(delta("ab"))
    if between == "fact":
        mailbox.put(note("|"))
    elif between == "command":
        mailbox.offer(note("|"))
    else:
        mailbox.place_mark("s")
    mailbox.put(delta("cd"))
    assert mailbox.statistics().merged == 0
    assert drained(mailbox).replace("| ", "") == "ab cd"


def test_a_fact_is_never_merged_into_a_command():
    mailbox = make_mailbox()
    mailbox.offer(delta("ab"))
    mailbox.put(delta("cd"))
    assert drained(mailbox) == "ab cd"


# --- bounds


def test_commands_are_refused_while_the_work_lane_is_full_and_taken_again_after():
    mailbox = make_mailbox(messages_max=2)
    mailbox.put(note("event"))
    mailbox.offer(note("prompt"))
    with pytest.raises(MailboxFull, match="2 waiting in work"):
        mailbox.offer(note("guide"))
    assert mailbox.statistics().refused_commands == 1
    assert mailbox.statistics().messages == 2
    assert drained(mailbox, most=1) == "event"
    mailbox.offer(note("guide"))
    assert drained(mailbox) == "prompt guide"


def test_facts_and_control_commands_are_taken_when_the_work_lane_is_full():
    mailbox = make_mailbox(messages_max=1)
    mailbox.offer(note("prompt"), source="a")
    mailbox.put(note("event"))
    mailbox.offer(note("cancel"), source="a", control=True)
    mailbox.offer(note("stop"), source="b", control=True)
    assert drained(mailbox) == "stop prompt event cancel"


def test_commands_are_refused_by_weight_but_a_single_heavy_one_is_taken():
    mailbox = make_mailbox(bytes_max=4)
    mailbox.offer(note("a long prompt"))
    with pytest.raises(MailboxFull):
        mailbox.offer(note("b"))
    mailbox.drain(1)
    mailbox.put(note("a long event"))
    mailbox.offer(note("b"))
    assert drained(mailbox) == "a long event b"


def test_control_commands_have_a_bound_of_their_own_wherever_they_wait():
    mailbox = make_mailbox(control_max=2)
    mailbox.offer(note("prompt"), source="a")
    mailbox.offer(note("cancel"), source="a", control=True)
    mailbox.offer(note("stop"), source="b", control=True)
    with pytest.raises(MailboxFull, match="2 waiting in control"):
        mailbox.offer(note("close"), source="c", control=True)
    assert mailbox.statistics().refused_control == 1
    mailbox.offer(note("guide"), source="a")
    assert drained(mailbox) == "stop prompt cancel guide"
    mailbox.offer(note("close"), source="c", control=True)
    assert drained(mailbox) == "close"


def test_place_marks_have_a_bound_of_their_own():
    mailbox = make_mailbox(messages_max=2)
    marks = [mailbox.place_mark("a"), mailbox.place_mark("b")]
    with pytest.raises(MailboxFull, match="2 waiting in marks"):
        mailbox.place_mark("c")
    assert mailbox.statistics().refused_marks == 1
    mailbox.offer(note("prompt"), source="c")
    marks[0].release()
    mailbox.place_mark("c").release()
    assert mailbox.statistics().marks == 1


def test_statistics_keep_the_highest_weight_there_was():
    mailbox = make_mailbox()
    mailbox.put(note("1234"))
    mailbox.offer(note("56"))
    mailbox.drain(10)
    mailbox.put(note("7"))
    assert (mailbox.statistics().bytes, mailbox.statistics().bytes_high_water) == (1, 6)


# --- the read gate


async def test_the_gate_closes_at_high_water_and_opens_at_low_water():
    mailbox = make_mailbox(bytes_max=4)
    mailbox.put(note("123"))
    assert not mailbox.above_high_water
    mailbox.put(note("4"))
    mailbox.put(note("5"))
    assert mailbox.above_high_water
    opened = []

    async def connection():
        await mailbox.wait_below_low_water()
        opened.append(mailbox.statistics().bytes)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection)
        await trio.testing.wait_all_tasks_blocked()
        assert opened == []
        mailbox.drain(1)
        await trio.testing.wait_all_tasks_blocked()
        assert opened == [2]
    await mailbox.wait_below_low_water()


def test_commands_do_not_close_the_gate():
    """Held behind a mark, they wait for an operation that may itself wait for the provider to be read."""
    mailbox = make_mailbox(bytes_max=4)
    mailbox.place_mark("a")
    mailbox.offer(note("a long prompt"), source="a")
    assert not mailbox.above_high_water


async def test_closing_opens_the_gate():
    mailbox = make_mailbox(bytes_max=1)
    mailbox.put(note("123"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mailbox.wait_below_low_water)
        await trio.testing.wait_all_tasks_blocked()
        mailbox.close()


# --- waiting


async def reader_of(mailbox, seen, *, task_status):
    task_status.started()
    while "end" not in seen:
        await mailbox.wait()
        seen.extend(message.text for message in mailbox.drain(10))


async def test_the_reader_wakes_for_every_way_in():
    mailbox = make_mailbox()
    seen = []
    async with trio.open_nursery() as nursery:
        await nursery.start(reader_of, mailbox, seen)
        await trio.testing.wait_all_tasks_blocked()
        mark = mailbox.place_mark("a")
        mailbox.offer(note("a1"), source="a")
        for step, expected in (
            (lambda: None, []),
            (lambda: mailbox.put(note("event")), ["event"]),
            (lambda: mailbox.offer(note("cancel"), control=True), ["event", "cancel"]),
            (mark.release, ["event", "cancel", "a1"]),
            (lambda: mailbox.return_to_front([note("end")]), ["event", "cancel", "a1", "end"]),
        ):
            step()
            await trio.testing.wait_all_tasks_blocked()
            assert seen == expected


async def test_a_nudge_ends_one_wait_and_is_kept_for_the_next():
    mailbox = make_mailbox()
    mailbox.nudge()
    await mailbox.wait()
    with trio.move_on_after(0) as scope:
        await mailbox.wait()
    assert scope.cancelled_caught


async def test_releasing_the_last_mark_wakes_the_reader_though_nothing_waits():
    """The actor may have stayed only because of the mark, and can go now."""
    mailbox = make_mailbox()
    mark = mailbox.place_mark("a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mailbox.wait)
        await trio.testing.wait_all_tasks_blocked()
        mark.release()
    assert mailbox.is_empty


# --- closing


async def test_closing_returns_everything_and_lets_nothing_in():
    mailbox = make_mailbox()
    mark = mailbox.place_mark("a")
    mailbox.offer(note("a1"), source="a")
    assert not mailbox.is_ready
    mailbox.put(note("event"))
    mailbox.offer(note("stop"), control=True)
    mailbox.return_to_front([note("returned")])
    async with trio.open_nursery() as nursery:
        assert texts(mailbox.close()) == "returned stop a1 event"
        nursery.start_soon(mailbox.wait)
    assert mailbox.is_empty
    mark.release()
    for way_in in (
        lambda: mailbox.offer(note("x")),
        lambda: mailbox.offer(note("x"), control=True),
        lambda: mailbox.put(note("x")),
        lambda: mailbox.place_mark("a"),
    ):
        with pytest.raises(ActorStopped):
            way_in()
    assert mailbox.close() == []
    assert mailbox.statistics().messages == mailbox.statistics().bytes == mailbox.statistics().marks == 0
