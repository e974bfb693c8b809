"""The open permission requests of one conversation: each is answered exactly once, whatever happens (FC-04).

Owns which asks wait for a person, which answers are on their way, and the frames that answer them. When a turn is
cancelled, withdrawn or over, its asks are answered `cancelled` at once: some agents hang on an unanswered one.
"""

import attrs

from runtime.providers.acp.failures import runtime_error
from runtime.providers.acp.permissions import CANCELLED, REJECTING, approval_of, options_of, selected
from runtime.providers.acp.tool_calls import ToolCallLedger, ToolCallRecord
from runtime.providers.acp.wire import PermissionRequest, ToolCallPart
from runtime.providers.jsonrpc.peer import JsonRpcPeer, Request, RequestKey
from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    InteractionWithdrawn,
    NoticeReported,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import AnswerInteraction, Diagnostic, RefuseAsk, Scope, Write
from store.canonical.common import Json
from store.canonical.identifiers import CallId, RequestId, TurnId
from store.canonical.interaction import InteractionOption, OptionAnswer


@attrs.frozen
class Ask:
    """A permission request that waits, or whose answer is being written."""

    key: RequestKey
    wire_id: Json
    request_id: RequestId
    turn_id: TurnId
    call_id: CallId
    options: tuple[InteractionOption, ...]


@attrs.frozen
class AnswerToken:
    """Names the write of an answer."""

    scope: Scope
    request_id: RequestId


class OpenAsks:
    """The asks of one conversation, all of them of its open turn."""

    def __init__(self, scope: Scope, peer: JsonRpcPeer, ledger: ToolCallLedger) -> None:
        self._scope = scope
        self._peer = peer
        self._ledger = ledger
        self._count = 0
        self._open: dict[RequestId, Ask] = {}
        self._answered: dict[RequestId, tuple[Ask, InteractionOption]] = {}

    def is_open(self, key: RequestKey) -> bool:
        """Whether the agent still waits for this request of its."""
        return any(ask.key == key for ask in self._open.values())

    def publish(
        self,
        request: Request,
        permission: PermissionRequest,
        part: ToolCallPart,
        record: ToolCallRecord,
        out: OutputBatch,
    ) -> None:
        """Put a usable ask to a person. Its tool call has been told before."""
        self._count += 1
        ask = Ask(
            request.key,
            request.id,
            RequestId(f"ask-{self._count}"),
            record.turn_id,
            part.call_id,
            options_of(permission),
        )
        self._open[ask.request_id] = ask
        out.deliver(
            self._scope,
            InteractionRequested(
                ask.turn_id, ask.request_id, "approval", approval_of(part, record), ask.options
            ),
        )

    def answer(self, command: AnswerInteraction, out: OutputBatch) -> None:
        """Write a person's answer, once; `written` will say that it went out."""
        ask = self._open.get(command.request_id)
        if ask is None or ask.turn_id != command.turn_id:
            self._fail(command, "interaction.not_pending", out)
            return
        answer = command.answer
        chosen = next(
            (o for o in ask.options if isinstance(answer, OptionAnswer) and o.option_id == answer.option_id),
            None,
        )
        if chosen is None or not isinstance(answer, OptionAnswer):
            self._fail(command, "interaction.unsupported_answer", out)
            return
        del self._open[ask.request_id]
        self._answered[ask.request_id] = (ask, chosen)
        frame = self._peer.respond(ask.wire_id, selected(chosen.option_id))
        out.add(Write(frame, AnswerToken(self._scope, ask.request_id)))
        if answer.feedback:
            self._tell_lost_feedback(ask, out)

    def refuse(self, command: RefuseAsk, out: OutputBatch) -> None:
        """Nobody was asked, and nobody will be: it gets its one reply."""
        ask = self._open.get(command.request_id)
        if ask is not None and ask.turn_id == command.turn_id:
            del self._open[ask.request_id]
            out.add(Write(self._peer.respond(ask.wire_id, CANCELLED)))

    def written(self, request_id: RequestId, out: OutputBatch) -> None:
        """The answer's frame is out whole, which is all an ACP agent lets us know (`contract §4`)."""
        answered = self._answered.pop(request_id, None)
        if answered is None:
            return
        ask, chosen = answered
        out.deliver(self._scope, AnswerDelivered(ask.turn_id, ask.request_id))
        record = self._ledger.find(ask.call_id)
        if chosen.kind in REJECTING and record is not None:
            for event in record.decline():
                out.deliver(self._scope, event)

    def confirm_all(self, out: OutputBatch) -> None:
        """The turn ends: answers on their way count as delivered before its end is told (RT-019)."""
        for request_id in tuple(self._answered):
            self.written(request_id, out)

    def withdraw(self, key: RequestKey, out: OutputBatch) -> None:
        """The agent takes one ask back; it still gets its one answer."""
        for ask in [ask for ask in self._open.values() if ask.key == key]:
            self._cancel(ask, out)

    def withdraw_all(self, out: OutputBatch) -> None:
        """Nobody may answer any more: every open ask gets `cancelled`."""
        for ask in list(self._open.values()):
            self._cancel(ask, out)

    def abandon(self, out: OutputBatch) -> None:
        """The scope left: the agent gets its answers, nobody is told."""
        for ask in self._open.values():
            out.add(Write(self._peer.respond(ask.wire_id, CANCELLED)))
        self._open.clear()
        self._answered.clear()

    def _cancel(self, ask: Ask, out: OutputBatch) -> None:
        del self._open[ask.request_id]
        out.add(Write(self._peer.respond(ask.wire_id, CANCELLED)))
        out.deliver(self._scope, InteractionWithdrawn(ask.turn_id, ask.request_id))

    def _fail(self, command: AnswerInteraction, code: str, out: OutputBatch) -> None:
        error = runtime_error(code)
        out.deliver(self._scope, AnswerFailed(command.turn_id, command.request_id, error))

    def _tell_lost_feedback(self, ask: Ask, out: OutputBatch) -> None:
        # The protocol has no place for words beside the chosen option (RT-020 asks that they are not lost silently).
        out.add(Diagnostic("answer.feedback_not_carried", str(ask.request_id)))
        text = "The agent was given the refusal, but its protocol cannot carry the words that came with it."
        out.deliver(
            self._scope, NoticeReported(ask.turn_id, "interaction.feedback_not_carried", "warning", text)
        )
