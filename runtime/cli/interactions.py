"""Answers what the agent asks during `greenroom run`: by asking the person at the terminal, else by refusing.

Owns one question at a time and giving up one that somebody else has answered. Refusing is loud: the person who reads
the output must learn that the agent was held back, and how to let it go on.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol, TypeAlias

import attrs
import trio

from greenroom_client import Client, GreenroomError, interaction_key, repeat_until_answered
from greenroom_client.contract.models import Answer, Interaction
from runtime.cli import questions
from runtime.cli.output import Output
from runtime.cli.terminal import LineReader

Json: TypeAlias = Mapping[str, Any]

HINT_NO_TERMINAL = (
    "nobody could be asked, since this is no terminal; run it on one, or answer from another client"
)


class Replies(Protocol):
    """Where answers go: to a turn of a session, or to one of a Side."""

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        """Gives the answer. Raises what the daemon refuses."""

    async def stop_asking(self, interaction: Interaction) -> None:
        """Stops the turn that asks. Raises what the daemon refuses."""


@attrs.frozen
class TurnReplies:
    """To turns of sessions, of descendants too."""

    client: Client
    workspace_id: str

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        """See `Replies`."""
        session_id, turn_id, request_id = interaction_key(interaction)
        await repeat_until_answered(
            lambda: self.client.interaction_respond(
                workspace_id=self.workspace_id,
                agent_session_id=session_id,
                turn_id=turn_id,
                request_id=request_id,
                answer=answer,
            )
        )

    async def stop_asking(self, interaction: Interaction) -> None:
        """See `Replies`."""
        session_id, turn_id, _ = interaction_key(interaction)
        await repeat_until_answered(
            lambda: self.client.turn_cancel(
                workspace_id=self.workspace_id, agent_session_id=session_id, turn_id=turn_id
            )
        )


@attrs.define(eq=False)
class Interactions:
    """The Interactions of one run."""

    output: Output
    replies: Replies
    refused: int = attrs.field(default=0, init=False)
    """How many were refused because nobody could be asked."""
    _reader: LineReader | None = attrs.field(default=None, init=False)
    _one_at_a_time: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _open: dict[tuple[str, str, str], trio.CancelScope] = attrs.field(factory=dict, init=False)

    async def answer(self, interaction: Interaction) -> None:
        """Have it answered, unless it is being answered already. Ends early when `withdraw` is called."""
        key = interaction_key(interaction)
        if key in self._open:
            return
        with trio.CancelScope() as scope:
            self._open[key] = scope
            async with self._one_at_a_time:
                if self.output.can_ask:
                    await self._ask(interaction)
                else:
                    await self._refuse(interaction, HINT_NO_TERMINAL)
        # Not forgotten: its row is seen again, answered, and must not be asked a second time.
        if scope.cancelled_caught:
            self.output.hint("(answered elsewhere, or withdrawn)", style="dim")

    def withdraw(self, key: tuple[str, str, str]) -> None:
        """It is answered or superseded: whoever is being asked need not think about it any more."""
        scope = self._open.get(key)
        if scope is not None:
            scope.cancel()

    async def _ask(self, interaction: Interaction) -> None:
        for line in questions.described(interaction):
            self.output.hint(line, style="bold")
        answer = await (
            self._questions(interaction) if interaction["kind"] == "question" else self._option(interaction)
        )
        if answer is None:
            await self._refuse(interaction, "the input has ended")
        else:
            await self._respond(interaction, answer)

    async def _option(self, interaction: Interaction) -> Answer | None:
        for line in questions.offered(interaction):
            self.output.hint(line)
        while True:
            self.output.hint(f"Answer 1 to {len(interaction['options'])}: ", end="")
            typed = await self._read()
            answer = None if typed is None else questions.chosen_option(typed, interaction["options"])
            if typed is None or answer is not None:
                return answer

    async def _questions(self, interaction: Interaction) -> Answer | None:
        answers: dict[str, str | list[str]] = {}
        for question in questions.questions_of(interaction):
            for line in questions.question_lines(question):
                self.output.hint(line)
            answer = await self._question(question)
            if answer is None:
                return None
            answers[question["id"]] = answer
        return {"answersByQuestionId": answers}

    async def _question(self, question: Json) -> str | list[str] | None:
        """Asked until the answer is one; None at the end of input."""
        while True:
            self.output.hint("Answer: ", end="")
            typed = await self._read(secret=question["secret"])
            answer = None if typed is None else questions.question_answer(typed, question)
            if typed is None or answer is not None:
                return answer

    async def _read(self, *, secret: bool = False) -> str | None:
        if self._reader is None:
            self._reader = LineReader(self.output.stdin.fileno())
        line = await self._reader.line(secret=secret)
        if secret:
            self.output.hint("")  # the line feed was not shown either
        return line

    async def _refuse(self, interaction: Interaction, why: str) -> None:
        self.refused += 1
        what = interaction["input"].get("title") or f"a {interaction['kind']}"
        answer = questions.refusing_answer(interaction)
        if answer is not None:
            self.output.hint(f"greenroom: refused {what!r}: {why}")
            await self._respond(interaction, answer)
            return
        self.output.hint(f"greenroom: canceled the turn, which asked {what!r} and offers no refusal: {why}")
        await self._settle(interaction, self.replies.stop_asking(interaction))

    async def _respond(self, interaction: Interaction, answer: Answer) -> None:
        await self._settle(interaction, self.replies.respond(interaction, answer))

    async def _settle(self, interaction: Interaction, reply: Awaitable[None]) -> None:
        try:
            # From here on the answer is the daemon's: its row, seen before the reply, must not stop us.
            with trio.CancelScope(shield=True):
                await reply
        except GreenroomError as refused:
            _, turn_id, request_id = interaction_key(interaction)
            self.output.hint(f"greenroom: interaction {request_id} of turn {turn_id}: {refused.message}")
