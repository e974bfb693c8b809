"""Questions of Codex as Interactions: those of its own tool, and messages of MCP servers that want a yes or no.

Owns which of them can be answered exactly. A form with fields, a page to open and a proof of identity cannot: they
are declined before anybody sees them (PR-015, RT-016).
"""

from runtime.providers.codex.asking import Asked, Unusable
from runtime.providers.codex.normalizer import Call
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.identifiers import CallId
from store.canonical.interaction import (
    ApprovalInput,
    InteractionOption,
    OptionKind,
    Question,
    QuestionInput,
    QuestionOption,
)

_PERSISTENCE: dict[str, tuple[str, OptionKind]] = {
    "session": ("Allow for this session", "allow_session"),
    "always": ("Always allow", "allow_always"),
}


def read_user_input(params: Members) -> Asked | Unusable:
    """The questions of the agent's own tool, asked together."""
    questions: list[Question] = []
    for value in list_of(params.get("questions")):
        question = _read_question(object_of(value))
        if question is None:
            return Unusable("one of its questions has no id or no text")
        questions.append(question)
    ids = frozenset(question.id for question in questions)
    if not questions or len(ids) != len(questions):
        return Unusable("it asks nothing, or two questions have the same id")
    return Asked("question", QuestionInput(tuple(questions)), questions=ids)


def read_elicitation(params: Members, call: Call | None) -> Asked | Unusable:
    """A message of an MCP server. `call` is the MCP call that is running, where there is exactly one."""
    message = text_of(params.get("message"))
    schema = object_of(params.get("requestedSchema"))
    if params.get("mode") != "form" or message is None:
        return Unusable(f"elicitation in mode {str(params.get('mode'))[:40]}")
    if schema.get("properties") not in (None, {}) or list_of(schema.get("required")):
        return Unusable("elicitation with fields")
    meta = object_of(params.get("_meta"))
    choices: list[tuple[InteractionOption, Json]] = [
        (InteractionOption("accept", "Allow once", "allow_once"), _reply("accept", {}))
    ]
    for word, (label, kind) in _PERSISTENCE.items():
        if meta.get("persist") == word or word in list_of(meta.get("persist")):
            option = InteractionOption(f"accept-{word}", label, kind)
            choices.append((option, _reply("accept", {}, {"persist": word})))
    choices.append((InteractionOption("decline", "Refuse", "reject_once"), _reply("decline")))
    choices.append((InteractionOption("cancel", "Dismiss", "other"), _reply("cancel")))
    server = text_of(params.get("serverName")) or "MCP server"
    shown = ApprovalInput(
        call_id=call.call_id if call is not None else CallId(f"elicitation-{server}"),
        title=message,
        kind="other",
        prompt=text_of(meta.get("tool_description")),
        reason=f"Asked by the MCP server {server}.",
    )
    return Asked(
        "approval",
        shown,
        tuple(option for option, _ in choices),
        {option.option_id: reply for option, reply in choices},
        call_id=shown.call_id,
        item_id=call.item.item_id if call is not None else None,
    )


def _reply(action: str, content: Json = None, meta: Json = None) -> Json:
    return {"action": action, "content": content, "_meta": meta}


def _read_question(members: Members) -> Question | None:
    question_id, text = text_of(members.get("id")), text_of(members.get("question"))
    if question_id is None or text is None:
        return None
    offered = members.get("options")
    options = tuple(
        QuestionOption(label, text_of(object_of(option).get("description")))
        for option in list_of(offered)
        if (label := text_of(object_of(option).get("label"))) is not None
    )
    return Question(
        id=question_id,
        question=text,
        multi_select=False,
        free_text=members.get("isOther") is True or not options,
        secret=members.get("isSecret") is True,
        header=text_of(members.get("header")),
        options=options or None,
    )
