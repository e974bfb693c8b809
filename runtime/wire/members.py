"""What types alone do not say about the members of an object: their names, which may be left out, which exclude
each other. The one place for it: converter and schema emitters both ask here.

A member with `?` in the contract is *optional*: the server leaves it out instead of sending null. Every other
member of a row, reply or event is always there, null where there is nothing to say.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import attrs

from runtime.wire import errors, events, replies, requests, rows

_OPTIONAL: Mapping[type, frozenset[str]] = {
    rows.TurnError: frozenset({"retry_after_ms", "http_status"}),
    rows.PlanEntry: frozenset({"priority"}),
    rows.ToolOutput: frozenset({"exit_code", "changes"}),
    rows.ToolCall: frozenset({"child_agent_session_id"}),
    rows.ApprovalInput: frozenset({"command", "cwd", "changes", "url", "prompt", "reason"}),
    rows.Question: frozenset({"header", "options"}),
    rows.QuestionOption: frozenset({"description"}),
    rows.PlanInput: frozenset({"markdown", "entries"}),
    rows.OptionAnswer: frozenset({"feedback"}),
    rows.HealthProblem: frozenset({"workspace_id", "agent_session_id"}),
    replies.SessionCreateReply: frozenset({"turn"}),
    events.SideError: frozenset({"turn_id"}),
    errors.ErrorData: frozenset({"retry_after_ms"}),
}


@attrs.frozen
class Choice:
    """Of these members one is given: exactly one, or at most one."""

    kind: Literal["exactly_one", "at_most_one"]
    members: tuple[str, ...]


_CHOICES: Mapping[type, Choice] = {
    rows.PlanInput: Choice("exactly_one", ("markdown", "entries")),
    requests.SessionMessagesParams: Choice(
        "exactly_one", ("after_version", "before_sequence", "message_ids")
    ),
    requests.SessionCreateParams: Choice("at_most_one", ("initial_content", "initial_goal_control")),
}


def wire_name(name: str) -> str:
    """`agent_session_id` → `agentSessionId`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def choice_of(shape: type) -> Choice | None:
    """Which members of this class exclude each other."""
    return _CHOICES.get(shape)


@cache
def fields_of(shape: type) -> tuple["attrs.Attribute[Any]", ...]:
    """The attributes of a class, with annotations that are strings turned into types."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(attrs.resolve_types(shape))
    return fields


@cache
def is_params(shape: type) -> bool:
    """Whether this class is only ever sent by clients: it is closed and may leave out whatever has a default."""
    of_a_request = shape.__module__.startswith(f"{requests.__name__}.")
    return of_a_request or shape.__name__.endswith("Params")


@cache
def optional_members(shape: type) -> frozenset[str]:
    """The attributes that may be missing on the wire.

    A tag such as `type` has a default for our own convenience and is never optional.
    """
    if is_params(shape):
        return frozenset(field.name for field in fields_of(shape) if field.default is not attrs.NOTHING)
    return _OPTIONAL.get(shape, frozenset())
