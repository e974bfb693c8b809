"""Sub-agents on one connection: threads that Codex began by itself, in a call of another thread.

Owns which threads those are and under which root each is told. A thread is a sub-agent's by the call that shows it begin,
and by nothing else: what only names a parent is no evidence of a call, so its frames wait a little and are then nobody's
(RT-133). Such a thread is a conversation like any other; nobody opens it, and its turns are Codex's own.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from runtime.providers.codex.conversation import Conversation
from runtime.providers.codex.directory import ThreadDirectory
from runtime.providers.codex.thread_calls import ThreadCalls
from runtime.providers.codex.tool_items import ChildThread
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.jsonrpc.peer import JsonRpcPeer, Notification
from runtime.providers.normalized import ChildSpawned
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, Scope
from store.canonical.identifiers import CallId, SessionId

CHILD_THREADS_MAX: Final = 256
HELD_FRAMES_MAX: Final = 256


@attrs.define(eq=False)
class ChildThreads:
    """The sub-agents of all scopes."""

    _peer: JsonRpcPeer
    _calls: ThreadCalls
    _directory: ThreadDirectory
    _roots: dict[Scope, Scope] = attrs.field(factory=dict, init=False)
    """Whose each sub-agent is, by its own scope."""
    _held: list[tuple[str, Notification]] = attrs.field(factory=list, init=False)
    """What came of threads that name a parent, before the call that began them was told."""

    def __contains__(self, scope: object) -> bool:
        return scope in self._roots

    def of_root(self, root: Scope) -> Iterator[Conversation]:
        """The conversations of its sub-agents."""
        for scope, owner in tuple(self._roots.items()):
            conversation = self._directory.of_scope(scope)
            if owner == root and conversation is not None:
                yield conversation

    def works_for(self, root: Scope) -> bool:
        """Whether a turn of any of them is open."""
        return any(conversation.turn is not None for conversation in self.of_root(root))

    def began(
        self, parent: Conversation, turn: OpenTurn, call_id: CallId, child: ChildThread, out: OutputBatch
    ) -> None:
        """A call of `parent` shows that it began this thread; its own frames are heard from here on."""
        if self._directory.of_thread(child.thread_id) is not None or self._directory.has_left(
            child.thread_id
        ):
            return
        root = self._roots.get(parent.scope, parent.scope)
        if len(self._roots) >= CHILD_THREADS_MAX and not self._forget_one(out):
            out.add(Diagnostic("child.too_many", child.thread_id[:80]))
            return
        child_id = SessionId(child.thread_id)
        scope = Scope("session", root.workspace_id, child_id)
        conversation = Conversation(scope, self._peer, self._calls, self._gone)
        conversation.told_to, conversation.on_child = child.prompt, self.began
        self._directory.add(conversation)
        self._directory.bind(child.thread_id, conversation)
        self._roots[scope] = root
        out.route(scope, root)
        spawned = ChildSpawned(turn.turn_id, child_id, child.thread_id, call_id, child.title)
        parent.tell(spawned, out)
        conversation.opened(fresh=True, busy=False, out=out)
        early = [frame for thread_id, frame in self._held if thread_id == child.thread_id]
        self._held = [held for held in self._held if held[0] != child.thread_id]
        for frame in early:
            conversation.frame(frame, out)

    def hold(self, thread_id: str, frame: Notification) -> bool:
        """Keep a frame of a thread that names a parent here; false when it is nobody's."""
        if self._directory.ancestor_of(thread_id) is None or len(self._held) >= HELD_FRAMES_MAX:
            return False
        self._held.append((thread_id, frame))
        return True

    def drop(self, root: Scope, child_id: SessionId, out: OutputBatch) -> None:
        """There is no session for it: what it does is stopped, now and whenever it begins anything."""
        conversation = self._directory.of_scope(Scope("session", root.workspace_id, child_id))
        if conversation is not None and conversation.scope in self._roots:
            conversation.unwanted = True
            if conversation.turn is not None and not conversation.turn.cancel_asked:
                conversation.stop(conversation.turn, out)

    def leave(self, root: Scope, out: OutputBatch) -> None:
        """The root leaves, and its sub-agents with it."""
        for conversation in tuple(self.of_root(root)):
            conversation.closed(out)
            self._directory.remove(conversation)
            self._forget(conversation.scope, out)

    def _forget_one(self, out: OutputBatch) -> bool:
        """Make room by the one that has been idle for longest."""
        for scope in self._roots:
            conversation = self._directory.of_scope(scope)
            if conversation is None or conversation.turn is None:
                if conversation is not None:
                    self._directory.remove(conversation)
                self._forget(scope, out)
                return True
        return False

    def _forget(self, scope: Scope, out: OutputBatch) -> None:
        del self._roots[scope]
        out.end_route(scope)

    def _gone(self, conversation: Conversation) -> None:
        """Codex holds the thread no more."""
        self._directory.remove(conversation)
