"""Which requests of an agent become Interactions: complete, within bounds, and with answers that can be told apart.

Pure, and the same for every provider, for events and for reads: what does not pass is never a row. How a provider's
words are read, and which shapes its wire can answer, is its adapter's business (RT-014..RT-016, PR-019).
"""

from typing import Final

import attrs

from runtime.lifecycle.state import Policy
from runtime.providers.normalized import InteractionRequested
from store.canonical.interaction import Question, QuestionInput

REFUSED_CODE: Final = "interaction.unsupported"


def why_not(request: InteractionRequested, open_count: int, policy: Policy) -> str | None:
    """Why a request cannot be put to a person, in words for the person; None when it can.

    `open_count` is how many of the session wait already.
    """
    if open_count >= policy.open_interactions_max:
        return "The agent asked for more at once than can be answered; what was too much was refused."
    shown = (attrs.astuple(request.input), tuple(map(attrs.astuple, request.options)))
    if _text_bytes(shown) > policy.interaction_bytes_max:
        return "The agent asked for something that is too large to be shown whole; it was refused."
    if not _answerable(request):
        return "The agent asked for something whose answers cannot be told apart; it was refused."
    return None


def _answerable(request: InteractionRequested) -> bool:
    if isinstance(request.input, QuestionInput):
        questions = request.input.questions
        ids = [question.id for question in questions]
        return bool(ids) and len(set(ids)) == len(ids) and all(map(_has_distinct_answers, questions))
    option_ids = [option.option_id for option in request.options]
    return bool(option_ids) and len(set(option_ids)) == len(option_ids)


def _has_distinct_answers(question: Question) -> bool:
    labels = [option.label for option in question.options or ()]
    return len(set(labels)) == len(labels)


def _text_bytes(value: object) -> int:
    """The text in it, in UTF-8."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    return sum(map(_text_bytes, value)) if isinstance(value, (tuple, list)) else 0
