"""A hold on a Session: how an operation keeps it still while it decides over the session's life.

Owns what outlives a crash of either side: an operation that has ended leaves a hold behind that is over, and a command
that still carries it is ignored, wherever it waited (`architecture rule 16`).
"""

import attrs
import trio

from runtime.actors.replies import Outcome
from runtime.lifecycle.inputs import HoldSession
from runtime.refusal import Refusal


@attrs.define(eq=False)
class SessionHold:
    """The reply sink of one `HoldSession`: settled once the session is still, or will not be."""

    settled: trio.Event = attrs.field(factory=trio.Event, init=False)
    refusal: Refusal | None = attrs.field(default=None, init=False)
    over: bool = attrs.field(default=False, init=False)

    def deliver(self, _outcome: Outcome, _commit_seq: int) -> None:
        """The session has neither a turn nor a runtime."""
        self.settled.set()

    def refuse(self, refusal: Refusal) -> None:
        """It cannot be held; why."""
        self.refusal = refusal
        self.settled.set()


def is_over(command: HoldSession) -> bool:
    """Whether the operation behind this command has ended before the command was read."""
    return isinstance(command.reply, SessionHold) and command.reply.over
