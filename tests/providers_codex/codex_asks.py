"""Requests of a Codex on a table, and ways to play them: asked, answered, or not shown to anybody."""

from runtime.providers.normalized import (
    InteractionRequested,
    NoticeReported,
    ProviderEvent,
    TurnEnded,
)
from runtime.providers.port import AnswerInteraction
from store.canonical.interaction import (
    Answer,
    OptionAnswer,
)
from tests.providers_codex.codex_playbook import (
    A,
    CodexPlaybook,
    request,
    turn_completed,
)

COMMAND = "item/commandExecution/requestApproval"
FILES = "item/fileChange/requestApproval"
PERMISSIONS = "item/permissions/requestApproval"
INPUT = "item/tool/requestUserInput"
ELICITATION = "mcpServer/elicitation/request"
CHANGES = [{"path": "/a", "kind": {"type": "add"}, "diff": "one\n"}]
AMENDMENT = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "z"]}}
QUESTIONS = [
    {
        "id": "pick",
        "header": "Pick",
        "question": "Which one?",
        "isOther": False,
        "isSecret": False,
        "options": [{"label": "A", "description": "first"}, {"label": "B", "description": ""}],
    },
    {"id": "name", "question": "Whose?", "isOther": True, "isSecret": True, "options": None},
]
UNSUPPORTED = "interaction.unsupported"


def command_ask(number: object = 0, **members: object) -> bytes:
    told = {"command": "/bin/bash -lc 'touch z'", "cwd": "/w", "commandActions": [{"command": "touch z"}]}
    return request(number, COMMAND, itemId="c1", **{**told, **members})


def elicitation(number: object = 0, **members: object) -> bytes:
    told = {"serverName": "toy", "mode": "form", "message": "Sure?", "requestedSchema": {"properties": {}}}
    return request(number, ELICITATION, **{**told, **members})


def asked(*frames: bytes) -> tuple[CodexPlaybook, InteractionRequested]:
    """A turn in which Codex asks something that is put to a person."""
    book = CodexPlaybook().running()
    book.receive(*frames)
    return book, request_of(book.events())


def request_of(events: list[ProviderEvent]) -> InteractionRequested:
    return [event for event in events if isinstance(event, InteractionRequested)][-1]


def answers(book: CodexPlaybook, event: InteractionRequested, answer: Answer | str) -> CodexPlaybook:
    given = OptionAnswer(answer) if isinstance(answer, str) else answer
    book.skip().command(AnswerInteraction(A, event.turn_id, event.request_id, given))
    return book


def options(event: InteractionRequested) -> dict[str, str]:
    return {option.option_id: option.kind for option in event.options}


def unusable(frames: list[bytes]) -> CodexPlaybook:
    """A turn in which Codex asks something nobody is shown; the turn goes on."""
    book = CodexPlaybook().running()
    book.receive(*frames)
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]
    (told,) = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert (told.code, told.severity) == (UNSUPPORTED, "warning")
    book.receive(turn_completed())
    assert isinstance(book.events()[-1], TurnEnded)
    return book
