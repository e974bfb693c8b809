"""One complete example of each row, written by hand from the contract: names, nulls and optional members."""

import orjson
import pytest

from runtime.wire import rows
from runtime.wire.converter import structure, unstructure
from runtime.wire.members import wire_name
from store.canonical.message import Message
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.port import ListedSession

USAGE = {
    "inputTokens": 10,
    "cachedInputTokens": None,
    "outputTokens": 3,
    "reasoningTokens": None,
    "totalTokens": 13,
    "contextTokens": None,
    "contextWindow": 200_000,
    "costUsd": 0.25,
}

SESSION = {
    "workspaceId": "w",
    "agentSessionId": "s",
    "agentTargetId": "codex",
    "provider": "codex",
    "providerSessionId": None,
    "title": "A title",
    "titleSource": "user",
    "cwd": "/srv/project",
    "settings": {"model": "m", "dedicatedProcess": True},
    "settingsSource": {"model": "explicit", "dedicatedProcess": "default"},
    "isolation": None,
    "railSectionKey": None,
    "pinned": False,
    "goal": None,
    "activeTurnId": "t2",
    "capabilities": None,
    "lifecycleCapabilities": {
        "forkThroughTurn": False,
        "editRetry": False,
        "side": True,
        "guidance": False,
        "interrupt": True,
    },
    "lineage": None,
    "parent": {
        "rootAgentSessionId": "root",
        "rootTurnId": "t0",
        "parentAgentSessionId": "root",
        "parentTurnId": "t0",
        "parentToolCallId": None,
    },
    "resumability": "resumable",
    "runtime": {"state": "live", "lastActivityAt": 1_700_000_000_000},
    "usage": USAGE,
    "historyRevision": 0,
    "messageVersion": 12,
    "createdAt": 1_700_000_000_000,
    "updatedAt": 1_700_000_000_001,
    "deletedAt": None,
}

TURN = {
    "workspaceId": "w",
    "agentSessionId": "s",
    "turnId": "t2",
    "sequence": 2,
    "phase": "settled",
    "outcome": "failed",
    "delivery": "accepted",
    "origin": "user_prompt",
    "clientSubmitId": "c 1",
    "providerTurnId": None,
    "cancelRequestedAt": None,
    "cancelConfirmedAt": None,
    "stopReason": "max_tokens",
    "forkable": False,
    "usage": None,
    "timings": {"queuedMs": 1, "startMs": None},
    "error": {
        "code": "provider.context_full",
        "message": "Too long.",
        "origin": "provider",
        "retryable": False,
    },
    "submittedAt": 1,
    "startedAt": 2,
    "settledAt": 3,
    "retractedAt": None,
}

USER_MESSAGE = {
    "workspaceId": "w",
    "agentSessionId": "s",
    "messageId": "m1",
    "turnId": "t2",
    "sequence": 3,
    "version": 7,
    "role": "user",
    "kind": "text",
    "status": "completed",
    "content": [
        {"type": "text", "text": " hi "},
        {"type": "image", "mediaType": "image/png", "bytes": 70, "attachmentId": "a1"},
        {"type": "resource_link", "uri": "file:///x", "name": "x"},
    ],
    "toolCall": None,
    "deltaSeq": None,
    "truncated": False,
    "createdAt": 1,
    "clientSubmitId": "c 1",
    "displayPrompt": None,
}

TOOL_MESSAGE = USER_MESSAGE | {
    "messageId": "m2",
    "role": "assistant",
    "kind": "tool_call",
    "status": "streaming",
    "content": [],
    "deltaSeq": 4,
    "clientSubmitId": None,
    "toolCall": {
        "callId": "call/1",
        "name": "shell",
        "title": "ls",
        "kind": "execute",
        "status": "running",
        "input": {"argv": ["ls", 1, None, {"deep": [True]}]},
        "output": {
            "text": "out",
            "exitCode": 0,
            "changes": [{"path": "a.txt", "kind": "update", "diff": None}],
        },
        "childAgentSessionId": "child",
    },
}

PLAN_MESSAGE = USER_MESSAGE | {
    "messageId": "m3",
    "turnId": None,
    "role": "system",
    "kind": "plan",
    "clientSubmitId": None,
    "content": [
        {
            "type": "plan",
            "entries": [
                {"text": "one", "status": "in_progress"},
                {"text": "two", "status": "pending", "priority": "high"},
            ],
        },
        {"type": "notice", "code": "turn.empty", "severity": "info", "text": "Nothing came."},
    ],
}

INTERACTION = {
    "workspaceId": "w",
    "agentSessionId": "s",
    "turnId": "t2",
    "requestId": "r 1",
    "kind": "approval",
    "status": "answered",
    "input": {
        "callId": "call/1",
        "title": "Run ls",
        "kind": "execute",
        "command": "ls",
        "cwd": "/srv",
        "changes": [{"path": "a", "kind": "add", "diff": "+x"}],
        "url": "https://example.test",
        "prompt": "p",
        "reason": "because",
    },
    "options": [{"optionId": "o1", "label": "Yes", "kind": "allow_once"}],
    "answer": {"optionId": "o1", "feedback": "go on"},
    "answerDelivery": "delivered",
    "createdAt": 1,
    "resolvedAt": 2,
}

QUESTION = INTERACTION | {
    "kind": "question",
    "status": "answered",
    "input": {
        "questions": [
            {
                "id": "q1",
                "header": "H",
                "question": "Which?",
                "options": [{"label": "a", "description": "A"}, {"label": "b"}],
                "multiSelect": True,
                "freeText": False,
                "secret": False,
            },
            {"id": "q2", "question": "Key?", "multiSelect": False, "freeText": True, "secret": True},
        ]
    },
    "options": [],
    "answer": {"answersByQuestionId": {"q1": ["a", "b"], "q2": "x"}},
}

SMALL_APPROVAL = INTERACTION | {
    "status": "pending",
    "input": {"callId": "c", "title": "t", "kind": "other"},
    "answer": None,
    "answerDelivery": None,
    "resolvedAt": None,
}

GOAL = {
    "workspaceId": "w",
    "agentSessionId": "s",
    "objective": "Ship it",
    "status": "active",
    "revision": 1,
    "sync": "synced",
    "operationId": None,
}

OPERATION = {
    "workspaceId": "w",
    "agentSessionId": "s",
    "operationId": "op",
    "kind": "edit_retry",
    "state": "prepared",
    "error": None,
    "createdAt": 1,
    "updatedAt": 2,
}

EXAMPLES = [
    (rows.Session, SESSION),
    (rows.Session, SESSION | {"parent": None, "lineage": {"sourceAgentSessionId": "a", "sourceTurnId": "b"}}),
    (rows.Turn, TURN),
    (rows.Turn, TURN | {"error": TURN["error"] | {"retryAfterMs": 5, "httpStatus": 429}}),
    (rows.Turn, TURN | {"error": None, "usage": USAGE}),
    (rows.Message, USER_MESSAGE),
    (rows.Message, TOOL_MESSAGE),
    (rows.Message, PLAN_MESSAGE),
    (rows.Interaction, INTERACTION),
    (rows.Interaction, SMALL_APPROVAL),
    (rows.Interaction, QUESTION),
    (rows.Interaction, QUESTION | {"answer": {"redacted": True}}),
    (rows.Interaction, INTERACTION | {"kind": "plan", "input": {"markdown": "# Plan"}}),
    (rows.Interaction, INTERACTION | {"kind": "plan", "input": {"entries": [{"text": "a", "status": "pending"}]}}),
    (rows.Goal, GOAL),
    (rows.Operation, OPERATION),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "example"), EXAMPLES)
def test_a_row_is_shown_with_exactly_these_members(shape, example):
    row = structure(shape, example, "row")
    assert isinstance(row, shape), row
    assert orjson.loads(orjson.dumps(unstructure(row))) == example


@pytest.mark.parametrize(
    "row",
    [
        Session("w", "s", "codex", "codex", "/srv", created_at=1, updated_at=2),
        Turn("w", "s", "t", 1, submitted_at=5),
        Message("w", "s", "m", 1, 1, "assistant", "text", created_at=5),
    ],
)
def test_what_is_not_known_is_null_and_never_left_out(row):
    complete = {Session: SESSION, Turn: TURN, Message: USER_MESSAGE}[type(row)]
    assert unstructure(row).keys() == complete.keys()


CAPABILITIES = dict.fromkeys(
    ("load", "imagePrompts", "embeddedContext", "interrupt", "guidance", "plan", "side"), True
)


@pytest.mark.rule("AP-004")
@pytest.mark.parametrize("capabilities", [None, dict.fromkeys(CAPABILITIES, False), CAPABILITIES])
def test_capabilities_are_null_or_a_closed_record(capabilities):
    row = structure(rows.Session, SESSION | {"capabilities": capabilities}, "row")
    assert unstructure(row)["capabilities"] == capabilities


def test_a_listed_session_is_its_row_and_its_activity():
    session = structure(rows.Session, SESSION, "row")
    turn = Turn("w", "s", "t2", 2, submitted_at=5, phase="waiting")
    busy = unstructure(rows.session_list_item(ListedSession(session, turn, pending_interactions=2)))
    idle = unstructure(rows.session_list_item(ListedSession(session, None, pending_interactions=0)))
    assert busy == SESSION | {"activity": {"turnId": "t2", "phase": "waiting", "pendingInteractions": 2}}
    assert idle["activity"] == {"turnId": None, "phase": None, "pendingInteractions": 0}


def test_names_turn_into_camel_case():
    assert [wire_name(name) for name in ("cwd", "cost_usd", "agent_session_id")] == [
        "cwd",
        "costUsd",
        "agentSessionId",
    ]
