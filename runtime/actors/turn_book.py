"""Which turns are unsettled, by workspace, and how many have ended how: read off the commits as they are told.

Recovery settles every turn before the service starts, so what is not here has ended. Nothing here decides anything.
"""

from collections import Counter

import attrs

from store.canonical.change import Committed
from store.canonical.identifiers import SessionKey, TurnId
from store.canonical.turn import Turn


@attrs.define(eq=False)
class TurnBook:
    """The turns of this life of the daemon."""

    submitted: int = attrs.field(default=0, init=False)
    ended: Counter[str] = attrs.field(factory=Counter, init=False)
    """By outcome."""
    _unsettled: dict[tuple[SessionKey, TurnId], None] = attrs.field(factory=dict, init=False)
    _by_workspace: Counter[str] = attrs.field(factory=Counter, init=False)

    def note(self, committed: Committed) -> None:
        """What one unit says of turns; a settled one that is written again has ended once."""
        for row in committed.unit.rows:
            if isinstance(row, Turn):
                self._note(committed.unit.session_key, row)

    def unsettled(self, workspaces: frozenset[str] | None = None) -> int:
        """How many turns are unsettled, in these workspaces or in all."""
        if workspaces is None:
            return len(self._unsettled)
        return sum(self._by_workspace[name] for name in workspaces)

    def _note(self, session: SessionKey, turn: Turn) -> None:
        key = (session, turn.turn_id)
        if turn.phase != "settled":
            if key not in self._unsettled:
                self._unsettled[key] = None
                self._by_workspace[session.workspace_id] += 1
                self.submitted += 1
        elif key in self._unsettled:
            del self._unsettled[key]
            self._by_workspace[session.workspace_id] -= 1
            if not self._by_workspace[session.workspace_id]:
                del self._by_workspace[session.workspace_id]
            self.ended[turn.outcome or "none"] += 1
