"""How a commit is shown to clients: encoded once, by the writer, as it is published and as it is logged.

A commit too large for a frame is shown as `session_reset`, in the log too, so that live and replay say the same.
"""

from collections.abc import Sequence

import attrs

from runtime.wire import events
from runtime.wire.encoding import encode_commit, encode_event
from store.canonical.change import Row, SessionReread
from store.canonical.message import Message
from store.canonical.session import Session

ENVELOPE_BYTES = 256
"""What the frame adds to the body at most: the envelope and the subscription's number."""


@attrs.frozen
class CommitEvents:
    """The store's `CommitEncoder`."""

    max_server_frame_bytes: int

    def encode(self, commit_seq: int, rows: Sequence[Row]) -> bytes:
        """The body of the event for these rows of one session."""
        if not any(isinstance(row, SessionReread) for row in rows):
            body = encode_commit(commit_seq, rows)
            if not rows or len(body) + ENVELOPE_BYTES <= self.max_server_frame_bytes:
                return body
        return encode_event(
            events.SessionReset(
                commit_seq=commit_seq,
                workspace_id=rows[0].workspace_id,
                agent_session_id=rows[0].agent_session_id,
                message_version=max(_message_version(row) for row in rows),
            )
        )


def _message_version(row: Row) -> int:
    match row:
        case Message():
            return row.version
        case Session():
            return row.message_version
        case SessionReread():
            return row.session.message_version
        case _:
            return 0
