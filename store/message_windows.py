"""Windows of messages: which rows answer a `MessageQuery`, and what the window says of the rest (ST-008..ST-012).

Neither sequence nor version tells how much history there is; `has_more` does, and speaks of the asked direction
alone. Works inside the caller's read transaction.
"""

from collections.abc import Iterator

import apsw

from store.canonical.message import Message
from store.port import MessageQuery, MessageWindow
from store.statements import messages
from store.statements.messages import FoundMessage
from store.statements.sessions import StoredSession


def read_window(
    connection: apsw.Connection, stored: StoredSession, query: MessageQuery, bytes_max: int
) -> MessageWindow:
    """The window `query` asks for. Ends at its limit or at about `bytes_max`, but never empty-handed."""
    taken, more = _within(_found(connection, stored.reference, query), query.limit, bytes_max)
    if query.before_sequence is not None:
        taken.reverse()
    return MessageWindow(
        messages=tuple(taken),
        has_more=more,
        oldest_sequence=min((message.sequence for message in taken), default=None),
        message_version=stored.session.message_version,
    )


def _found(connection: apsw.Connection, reference: int, query: MessageQuery) -> Iterator[FoundMessage]:
    """Matching rows in the asked direction; one more than the limit tells whether there are more."""
    limit, retracted = query.limit + 1, query.include_retracted
    match query:
        case MessageQuery(after_version=int(version), before_sequence=None, message_ids=None):
            return messages.changed_after(connection, reference, version, limit, include_retracted=retracted)
        case MessageQuery(after_version=None, before_sequence=int(sequence), message_ids=None):
            return messages.newest_before(connection, reference, sequence, limit, include_retracted=retracted)
        case MessageQuery(after_version=None, before_sequence=None, message_ids=tuple(message_ids)):
            return messages.named(connection, reference, message_ids, limit, include_retracted=retracted)
        case _:
            raise ValueError("exactly one of after_version, before_sequence and message_ids is asked for")


def _within(found: Iterator[FoundMessage], limit: int, bytes_max: int) -> tuple[list[Message], bool]:
    """As many as fit, and whether something was left behind."""
    taken: list[Message] = []
    size = 0
    for one in found:
        size += one.size
        if len(taken) == limit or (taken and size > bytes_max):
            return taken, True
        taken.append(one.message)
    return taken, False
