"""The one answer to one request: encodes it and puts it into its client's queue, in the step it is given."""

from collections.abc import Callable
from typing import assert_never

import attrs

from runtime.actors.replies import (
    InteractionReply,
    Outcome,
    PurgedReply,
    SessionReply,
    SessionsReply,
    SideReply,
    SidesReply,
    TurnReply,
)
from runtime.api.outbound_queue import OutboundQueue
from runtime.refusal import Refusal
from runtime.wire import replies
from runtime.wire.encoding import encode_error, encode_reply

RequestId = str | int


@attrs.define(eq=False)
class RequestSink:
    """Takes the outcome of a request once; later ones are ignored (an operation's deadline may come first)."""

    request_id: RequestId
    queue: OutboundQueue
    creates: bool
    """Whether the request was `session/create`: its result has a shape of its own."""
    settled: Callable[[], object]
    """Told in the same step, after the reply was queued, that the request is no longer in flight."""
    done: bool = attrs.field(default=False, init=False)

    def deliver(self, outcome: Outcome, commit_seq: int) -> None:
        """The result of a command."""
        match outcome:
            case TurnReply(turn):
                self.reply(replies.TurnReply(turn=turn, commit_seq=commit_seq))
            case InteractionReply(interaction):
                self.reply(replies.InteractionReply(interaction=interaction, commit_seq=commit_seq))
            case SessionReply(session, turn) if self.creates:
                self.reply(replies.SessionCreateReply(session=session, turn=turn, commit_seq=commit_seq))
            case SessionReply(session, _):
                self.reply(replies.SessionReply(session=session, commit_seq=commit_seq))
            case SessionsReply(sessions):
                self.reply(replies.SessionsReply(sessions=sessions, commit_seq=commit_seq))
            case PurgedReply(sessions, kept):
                self.reply(
                    replies.SessionPurgeReply(sessions=sessions, kept_worktrees=kept, commit_seq=commit_seq)
                )
            case SideReply(side):
                self.reply(replies.SideReply(side=side, commit_seq=commit_seq))
            case SidesReply(sides):
                self.reply(replies.SurfaceDisposeReply(closed=sides, commit_seq=commit_seq))
            case _:
                assert_never(outcome)

    def reply(self, reply: replies.Reply) -> None:
        """A result, ready to send."""
        self._answer(lambda: encode_reply(self.request_id, reply))

    def refuse(self, refusal: Refusal) -> None:
        """The typed no."""
        self._answer(lambda: encode_error(self.request_id, refusal))

    def _answer(self, encode: Callable[[], bytes]) -> None:
        if self.done:
            return
        self.done = True
        self.queue.put_reply(encode())
        self.settled()
