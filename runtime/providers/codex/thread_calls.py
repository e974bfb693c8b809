"""The requests about a thread that is open, and what their answers mean for it.

Owns what is sent and the judgement of refusals: which of them may be tried once more, which mean that a turn is over,
and which that nothing took effect. A method that is not attested for this very program is not called. Every request names its thread and, where there is one, the exact turn (RT-007,
RT-078). What a turn then becomes is the conversation's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from runtime.providers.codex import history
from runtime.providers.codex.attestation import Ability
from runtime.providers.codex.failures import (
    is_not_loaded,
    named_turn,
    names_no_turn,
    provider_error,
    request_failure,
    runtime_error,
)
from runtime.providers.codex.prompts import prompt_input
from runtime.providers.codex.reconcile import reconcile
from runtime.providers.codex.settings import PLANNING, after_turn, turn_params
from runtime.providers.codex.side_rules import collaboration
from runtime.providers.codex.turns import OpenTurn, PendingStart
from runtime.providers.jsonrpc.calls import Answer, OpenCalls
from runtime.providers.jsonrpc.members import list_of, object_of, text_of
from runtime.providers.jsonrpc.peer import ErrorResponse
from runtime.providers.normalized import CancelRefused
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, PromptBlock
from store.canonical.common import Json, TurnError

if TYPE_CHECKING:
    from runtime.providers.codex.conversation import Conversation

Steered: TypeAlias = Callable[[TurnError | None, OutputBatch], None]
TurnsRead: TypeAlias = Callable[[tuple[history.KeptTurn, ...] | None, OutputBatch], None]


class ThreadCalls:
    """Sends them, over one connection."""

    def __init__(self, calls: OpenCalls) -> None:
        self._calls = calls
        self.abilities: frozenset[Ability] = frozenset()
        """What the program was attested for; nothing until the handshake says what it is."""

    # --- turns ------------------------------------------------------------------------------------------------

    def start(self, conversation: Conversation, pending: PendingStart, out: OutputBatch) -> None:
        """Send a prompt. Its name goes along, by which it is found again if the answer is lost."""
        command = pending.command
        if pending.wanted.mode == PLANNING and Ability.PLANNING not in self.abilities:
            error = runtime_error("capability.unsupported")
            conversation.start_refused(pending, error, unloaded=False, out=out)
            return
        pending.sent = True
        params: dict[str, Json] = {
            "threadId": conversation.thread_id,
            "clientUserMessageId": pending.guide_id or command.turn_id,
            "input": prompt_input(command.content),
        }
        params |= turn_params(conversation.held, pending.wanted)
        if conversation.side_rules is not None:
            params["collaborationMode"] = collaboration(conversation.held, conversation.side_rules)
        self._calls.send("turn/start", params, partial(self._started, conversation, pending), out)

    def interrupt(self, conversation: Conversation, turn: OpenTurn, out: OutputBatch) -> None:
        """Ask for the end of exactly this turn."""
        if Ability.INTERRUPT not in self.abilities:
            error = runtime_error("capability.unsupported")
            out.deliver(conversation.scope, CancelRefused(turn.turn_id, error))
            return
        params: Json = {"threadId": conversation.thread_id, "turnId": turn.provider_turn_id}
        self._calls.send("turn/interrupt", params, partial(self._interrupted, conversation, turn), out)

    def interrupt_unowned(self, thread_id: str, provider_turn_id: str, out: OutputBatch) -> None:
        """Ask for the end of a turn that nobody here waits for any more."""
        if self._attested(Ability.INTERRUPT, out):
            params: Json = {"threadId": thread_id, "turnId": provider_turn_id}
            self._calls.send("turn/interrupt", params, partial(_note_refusal, "interrupt"), out)

    def steer(
        self,
        conversation: Conversation,
        turn: OpenTurn,
        content: tuple[PromptBlock, ...],
        client_id: str,
        steered: Steered,
        out: OutputBatch,
    ) -> None:
        """Say more within exactly this turn; any other is refused by Codex, with nothing said (PR-012)."""
        params: Json = {
            "threadId": conversation.thread_id,
            "expectedTurnId": turn.provider_turn_id,
            "clientUserMessageId": client_id,
            "input": prompt_input(content),
        }
        self._calls.send("turn/steer", params, partial(_steered, steered), out)

    def read_turns(self, conversation: Conversation, read: TurnsRead, out: OutputBatch) -> None:
        """Ask what Codex keeps of the newest turns. Of an ephemeral fork it keeps nothing that could be asked for."""
        if conversation.side_rules is not None:
            read(None, out)
            return
        if not self._attested(Ability.TURN_HISTORY, out):
            read(None, out)
            return
        params = history.list_params(conversation.thread_id or "")
        self._calls.send("thread/turns/list", params, partial(_turns_read, read), out)

    # --- around turns -----------------------------------------------------------------------------------------

    def end_commands(self, thread_id: str, item_ids: frozenset[str], out: OutputBatch) -> None:
        """End exactly these commands, which an interrupt left running. What Codex ends them by, it tells only here."""
        if not self._attested(Ability.COMMAND_ENDING, out):
            return
        params: Json = {"threadId": thread_id}
        listed = partial(self._commands_listed, thread_id, item_ids)
        self._calls.send("thread/backgroundTerminals/list", params, listed, out)

    def end_all_commands(self, thread_id: str, out: OutputBatch) -> None:
        """End every command that runs in the thread."""
        if self._attested(Ability.COMMAND_CLEANING, out):
            params: Json = {"threadId": thread_id}
            method = "thread/backgroundTerminals/clean"
            self._calls.send(method, params, partial(_note_refusal, "terminals"), out)

    def leave(self, thread_id: str, out: OutputBatch) -> None:
        """Hear nothing of the thread any more. It is unloaded by Codex after a while."""
        params: Json = {"threadId": thread_id}
        self._calls.send("thread/unsubscribe", params, partial(_note_refusal, "unsubscribe"), out)

    def _attested(self, ability: Ability, out: OutputBatch) -> bool:
        if ability in self.abilities:
            return True
        out.add(Diagnostic("ability.not_attested", ability))
        return False

    # --- answers ----------------------------------------------------------------------------------------------

    def _started(
        self, conversation: Conversation, pending: PendingStart, answer: Answer, out: OutputBatch
    ) -> None:
        if isinstance(answer, ErrorResponse):
            not_loaded = is_not_loaded(answer)
            error = provider_error("provider.lost") if not_loaded else request_failure(answer)
            conversation.start_refused(pending, error, unloaded=not_loaded, out=out)
            return
        provider_turn_id = text_of(object_of(object_of(answer.result).get("turn")).get("id"))
        if provider_turn_id is None:
            conversation.start_refused(pending, provider_error("provider.protocol"), unloaded=False, out=out)
        elif conversation.pending is pending:
            conversation.hold_settings(after_turn(conversation.held, pending.wanted), out)
            conversation.adopt(pending, provider_turn_id, out)
        elif conversation.phase == "closed" and conversation.thread_id is not None:
            self.interrupt_unowned(conversation.thread_id, provider_turn_id, out)
        else:
            conversation.start_named(pending, provider_turn_id, out)

    def _commands_listed(
        self, thread_id: str, item_ids: frozenset[str], answer: Answer, out: OutputBatch
    ) -> None:
        if isinstance(answer, ErrorResponse):
            _note_refusal("terminals", answer, out)
            return
        for terminal in map(object_of, list_of(object_of(answer.result).get("data"))):
            process_id = text_of(terminal.get("processId"))
            if process_id is not None and text_of(terminal.get("itemId")) in item_ids:
                params: Json = {"threadId": thread_id, "processId": process_id}
                method = "thread/backgroundTerminals/terminate"
                self._calls.send(method, params, partial(_note_refusal, "terminals"), out)

    def _interrupted(
        self, conversation: Conversation, turn: OpenTurn, answer: Answer, out: OutputBatch
    ) -> None:
        if not isinstance(answer, ErrorResponse) or conversation.turn is not turn:
            return
        named = named_turn(answer)
        if names_no_turn(answer):
            # The end has been said, or was lost: Codex's own record tells.
            reconcile(conversation, turn.turn_id, turn.provider_turn_id, out, answered=False)
        elif named is not None and not turn.cancel_retried and named not in conversation.past:
            # One thread has one active turn, and no settled one: Codex calls this one by another id (FC-02).
            turn.cancel_retried = True
            turn.aliases.add(named)
            turn.provider_turn_id = named
            self.interrupt(conversation, turn, out)
        else:
            out.deliver(conversation.scope, CancelRefused(turn.turn_id, request_failure(answer)))


def _steered(steered: Steered, answer: Answer, out: OutputBatch) -> None:
    # Whatever the refusal says, nothing was said to any turn: the expected one is a precondition of the request.
    if not isinstance(answer, ErrorResponse):
        steered(None, out)
    elif names_no_turn(answer) or named_turn(answer) is not None:
        steered(provider_error("turn.mismatch"), out)
    else:
        steered(request_failure(answer), out)


def _turns_read(read: TurnsRead, answer: Answer, out: OutputBatch) -> None:
    if isinstance(answer, ErrorResponse):
        out.add(Diagnostic("turns.not_read", answer.message[:200]))
        read(None, out)
    else:
        read(history.read_turns(answer.result), out)


def _note_refusal(what: str, answer: Answer, out: OutputBatch) -> None:
    if isinstance(answer, ErrorResponse):
        out.add(Diagnostic(f"{what}.refused", answer.message[:200]))
