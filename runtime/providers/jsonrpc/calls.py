"""Our open requests on one connection and what is to happen when each is answered, once."""

from collections.abc import Callable
from typing import TypeAlias

from runtime.providers.jsonrpc.peer import ErrorResponse, JsonRpcPeer, Response
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Write
from store.canonical.common import Json

Answer: TypeAlias = Response | ErrorResponse
Answered: TypeAlias = Callable[[Answer, OutputBatch], None]


class OpenCalls:
    """Pairs requests with their answers, which the peer has checked to be first ones of known ids."""

    def __init__(self, peer: JsonRpcPeer) -> None:
        self._peer = peer
        self._waiting: dict[int, Answered] = {}

    def send(
        self, method: str, params: Json, answered: Answered, out: OutputBatch, token: object = None
    ) -> None:
        """Write a request; `token` comes back when its frame is out whole."""
        call_id, frame = self._peer.request(method, params)
        self._waiting[call_id] = answered
        out.add(Write(frame, token))

    def settle(self, answer: Answer, out: OutputBatch) -> None:
        """The answer came."""
        self._waiting.pop(answer.id)(answer, out)


def ignore_answer(answer: Answer, out: OutputBatch) -> None:
    """For requests whose answer changes nothing."""
