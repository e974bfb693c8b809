"""Rows as the daemon sends them, with what a test does not care about filled in."""

from typing import Any

WORKSPACE = "default"


def session(session_id: str = "s1", **more: Any) -> dict[str, Any]:
    return {
        "workspaceId": WORKSPACE,
        "agentSessionId": session_id,
        "agentTargetId": "demo",
        "provider": "acp",
        "title": None,
        "cwd": f"/work-root/{session_id}",
        "pinned": False,
        "runtime": {"state": "absent", "lastActivityAt": None},
        "createdAt": 0,
        "activity": {"turnId": None, "phase": None, "pendingInteractions": 0},
        **more,
    }


def turn(turn_id: str = "t1", session_id: str = "s1", **more: Any) -> dict[str, Any]:
    return {
        "workspaceId": WORKSPACE,
        "agentSessionId": session_id,
        "turnId": turn_id,
        "sequence": 1,
        "phase": "submitted",
        "outcome": None,
        "error": None,
        "submittedAt": 0,
        "settledAt": None,
        "cancelRequestedAt": None,
        "cancelConfirmedAt": None,
        **more,
    }


def settled(outcome: str = "completed", **more: Any) -> dict[str, Any]:
    return turn(**{"phase": "settled", "outcome": outcome, "settledAt": 1500, **more})


def failed(code: str, message: str = "It failed.") -> dict[str, Any]:
    return settled(
        "failed", error={"code": code, "message": message, "origin": "provider", "retryable": False}
    )


def message(message_id: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {
        "workspaceId": WORKSPACE,
        "agentSessionId": "s1",
        "messageId": message_id,
        "turnId": "t1",
        "sequence": 1,
        "role": "assistant",
        "kind": "text",
        "status": "completed",
        "content": [{"type": "text", "text": text}] if text else [],
        "toolCall": None,
        "deltaSeq": None,
        "displayPrompt": None,
        **more,
    }


def tool(message_id: str, status: str, title: str = "make", **output: Any) -> dict[str, Any]:
    call = {
        "callId": "c",
        "name": "shell",
        "title": title,
        "kind": "execute",
        "status": status,
        "output": output,
    }
    return message(message_id, kind="tool_call", toolCall=call)


def approval(request_id: str = "r1", options: tuple[str, ...] = ("allow_once", "reject_once"), **more: Any):
    return {
        "workspaceId": WORKSPACE,
        "agentSessionId": "s1",
        "turnId": "t1",
        "requestId": request_id,
        "kind": "approval",
        "status": "pending",
        "input": {"callId": "c", "title": "rm -r build", "kind": "execute", "command": "rm -r build"},
        "options": [
            {"optionId": f"id-{kind}", "label": kind.replace("_", " "), "kind": kind} for kind in options
        ],
        **more,
    }


def question(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = [
        {"id": "q", "question": "Which?", "multiSelect": False, "freeText": False, "secret": False, **one}
        for one in questions
    ]
    return approval(kind="question", input={"questions": asked}, options=(), **more)


def commit(*changes: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "commit",
        "commitSeq": 1,
        "changes": [{"type": kind, "row": row} for kind, row in changes],
    }


def delta(message_id: str, number: int, text: str, kind: str = "text", field: str = "text") -> dict[str, Any]:
    return {
        "type": "message_delta",
        "workspaceId": WORKSPACE,
        "agentSessionId": "s1",
        "turnId": "t1",
        "messageId": message_id,
        "kind": kind,
        "field": field,
        "deltaSeq": number,
        "text": text,
    }
