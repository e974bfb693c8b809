"""The open requests of Claude Code's that wait for a person: each gets exactly one reply, whatever happens (FC-04).

Owns which wait, which answers are on their way, and the frames that answer them. One that nobody may answer any more is
refused at once; a reply to one that Claude Code took back itself is ignored there.
"""

import attrs

from runtime.providers.claude_code.failures import runtime_error
from runtime.providers.claude_code.permissions import DENY, REFUSED_TEXT, Asked, denial
from runtime.providers.claude_code.questions import answers_reply
from runtime.providers.claude_code.wire import control_reply
from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    InteractionWithdrawn,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import AnswerInteraction, RefuseAsk, Scope, Write
from store.canonical.common import Json
from store.canonical.identifiers import RequestId, TurnId
from store.canonical.interaction import OptionAnswer, QuestionAnswer


@attrs.frozen
class Ask:
    """A request that waits, or whose answer is being written. `wire_id` is Claude Code's name for it."""

    wire_id: str
    request_id: RequestId
    turn_id: TurnId
    asked: Asked


@attrs.frozen
class AnswerToken:
    """Names the write of an answer."""

    scope: Scope
    request_id: RequestId


class OpenAsks:
    """The asks of one conversation, all of them of its open turn."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._count = 0
        self._open: dict[RequestId, Ask] = {}
        self._answered: dict[RequestId, Ask] = {}

    def is_open(self, wire_id: str) -> bool:
        """Whether Claude Code still waits for this request of its."""
        return any(ask.wire_id == wire_id for ask in self._open.values())

    def publish(self, wire_id: str, turn_id: TurnId, asked: Asked, out: OutputBatch) -> None:
        """Put a request to a person. The call it is about has been told before."""
        self._count += 1
        ask = Ask(wire_id, RequestId(f"ask-{self._count}"), turn_id, asked)
        self._open[ask.request_id] = ask
        requested = InteractionRequested(turn_id, ask.request_id, asked.kind, asked.input, asked.options)
        out.deliver(self._scope, requested)

    def answer(self, command: AnswerInteraction, out: OutputBatch) -> None:
        """Write a person's answer, once; `written` will say that it went out."""
        ask = self._open.get(command.request_id)
        if ask is None or ask.turn_id != command.turn_id:
            self._fail(command, "interaction.not_pending", out)
            return
        reply = _reply_to(ask.asked, command)
        if reply is None:
            self._fail(command, "interaction.unsupported_answer", out)
            return
        del self._open[ask.request_id]
        self._answered[ask.request_id] = ask
        out.add(Write(control_reply(ask.wire_id, reply), AnswerToken(self._scope, ask.request_id)))

    def refuse(self, command: RefuseAsk, out: OutputBatch) -> None:
        """Nobody was asked, and nobody will be: it gets its one reply."""
        ask = self._open.get(command.request_id)
        if ask is not None and ask.turn_id == command.turn_id:
            del self._open[ask.request_id]
            out.add(Write(control_reply(ask.wire_id, denial())))

    def written(self, request_id: RequestId, out: OutputBatch) -> None:
        """The answer's frame is out whole, which is all that Claude Code lets us know (`contract §4`)."""
        ask = self._answered.pop(request_id, None)
        if ask is not None:
            out.deliver(self._scope, AnswerDelivered(ask.turn_id, ask.request_id))

    def confirm_all(self, out: OutputBatch) -> None:
        """The turn ends: answers on their way count as delivered before its end is told (RT-019)."""
        for request_id in tuple(self._answered):
            self.written(request_id, out)

    def withdraw(self, wire_id: str, out: OutputBatch) -> None:
        """Claude Code takes one ask back."""
        for ask in [ask for ask in self._open.values() if ask.wire_id == wire_id]:
            self._withdraw(ask, out, stops=False)

    def withdraw_all(self, out: OutputBatch) -> None:
        """Nobody may answer any more: every open ask is refused."""
        for ask in list(self._open.values()):
            self._withdraw(ask, out, stops=True)

    def abandon(self, out: OutputBatch) -> None:
        """The scope left: Claude Code gets its replies, nobody is told."""
        for ask in self._open.values():
            out.add(Write(control_reply(ask.wire_id, denial(stops=True))))
        self._open.clear()
        self._answered.clear()

    def _withdraw(self, ask: Ask, out: OutputBatch, *, stops: bool) -> None:
        del self._open[ask.request_id]
        out.add(Write(control_reply(ask.wire_id, denial(stops=stops))))
        out.deliver(self._scope, InteractionWithdrawn(ask.turn_id, ask.request_id))

    def _fail(self, command: AnswerInteraction, code: str, out: OutputBatch) -> None:
        failed = AnswerFailed(command.turn_id, command.request_id, runtime_error(code))
        out.deliver(self._scope, failed)


def _reply_to(asked: Asked, command: AnswerInteraction) -> Json:
    match command.answer:
        case OptionAnswer(option_id, feedback):
            if option_id == DENY and DENY in asked.replies:
                return denial(feedback or REFUSED_TEXT)
            return asked.replies.get(option_id)
        case QuestionAnswer(answers) as answer if asked.questions and asked.questions.keys() == set(answers):
            return answers_reply(asked, answer)
        case _:
            return None
