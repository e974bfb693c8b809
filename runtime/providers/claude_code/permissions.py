"""Permission requests of Claude Code as Interactions, and the answers by which each option is given back.

Owns the options. What Claude Code suggests to change of its permissions goes far beyond the one call: each suggestion
is an option of its own, in words that say what it does, and nothing is ever sent back that nobody chose. Rules that would
be written into a settings file are also offered for this conversation alone.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from runtime.providers.claude_code.tools import changes_of, command_of, kind_of, title_of
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.identifiers import CallId
from store.canonical.interaction import (
    ApprovalInput,
    InteractionInput,
    InteractionKind,
    InteractionOption,
    OptionKind,
    PlanInput,
)

ALLOW: Final = "allow"
DENY: Final = "deny"
STOP: Final = "deny-and-stop"
REFUSED_TEXT: Final = "The user does not want this to be done."
_SESSION: Final = "session"
_FILES: Final = {
    "localSettings": "in this folder, for you",
    "projectSettings": "in this folder, for everybody",
    "userSettings": "everywhere, for you",
}
_MODES: Final = {
    "acceptEdits": "Allow, and edit files without asking from now on",
    "bypassPermissions": "Allow, and never ask again",
    "default": "Allow, and ask before edits and commands from now on",
}
_SUGGESTIONS_MAX: Final = 8


@attrs.frozen
class Asked:
    """A request as it is put to a person. `replies` are the answers by option; `questions` the texts by id."""

    kind: InteractionKind
    input: InteractionInput
    options: tuple[InteractionOption, ...] = ()
    replies: Mapping[str, Json] = attrs.field(factory=dict)
    questions: Mapping[str, str] = attrs.field(factory=dict)
    given: Json = None
    """What the tool is to be called with."""


@attrs.frozen
class Unusable:
    """A request that cannot be put to a person, and why."""

    reason: str


def denial(text: str = REFUSED_TEXT, *, stops: bool = False) -> Json:
    """The answer that refuses; the model reads the text. With `stops` its turn ends."""
    body: dict[str, Json] = {"behavior": "deny", "message": text}
    return {**body, "interrupt": True} if stops else body


def permission(given: Json, updates: list[Json] | None = None) -> Json:
    """The answer that allows."""
    body: dict[str, Json] = {"behavior": "allow", "updatedInput": given}
    return {**body, "updatedPermissions": updates} if updates is not None else body


def read_permission(request: Members, call_id: CallId | None) -> Asked | Unusable:
    """A request for permission. `call_id` is the call of ours that it belongs to."""
    name, given = text_of(request.get("tool_name")), request.get("input")
    own_id = text_of(request.get("tool_use_id"))
    if name is None or not isinstance(given, dict) or own_id is None:
        return Unusable("it does not say which tool call it is about")
    members = object_of(given)
    plan = text_of(members.get("plan")) if name == "ExitPlanMode" else None
    choices = dict(_choices(request, given, members, is_plan=plan is not None))
    options = tuple(choices)
    replies = {option.option_id: reply for option, reply in choices.items()}
    if plan is not None:
        return Asked("plan", PlanInput(markdown=plan), options, replies, given=given)
    shown = ApprovalInput(
        call_id=call_id or CallId(own_id),
        title=title_of(name, members),
        kind=kind_of(name),
        command=command_of(members),
        changes=changes_of(name, members),
        url=text_of(members.get("url")),
        prompt=text_of(members.get("prompt")),
        reason=_reason(request, members),
    )
    return Asked("approval", shown, options, replies, given=given)


def _choices(
    request: Members, given: Json, members: Members, *, is_plan: bool
) -> Iterator[tuple[InteractionOption, Json]]:
    yield _option(ALLOW, "Accept the plan" if is_plan else "Allow once", "allow_once"), permission(given)
    suggestions = list_of(request.get("permission_suggestions"))[:_SUGGESTIONS_MAX]
    for number, suggestion in enumerate(suggestions):
        update = object_of(suggestion)
        label = _label(update)
        if label is None:
            continue
        where = text_of(update.get("destination"))
        option_id = f"suggestion-{number}"
        if where == _SESSION:
            yield _option(option_id, label, "allow_session"), permission(given, [suggestion])
        elif where in _FILES:
            here: Json = {**update, "destination": _SESSION}
            yield (
                _option(f"{option_id}-session", f"{label}, until this process ends", "allow_session"),
                permission(given, [here]),
            )
            yield (
                _option(option_id, f"{label}, {_FILES[where]}", "allow_always"),
                permission(given, [suggestion]),
            )
    yield _option(DENY, "Go on planning" if is_plan else "Refuse", "reject_once"), denial()
    yield _option(STOP, "Refuse and stop", "stop"), denial(stops=True)


def _label(update: Members) -> str | None:
    """What a suggestion does; None for one nobody here knows."""
    match update.get("type"):
        case "addRules" if update.get("behavior") == "allow":
            rules = [_rule(object_of(rule)) for rule in list_of(update.get("rules"))]
            return f"Always allow {', '.join(rules)}" if rules else None
        case "addDirectories":
            folders = [folder for folder in list_of(update.get("directories")) if isinstance(folder, str)]
            return f"Allow, and work in {', '.join(folders)} too" if folders else None
        case "setMode":
            return _MODES.get(text_of(update.get("mode")) or "")
        case _:
            return None


def _rule(rule: Members) -> str:
    tool, content = text_of(rule.get("toolName")) or "?", text_of(rule.get("ruleContent"))
    return f"{tool}({content})" if content is not None else tool


def _reason(request: Members, members: Members) -> str | None:
    words = [text_of(request.get("decision_reason")), text_of(members.get("description"))]
    blocked = text_of(request.get("blocked_path"))
    if blocked is not None:
        words.append(f"It touches {blocked}.")
    if text_of(request.get("agent_id")) is not None:
        words.append("Asked by a sub-agent.")
    return " ".join(word for word in words if word) or None


def _option(option_id: str, label: str, kind: OptionKind) -> InteractionOption:
    return InteractionOption(option_id, label, kind)
