"""What the agent asks during a conversation, one at a time: typed words become the answer of the contract.

Owns which question the next words answer, and the reason that may go with a refusal. Pure but for what it says and
shows; sending the answer is the conversation's.
"""

from typing import Any

import attrs

from greenroom_client import interaction_key
from greenroom_client.contract.models import Answer, Interaction, OptionAnswerInput
from greenroom_client.session_view import InteractionKey
from runtime.cli import questions
from runtime.cli.chat.keyboard import Keyboard
from runtime.cli.chat.paper import Paper


@attrs.define(eq=False)
class Asking:
    """The questions that wait, the oldest first."""

    paper: Paper
    keyboard: Keyboard
    _waiting: list[Interaction] = attrs.field(factory=list, init=False)
    _marks: dict[InteractionKey, str] = attrs.field(factory=dict, init=False)
    _answers: dict[str, Any] = attrs.field(factory=dict, init=False)
    _refusal: OptionAnswerInput | None = attrs.field(default=None, init=False)
    """Chosen already; the next line says why."""

    @property
    def current(self) -> Interaction | None:
        """What the next words answer."""
        return self._waiting[0] if self._waiting else None

    def asked(self, interaction: Interaction, *, mark: str = "") -> None:
        """One more; `mark` stands before its lines where it is not the conversation's own."""
        self._waiting.append(interaction)
        self._marks[interaction_key(interaction)] = mark
        if len(self._waiting) == 1:
            self._ask()

    def withdrawn(self, key: InteractionKey) -> None:
        """Answered, here or elsewhere, or not asked any more."""
        self._marks.pop(key, None)
        left = [one for one in self._waiting if interaction_key(one) != key]
        was_current = self.current is not None and interaction_key(self.current) == key
        self._waiting = left
        if was_current:
            self._next()

    def turn_begins(self, session_id: str, turn_id: str) -> None:
        """A plan that another turn of the session ended with is an old one from here on."""
        for one in tuple(self._waiting):
            mine = one["agentSessionId"] == session_id and one["turnId"] != turn_id
            if mine and one["kind"] == "plan":
                self.withdrawn(interaction_key(one))

    def forget(self) -> None:
        """Another session."""
        self._waiting.clear()
        self._marks.clear()
        self._next()

    def take(self, text: str) -> Answer | None:
        """The whole answer once the words make one; None while more is wanted, which has been said then."""
        interaction = self.current
        assert interaction is not None, "nothing is asked"
        if self._refusal is not None:
            refusal, self._refusal = self._refusal, None
            if text.strip():
                refusal["feedback"] = text.strip()
            return refusal
        asked = questions.questions_of(interaction)
        return self._question(interaction, text) if asked else self._option(interaction, text)

    def _option(self, interaction: Interaction, text: str) -> Answer | None:
        number, _, why = text.strip().partition(" ")
        options = interaction["options"]
        chosen = questions.chosen_option(text, options)
        if chosen is None and why:
            chosen = questions.chosen_option(number, options)
            if chosen is not None and self._kind(interaction, chosen) == "reject_once":
                chosen["feedback"] = why.strip()
                return chosen
            chosen = None
        if chosen is None and interaction["kind"] == "plan":
            chosen = _more_planning(interaction, text)
            if chosen is not None:
                return chosen
        if chosen is None:
            self.paper.line(f"Answer with a number from 1 to {len(options)}; /stop ends the turn.", "dim")
        elif self._kind(interaction, chosen) == "reject_once":
            self._refusal = chosen
            self.keyboard.asking(0)
            self.paper.line("What should it do instead? Enter for nothing.", "bold")
            return None
        return chosen

    def _question(self, interaction: Interaction, text: str) -> Answer | None:
        question = questions.questions_of(interaction)[len(self._answers)]
        answer = questions.question_answer(text, question)
        if answer is None:
            self.paper.line("Answer by number or name of what is offered; /stop ends the turn.", "dim")
            return None
        self._answers[question["id"]] = answer
        if len(self._answers) < len(questions.questions_of(interaction)):
            self._ask_question(interaction)
            return None
        return {"answersByQuestionId": dict(self._answers)}

    def _kind(self, interaction: Interaction, chosen: OptionAnswerInput) -> str:
        return next(one["kind"] for one in interaction["options"] if one["optionId"] == chosen["optionId"])

    def _next(self) -> None:
        self._answers.clear()
        self._refusal = None
        self.keyboard.asking(0)
        if self._waiting:
            self._ask()

    def _ask(self) -> None:
        interaction = self._waiting[0]
        for line in questions.described(interaction):
            self._say(interaction, line, "bold")
        if questions.questions_of(interaction):
            self._ask_question(interaction)
            return
        for line in questions.offered(interaction):
            self._say(interaction, line)
        self.keyboard.asking(len(interaction["options"]))

    def _ask_question(self, interaction: Interaction) -> None:
        question = questions.questions_of(interaction)[len(self._answers)]
        for line in questions.question_lines(question):
            self._say(interaction, line)
        options = 0 if question["multiSelect"] else len(question.get("options") or ())
        self.keyboard.asking(options, secret=bool(question["secret"]))

    def _say(self, interaction: Interaction, text: str, style: str = "") -> None:
        mark = self._marks.get(interaction_key(interaction), "")
        if mark:
            self.paper.beside(mark + text, style)
        else:
            self.paper.line(text, style)


def _more_planning(interaction: Interaction, text: str) -> OptionAnswerInput | None:
    """Words to a plan that are no choice say what it should be instead."""
    refusal = next((one for one in interaction["options"] if one["kind"] == "reject_once"), None)
    if refusal is None or not text.strip():
        return None
    return {"optionId": refusal["optionId"], "feedback": text.strip()}
