"""Questions that Claude Code asks a person, as Interactions: its own tool, put as a request for permission.

Owns the mapping. The wire knows a question by its text alone, so two equal ones cannot be told apart and are not asked.
"""

from typing import Final

from runtime.providers.claude_code.permissions import Asked, Unusable, permission
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.interaction import Question, QuestionAnswer, QuestionInput, QuestionOption

QUESTION_TOOL: Final = "AskUserQuestion"


def read_questions(request: Members) -> Asked | Unusable:
    """The questions, asked together."""
    given = request.get("input")
    questions: list[Question] = []
    for number, value in enumerate(list_of(object_of(given).get("questions"))):
        question = _read(f"question-{number + 1}", object_of(value))
        if question is None:
            return Unusable("one of its questions has no text")
        questions.append(question)
    texts = {question.id: question.question for question in questions}
    if not questions or len(set(texts.values())) != len(questions):
        return Unusable("it asks nothing, or two questions are equal")
    return Asked("question", QuestionInput(tuple(questions)), questions=texts, given=given)


def answers_reply(asked: Asked, answer: QuestionAnswer) -> Json:
    """The answer by the texts of the questions; several chosen ones are joined, as Claude Code does it itself."""
    answers: dict[str, Json] = {
        asked.questions[key]: given if isinstance(given, str) else ", ".join(given)
        for key, given in answer.answers_by_question_id.items()
    }
    return permission({**object_of(asked.given), "answers": answers})


def _read(question_id: str, members: Members) -> Question | None:
    text = text_of(members.get("question"))
    if text is None:
        return None
    options = tuple(
        QuestionOption(label, text_of(object_of(option).get("description")))
        for option in list_of(members.get("options"))
        if (label := text_of(object_of(option).get("label"))) is not None
    )
    return Question(
        id=question_id,
        question=text,
        multi_select=members.get("multiSelect") is True,
        free_text=True,
        secret=False,
        header=text_of(members.get("header")),
        options=options or None,
    )
