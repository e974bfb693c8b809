"""Turns, Interactions and operations: send, guide, cancel and respond go straight to the session's mailbox; the rest are reads."""

from runtime.api.handlers.submissions import claim_of, prompt_of
from runtime.api.requests_context import Handled, Request
from runtime.lifecycle.inputs import RequestCancel, RequestGuide, Respond, SendPrompt, Submission
from runtime.operations.operation import known
from runtime.refusal import Refusal
from runtime.wire import replies, requests


def send(request: Request[requests.SessionSendParams]) -> Handled:
    """`session/send`: answered once prompt and turn are durable, before any provider is told (RT-028, RT-029)."""
    params, services = request.params, request.services
    prompt = prompt_of(services, params.session_key, params.content, params.display_prompt)
    if isinstance(prompt, Refusal):
        return prompt
    assert prompt is not None
    key = params.session_key
    claim = claim_of(request, "session/send", key, params.client_submit_id, params.content)
    command = SendPrompt(request.sink, Submission(claim, prompt))
    services.sessions.reference(key).tell(command, source=request.client.source)
    return None


def guide(request: Request[requests.TurnGuideParams]) -> Handled:
    """`turn/guide`: exactly that turn; answered when its delivery is known (RT-078, RT-079)."""
    params, services = request.params, request.services
    prompt = prompt_of(services, params.session_key, params.content, None)
    if isinstance(prompt, Refusal):
        return prompt
    assert prompt is not None
    key = params.session_key
    claim = claim_of(request, "turn/guide", key, params.client_submit_id, params.content)
    command = RequestGuide(request.sink, params.turn_id, Submission(claim, prompt))
    services.sessions.reference(key).tell(command, source=request.client.source)
    return None


def cancel(request: Request[requests.TurnCancelParams]) -> Handled:
    """`turn/cancel`: exactly that turn; a settled one is returned as it is (RT-007)."""
    params = request.params
    command = RequestCancel(request.sink, params.turn_id)
    request.services.sessions.reference(params.session_key).tell(
        command, source=request.client.source, control=True
    )
    return None


def respond(request: Request[requests.InteractionRespondParams]) -> Handled:
    """`interaction/respond`: exactly that Interaction; answered when its delivery is known."""
    params = request.params
    command = Respond(request.sink, params.turn_id, params.request_id, params.answer)
    request.services.sessions.reference(params.session_key).tell(
        command, source=request.client.source, control=True
    )
    return None


def get(request: Request[requests.TurnGetParams]) -> Handled:
    """`turn/get`."""
    params, services = request.params, request.services
    found = known(services.reader, params.session_key)
    if isinstance(found, Refusal):
        return found
    read = services.reader.turn(params.session_key, params.turn_id)
    if read.value is None:
        return Refusal("turn.not_found")
    request.sink.reply(replies.TurnReply(turn=read.value, commit_seq=read.commit_seq))
    return None


def get_operation(request: Request[requests.OperationGetParams]) -> Handled:
    """`operation/get`."""
    params, services = request.params, request.services
    found = known(services.reader, params.session_key)
    if isinstance(found, Refusal):
        return found
    read = services.reader.operation(params.session_key, params.operation_id)
    if read.value is None:
        return Refusal("operation.not_found")
    request.sink.reply(replies.OperationReply(operation=read.value, commit_seq=read.commit_seq))
    return None


def list_turns(request: Request[requests.TurnListParams]) -> Handled:
    """`turn/list`: newest first."""
    params, services = request.params, request.services
    found = known(services.reader, params.session_key)
    if isinstance(found, Refusal):
        return found
    read = services.reader.turns(params.session_key, params.cursor, params.limit)
    request.sink.reply(
        replies.TurnListReply(
            items=read.value.items, next_cursor=read.value.next_cursor, commit_seq=read.commit_seq
        )
    )
    return None


def list_interactions(request: Request[requests.InteractionListParams]) -> Handled:
    """`interaction/list`: of all sessions of the workspace."""
    params, services = request.params, request.services
    read = services.reader.interactions(params.workspace_id, params.status, params.cursor, params.limit)
    request.sink.reply(
        replies.InteractionListReply(
            items=read.value.items, next_cursor=read.value.next_cursor, commit_seq=read.commit_seq
        )
    )
    return None
