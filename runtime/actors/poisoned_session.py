"""Stands in for a Session whose stored rows cannot be read: answers, and touches nothing (FC-40)."""

import attrs

from runtime.lifecycle.inputs import SessionInput
from runtime.refusal import Refusal


@attrs.define(eq=False)
class PoisonedSession:
    """Refuses every command; there is no way back but mending the rows and a restart."""

    _waiting: list[SessionInput] = attrs.field(factory=list, init=False)

    async def start(self) -> None:
        """Loads nothing: that is what cannot be done."""

    def receive(self, message: SessionInput) -> None:
        """Remember whom to answer."""
        self._waiting.append(message)

    async def flush(self) -> None:
        """Answer them."""
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            reply = getattr(message, "reply", None)
            if reply is not None:
                reply.refuse(Refusal("session.quarantined"))

    def may_passivate(self) -> bool:
        """Nothing is held."""
        return True

    async def stop(self) -> None:
        """Nothing to free."""
