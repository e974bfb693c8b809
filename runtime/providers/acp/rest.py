"""The pause some agents need after a failed prompt: the next one sent at once is lost without an answer.

Owns what is known while a conversation rests and the prompt that waits for the end of it. How long an agent rests is
attested in `quirks`; sending stays with the adapter.
"""

import attrs

from runtime.providers.port import Scope, StartTurn
from store.canonical.identifiers import TurnId


@attrs.frozen
class RestOver:
    """Names the timer of a rest."""

    scope: Scope


@attrs.define
class Rest:
    """The rest of one conversation; it begins after a failed prompt and ends by its timer."""

    active: bool = False
    waiting: StartTurn | None = None
    """A prompt the agent has heard nothing of: what it says meanwhile is about an older one."""
    cancel_asked: bool = False
    """Whether the waiting turn is to be stopped. It is sent all the same: the end of a turn is the agent's word."""

    def cancel(self, turn_id: TurnId) -> bool:
        """Note that the waiting turn is to be stopped; false when it is not this one that waits."""
        if self.waiting is None or self.waiting.turn_id != turn_id:
            return False
        self.cancel_asked = True
        return True
