"""The mailbox under arbitrary sequences of steps, and against the plainest model there is."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from supervisor import MailboxFull
from tests.supervisor.notes import Note, make_mailbox, merge_notes

# A busy machine is no failure.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SOURCES = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.one_of(st.none(), SOURCES), st.booleans()),
        st.tuples(st.just("put"), st.booleans()),
        st.tuples(st.just("mark"), SOURCES),
        st.tuples(st.just("release"), st.integers(0, 5)),
        st.tuples(st.just("drain"), st.integers(1, 4)),
        st.tuples(st.just("crash"), st.integers(1, 4)),
    ),
    max_size=40,
)


@settings(PATIENT)
@given(STEPS)
def test_nothing_is_lost_or_reordered_within_a_source(steps):
    """Commands of one source and facts each keep their order; merging keeps the concatenation."""
    mailbox = make_mailbox()
    sent, received, marks = {}, [], []
    for number, (step, *details) in enumerate(steps):
        text = chr(ord("0") + number)
        match step, details:
            case "offer", (source, control):
                mailbox.offer(Note(text), source=source, control=control)
                lane = (source, source is None and control)
                sent.setdefault(lane, []).append(text)
            case "put", (is_delta,):
                mailbox.put(Note(text, is_delta))
                sent.setdefault("facts", []).append(text)
            case "mark", (source,):
                marks.append(mailbox.place_mark(source))
            case "release", (index,):
                for mark in marks[index : index + 1]:
                    mark.release()
            case "drain", (most,):
                received += mailbox.drain(most)
            case "crash", (most,):
                mailbox.return_to_front(mailbox.drain(most))
    for mark in marks:
        mark.release()
    received += mailbox.drain(1000)
    assert mailbox.is_empty
    assert mailbox.statistics().messages == mailbox.statistics().bytes == mailbox.statistics().marks == 0
    joined = "".join(message.text for message in received)
    assert sorted(joined) == sorted("".join("".join(texts) for texts in sent.values()))
    for texts_of_one in sent.values():
        assert [text for text in joined if text in texts_of_one] == texts_of_one


class MailboxMachine(RuleBasedStateMachine):
    """The mailbox against the plainest model: lists, and a walk over all that waits at each drain."""

    marks = Bundle("marks")

    def __init__(self):
        super().__init__()
        self.limits = {"messages_max": 5, "bytes_max": 12, "control_max": 2}
        self.mailbox = make_mailbox(**self.limits)
        self.returned, self.control = [], []
        self.work = []  # [kind, source, note]; a mark has kind "mark" and the mark itself in place of a note
        self.last_drained = []
        self.number = 0

    def next_note(self, length, is_delta=False):
        self.number += 1
        return Note(chr(ord("A") + self.number % 26) * length, is_delta)

    def waiting(self, *kinds):
        return [item for item in self.work if item[0] in kinds]

    def passing(self):
        held = set()
        for item in self.work:
            if item[0] == "mark":
                held.add(item[1])
            elif item[1] not in held:
                yield item

    @rule(source=st.one_of(st.none(), SOURCES), length=st.integers(0, 8))
    def offer_command(self, source, length):
        offered = self.next_note(length)
        full = len(self.waiting("fact", "command")) + len(self.returned) >= self.limits["messages_max"]
        heavy = sum(len(item[2].text) for item in self.waiting("command")) >= self.limits["bytes_max"]
        if full or heavy:
            with pytest.raises(MailboxFull):
                self.mailbox.offer(offered, source=source)
        else:
            self.mailbox.offer(offered, source=source)
            self.work.append(["command", source, offered])

    @rule(source=st.one_of(st.none(), SOURCES))
    def offer_control(self, source):
        offered = self.next_note(1)
        if len(self.control) + len(self.waiting("control")) >= self.limits["control_max"]:
            with pytest.raises(MailboxFull):
                self.mailbox.offer(offered, source=source, control=True)
            return
        self.mailbox.offer(offered, source=source, control=True)
        if source is not None and any(item[1] == source for item in self.work):
            self.work.append(["control", source, offered])
        else:
            self.control.append(offered)

    @rule(length=st.integers(0, 4), is_delta=st.booleans())
    def put(self, length, is_delta):
        fact = self.next_note(length, is_delta)
        self.mailbox.put(fact)
        last = self.work[-1] if self.work else None
        merged = merge_notes(last[2], fact) if last and last[0] == "fact" else None
        if last and merged:
            last[2] = merged
        else:
            self.work.append(["fact", None, fact])

    @precondition(lambda self: len(self.waiting("mark")) < self.limits["messages_max"])
    @rule(target=marks, source=SOURCES)
    def place_mark(self, source):
        mark = self.mailbox.place_mark(source)
        self.work.append(["mark", source, mark])
        return mark

    @rule(mark=consumes(marks))
    def release(self, mark):
        mark.release()
        self.work = [item for item in self.work if item[2] is not mark]

    @rule(most=st.integers(1, 4))
    def drain(self, most):
        expected = []
        while len(expected) < most:
            passing = next(self.passing(), None)
            if self.returned:
                expected.append(self.returned.pop(0))
            elif self.control:
                expected.append(self.control.pop(0))
            elif passing is not None:
                self.work = [item for item in self.work if item is not passing]
                expected.append(passing[2])
            else:
                break
        self.last_drained = self.mailbox.drain(most)
        assert self.last_drained == expected

    @precondition(lambda self: self.last_drained)
    @rule(data=st.data())
    def return_some(self, data):
        crashed = data.draw(st.integers(0, len(self.last_drained) - 1))
        back = self.last_drained[:crashed] + self.last_drained[crashed + 1 :]
        self.mailbox.return_to_front(back)
        self.returned = back + self.returned
        self.last_drained = []

    @invariant()
    def it_says_what_it_holds(self):
        messages = self.returned + self.control + [item[2] for item in self.work if item[0] != "mark"]
        statistics = self.mailbox.statistics()
        assert statistics.messages == len(messages)
        assert statistics.bytes == sum(len(message.text) for message in messages)
        assert statistics.marks == len(self.waiting("mark"))
        assert statistics.control == len(self.control) + len(self.waiting("control"))
        facts = self.returned + [item[2] for item in self.waiting("fact")]
        assert self.mailbox.above_high_water == (
            sum(len(it.text) for it in facts) >= self.limits["bytes_max"]
        )
        assert self.mailbox.is_empty == (not (self.returned or self.control or self.work))
        assert self.mailbox.is_ready == bool(self.returned or self.control or list(self.passing()))


MailboxMachine.TestCase.settings = settings(PATIENT, stateful_step_count=40)
TestMailboxAgainstModel = MailboxMachine.TestCase
