"""Approvals of Codex as Interactions: a command, a patch, more permissions.

Owns what a person is shown and what goes back for each option. A patch's request does not hold its changes: they are
those of the item it names. What cannot be shown completely is not shown at all (RT-014, RT-016).
"""

from collections.abc import Mapping

from runtime.providers.codex.asking import Asked, Unusable
from runtime.providers.codex.normalizer import Call
from runtime.providers.codex.tool_items import command_kind, shown_command, title_of_changes
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.identifiers import CallId
from store.canonical.interaction import ApprovalInput, InteractionOption, OptionKind
from store.canonical.message import ToolKind

Choices = list[tuple[InteractionOption, Json]]

_SESSION_LABEL = "Allow for this session"


def read_command_approval(params: Members, call: Call | None) -> Asked | Unusable:
    """A command that wants to run, write to a running one, or reach the network."""
    item_id, call_id = _identity(params, call)
    if item_id is None or call_id is None:
        return Unusable("it names no item")
    command = text_of(params.get("command"))
    network = object_of(params.get("networkApprovalContext"))
    host = text_of(network.get("host"))
    if command is None and host is None:
        return Unusable("it says neither a command nor a host")
    extra = _told(params.get("additionalPermissions"))
    described = describe_permissions(extra)
    if extra and described is None:
        return Unusable("it wants permissions that have no words here")
    actions = params.get("commandActions")
    kind: ToolKind = "fetch" if host is not None else command_kind(actions)
    shown = shown_command(command, actions) if command is not None else ""
    return _asked(
        ApprovalInput(
            call_id=call_id,
            title=f"Reach {host}" if host is not None else shown,
            kind=kind,
            command=shown or None,
            cwd=text_of(params.get("cwd")),
            url=host,
            prompt=_command_prompt(params, described),
            reason=text_of(params.get("reason")),
        ),
        _command_choices(params),
        item_id,
    )


def read_file_approval(params: Members, call: Call | None) -> Asked | Unusable:
    """A patch that wants to be applied; `call` is its item, whose changes must be known by now."""
    item_id, call_id = _identity(params, call)
    if item_id is None or call_id is None:
        return Unusable("it names no item")
    if call is None or not call.item.changes:
        return Unusable("the changes it is about are not known")
    root = text_of(params.get("grantRoot"))
    changes = call.item.changes
    return _asked(
        ApprovalInput(
            call_id=call_id,
            title=title_of_changes(changes),
            kind=call.item.kind,
            changes=changes,
            prompt=f"Allows writing below {root} for the rest of the session." if root is not None else None,
            reason=text_of(params.get("reason")),
        ),
        [
            (InteractionOption("accept", "Allow once", "allow_once"), {"decision": "accept"}),
            (
                InteractionOption("acceptForSession", _SESSION_LABEL, "allow_session"),
                {"decision": "acceptForSession"},
            ),
            *_refusing_choices(),
        ],
        item_id,
    )


def read_permissions_approval(params: Members, call: Call | None) -> Asked | Unusable:
    """More permissions for the rest of the turn or of the session; granted exactly as they were asked for."""
    item_id, call_id = _identity(params, call)
    wanted = _told(params.get("permissions"))
    described = describe_permissions(wanted)
    if item_id is None or call_id is None:
        return Unusable("it names no item")
    if not wanted or described is None:
        return Unusable("it does not say which permissions it is about")
    choices: Choices = [
        (
            InteractionOption("turn", "Allow for this turn", "allow_once"),
            {"permissions": wanted, "scope": "turn"},
        ),
        (
            InteractionOption("session", _SESSION_LABEL, "allow_session"),
            {"permissions": wanted, "scope": "session"},
        ),
        (InteractionOption("decline", "Refuse", "reject_once"), {"permissions": {}, "scope": "turn"}),
    ]
    return _asked(
        ApprovalInput(
            call_id=call_id,
            title="More permissions",
            kind="other",
            cwd=text_of(params.get("cwd")),
            prompt=described,
            reason=text_of(params.get("reason")),
        ),
        choices,
        item_id,
    )


def describe_permissions(wanted: Members) -> str | None:
    """Permissions in words; null when there is one among them that has no words here."""
    if set(wanted) - {"network", "fileSystem"}:
        return None
    files = object_of(wanted.get("fileSystem"))
    lines = ["Reach the network."] if object_of(wanted.get("network")).get("enabled") is True else []
    told: set[tuple[str, str]] = set()
    for access in ("read", "write"):
        told |= {(access, path) for path in map(text_of, list_of(files.get(access))) if path is not None}
    for entry in map(object_of, list_of(files.get("entries"))):
        place, right = _place(object_of(entry.get("path"))), text_of(entry.get("access"))
        if place is None or right is None:
            return None
        told.add((right, place))
    lines += [f"{right.capitalize()} {place}" for right, place in sorted(told)]
    return "\n".join(lines) or None


def _identity(params: Members, call: Call | None) -> tuple[str | None, CallId | None]:
    """The item's id, and what its call is known as outside: it may have no item of its own."""
    item_id = text_of(params.get("itemId"))
    if item_id is None:
        return None, None
    return item_id, call.call_id if call is not None else CallId(item_id)


def _asked(shown: ApprovalInput, choices: Choices, item_id: str) -> Asked:
    replies: Mapping[str, Json] = {option.option_id: reply for option, reply in choices}
    return Asked(
        "approval",
        shown,
        tuple(option for option, _ in choices),
        replies,
        call_id=shown.call_id,
        item_id=item_id,
    )


def _told(value: Json) -> dict[str, Json]:
    """The members that say something."""
    return {name: member for name, member in object_of(value).items() if member is not None}


def _command_prompt(params: Members, extra: str | None) -> str | None:
    lines = [f"With more permissions:\n{extra}"] if extra is not None else []
    if params.get("kind") == "writeStdin":
        lines.append("Written to a command that runs already.")
    return "\n".join(lines) or None


def _command_choices(params: Members) -> Choices:
    """Codex's decisions in its order. It lists those it suggests; to refuse is always possible."""
    offered = list_of(params.get("availableDecisions")) or ["accept", "acceptForSession"]
    choices: Choices = []
    for decision in offered:
        option = _allowing_option(decision, len(choices))
        if option is not None and option.option_id not in {known.option_id for known, _ in choices}:
            choices.append((option, {"decision": decision}))
    return choices + _refusing_choices()


def _allowing_option(decision: Json, number: int) -> InteractionOption | None:
    if decision == "accept":
        return InteractionOption("accept", "Allow once", "allow_once")
    if decision == "acceptForSession":
        return InteractionOption("acceptForSession", _SESSION_LABEL, "allow_session")
    members = object_of(decision)
    rule = object_of(members.get("acceptWithExecpolicyAmendment"))
    words = [word for word in list_of(rule.get("execpolicy_amendment")) if isinstance(word, str)]
    if words:
        label = f"Always allow commands that begin with {' '.join(words)!r}"
        return InteractionOption("acceptWithExecpolicyAmendment", label, "allow_always")
    network = object_of(members.get("applyNetworkPolicyAmendment"))
    amendment = object_of(network.get("network_policy_amendment"))
    host, action = text_of(amendment.get("host")), text_of(amendment.get("action"))
    if host is not None and action in ("allow", "deny"):
        kind: OptionKind = "allow_always" if action == "allow" else "reject_always"
        label = f"{'Always allow' if action == 'allow' else 'Never allow'} {host}"
        return InteractionOption(f"applyNetworkPolicyAmendment-{number}", label, kind)
    return None


def _refusing_choices() -> Choices:
    return [
        (InteractionOption("decline", "Refuse", "reject_once"), {"decision": "decline"}),
        (InteractionOption("cancel", "Refuse and stop", "stop"), {"decision": "cancel"}),
    ]


def _place(path: Members) -> str | None:
    match path.get("type"):
        case "path":
            return text_of(path.get("path"))
        case "glob_pattern":
            return text_of(path.get("pattern"))
        case _:
            return None
