"""The Interaction row: something the agent asked and a person may answer (RT-009..RT-017).

A row exists only once its complete, immutable input is known; its identity is the whole tuple of workspace,
session, turn and request.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

from store.canonical.identifiers import CallId, RequestId, SessionId, TurnId, WorkspaceId
from store.canonical.message import FileChange, PlanEntry, ToolKind

InteractionKind = Literal["approval", "question", "plan"]
InteractionStatus = Literal["pending", "answered", "superseded"]
AnswerDelivery = Literal["dispatching", "delivered", "failed", "unknown"]
OptionKind = Literal[
    "allow_once", "allow_session", "allow_always", "reject_once", "reject_always", "stop", "other"
]


@attrs.frozen
class ApprovalInput:
    """What is to be allowed or refused."""

    call_id: CallId
    title: str
    kind: ToolKind
    command: str | None = None
    cwd: str | None = None
    changes: tuple[FileChange, ...] | None = None
    url: str | None = None
    prompt: str | None = None
    reason: str | None = None


@attrs.frozen
class QuestionOption:
    """One offered answer of a question."""

    label: str
    description: str | None = None


@attrs.frozen
class Question:
    """One question of a question Interaction."""

    id: str
    question: str
    multi_select: bool
    free_text: bool
    secret: bool
    header: str | None = None
    options: tuple[QuestionOption, ...] | None = None


@attrs.frozen
class QuestionInput:
    """The questions asked together."""

    questions: tuple[Question, ...]


@attrs.frozen
class PlanInput:
    """A plan to be accepted: `markdown` or `entries`, never both."""

    markdown: str | None = None
    entries: tuple[PlanEntry, ...] | None = None


InteractionInput: TypeAlias = ApprovalInput | QuestionInput | PlanInput


@attrs.frozen
class InteractionOption:
    """One answer the agent offered; it is chosen by `option_id`."""

    option_id: str
    label: str
    kind: OptionKind


@attrs.frozen
class OptionAnswer:
    """An offered option; `feedback` only together with reject_once, it goes on as guidance."""

    option_id: str
    feedback: str | None = None


@attrs.frozen
class QuestionAnswer:
    """Answers by question id."""

    answers_by_question_id: Mapping[str, str | tuple[str, ...]]


@attrs.frozen
class RedactedAnswer:
    """Stands for answers to secret questions, which are neither stored nor sent."""

    redacted: Literal[True] = True


Answer: TypeAlias = OptionAnswer | QuestionAnswer
StoredAnswer: TypeAlias = OptionAnswer | QuestionAnswer | RedactedAnswer


@attrs.frozen
class Interaction:
    """One request of the agent as the contract shows it."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    turn_id: TurnId
    request_id: RequestId
    kind: InteractionKind
    input: InteractionInput
    created_at: int
    options: tuple[InteractionOption, ...] = ()
    status: InteractionStatus = "pending"
    answer: StoredAnswer | None = None
    answer_delivery: AnswerDelivery | None = None
    resolved_at: int | None = None
