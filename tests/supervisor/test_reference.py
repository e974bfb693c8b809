"""References: an answer is given once, and an asker never waits longer than it said."""

import pytest
import trio
import trio.testing

from runtime.simulation.explore import choose, explore
from supervisor import (
    ActorReference,
    ActorStopped,
    AskTimedOut,
    Mailbox,
    MailboxFull,
    MailboxLimits,
    ReplySlot,
)


@pytest.fixture
def mailbox():
    return Mailbox(MailboxLimits(messages_max=2), size=lambda message: 1)


@pytest.fixture
def reference(mailbox):
    return ActorReference(lambda: mailbox)


async def answer_next(mailbox, answer):
    await mailbox.wait()
    [slot] = mailbox.drain(1)
    answer(slot)


async def test_an_ask_returns_the_answer(mailbox, reference):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer_next, mailbox, lambda slot: slot.set(42))
        assert await reference.ask(lambda slot: slot, 1) == 42


async def test_an_ask_raises_the_error_it_was_answered_with(mailbox, reference):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer_next, mailbox, lambda slot: slot.fail(ActorStopped("gone")))
        with pytest.raises(ActorStopped, match="gone"):
            await reference.ask(lambda slot: slot, 1)


async def test_an_ask_ends_at_its_deadline_and_the_message_stays_admitted(mailbox, reference, autojump_clock):
    with pytest.raises(AskTimedOut, match=r"within 2\.5 s"):
        await reference.ask(lambda slot: slot, 2.5)
    assert trio.current_time() == 2.5
    [slot] = mailbox.drain(10)
    slot.set("late, and harmless")


async def test_an_ask_that_is_refused_does_not_wait(mailbox, reference):
    for _ in range(2):
        reference.tell("command")
    with pytest.raises(MailboxFull):
        await reference.ask(lambda slot: slot, 1)
    mailbox.close()
    with pytest.raises(ActorStopped):
        await reference.ask(lambda slot: slot, 1)


def test_the_mailbox_is_looked_up_for_each_message():
    made = []

    def reach():
        made.append(Mailbox(MailboxLimits(), size=len))
        return made[-1]

    reference = ActorReference(reach)
    reference.tell("a", source="s")
    reference.put("b")
    assert [mailbox.drain(9) for mailbox in made] == [["a"], ["b"]]


def test_source_control_and_marks_reach_the_mailbox(mailbox, reference):
    mark = reference.place_mark("s")
    reference.tell("a", source="s")
    reference.tell("b", source="other", control=True)
    assert mailbox.drain(9) == ["b"]
    mark.release()
    assert mailbox.drain(9) == ["a"]


def test_only_the_first_answer_counts():
    slot = ReplySlot()
    assert not slot.is_settled
    slot.set(None)
    slot.set("second")
    slot.fail(ValueError("third"))
    assert slot.is_settled
    assert slot.result() is None
    assert slot.ignored == 2
    failed = ReplySlot()
    failed.fail(ValueError("first"))
    failed.set("second")
    with pytest.raises(ValueError, match="first"):
        failed.result()


def test_an_answer_at_the_very_deadline_is_taken_or_timed_out_but_never_both():
    async def program():
        mailbox = Mailbox(MailboxLimits(), size=lambda message: 1)

        async def actor():
            [slot] = mailbox.drain(1)
            await trio.sleep(choose(3))
            slot.set("answer")
            return slot

        async with trio.open_nursery() as nursery:
            try:
                outcome = await ActorReference(lambda: mailbox).ask(
                    lambda slot: nursery.start_soon(actor) or slot, 1
                )
            except AskTimedOut:
                outcome = "timed out"
        return outcome

    assert set(explore(program)) == {"answer", "timed out"}
