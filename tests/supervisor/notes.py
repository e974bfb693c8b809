"""The messages of the mailbox tests, how they merge, and a mailbox for them."""

import attrs

from supervisor import Mailbox, MailboxLimits

MERGED_CHARACTERS_MAX = 6


@attrs.frozen
class Note:
    """A message of the tests; a delta is a fact that merges with an adjacent delta while the sum is short."""

    text: str
    is_delta: bool = False


def merge_notes(earlier, later):
    text = earlier.text + later.text
    if earlier.is_delta and later.is_delta and len(text) <= MERGED_CHARACTERS_MAX:
        return Note(text, is_delta=True)
    return None


def make_mailbox(**limits):
    return Mailbox(MailboxLimits(**limits), size=lambda note: len(note.text), merge=merge_notes)


def note(text):
    return Note(text)


def delta(text):
    return Note(text, is_delta=True)


def texts(messages):
    return " ".join(message.text for message in messages)


def drained(mailbox, most=100):
    return texts(mailbox.drain(most))
