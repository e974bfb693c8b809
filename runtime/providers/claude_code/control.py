"""Our open requests to Claude Code: each is answered at most once, by the id it was sent with.

Owns the ids and who waits for which answer. An answer to nothing of ours is counted and left.
"""

from collections.abc import Callable
from typing import TypeAlias

import attrs

from runtime.providers.claude_code.wire import control_request
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, Write
from store.canonical.common import Json


@attrs.frozen
class ControlAnswer:
    """What Claude Code answered; `code` is its own word for why it refused."""

    accepted: bool
    body: Members
    code: str = ""


Answered: TypeAlias = Callable[[ControlAnswer, OutputBatch], None]


class OpenRequests:
    """The requests of one process."""

    def __init__(self) -> None:
        self._last_id = 0
        self._waiting: dict[str, Answered] = {}

    def send(self, request: Json, answered: Answered, out: OutputBatch) -> str:
        """Ask; `answered` is called once, when the answer comes. The request's id."""
        self._last_id += 1
        request_id = f"greenroom-{self._last_id}"
        self._waiting[request_id] = answered
        out.add(Write(control_request(request_id, request)))
        return request_id

    def settle(self, frame: Members, out: OutputBatch) -> None:
        """Take an answer."""
        response = object_of(frame.get("response"))
        answered = self._waiting.pop(text_of(response.get("request_id")) or "", None)
        if answered is None:
            out.add(Diagnostic("answer.unknown", str(response.get("request_id"))[:80]))
            return
        accepted = response.get("subtype") == "success"
        code = text_of(response.get("error_code")) or ""
        answered(ControlAnswer(accepted, object_of(response.get("response")), code), out)


def ignore_answer(answer: ControlAnswer, out: OutputBatch) -> None:
    """Nobody waits for this one; a refusal is still worth counting."""
    if not answer.accepted:
        out.add(Diagnostic("request.refused", answer.code))
