"""The Interaction machine: pending to answered or superseded, first terminal write wins (RT-009).

Which answers are valid is decided here from the stored, immutable input and options alone (RT-017, RT-026).
"""

from typing import Literal

import attrs

from runtime.lifecycle.transitions import Transition, TransitionTable
from store.canonical.interaction import (
    Answer,
    AnswerDelivery,
    Interaction,
    InteractionStatus,
    OptionAnswer,
    Question,
    QuestionAnswer,
    QuestionInput,
    RedactedAnswer,
    StoredAnswer,
)

InteractionEvent = Literal["answered", "superseded"]
DeliveryState = Literal["none", "dispatching", "delivered", "failed", "unknown"]
DeliveryEvent = Literal["dispatch", "written", "refused", "lost"]

TRANSITIONS: TransitionTable[InteractionStatus, InteractionEvent] = TransitionTable(
    "interaction",
    "pending",
    (
        Transition("pending", "answered", "answered"),
        Transition("pending", "superseded", "superseded"),
    ),
)

DELIVERY_TRANSITIONS: TransitionTable[DeliveryState, DeliveryEvent] = TransitionTable(
    "answer-delivery",
    "none",
    (
        Transition("none", "dispatch", "dispatching"),
        Transition("dispatching", "written", "delivered"),
        Transition("dispatching", "refused", "failed"),
        Transition("dispatching", "lost", "unknown"),
        Transition("failed", "dispatch", "dispatching"),
    ),
)
"""An answer is written once more only after a known failure, and only on an explicit repeat (RT-022, RT-023)."""


def answered(interaction: Interaction, answer: Answer, now_ms: int) -> Interaction:
    """The first valid answer: durable before the provider sees it."""
    return attrs.evolve(
        interaction,
        status="answered",
        answer=_stored(interaction, answer),
        answer_delivery="dispatching",
        resolved_at=interaction.resolved_at if interaction.resolved_at is not None else now_ms,
    )


def superseded(interaction: Interaction, now_ms: int) -> Interaction:
    """Nobody waits for the answer any more; an answer on its way becomes unknown."""
    if TRANSITIONS.after(interaction.status, "superseded") is not None:
        return attrs.evolve(interaction, status="superseded", resolved_at=now_ms)
    if interaction.answer_delivery == "dispatching":
        return attrs.evolve(interaction, answer_delivery="unknown")
    return interaction


def delivery_after(interaction: Interaction, event: DeliveryEvent) -> Interaction:
    """What became of the answer's way to the provider; the same row when the table does not allow it."""
    target = DELIVERY_TRANSITIONS.after(interaction.answer_delivery or "none", event)
    if target is None or target == "none":
        return interaction
    delivery: AnswerDelivery = target
    return attrs.evolve(interaction, answer_delivery=delivery)


def accepts(interaction: Interaction, answer: Answer, *, guidance: bool) -> bool:
    """Whether the agent offered this answer. Feedback needs a non-terminal refusal and a way to guide (RT-020)."""
    match answer:
        case OptionAnswer():
            option = next((o for o in interaction.options if o.option_id == answer.option_id), None)
            if option is None:
                return False
            return answer.feedback is None or (option.kind == "reject_once" and guidance)
        case QuestionAnswer():
            return isinstance(interaction.input, QuestionInput) and _answers_fit(interaction.input, answer)


def same_answer(interaction: Interaction, answer: Answer) -> bool:
    """Whether `answer` equals the one that won; answers to secret questions cannot be compared and never do."""
    return interaction.answer == answer


def _answers_fit(asked: QuestionInput, answer: QuestionAnswer) -> bool:
    given = answer.answers_by_question_id
    if set(given) != {question.id for question in asked.questions}:
        return False
    return all(_answer_fits(question, given[question.id]) for question in asked.questions)


def _answer_fits(question: Question, given: str | tuple[str, ...]) -> bool:
    chosen = (given,) if isinstance(given, str) else given
    if len(chosen) != 1 and not question.multi_select:
        return False
    if question.free_text or question.options is None:
        return True
    labels = {option.label for option in question.options}
    return all(label in labels for label in chosen)


def _stored(interaction: Interaction, answer: Answer) -> StoredAnswer:
    if isinstance(interaction.input, QuestionInput) and any(q.secret for q in interaction.input.questions):
        return RedactedAnswer()
    return answer
