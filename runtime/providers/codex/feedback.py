"""Words that came with a refusal: they go on as guidance to the same turn, once Codex has the refusal itself.

Owns the wait for that and the one word to the user when they cannot be carried any more. However long Codex takes over
them, the answer itself is delivered and stays so (RT-020, RT-021).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from runtime.providers.codex.asks import GivenAnswer
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.jsonrpc.peer import RequestKey
from runtime.providers.normalized import NoticeReported
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic
from store.canonical.common import TurnError
from store.canonical.message import TextBlock

if TYPE_CHECKING:
    from runtime.providers.codex.conversation import Conversation

LOST_CODE: Final = "interaction.feedback_not_carried"
LOST_TEXT: Final = "Codex was given the refusal, but not the words that came with it: the turn took no more."


class Feedback:
    """What waits in one thread; all of it is of the open turn."""

    def __init__(self) -> None:
        self._waiting: dict[RequestKey, str] = {}

    def keep(self, given: GivenAnswer) -> None:
        """An answer has gone out."""
        if given.feedback is not None:
            self._waiting[given.ask.request.key] = given.feedback

    def resolved(self, key: RequestKey, conversation: Conversation, out: OutputBatch) -> None:
        """Codex has the answer to this request."""
        text, turn = self._waiting.pop(key, None), conversation.turn
        if text is not None and turn is not None:
            name = f"feedback-{turn.turn_id}"
            steered = partial(_steered, conversation, turn)
            conversation.calls.steer(conversation, turn, (TextBlock(text),), name, steered, out)

    def turn_ends(self, turn: OpenTurn) -> list[NoticeReported]:
        """Nothing can be said in this turn any more."""
        lost = [_lost(turn)] if self._waiting else []
        self._waiting.clear()
        return lost


def _steered(conversation: Conversation, turn: OpenTurn, error: TurnError | None, out: OutputBatch) -> None:
    if error is not None and conversation.turn is turn:
        conversation.tell(_lost(turn), out)
    elif error is not None:
        out.add(Diagnostic("feedback.lost", str(conversation.scope)))


def _lost(turn: OpenTurn) -> NoticeReported:
    return NoticeReported(turn.turn_id, LOST_CODE, "warning", LOST_TEXT)
