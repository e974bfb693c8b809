"""What became of a turn: by what was followed here, else by the transcript that Claude Code keeps.

Owns the questions that wait for it. The transcript is read once for all that are asked together, and only for turns that
ran in an earlier process: of those that run or ended here everything has been told. Nobody else writes it now, since a
conversation has one process (FC-52). A prompt that is not in it may have been read all the same: Claude Code writes a
moment later.
"""

from functools import partial
from typing import Literal

from runtime.providers.claude_code.conversation import Conversation
from runtime.providers.claude_code.transcript import Transcript, place_of, read_transcript, turn_of
from runtime.providers.claude_code.turns import stamp_of
from runtime.providers.normalized import TurnReconciled
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Outputs, ReconcileTurn
from runtime.providers.records import ReadRecord


class Reconciling:
    """Of one process. `kept_as` names the transcript, where there is one from before."""

    def __init__(self, kept_as: str | None) -> None:
        self._kept_as = kept_as
        self._asked: list[ReconcileTurn] = []

    def ask(self, conversation: Conversation | None, command: ReconcileTurn, out: OutputBatch) -> None:
        """Answered by TurnReconciled, once."""
        turn_id = command.turn_id
        told = TurnReconciled(turn_id, "unknown", command.provider_turn_id)
        outcome = conversation.past.outcome(turn_id) if conversation is not None else None
        turn = conversation.find(turn_id) if conversation is not None else None
        if turn is not None:
            # A prompt that was written and never acknowledged may lie in a pipe that nobody reads.
            state: Literal["running", "unknown"] = "running" if turn.accepted else "unknown"
            told = TurnReconciled(turn_id, state, command.provider_turn_id)
        elif outcome is not None:
            told = TurnReconciled(turn_id, "ended", command.provider_turn_id, outcome)
        elif conversation is not None and self._kept_as is not None:
            self._asked.append(command)
            if len(self._asked) == 1:
                took = partial(self._took, conversation)
                out.add(ReadRecord(place_of(self._kept_as), read_transcript, took))
            return
        out.deliver(command.scope, told)

    def _took(self, conversation: Conversation, found: object | None) -> Outputs:
        out = OutputBatch()
        asked, self._asked = self._asked, []
        for command in asked:
            if conversation.phase == "open":
                out.deliver(command.scope, _answer(command, found))
        return out.take()


def _answer(command: ReconcileTurn, found: object | None) -> TurnReconciled:
    stamp = stamp_of(command.turn_id)
    kept = turn_of(found, stamp, command.turn_id) if isinstance(found, Transcript) else None
    if kept is None:
        return TurnReconciled(command.turn_id, "unknown", command.provider_turn_id)
    return TurnReconciled(command.turn_id, "ended", stamp, kept.outcome, kept.items)
