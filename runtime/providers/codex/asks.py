"""The open server requests of one thread: each gets exactly one reply, whatever happens (FC-04).

Owns which of them wait for a person, which answers are on their way, and the frames that answer them. A request that
nobody may answer any more is refused at once; what Codex has resolved by itself is withdrawn and still gets its reply,
which Codex ignores then.
"""

import attrs

from runtime.providers.codex.asking import REJECTING, Asked, Refusal, answers_reply, refuse
from runtime.providers.codex.failures import runtime_error
from runtime.providers.jsonrpc.peer import JsonRpcPeer, Request, RequestKey
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
    """A request that waits for a person, or whose answer is being written."""

    request: Request
    request_id: RequestId
    turn_id: TurnId
    asked: Asked


@attrs.frozen
class AnswerToken:
    """Names the write of an answer."""

    scope: Scope
    request_id: RequestId


@attrs.frozen
class GivenAnswer:
    """An answer on its way to Codex, or there. `rejected` says that it was a no, `feedback` what was said with it."""

    ask: Ask
    rejected: bool = False
    feedback: str | None = None


class OpenAsks:
    """The asks of one thread, all of them of its open turn."""

    def __init__(self, scope: Scope, peer: JsonRpcPeer) -> None:
        self._scope = scope
        self._peer = peer
        self._count = 0
        self._open: dict[RequestId, Ask] = {}
        self._answered: dict[RequestId, GivenAnswer] = {}

    def is_open(self, key: RequestKey) -> bool:
        """Whether Codex still waits for this request of its."""
        return any(ask.request.key == key for ask in self._open.values())

    def publish(self, request: Request, turn_id: TurnId, asked: Asked, out: OutputBatch) -> None:
        """Put a request to a person. The call it is about has been told before."""
        self._count += 1
        ask = Ask(request, RequestId(f"ask-{self._count}"), turn_id, asked)
        self._open[ask.request_id] = ask
        out.deliver(
            self._scope,
            InteractionRequested(turn_id, ask.request_id, asked.kind, asked.input, asked.options),
        )

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
        self._answered[ask.request_id] = _given(ask, command)
        token = AnswerToken(self._scope, ask.request_id)
        out.add(Write(self._peer.respond(ask.request.id, reply), token))

    def refuse(self, command: RefuseAsk, out: OutputBatch) -> None:
        """Nobody was asked, and nobody will be: it gets its one reply."""
        ask = self._open.get(command.request_id)
        if ask is not None and ask.turn_id == command.turn_id:
            del self._open[ask.request_id]
            refuse(self._peer, ask.request, "decline", out)

    def written(self, request_id: RequestId, out: OutputBatch) -> GivenAnswer | None:
        """The answer's frame is out whole, or Codex showed that it has it. None when that was known."""
        given = self._answered.pop(request_id, None)
        if given is not None:
            out.deliver(self._scope, AnswerDelivered(given.ask.turn_id, request_id))
        return given

    def resolved(self, key: RequestKey, out: OutputBatch) -> GivenAnswer | None:
        """Codex waits no longer: it has our answer, or it took the question back."""
        for request_id, given in tuple(self._answered.items()):
            if given.ask.request.key == key:
                return self.written(request_id, out)
        for ask in [ask for ask in self._open.values() if ask.request.key == key]:
            self._withdraw(ask, "decline", out)
        return None

    def confirm_all(self, out: OutputBatch) -> list[GivenAnswer]:
        """The turn ends: answers on their way count as delivered before its end is told (RT-019)."""
        confirmed = [self.written(request_id, out) for request_id in tuple(self._answered)]
        return [given for given in confirmed if given is not None]

    def withdraw_all(self, how: Refusal, out: OutputBatch) -> None:
        """Nobody may answer any more: every open request is refused."""
        for ask in list(self._open.values()):
            self._withdraw(ask, how, out)

    def abandon(self, out: OutputBatch) -> None:
        """The scope left: Codex gets its replies, nobody is told."""
        for ask in self._open.values():
            refuse(self._peer, ask.request, "cancel", out)
        self._open.clear()
        self._answered.clear()

    def _withdraw(self, ask: Ask, how: Refusal, out: OutputBatch) -> None:
        del self._open[ask.request_id]
        refuse(self._peer, ask.request, how, out)
        out.deliver(self._scope, InteractionWithdrawn(ask.turn_id, ask.request_id))

    def _fail(self, command: AnswerInteraction, code: str, out: OutputBatch) -> None:
        error = runtime_error(code)
        out.deliver(self._scope, AnswerFailed(command.turn_id, command.request_id, error))


def _reply_to(asked: Asked, command: AnswerInteraction) -> Json:
    match command.answer:
        case OptionAnswer(option_id):
            return asked.replies.get(option_id)
        case QuestionAnswer(answers) if asked.questions and asked.questions.issuperset(answers):
            return answers_reply(command.answer)
        case _:
            return None


def _given(ask: Ask, command: AnswerInteraction) -> GivenAnswer:
    answer = command.answer
    if not isinstance(answer, OptionAnswer):
        return GivenAnswer(ask)
    kinds = {option.option_id: option.kind for option in ask.asked.options}
    return GivenAnswer(ask, kinds[answer.option_id] in REJECTING, answer.feedback or None)
