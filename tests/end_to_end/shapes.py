"""The shapes of the contract, written by hand from its text and not from the models: what a client may rely on.

A specification is a type, a set of words, a list of one specification, a tuple of alternatives, or a dict: exactly
these members, of which those with a question mark may be missing or null. Every frame a test's client receives is
held to them.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Specification: TypeAlias = Any
Json: TypeAlias = dict[str, Any]

CONTRACT = Path(__file__).parents[2] / "contract"
IDENTITY = {"workspaceId": str, "agentSessionId": str}
TIME = int
_CODES = """
request.invalid request.unknown_method request.too_large auth.forbidden protocol.uninitialized
protocol.unsupported session.not_found session.exists session.busy session.deleted session.not_resumable
session.quarantined session.cwd_missing isolation.refused turn.not_found turn.mismatch turn.settled interaction.not_found
interaction.not_pending interaction.unsupported_answer submit.conflict submit.delivery_unknown target.not_found
target.disabled provider.unavailable provider.auth_required provider.rejected provider.timeout provider.lost
provider.protocol provider.rate_limited provider.quota provider.context_full provider.model_unavailable
provider.refused provider.stopped capability.unsupported settings.launch_only settings.invalid goal.conflict
fork.not_eligible fork.unknown history.revision_conflict history.fenced side.not_found side.expired side.exists
attachment.unsupported attachment.not_found operation.not_found limit.exceeded overloaded store.full
store.unavailable recording.conflict recording.invalid shutdown.in_progress internal
"""
CODES = frozenset(_CODES.split())
DELIVERY = {"not_dispatched", "dispatching", "accepted", "rejected", "unknown"}

ERROR = {
    "code": int,
    "message": str,
    "data": {
        "code": set(CODES),
        "retryable": bool,
        "delivery": DELIVERY,
        "retryAfterMs?": int,
        "details": dict,
    },
}
USAGE = {
    **dict.fromkeys(
        (
            "inputTokens",
            "cachedInputTokens",
            "outputTokens",
            "reasoningTokens",
            "totalTokens",
            "contextTokens",
            "contextWindow",
        ),
        (int, None),
    ),
    "costUsd": (float, int, None),
}
SESSION = {
    **IDENTITY,
    "agentTargetId": str,
    "provider": {"codex", "claude", "acp"},
    "providerSessionId": (str, None),
    "title": (str, None),
    "titleSource": {"none", "provider", "user"},
    "cwd": str,
    "settings": dict,
    "settingsSource": dict,
    "isolation": ({"type": {"worktree"}, "path": str, "branch": str, "baseCommit": str}, None),
    "railSectionKey": (str, None),
    "pinned": bool,
    "goal": (dict, None),
    "activeTurnId": (str, None),
    "capabilities": (dict, None),
    "lifecycleCapabilities": dict.fromkeys(
        ("forkThroughTurn", "editRetry", "side", "guidance", "interrupt"), bool
    ),
    "lineage": (dict, None),
    "parent": (
        {
            "rootAgentSessionId": str,
            "rootTurnId": str,
            "parentAgentSessionId": str,
            "parentTurnId": str,
            "parentToolCallId": (str, None),
        },
        None,
    ),
    "resumability": {"unknown", "resumable", "not_resumable"},
    "runtime": {
        "state": {"absent", "activating", "live", "hibernated", "closing", "quarantined"},
        "lastActivityAt": (TIME, None),
    },
    "usage": (USAGE, None),
    "historyRevision": int,
    "messageVersion": int,
    "createdAt": TIME,
    "updatedAt": TIME,
    "deletedAt": (TIME, None),
}
TURN = {
    **IDENTITY,
    "turnId": str,
    "sequence": int,
    "phase": {"submitted", "running", "waiting", "settling", "settled"},
    "outcome": ({"completed", "failed", "canceled", "interrupted"}, None),
    "delivery": DELIVERY,
    "origin": {"user_prompt", "provider", "goal", "edit_retry"},
    "clientSubmitId": (str, None),
    "providerTurnId": (str, None),
    "cancelRequestedAt": (TIME, None),
    "cancelConfirmedAt": (TIME, None),
    "stopReason": (str, None),
    "forkable": bool,
    "usage": (USAGE, None),
    "timings": {"queuedMs": (int, None), "startMs": (int, None)},
    "error": (
        {
            "code": set(CODES),
            "message": str,
            "origin": {"provider", "runtime"},
            "retryable": bool,
            "retryAfterMs?": int,
            "httpStatus?": int,
        },
        None,
    ),
    "submittedAt": TIME,
    "startedAt": (TIME, None),
    "settledAt": (TIME, None),
    "retractedAt": (TIME, None),
}
BLOCK = (
    {"type": {"text"}, "text": str},
    {"type": {"image"}, "mediaType": str, "bytes": int, "attachmentId": str},
    {"type": {"resource_link"}, "uri": str, "name": str},
    {
        "type": {"plan"},
        "entries": [{"text": str, "status": {"pending", "in_progress", "completed"}, "priority?": str}],
    },
    {"type": {"notice"}, "code": str, "severity": {"info", "warning", "error"}, "text": str},
)
TOOL_CALL = {
    "callId": str,
    "name": str,
    "title": str,
    "kind": {"read", "edit", "delete", "move", "search", "execute", "fetch", "think", "delegate", "other"},
    "status": {"pending", "running", "waiting", "completed", "failed", "declined", "interrupted"},
    "input": (object, None),
    "output": {
        "text": str,
        "exitCode?": int,
        "changes?": [{"path": str, "kind": str, "diff": (str, None)}],
    },
    "childAgentSessionId?": str,
}
MESSAGE = {
    **IDENTITY,
    "messageId": str,
    "turnId": (str, None),
    "sequence": int,
    "version": int,
    "role": {"user", "assistant", "system"},
    "kind": {"text", "reasoning", "plan", "tool_call", "notice", "goal_control"},
    "status": {"streaming", "completed", "failed", "interrupted"},
    "content": [BLOCK],
    "toolCall": (TOOL_CALL, None),
    "deltaSeq": (int, None),
    "truncated": bool,
    "createdAt": TIME,
    "clientSubmitId?": str,
    "displayPrompt?": str,
}
OPERATION = {
    **IDENTITY,
    "operationId": str,
    "kind": {"fork", "edit_retry", "goal", "plan"},
    "state": {"prepared", "dispatching", "provider_accepted", "committed", "unknown", "failed"},
    "error": TURN["error"],
    "createdAt": int,
    "updatedAt": int,
}
INTERACTION = {
    **IDENTITY,
    "turnId": str,
    "requestId": str,
    "kind": {"approval", "question", "plan"},
    "status": {"pending", "answered", "superseded"},
    "input": dict,
    "options": [
        {
            "optionId": str,
            "label": str,
            "kind": {
                "allow_once",
                "allow_session",
                "allow_always",
                "reject_once",
                "reject_always",
                "stop",
                "other",
            },
        }
    ],
    "answer": (dict, None),
    "answerDelivery": ({"dispatching", "delivered", "failed", "unknown"}, None),
    "createdAt": TIME,
    "resolvedAt": (TIME, None),
}
ACTIVITY_OF_SESSION = {"turnId": (str, None), "phase": (TURN["phase"], None), "pendingInteractions": int}
TARGET = {
    "agentTargetId": str,
    "provider": {"codex", "claude", "acp"},
    "name": str,
    "enabled": bool,
    "program": {"found": bool, "version": (str, None)},
    "auth": {"authenticated", "configured", "required", "unknown"},
    "capabilities": (dict, None),
    "settings": [
        {
            "key": str,
            "values": (
                [
                    {
                        "value": (str, bool),
                        "label": str,
                        "effect": ({"read_only", "asks", "edits", "unrestricted"}, None),
                    }
                ],
                None,
            ),
            "default": (str, bool, None),
            "change": {"launch", "next_turn", "now"},
        }
    ],
}
WORKSPACE = {"workspaceId": str, "sessions": int, "activeTurns": int, "pendingInteractions": int}
HEALTH = {
    "status": {"ok", "degraded", "failing"},
    "problems": [{"code": str, "workspaceId?": str, "agentSessionId?": str, "since": TIME}],
    "store": {
        "state": str,
        "bytes": int,
        "walBytes": int,
        "freeBytes": int,
        "headCommitSeq": int,
        "oldestCommitSeq": int,
    },
    "live": dict.fromkeys(("connections", "sessions", "sides", "turns"), int),
    "queues": dict,
    "sweeper": {"pending": int},
    "quarantined": [IDENTITY],
    "commitSeq": int,
}

METRICS = {
    "families": [
        {
            "name": str,
            "help": str,
            "type": {"counter", "gauge", "histogram"},
            "samples": [{"name": str, "labels": dict, "value": float}],
        }
    ],
    "commitSeq": int,
}
_CONNECTION = {
    "provider": str,
    "program": str,
    "state": {"starting", "ready", "draining", "ended"},
    "scopes": int,
    "pid": (int, None),
    "exitStatus": (str, None),
    "agentName": (str, None),
    "agentVersion": (str, None),
    "unwrittenBytes": int,
    "stderrBytes": int,
    "stderrTail": str,
    "diagnosticCounts": dict,
    "diagnostics": [{"kind": str, "detail": str}],
}
INSPECTION = {
    "runtimeState": SESSION["runtime"]["state"],  # type: ignore[index]
    "actor": (
        {
            "restarts": int,
            "quarantined": bool,
            "link": {"absent", "acquiring", "opening", "open", "closing"},
            "generation": int,
            "turnId": (str, None),
            "turnPhase": (TURN["phase"], None),
            "pendingInteractions": int,
            "streamingMessages": int,
            "mailbox": {
                **dict.fromkeys(
                    ("messages", "control", "bytes", "bytesHighWater", "marks", "refusedCommands"), int
                ),
                "paused": bool,
            },
            "timers": [{"kind": str, "turnId": (str, None), "dueMs": int}],
        },
        None,
    ),
    "locks": [{"kind": str, "id": str, "holder": str, "heldMs": int, "waiting": [str]}],
    "connections": [_CONNECTION],
    "lastConnection": (_CONNECTION, None),
    "pool": {"connections": dict, "scopes": int, "waiting": int, "startsInFlight": int},
}


SIDE = {
    **IDENTITY,
    "sourceAgentSessionId": str,
    "sideAgentSessionId": str,
    "surfaceId": str,
    "state": {"opening", "open", "closing", "closed", "expired"},
    "activeTurnId": (str, None),
    "settings": dict,
    "openedAt": TIME,
}


def _page(item: Specification) -> Specification:
    return {"items": [item], "nextCursor": (str, None), "commitSeq": int}


_TURN_REPLY = {"turn": TURN, "commitSeq": int}
_SIDE_REPLY = {"side": SIDE, "commitSeq": int}
_SIDE_FACTS = (
    "nativeFork",
    "activeTurnSnapshot",
    "ephemeral",
    "hiddenHistory",
    "boundary",
    "tools",
    "multiTurn",
)
KEPT_BECAUSE = {"changes", "commits", "repository_missing", "git_failed"}
_SESSION_REPLY = {"session": SESSION, "commitSeq": int}
_SESSIONS_REPLY = {"sessions": [SESSION], "commitSeq": int}
FAILPOINT = {
    "name": str,
    "standsFor": str,
    "waits": bool,
    "armed": ({"action": str, "onPass": (int, None), "probability": (int, float), "delayMs": int}, None),
    "passes": int,
    "fired": int,
    "waiting": int,
}
WITH_FAULTS = {"fault/inject", "fault/list", "fault/clear"}
"""Served with `--enable-faults` alone."""
_READING = {
    "agentTargetId": str,
    "readAt": (TIME, None),
    "stale": bool,
    "refreshing": bool,
    "problem": ({"code": str, "retryable": bool}, None),
    "commitSeq": int,
}
REPLIES: dict[str, Specification] = {
    "initialize": {
        "protocolVersion": int,
        "storeId": str,
        "serverInfo": {"name": str, "version": str, "instanceId": str, "startedAt": TIME},
        "capabilities": {"methods": [str], "topics": [str], "features": [str], "deprecated": [str]},
        "scope": {"read", "control", "admin"},
        "limits": dict,
    },
    "session/create": {"session": SESSION, "turn?": TURN, "commitSeq": int},
    "session/get": {
        "session": SESSION,
        "activeTurn": (TURN, None),
        "turns": [TURN],
        "turnsCursor": (str, None),
        "interactions": [INTERACTION],
        "children": [SESSION],
        "incomplete": [{"interactions", "children"}],
        "projection": {"full", "summary"},
        "commitSeq": int,
    },
    "session/list": _page({**SESSION, "activity": ACTIVITY_OF_SESSION}),
    "session/messages": {
        "messages": [MESSAGE],
        "hasMore": bool,
        "oldestSequence": (int, None),
        "messageVersion": int,
        "commitSeq": int,
    },
    "session/send": _TURN_REPLY,
    "session/close": _SESSION_REPLY,
    "session/resume": _SESSION_REPLY,
    "session/rename": _SESSION_REPLY,
    "session/pin": _SESSION_REPLY,
    "session/updateSettings": _SESSION_REPLY,
    "session/delete": _SESSIONS_REPLY,
    "session/restore": _SESSIONS_REPLY,
    "session/purge": {
        **_SESSIONS_REPLY,
        "keptWorktrees": [{**IDENTITY, "path": str, "branch": str, "because": KEPT_BECAUSE}],
    },
    "session/listDeleted": {**_page(SESSION), "sessions": [SESSION]},
    "session/search": _page(
        {
            **SESSION,
            "match": {
                "kind": {"title", "message"},
                "snippet": str,
                "messageId": (str, None),
                "turnId": (str, None),
            },
        }
    ),
    "turn/get": _TURN_REPLY,
    "turn/list": _page(TURN),
    "turn/guide": _TURN_REPLY,
    "turn/cancel": _TURN_REPLY,
    "operation/get": {"operation": OPERATION, "commitSeq": int},
    "interaction/respond": {"interaction": INTERACTION, "commitSeq": int},
    "interaction/list": _page(INTERACTION),
    "side/capabilities": {
        "supported": bool,
        "facts": dict.fromkeys(_SIDE_FACTS, bool),
        "reason?": {"provider", "program", "conversation", "child"},
        "commitSeq": int,
    },
    "side/open": _SIDE_REPLY,
    "side/send": _TURN_REPLY,
    "side/cancel": _TURN_REPLY,
    "side/respond": {"interaction": INTERACTION, "commitSeq": int},
    "side/close": _SIDE_REPLY,
    "side/get": {
        "side": SIDE,
        "activeTurn": (TURN, None),
        "interactions": [INTERACTION],
        "sequence": int,
        "commitSeq": int,
    },
    "side/list": _page(SIDE),
    "surface/dispose": {"closed": [SIDE], "commitSeq": int},
    "surface/attach": {"sides": [SIDE], "commitSeq": int},
    "attachment/put": {"attachmentId": str, "mediaType": str, "bytes": int, "commitSeq": int},
    "attachment/get": {"attachmentId": str, "mediaType": str, "bytes": int, "data": str, "commitSeq": int},
    "events/subscribe": {"subscriptionId": int, "commitSeq": int, "gap": bool},
    "events/update": {"commitSeq": int},
    "events/unsubscribe": {"commitSeq": int},
    "health/read": HEALTH,
    "metrics/read": METRICS,
    "debug/session": {"session": IDENTITY, "inspection": INSPECTION, "commitSeq": int},
    "target/list": _page(TARGET),
    "provider/status": {
        **_READING,
        "program": TARGET["program"],
        "auth": TARGET["auth"],
        "account": ({"none", "not_needed", "key", "subscription"}, None),
    },
    "provider/models": {
        **_READING,
        "state": {"complete", "unavailable"},
        "models": [
            {
                "model": str,
                "label": str,
                "description": (str, None),
                "isDefault": bool,
                "hidden": bool,
                "reasoningEfforts": ([{"value": str, "description": (str, None)}], None),
                "defaultReasoningEffort": (str, None),
            }
        ],
    },
    "provider/skills": {
        **_READING,
        "state": {"complete", "unavailable"},
        "trigger": str,
        "skills": [
            {
                "name": str,
                "description": (str, None),
                "source": {"builtin", "user", "project", "other"},
                "enabled": bool,
            }
        ],
    },
    "provider/usage": {
        **_READING,
        "state": {"complete", "unavailable", "not_applicable"},
        "reason": ({"auth_required", "unsupported", "parse_failed"}, None),
        "limits": [
            {"name": str, "usedPercent": float, "windowMinutes": (int, None), "resetsAt": (TIME, None)}
        ],
    },
    "fault/inject": {"failpoint": FAILPOINT, "commitSeq": int},
    "fault/list": _page(FAILPOINT),
    "fault/clear": {"commitSeq": int},
    "workspace/list": _page(WORKSPACE),
}
CHANGES = {
    "session": SESSION,
    "turn": TURN,
    "message": MESSAGE,
    "interaction": INTERACTION,
    "operation": OPERATION,
    "session_removed": SESSION,
    "session_restored": SESSION,
}
CHANGE_ORDER = list(CHANGES)
_COMMON = {"subscriptionId": int, "topic": {"agent.activity.updated"}, "type": str}
_HOST = {**_COMMON, "topic": {"host.updated"}}
_DELTA = {
    **IDENTITY,
    "turnId": str,
    "messageId": str,
    "kind": MESSAGE["kind"],
    "field": {"text", "output"},
    "deltaSeq": int,
    "text": str,
}
_OF_SIDE = {
    "topic": {"agent.side.updated"},
    "workspaceId": str,
    "sourceAgentSessionId": str,
    "sideAgentSessionId": str,
}
_SIDE_PAYLOADS = (
    {"type": {"opened"}, "side": SIDE},
    {"type": {"turn"}, "turn": TURN},
    {"type": {"message"}, "message": MESSAGE},
    {"type": {"message_delta"}, **_DELTA},
    {"type": {"interaction"}, "interaction": INTERACTION},
    {"type": {"error"}, "code": set(CODES), "turnId?": str},
    {
        "type": {"closed"},
        "reason": {"closed", "surface_disposed", "owner_lost", "source_deleted", "shutdown"},
    },
    {"type": {"expired"}, "reason": {"provider_lost", "overflow"}},
)
EVENTS: dict[str, Specification] = {
    "side": {**_OF_SIDE, "sequence": int, "payload": _SIDE_PAYLOADS},
    "side_gap": _OF_SIDE,
    "commit": {
        "commitSeq": int,
        "changes": [tuple({"type": {kind}, "row": row} for kind, row in CHANGES.items())],
    },
    "health": {**_HOST},
    "target": {**_HOST},
    "models": {**_HOST},
    "status": {**_HOST},
    "shutdown": {**_HOST, "graceSeconds": (int, float)},
    "checkpoint": {"commitSeq": int},
    "resync": {"commitSeq": int},
    "session_reset": {"commitSeq": int, **IDENTITY, "messageVersion": int},
    "message_delta": _DELTA,
    "message_snapshot": {"message": MESSAGE},
    "stream_gap": {**IDENTITY, "messageId": str},
    "runtime_activity": {
        **IDENTITY,
        "runtimeState": SESSION["runtime"]["state"],  # type: ignore[index]
        "activity": {"running", "idle"},
        "lastActivityAt": (TIME, None),
        "occurredAt": TIME,
    },
}

_INTEGER_BOUND = 2**53
_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def check_reply(method: str, frame: Json) -> None:
    """A reply frame of this method."""
    assert frame["jsonrpc"] == "2.0", frame
    if "error" in frame:
        check(frame["error"], ERROR, f"{method} error")
        code = frame["error"]["data"]["code"]
        published = published_refusals().get(method)
        assert published is None or code in published, f"{method} is not published to answer {code}"
        return
    assert frame.keys() == {"jsonrpc", "id", "result"}, frame.keys()
    check(frame["result"], REPLIES[method], method)


def check_event(frame: Json) -> None:
    """An event frame: JSON-RPC says how it is wrapped, the contract what is in it."""
    specification = EVENTS[frame["type"]]
    check(frame, {**_COMMON, **specification}, frame["type"])
    assert next(iter(frame)) == "subscriptionId", "subscriptionId is the first member"
    if frame["type"] == "commit":
        order = [CHANGE_ORDER.index(change["type"]) for change in frame["changes"]]
        assert order == sorted(order), f"changes out of order: {order}"
        workspaces = {change["row"]["workspaceId"] for change in frame["changes"]}
        assert len(workspaces) == 1, f"a commit of several workspaces: {workspaces}"
    if frame["type"] == "message_delta":
        assert frame["text"], "a delta is never empty"


@cache
def published_refusals() -> dict[str, set[str]]:
    """The error codes that the generated OpenRPC document lists for each method served."""
    document = json.loads((CONTRACT / "greenroom.openrpc.json").read_text(encoding="utf-8"))
    return {
        method["name"]: {error["$ref"].rpartition("/")[2] for error in method["errors"]}
        for method in document["methods"]
    }


def is_server_made(identifier: str) -> bool:
    """Ids the server makes are UUIDv7."""
    return _UUID7.fullmatch(identifier) is not None


def check(value: Any, specification: Specification, path: str) -> None:
    """Raises AssertionError where `value` is not of that shape."""
    problem = problem_of(value, specification, path)
    assert problem is None, problem


def problem_of(value: Any, specification: Specification, path: str) -> str | None:
    """What is wrong with the shape, or None."""
    if isinstance(specification, tuple):
        problems = [problem_of(value, alternative, path) for alternative in specification]
        return None if None in problems else max(filter(None, problems), key=len)
    if isinstance(specification, dict):
        return _problem_of_members(value, specification, path)
    if isinstance(specification, list):
        if not isinstance(value, list):
            return f"{path}: {value!r} is no list"
        problems = [
            problem_of(item, specification[0], f"{path}[{index}]") for index, item in enumerate(value)
        ]
        return next(filter(None, problems), None)
    if isinstance(specification, set):
        return None if value in specification else f"{path}: {value!r} is none of {sorted(specification)}"
    if specification is None:
        return None if value is None else f"{path}: {value!r} is not null"
    if specification is object:
        return None
    if not isinstance(value, specification) or (isinstance(value, bool) and specification is not bool):
        return f"{path}: {value!r} is no {specification.__name__}"
    if specification is int and not -_INTEGER_BOUND < value < _INTEGER_BOUND:
        return f"{path}: {value} is too large"
    return None


def _problem_of_members(value: Any, specification: dict[str, Any], path: str) -> str | None:
    if not isinstance(value, dict):
        return f"{path}: {value!r} is no object"
    known = {name.removesuffix("?") for name in specification}
    if unknown := value.keys() - known:
        return f"{path}: members beyond the contract: {sorted(unknown)}"
    for name, member in specification.items():
        plain = name.removesuffix("?")
        if plain != name and value.get(plain) is None:
            continue
        if plain not in value:
            return f"{path}: {plain} is missing"
        problem = problem_of(value[plain], member, f"{path}.{plain}")
        if problem is not None:
            return problem
    return None
