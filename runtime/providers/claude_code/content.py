"""What the frames of a process say: content of the turn that runs, facts of the conversation, requests of Claude Code's.

Owns the way from a frame to the conversation. Frames of sub-agents belong to the call that started them and are told as
its output, never as words of the conversation. Repeats and synthetic prompts are no content. What nobody knows is
counted; a request that nobody knows is refused at once, since Claude Code waits for it (FC-31).
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from runtime.providers.claude_code.child_tasks import ChildTask
from runtime.providers.claude_code.control import OpenRequests
from runtime.providers.claude_code.conversation import Conversation
from runtime.providers.claude_code.permissions import Asked, Unusable, denial, read_permission
from runtime.providers.claude_code.questions import QUESTION_TOOL, read_questions
from runtime.providers.claude_code.turns import OpenTurn
from runtime.providers.claude_code.wire import control_refusal, control_reply
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, Write
from store.canonical.identifiers import CallId

Taker: TypeAlias = Callable[[Conversation, Members, OutputBatch], None]

_RETRY_TEXT: Final = "Claude Code could not reach its model and tries again."
_COMPACTED_TEXT: Final = "Claude Code shortened the conversation it remembers."
_UNUSABLE_TEXT: Final = (
    "Claude Code asked for something in a form that cannot be answered here; it was told so."
)
_NOBODY_TEXT: Final = "There is nobody to ask now."
_QUIET: Final = frozenset(
    {"keep_alive", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"}
)
_QUIET_SYSTEM: Final = frozenset(
    {
        "session_state_changed",
        "control_request_progress",
        "task_progress",
        "task_updated",
        "background_tasks_changed",
        "session_title_changed",
        "thinking_tokens",
        "hook_started",
        "hook_response",
    }
)


def take(conversation: Conversation, requests: OpenRequests, frame: Members, out: OutputBatch) -> None:
    """Take one frame of a conversation that is open, or opening."""
    kind = text_of(frame.get("type")) or ""
    if kind == "control_response":
        requests.settle(frame, out)
    elif (taker := _TAKERS.get(kind)) is not None:
        taker(conversation, frame, out)
    elif kind not in _QUIET:
        out.add(Diagnostic("frame.unknown", kind[:80]))


def refuse_request(frame: Members, out: OutputBatch) -> None:
    """A request that nobody here can answer."""
    request_id = text_of(frame.get("request_id"))
    subtype = (text_of(object_of(frame.get("request")).get("subtype")) or "")[:80]
    if request_id is not None:
        out.add(Write(control_refusal(request_id, f"{subtype} is not supported by this client")))
    out.add(Diagnostic("request.refused", subtype))


# --- content ----------------------------------------------------------------------------------------------------


def _running(conversation: Conversation, frame: Members, out: OutputBatch) -> OpenTurn | None:
    turn = conversation.running
    if turn is None:
        out.add(Diagnostic("content.no_turn", str(frame.get("type"))))
    return turn


def _stream(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    if text_of(frame.get("parent_tool_use_id")) is not None:
        return  # a sub-agent's blocks come whole
    turn = _running(conversation, frame, out)
    if turn is not None:
        conversation.tell_all(turn.normalizer.stream(object_of(frame.get("event"))), out)


def _assistant(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    parent, message = text_of(frame.get("parent_tool_use_id")), object_of(frame.get("message"))
    if parent is not None:
        task = conversation.children.of_call(parent)
        if task is not None:
            conversation.children.said(task, frame, out)
        else:
            _child(conversation, parent, message, out)
        return
    turn = _running(conversation, frame, out)
    if turn is None or frame.get("is_api_error_message") is True:
        return  # an error in prose: the result says what it was
    conversation.usage.message(message.get("usage"))
    aborted = frame.get("aborted") is True
    conversation.tell_all(turn.normalizer.assistant(message, aborted=aborted), out)


def _child(conversation: Conversation, parent: str, message: Members, out: OutputBatch) -> None:
    for block in map(object_of, list_of(message.get("content"))):
        call_id, name = text_of(block.get("id")), text_of(block.get("name"))
        if block.get("type") == "tool_use" and call_id is not None and name is not None:
            chunk = conversation.ledger.child(parent, call_id, name, block.get("input"))
        elif block.get("type") == "text":
            chunk = conversation.ledger.child_text(parent, text_of(block.get("text")) or "")
        else:
            continue
        if chunk is not None and conversation.find(chunk.turn_id) is not None:
            conversation.tell(chunk, out)


def _user(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    if frame.get("isReplay") is True or frame.get("isSynthetic") is True:
        return
    parent = text_of(frame.get("parent_tool_use_id"))
    if parent is not None:
        task = conversation.children.of_call(parent)
        if task is not None:
            conversation.children.heard(task, frame, out)
        return
    turn = _running(conversation, frame, out)
    if turn is not None:
        _end_children(conversation, turn, frame, out)
        conversation.tell_all(turn.normalizer.results(frame, stopping=turn.stopping), out)


def _end_children(conversation: Conversation, turn: OpenTurn, frame: Members, out: OutputBatch) -> None:
    """A call that brings back what its sub-agent did says by that that it has ended."""
    if object_of(frame.get("tool_use_result")).get("isAsync") is True:
        return
    for block in map(object_of, list_of(object_of(frame.get("message")).get("content"))):
        if block.get("type") == "tool_result":
            call_id, failed = text_of(block.get("tool_use_id")), block.get("is_error") is True
            conversation.children.call_ended(call_id, failed=failed, stopped=turn.stopping, out=out)


# --- facts ------------------------------------------------------------------------------------------------------


def _system(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    subtype = text_of(frame.get("subtype")) or ""
    turn = conversation.running
    if subtype == "init":
        conversation.turn_begins(frame, out)
    elif subtype == "status":
        conversation.hold(conversation.held.heard(None, text_of(frame.get("permissionMode"))), out)
    elif subtype == "api_retry":
        if turn is not None and not turn.retry_told:
            turn.retry_told = True
            conversation.tell_all(turn.normalizer.notice("provider.retrying", "info", _RETRY_TEXT), out)
    elif subtype == "compact_boundary":
        if turn is not None:
            notice = turn.normalizer.notice("provider.context_compacted", "info", _COMPACTED_TEXT)
            conversation.tell_all(notice, out)
    elif subtype == "task_started":
        _task_started(conversation, frame, out)
    elif subtype == "task_notification":
        conversation.children.notified(frame, out)
        status, summary = text_of(frame.get("status")), text_of(frame.get("summary")) or ""
        report = conversation.ledger.task_ended(text_of(frame.get("tool_use_id")), status, summary)
        if report is not None:
            conversation.tell(report, out)
    elif subtype not in _QUIET_SYSTEM:
        out.add(Diagnostic("system.unknown", subtype[:80]))


def _task_started(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    """A call began work that goes on by itself: a sub-agent has a session, anything else is the call's."""
    if frame.get("task_type") != "local_agent":
        return
    call_id = text_of(frame.get("tool_use_id"))
    call = conversation.ledger.find(call_id)
    turn = conversation.find(call.turn_id) if call is not None else None
    if turn is not None and not turn.silent:
        conversation.children.began(frame, turn.turn_id, None, out)
        return
    for parent in list(conversation.children.working()):
        if parent.ledger.find(call_id) is not None:
            conversation.children.began(frame, parent.turn_id, parent, out)
            return


# --- requests ---------------------------------------------------------------------------------------------------


def _asked(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    request, wire_id = object_of(frame.get("request")), text_of(frame.get("request_id"))
    if wire_id is None or request.get("subtype") != "can_use_tool":
        refuse_request(frame, out)
        return
    task = conversation.children.of_agent(text_of(request.get("agent_id")))
    if task is not None:
        _child_asked(task, wire_id, request, out)
        return
    turn = conversation.running
    if conversation.asks.is_open(wire_id):
        out.add(Diagnostic("ask.repeated_id", wire_id[:80]))
        return
    if turn is None or turn.stopping or turn.silent:
        out.add(Write(control_reply(wire_id, denial(_NOBODY_TEXT))))
        out.add(Diagnostic("ask.refused", "no open turn" if turn is None else "the turn is being stopped"))
        return
    asked = _read(conversation, request)
    if isinstance(asked, Unusable):
        out.add(Write(control_reply(wire_id, denial(_NOBODY_TEXT))))
        out.add(Diagnostic("ask.unusable", asked.reason))
        notice = turn.normalizer.notice("interaction.unsupported", "warning", _UNUSABLE_TEXT)
        conversation.tell_all(notice, out)
        return
    call_id, name = text_of(request.get("tool_use_id")), text_of(request.get("tool_name"))
    if call_id is not None and name is not None and conversation.ledger.owner(call_id) is None:
        described = conversation.ledger.describe(turn.turn_id, call_id, name, request.get("input"))
        conversation.tell_all(described, out)
    conversation.asks.publish(wire_id, turn.turn_id, asked, out)


def _child_asked(task: ChildTask, wire_id: str, request: Members, out: OutputBatch) -> None:
    """What a sub-agent asks is asked in its own turn (RT-024)."""
    if task.asks.is_open(wire_id):
        out.add(Diagnostic("ask.repeated_id", wire_id[:80]))
        return
    call_id, name = text_of(request.get("tool_use_id")), text_of(request.get("tool_name"))
    asked = (
        read_questions(request)
        if name == QUESTION_TOOL
        else read_permission(request, CallId(call_id) if call_id else None)
    )
    if task.stopping or isinstance(asked, Unusable):
        out.add(Write(control_reply(wire_id, denial(_NOBODY_TEXT))))
        reason = asked.reason if isinstance(asked, Unusable) else "the turn is being stopped"
        out.add(Diagnostic("ask.refused", reason))
        if isinstance(asked, Unusable):
            for notice in task.normalizer.notice("interaction.unsupported", "warning", _UNUSABLE_TEXT):
                out.deliver(task.scope, notice)
        return
    if call_id is not None and name is not None and task.ledger.find(call_id) is None:
        for described in task.ledger.describe(task.turn_id, call_id, name, request.get("input")):
            out.deliver(task.scope, described)
    task.asks.publish(wire_id, task.turn_id, asked, out)


def _read(conversation: Conversation, request: Members) -> Asked | Unusable:
    if request.get("tool_name") == QUESTION_TOOL:
        return read_questions(request)
    owner = conversation.ledger.owner(text_of(request.get("tool_use_id")) or "")
    return read_permission(request, owner.call_id if owner is not None else None)


def _withdrawn(conversation: Conversation, frame: Members, out: OutputBatch) -> None:
    wire_id = text_of(frame.get("request_id")) or ""
    conversation.asks.withdraw(wire_id, out)
    for task in list(conversation.children.asking(wire_id)):
        task.asks.withdraw(wire_id, out)


_TAKERS: Final[dict[str, Taker]] = {
    "stream_event": _stream,
    "assistant": _assistant,
    "user": _user,
    "system": _system,
    "result": Conversation.result,
    "command_lifecycle": Conversation.prompt_moved,
    "control_request": _asked,
    "control_cancel_request": _withdrawn,
}
