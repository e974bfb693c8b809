"""Rows and events for tests of what the client makes of them, with what no test looks at filled in."""

from typing import Any

from greenroom_client import Gap, SubscriptionEvent

Json = dict[str, Any]

KEY = {"workspaceId": "w", "agentSessionId": "s"}


def message(message_id: str = "m", text: str = "", *, deltas: int | None = 0, **members: Any) -> Any:
    """A streaming message that contains so many deltas; one that has ended with None."""
    status = "completed" if deltas is None else "streaming"
    row: Json = {
        **KEY,
        "messageId": message_id,
        "turnId": "t",
        "sequence": 1,
        "version": 1,
        "role": "assistant",
    }
    row |= {"kind": "text", "status": status, "content": [{"type": "text", "text": text}], "toolCall": None}
    return {**row, "deltaSeq": deltas, "truncated": False, "createdAt": 0, **members}


def tool(message_id: str, status: str, text: str = "", *, deltas: int | None = 0) -> Any:
    call = {"callId": "c", "name": "run", "title": "Run", "kind": "execute", "status": status, "input": {}}
    call["output"] = {"text": text}
    return message(message_id, deltas=deltas, kind="tool_call", content=[], toolCall=call)


def turn(phase: str, **members: Any) -> Any:
    return {**KEY, "turnId": "t", "phase": phase, **members}


def interaction(status: str, request_id: str = "r", **members: Any) -> Any:
    return {**KEY, "turnId": "t", "requestId": request_id, "status": status, "createdAt": 0, **members}


def commit(commit_seq: int, *changes: tuple[str, Any]) -> SubscriptionEvent:
    listed = [{"type": kind, "row": row} for kind, row in changes]
    return as_event("commit", commitSeq=commit_seq, changes=listed)


def delta(
    number: int, text: str, message_id: str = "m", field: str = "text", kind: str = "text"
) -> SubscriptionEvent:
    members = {**KEY, "turnId": "t", "messageId": message_id, "kind": kind}
    return as_event("message_delta", **members, field=field, deltaSeq=number, text=text)


def snapshot(row: Any) -> SubscriptionEvent:
    return as_event("message_snapshot", message=row)


def gap(lost: Any, commit_seq: int = 0) -> SubscriptionEvent:
    return Gap(type="gap", lost=lost, reason="reconnected", commitSeq=commit_seq)


def as_event(event_type: str, /, **members: Any) -> Any:
    return {"subscriptionId": 1, "topic": "agent.activity.updated", "type": event_type, **members}
