"""Whether an event shows the effect of a command whose reply has not come yet (`contract §2`, Order). Pure.

Asked of one connection, in the order in which things arrive there. A command that was asked for elsewhere too, by
another client or by an earlier attempt, is not judged: the effect may be that one's.
"""

from runtime.simulation.history import History, Json, Request


def shows_effect_early(request: Request, event: Json, history: History) -> str | None:
    """What is wrong, if this commit shows what the open `request` has done."""
    for change in event["changes"]:
        row = change["row"]
        if (row["workspaceId"], row["agentSessionId"]) != request.session:
            continue
        if _shows(request, change["type"], row) and not _others_asked(request, history):
            return f"{request.method} {request.params} is open, and commit {event['commitSeq']} shows it"
    return None


def _shows(request: Request, kind: str, row: Json) -> bool:
    params = request.params
    match request.method, kind:
        case "session/create", "session":
            return True
        case "session/send", "turn":
            return bool(row["clientSubmitId"] == params["clientSubmitId"])
        case "turn/cancel", "turn":
            return row["turnId"] == params["turnId"] and row["cancelRequestedAt"] is not None
        case "turn/guide", "message":
            return bool(row.get("clientSubmitId") == params["clientSubmitId"])
        case "interaction/respond", "interaction":
            # Intermediate facts may come first, the final result may not.
            same = (row["turnId"], row["requestId"]) == (params["turnId"], params["requestId"])
            final = row["answerDelivery"] in ("delivered", "failed", "unknown")
            ours = row["answer"] is not None and row["answer"].get("optionId") == params["answer"]["optionId"]
            return bool(same and row["status"] == "answered" and final and ours)
        case _:
            return False


def _others_asked(request: Request, history: History) -> bool:
    """Whether the same effect may be another command's, or the service's own where it answers for nobody."""
    if history.answers_by_itself and request.method in ("turn/cancel", "interaction/respond"):
        return True
    for other in history.requests:
        if other is request or _was_refused(other):
            continue
        if request.method == "turn/cancel" and _deletes(other, request):
            return True
        if other.session != request.session:
            continue
        if other.method == "session/close" and request.method == "turn/cancel":
            return True
        # A session of this name is made once, under whatever submit id.
        same = () if request.method == "session/create" else ("turnId", "requestId", "clientSubmitId")
        if other.method == request.method and all(
            other.params.get(name) == request.params.get(name) for name in same
        ):
            return True
    return False


def _deletes(other: Request, request: Request) -> bool:
    """A deletion stops what runs in the sessions it names."""
    workspace_id, session_id = request.session
    return (
        other.method == "session/delete"
        and other.params.get("workspaceId", "") == workspace_id
        and session_id in other.params["agentSessionIds"]
    )


def _was_refused(request: Request) -> bool:
    return request.state == "refused" and request.delivery == "not_dispatched"
