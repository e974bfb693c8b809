"""Ephemeral forks of one connection: asked for one at a time, verified, bounded, and given back when anything fails.

Owns the way from OpenSide to a conversation that takes prompts. Codex ignores members it does not know, so nothing of
the answer is taken on trust: an old one would make a fork that is kept (PR-009, PR-010, RT-109). A child that nobody
may use is left on the wire before its failure is told (RT-111); it is never deleted, which Codex refuses.
"""

from collections import deque
from collections.abc import Iterable
from functools import partial

import attrs

from runtime.providers.codex.asking import Refusal, refuse
from runtime.providers.codex.attestation import Ability
from runtime.providers.codex.conversation import Conversation
from runtime.providers.codex.directory import ThreadDirectory
from runtime.providers.codex.failures import provider_error, request_failure, runtime_error
from runtime.providers.codex.settings import (
    ThreadSettings,
    narrower,
    open_params,
    verified_settings,
    wanted_settings,
)
from runtime.providers.codex.side_rules import boundary_item
from runtime.providers.codex.thread_calls import ThreadCalls
from runtime.providers.codex.turns import Frame
from runtime.providers.jsonrpc.calls import Answer, OpenCalls
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.jsonrpc.peer import ErrorResponse, JsonRpcPeer, Request
from runtime.providers.normalized import SideForked, ThreadOpenFailed
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, OpenSide, Scope
from runtime.providers.side_words import side_rules
from store.canonical.common import Json, TurnError

NOT_LIKE_A_SIDE_TEXT = "The answer of Codex is not the ephemeral fork that was asked for."


@attrs.define(eq=False)
class _Fork:
    """One of them in the making; `over` once it is open, has failed or was left."""

    command: OpenSide
    conversation: Conversation
    rules: str
    wanted: ThreadSettings
    over: bool = False


class SideForks:
    """All forks of one connection that are not open yet."""

    def __init__(
        self, calls: OpenCalls, thread_calls: ThreadCalls, peer: JsonRpcPeer, directory: ThreadDirectory
    ) -> None:
        self._calls = calls
        self._thread_calls = thread_calls
        self._peer = peer
        self._directory = directory
        self._forks: dict[Scope, _Fork] = {}
        self._waiting: deque[_Fork] = deque()
        self._asked: _Fork | None = None
        """The one whose request is not answered: two at once could not be told apart before their answers."""

    def open(self, command: OpenSide, out: OutputBatch) -> None:
        """Fork, as soon as no other fork of this connection is on its way."""
        wanted = self._wanted(command)
        if isinstance(wanted, TurnError):
            out.deliver(command.scope, ThreadOpenFailed(wanted))
            return
        conversation = Conversation(command.scope, self._peer, self._thread_calls, self._directory.remove)
        conversation.side_rules = rules = side_rules(command.instructions)
        self._directory.add(conversation)
        fork = self._forks[command.scope] = _Fork(command, conversation, rules, wanted)
        self._waiting.append(fork)
        self._next(out)

    def leave(self, scope: Scope, out: OutputBatch) -> bool:
        """The scope does not want its fork any more; false when it has none in the making."""
        fork = self._forks.get(scope)
        if fork is None:
            return False
        self._undo(fork, out)
        if self._asked is fork:
            # Its answer may never come, and is known by its thread if it does: the others need not wait for it.
            self._asked = None
        self._next(out)
        return True

    # --- the two requests -------------------------------------------------------------------------------------

    def _wanted(self, command: OpenSide) -> ThreadSettings | TurnError:
        if Ability.SIDE not in self._thread_calls.abilities:
            return runtime_error("capability.unsupported")
        if self._directory.of_scope(command.scope) is not None:
            return runtime_error("provider.rejected", "The conversation is already open or opening.")
        wanted = wanted_settings(command.settings)
        source = self._directory.of_thread(command.source_session_id)
        if isinstance(wanted, TurnError) or source is None or source.phase != "open":
            return wanted
        return narrower(source.held, wanted)

    def _next(self, out: OutputBatch) -> None:
        while self._asked is None and self._waiting:
            fork = self._waiting.popleft()
            if not fork.over:
                self._asked = fork
                self._directory.expect_new()
                self._calls.send("thread/fork", _fork_params(fork), partial(self._forked, fork), out)

    def _forked(self, fork: _Fork, answer: Answer, out: OutputBatch) -> None:
        result = object_of(answer.result) if not isinstance(answer, ErrorResponse) else {}
        thread = object_of(result.get("thread"))
        thread_id = text_of(thread.get("id"))
        early = self._directory.claim_early(thread_id) if thread_id is not None else []
        self._drop(self._directory.expected_came(), "decline", out)
        if self._asked is fork:
            self._asked = None
        held: ThreadSettings | TurnError = (
            request_failure(answer)
            if isinstance(answer, ErrorResponse)
            else self._verified(fork, result, thread)
        )
        if fork.over or isinstance(held, TurnError):
            self._drop(early, "cancel", out)
            if isinstance(held, TurnError) and not fork.over:
                self._fail(fork, held, out)
            self._leave_on_wire(thread_id, fork, out)
        elif thread_id is None or not self._directory.bind(thread_id, fork.conversation):
            self._drop(early, "cancel", out)
            self._fail(fork, provider_error("provider.protocol"), out)
        else:
            for frame in early:
                fork.conversation.frame(frame, out)
            fork.conversation.held = held
            params: Json = {"threadId": thread_id, "items": [boundary_item(fork.rules)]}
            self._calls.send("thread/inject_items", params, partial(self._bounded, fork), out)
        self._next(out)

    def _verified(self, fork: _Fork, result: Members, thread: Members) -> ThreadSettings | TurnError:
        """A fork of that very conversation, kept nowhere, showing nothing, and allowed no more (RT-109, RT-128)."""
        lineage = text_of(thread.get("forkedFromId")) == fork.command.source_session_id
        apart = text_of(thread.get("id")) not in (None, fork.command.source_session_id)
        transient = thread.get("ephemeral") is True and thread.get("path") is None
        if not (lineage and apart and transient and thread.get("turns") == []):
            return provider_error("provider.protocol", NOT_LIKE_A_SIDE_TEXT)
        held = verified_settings(result, fork.command.cwd, fork.wanted)
        if not isinstance(held, TurnError) and held.model is None:
            return provider_error("provider.protocol", NOT_LIKE_A_SIDE_TEXT)
        return held

    def _bounded(self, fork: _Fork, answer: Answer, out: OutputBatch) -> None:
        if fork.over:
            return
        if isinstance(answer, ErrorResponse):
            # Without its boundary the model would take itself for the main conversation.
            self._fail(fork, request_failure(answer), out)
            return
        fork.over = True
        del self._forks[fork.command.scope]
        conversation = fork.conversation
        assert conversation.thread_id is not None
        out.deliver(
            fork.command.scope,
            SideForked(
                provider_session_id=conversation.thread_id,
                source_session_id=fork.command.source_session_id,
                ephemeral=True,
                shown_turns=0,
                settings=conversation.held.told(),
            ),
        )
        conversation.opened(fresh=True, busy=False, out=out)

    # --- undoing ----------------------------------------------------------------------------------------------

    def _fail(self, fork: _Fork, error: TurnError, out: OutputBatch) -> None:
        self._undo(fork, out)
        out.deliver(fork.command.scope, ThreadOpenFailed(error))

    def _undo(self, fork: _Fork, out: OutputBatch) -> None:
        fork.over = True
        self._forks.pop(fork.command.scope, None)
        fork.conversation.not_opened(out)
        self._directory.remove(fork.conversation)
        if fork.conversation.thread_id is not None:
            self._thread_calls.leave(fork.conversation.thread_id, out)

    def _leave_on_wire(self, thread_id: str | None, fork: _Fork, out: OutputBatch) -> None:
        """Codex would go on telling of it. A thread that somebody here uses is none of the fork's."""
        if thread_id is None or thread_id == fork.command.source_session_id:
            return
        if self._directory.of_thread(thread_id) is None:
            self._directory.note_left(thread_id)
            self._thread_calls.leave(thread_id, out)

    def _drop(self, frames: Iterable[Frame], how: Refusal, out: OutputBatch) -> None:
        """Nobody's: counted, and asked in vain."""
        for frame in frames:
            out.add(Diagnostic("thread.stray", "before its name"))
            if isinstance(frame, Request):
                refuse(self._peer, frame, how, out)


def _fork_params(fork: _Fork) -> Json:
    """Nothing is left to inheritance: a fork would take over a wider sandbox than its source had."""
    params = object_of(open_params(fork.command.cwd, fork.wanted, fork.command.source_session_id))
    return {**params, "ephemeral": True, "developerInstructions": fork.rules}
