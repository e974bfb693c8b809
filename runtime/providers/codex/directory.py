"""The threads of one connection, by scope and by Codex's thread id, and what came too early for them.

Owns the routes. A frame of a thread that is just being made waits, within bounds, for the answer that names it; one of
a thread that left is known to be late; one of a sub-agent is known by its parent. Anything else belongs to nobody here
(FC-24, PR-010).
"""

from collections.abc import Iterator
from typing import Final

from runtime.providers.codex.conversation import Conversation
from runtime.providers.codex.turns import Frame
from runtime.providers.port import Scope
from runtime.providers.recent import RecentSet

EARLY_FRAMES_MAX: Final = 256
LEFT_THREADS_MAX: Final = 256
CHILD_THREADS_MAX: Final = 256


class ThreadDirectory:
    """Who is who on one connection."""

    def __init__(self) -> None:
        self._by_scope: dict[Scope, Conversation] = {}
        self._by_thread: dict[str, Conversation] = {}
        self._left = RecentSet(LEFT_THREADS_MAX)
        self._parents: dict[str, str] = {}
        self._early: list[tuple[str, Frame]] = []
        self._unnamed = 0

    def __iter__(self) -> Iterator[Conversation]:
        return iter(tuple(self._by_scope.values()))

    def of_scope(self, scope: Scope) -> Conversation | None:
        """The scope's conversation, opening or open."""
        return self._by_scope.get(scope)

    def of_thread(self, thread_id: str) -> Conversation | None:
        """Whose thread this is."""
        return self._by_thread.get(thread_id)

    def has_left(self, thread_id: str) -> bool:
        """Whether a scope had this thread and has left it."""
        return thread_id in self._left

    def note_left(self, thread_id: str) -> None:
        """A thread that no scope ever had, and that is given up: what still comes of it is late."""
        self._left.add(thread_id)

    def add(self, conversation: Conversation) -> None:
        """A conversation that has no thread yet."""
        self._by_scope[conversation.scope] = conversation

    def bind(self, thread_id: str, conversation: Conversation) -> bool:
        """Give a conversation its thread; false when another one has it."""
        if self._by_thread.setdefault(thread_id, conversation) is not conversation:
            return False
        conversation.thread_id = thread_id
        self._left.discard(thread_id)
        return True

    def remove(self, conversation: Conversation) -> None:
        """The scope has no conversation any more; late words of its thread are known to be late."""
        if self._by_scope.get(conversation.scope) is conversation:
            del self._by_scope[conversation.scope]
        thread_id = conversation.thread_id
        if thread_id is not None and self._by_thread.get(thread_id) is conversation:
            del self._by_thread[thread_id]
            self._left.add(thread_id)

    # --- sub-agents -------------------------------------------------------------------------------------------

    def note_child(self, thread_id: str, parent_id: str) -> None:
        """A thread of a sub-agent, newest kept."""
        self._parents.pop(thread_id, None)
        self._parents[thread_id] = parent_id
        if len(self._parents) > CHILD_THREADS_MAX:
            del self._parents[next(iter(self._parents))]

    def ancestor_of(self, thread_id: str) -> Conversation | None:
        """The conversation a sub-agent's thread comes from, however deep it is."""
        for _ in range(CHILD_THREADS_MAX):
            parent_id = self._parents.get(thread_id)
            if parent_id is None:
                return None
            conversation = self._by_thread.get(parent_id)
            if conversation is not None:
                return conversation
            thread_id = parent_id
        return None

    # --- before a thread has its name -------------------------------------------------------------------------

    def expect_new(self) -> None:
        """A thread is being made whose id is not known yet."""
        self._unnamed += 1

    def expected_came(self) -> list[Frame]:
        """One of those was answered. With the last of them, what nobody claimed is given back: it is nobody's."""
        self._unnamed -= 1
        if self._unnamed > 0:
            return []
        unclaimed, self._early = self._early, []
        return [frame for _, frame in unclaimed]

    def keep_early(self, thread_id: str, frame: Frame) -> bool:
        """Keep a frame for a thread that may be named soon; false when it belongs to nobody."""
        if self._unnamed == 0 or thread_id in self._left or len(self._early) >= EARLY_FRAMES_MAX:
            return False
        self._early.append((thread_id, frame))
        return True

    def claim_early(self, thread_id: str) -> list[Frame]:
        """What came for this thread before it had its name, in order."""
        claimed = [frame for name, frame in self._early if name == thread_id]
        self._early = [(name, frame) for name, frame in self._early if name != thread_id]
        return claimed
