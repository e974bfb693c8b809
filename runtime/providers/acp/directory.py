"""The conversations of one connection, by scope and by the agent's session id, and what came too early for them.

Owns the routes. An update for a session that is just being made is kept, within bounds, until the answer that names
it; one of a session that left, or that nobody knows, is dropped and counted by the caller (FC-24).
"""

from collections.abc import Iterator

from runtime.providers.acp.conversation import Conversation
from runtime.providers.acp.wire import SessionUpdate
from runtime.providers.port import Scope
from runtime.providers.recent import RecentSet

EARLY_UPDATES_MAX = 256
LEFT_SESSIONS_MAX = 256


class SessionDirectory:
    """Who is who on one connection."""

    def __init__(self) -> None:
        self._by_scope: dict[Scope, Conversation] = {}
        self._by_session: dict[str, Conversation] = {}
        self._left = RecentSet(LEFT_SESSIONS_MAX)
        self._early: list[tuple[str, SessionUpdate]] = []
        self._unnamed = 0

    def __iter__(self) -> Iterator[Conversation]:
        return iter(tuple(self._by_scope.values()))

    def of_scope(self, scope: Scope) -> Conversation | None:
        """The scope's conversation, opening or open."""
        return self._by_scope.get(scope)

    def of_session(self, session_id: str) -> Conversation | None:
        """Whose session this is."""
        return self._by_session.get(session_id)

    def add(self, conversation: Conversation) -> None:
        """A conversation that has no session id yet."""
        self._by_scope[conversation.scope] = conversation

    def bind(self, session_id: str, conversation: Conversation) -> bool:
        """Give a conversation its session; false when another one has it."""
        if self._by_session.setdefault(session_id, conversation) is not conversation:
            return False
        if conversation.session_id not in (None, session_id):
            self._by_session.pop(conversation.session_id or "", None)
        conversation.session_id = session_id
        self._left.discard(session_id)
        return True

    def remove(self, conversation: Conversation) -> None:
        """The scope has no conversation any more; late words of its session are known to be late."""
        if self._by_scope.get(conversation.scope) is conversation:
            del self._by_scope[conversation.scope]
        session_id = conversation.session_id
        if session_id is not None and self._by_session.get(session_id) is conversation:
            del self._by_session[session_id]
            self._left.add(session_id)

    # --- before a session has its name ------------------------------------------------------------------------

    def expect_new(self) -> None:
        """A session is being made whose id is not known yet."""
        self._unnamed += 1

    def expected_came(self) -> None:
        """One of those was answered. With the last of them, what nobody claimed is dropped."""
        self._unnamed -= 1
        if self._unnamed == 0:
            self._early.clear()

    def keep_early(self, session_id: str, update: SessionUpdate) -> bool:
        """Keep an update for a session that may be named soon; false when it belongs to nobody."""
        if self._unnamed == 0 or session_id in self._left or len(self._early) >= EARLY_UPDATES_MAX:
            return False
        self._early.append((session_id, update))
        return True

    def claim_early(self, session_id: str) -> list[SessionUpdate]:
        """What came for this session before it had its name, in order."""
        claimed = [update for name, update in self._early if name == session_id]
        self._early = [(name, update) for name, update in self._early if name != session_id]
        return claimed
