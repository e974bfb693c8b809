"""Sides of a conversation that is kept nowhere: one question each, answered in the conversation's own process.

Owns the questions that are open. Claude Code puts a boundary of its own around a question, gives its answer whole, runs no
tool for it, and shows and keeps nothing of it, whatever the conversation does meanwhile.
"""

from functools import partial
from typing import Final

import attrs

from runtime.providers.claude_code.control import ControlAnswer, OpenRequests
from runtime.providers.claude_code.conversation import Conversation
from runtime.providers.claude_code.failures import provider_error, runtime_error
from runtime.providers.claude_code.wire import control_cancel
from runtime.providers.jsonrpc.members import Members, text_of
from runtime.providers.normalized import (
    AnswerFailed,
    GuideRefused,
    ItemEnded,
    ProviderEvent,
    SettingsRefused,
    SideForked,
    TextChunk,
    ThreadOpenFailed,
    TurnAccepted,
    TurnEnded,
    TurnReconciled,
    TurnRejected,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import (
    AnswerInteraction,
    ApplySettings,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    GuideTurn,
    OpenSide,
    ReconcileTurn,
    Scope,
    StartTurn,
    Write,
)
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock

QUESTIONS_MAX: Final = 1
"""Of one Side."""
_ITEM: Final = "answer"
_UNSUPPORTED: Final = "unsupported_request"


@attrs.define(eq=False)
class _Side:
    scope: Scope
    instructions: str | None
    turn_id: TurnId | None = None
    request_id: str | None = None
    """Of the question, while it is open."""
    accepted: bool = False
    cancel_asked: bool = False


class SideQuestions:
    """Of one process."""

    def __init__(self, requests: OpenRequests) -> None:
        self._requests = requests
        self._sides: dict[Scope, _Side] = {}
        self._count = 0

    def has(self, scope: Scope) -> bool:
        """Whether this scope is such a Side."""
        return scope in self._sides

    def open(
        self, command: OpenSide, conversation: Conversation | None, source: str, out: OutputBatch
    ) -> None:
        """One more, of the conversation that is open here."""
        if conversation is None or conversation.phase != "open" or command.source_session_id != source:
            out.deliver(command.scope, ThreadOpenFailed(runtime_error("provider.unavailable")))
            return
        self._count += 1
        self._sides[command.scope] = _Side(command.scope, command.instructions)
        forked = SideForked(
            provider_session_id=f"{source}/question-{self._count}",
            source_session_id=source,
            ephemeral=True,
            shown_turns=0,
            settings=conversation.held.told(),
            turns_max=QUESTIONS_MAX,
        )
        out.deliver(command.scope, forked)

    def command(self, command: ConnectionCommand, out: OutputBatch) -> None:
        """Whatever its scope wants."""
        side = self._sides[command.scope]
        match command:
            case StartTurn():
                self._ask(side, command, out)
            case CancelTurn(turn_id=turn_id):
                if side.turn_id == turn_id:
                    self._withdraw(side, out)
            case ReconcileTurn(turn_id=turn_id):
                runs = side.request_id is not None and side.turn_id == turn_id
                self._tell(side, TurnReconciled(turn_id, "running" if runs else "unknown"), out)
            case GuideTurn(turn_id=turn_id, guide_id=guide_id):
                self._tell(side, GuideRefused(turn_id, guide_id, _unsupported()), out)
            case AnswerInteraction(turn_id=turn_id, request_id=request_id):
                error = runtime_error("interaction.not_pending")
                self._tell(side, AnswerFailed(turn_id, request_id, error), out)
            case ApplySettings(update_id=update_id):
                self._tell(side, SettingsRefused(update_id, _unsupported()), out)
            case CloseThread():
                self._withdraw(side, out)
                del self._sides[command.scope]
            case _:
                self._tell(side, ThreadOpenFailed(runtime_error("internal")), out)

    def progressed(self, frame: Members, out: OutputBatch) -> None:
        """Claude Code has taken up a request."""
        for side in self._sides.values():
            if side.request_id is not None and side.request_id == frame.get("request_id"):
                self._accept(side, out)

    def lost(self) -> tuple[Scope, ...]:
        """The process is gone, and they with it."""
        scopes, self._sides = tuple(self._sides), {}
        return scopes

    def _ask(self, side: _Side, command: StartTurn, out: OutputBatch) -> None:
        if side.turn_id is not None:
            self._tell(side, TurnRejected(command.turn_id, _unsupported()), out)
            return
        side.turn_id = command.turn_id
        words = [block.text for block in command.content if isinstance(block, TextBlock)]
        question = "\n\n".join([side.instructions, *words] if side.instructions else words)
        answered = partial(self._answered, side)
        side.request_id = self._requests.send(
            {"subtype": "side_question", "question": question}, answered, out
        )

    def _withdraw(self, side: _Side, out: OutputBatch) -> None:
        if side.request_id is not None and not side.cancel_asked:
            side.cancel_asked = True
            out.add(Write(control_cancel(side.request_id)))

    def _answered(self, side: _Side, answer: ControlAnswer, out: OutputBatch) -> None:
        side.request_id = None
        turn_id = side.turn_id
        if turn_id is None or self._sides.get(side.scope) is not side:
            return
        text = text_of(answer.body.get("response"))
        made_up = answer.body.get("synthetic") is True
        if answer.code == _UNSUPPORTED:
            self._tell(side, TurnRejected(turn_id, _unsupported()), out)
            return
        self._accept(side, out)
        if answer.accepted and text is not None and not made_up:
            self._tell(side, TextChunk(turn_id, _ITEM, "text", text), out)
            self._tell(side, ItemEnded(turn_id, _ITEM), out)
            self._tell(side, TurnEnded(turn_id, "completed", "end_turn"), out)
        elif side.cancel_asked:
            self._tell(side, TurnEnded(turn_id, "canceled", "cancelled"), out)
        else:
            # What Claude Code says in the model's place is prose about an error, whatever it calls itself (PR-025).
            self._tell(side, TurnEnded(turn_id, "failed", None, provider_error("provider.rejected")), out)

    def _accept(self, side: _Side, out: OutputBatch) -> None:
        if not side.accepted and side.turn_id is not None:
            side.accepted = True
            self._tell(side, TurnAccepted(side.turn_id), out)

    def _tell(self, side: _Side, event: ProviderEvent, out: OutputBatch) -> None:
        out.deliver(side.scope, event)


def _unsupported() -> TurnError:
    return runtime_error("capability.unsupported")
