"""From provider events to messages: which row opens, changes or ends, in the order the provider produced them.

Owns the open items of the active turn. Text itself never passes through the machine's state: it goes to the live
tail, and rows are written without it.
"""

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle.inputs import Prompt, Submission, Timer
from runtime.lifecycle.live_tail import cut_text
from runtime.lifecycle.state import OpenItem, Step, call_item_id
from runtime.providers.normalized import ItemEnded, PlanReported, TextChunk, ToolCallReported, ToolOutputChunk
from store.canonical.identifiers import MessageId, TurnId
from store.canonical.message import (
    ContentBlock,
    Message,
    MessageKind,
    MessageRole,
    MessageStatus,
    NoticeBlock,
    NoticeSeverity,
    PlanBlock,
    TextBlock,
    ToolCall,
    ToolOutput,
    ToolStatus,
)

LATE_CALLS_MAX = 32
"""Open tool calls of settled turns whose end may still come, kept for each session."""

ENDED_TOOL_STATUSES: frozenset[ToolStatus] = frozenset(("completed", "failed", "declined", "interrupted"))

_MESSAGE_STATUS: dict[ToolStatus, MessageStatus] = {
    "completed": "completed",
    "failed": "failed",
    "declined": "failed",
    "interrupted": "interrupted",
}


def add_user_message(step: Step, turn_id: TurnId, submission: Submission) -> None:
    """What the user said, as the first message of its turn."""
    prompt: Prompt = submission.prompt
    message = new_message(step, turn_id, "user", "text", content=prompt.content)
    message = attrs.evolve(
        message,
        client_submit_id=submission.claim.client_submit_id,
        display_prompt=prompt.display_prompt,
    )
    step.do(fx.PersistMessage(message))


def add_prompt_of_agent(step: Step, turn_id: TurnId, text: str) -> None:
    """What a sub-agent was told to do, by the agent that began it: no person said it under any submit id."""
    shown = cut_text(text, step.context.policy.max_message_bytes)
    message = new_message(step, turn_id, "user", "text", content=(TextBlock(shown),))
    step.do(fx.PersistMessage(attrs.evolve(message, truncated=shown != text)))


def add_notice(step: Step, turn_id: TurnId | None, code: str, severity: NoticeSeverity, text: str) -> None:
    """Something the runtime has to say inside the conversation."""
    block = NoticeBlock(code=code, severity=severity, text=text)
    step.do(fx.PersistMessage(new_message(step, turn_id, "system", "notice", content=(block,))))


def text_chunk(step: Step, event: TextChunk) -> None:
    """More text: the first chunk of an item opens its message."""
    item = step.state.items.get(event.item_id)
    if item is None:
        message = new_message(step, event.turn_id, "assistant", event.kind, status="streaming")
        item = _open(step, event.item_id, message)
    step.do(fx.AppendText(item.message.message_id, event.text))


def end_item(step: Step, event: ItemEnded) -> None:
    """No more text of this item; what the agent broke off is kept as interrupted."""
    item = step.state.items.get(event.item_id)
    if item is None:
        return
    if event.text is not None:
        step.do(fx.ReplaceText(item.message.message_id, event.text))
    _end(step, event.item_id, item, "interrupted" if event.cut_short else "completed")


def plan(step: Step, event: PlanReported) -> None:
    """The plan as it stands: one message that is written anew, at most once an interval."""
    block = PlanBlock(event.entries)
    item = step.state.items.get(event.item_id)
    if item is None:
        message = new_message(step, event.turn_id, "assistant", "plan", status="streaming", content=(block,))
        _open(step, event.item_id, message)
    else:
        _rewrite(step, event.item_id, item, attrs.evolve(item.message, content=(block,)))


def tool_call(step: Step, event: ToolCallReported) -> None:
    """First word of a tool call, or a change of it; its end ends the message."""
    item_id = call_item_id(event.call_id)
    item = step.state.items.get(item_id)
    known = item.message.tool_call if item is not None else None
    call = _patched(known or ToolCall(event.call_id, name="", title=event.name or ""), event)
    if call.status in ENDED_TOOL_STATUSES:
        _tool_ended(step, event, call, item)
        return
    if item is None:
        message = new_message(step, event.turn_id, "assistant", "tool_call", status="streaming", call=call)
        item = _open(step, item_id, message)
    grown = _set_output(step, item, event.output_text)
    if call != item.message.tool_call or not grown:
        item = _rewrite(step, item_id, item, attrs.evolve(item.message, tool_call=call))
    if event.output_text is not None:
        _keep(step, item_id, attrs.evolve(item, output_text=event.output_text))


def _tool_ended(step: Step, event: ToolCallReported, call: ToolCall, item: OpenItem | None) -> None:
    """The row that ends the call carries the whole output, so none of it travels as deltas."""
    if item is None:
        step.do(fx.PersistMessage(ended_call(step, event)))
        step.change(spoke=True)
        return
    if event.output_text is not None:
        step.do(fx.ReplaceText(item.message.message_id, event.output_text))
    ended = attrs.evolve(item, message=attrs.evolve(item.message, tool_call=call))
    _end(step, call_item_id(event.call_id), ended, _MESSAGE_STATUS[call.status])


def ended_call(step: Step, event: ToolCallReported) -> Message:
    """The row of a call of which nothing was known before its end; the event's status is an ended one."""
    call = _patched(ToolCall(event.call_id, name="", title=event.name or ""), event)
    text = cut_text(event.output_text or "", step.context.policy.max_output_bytes)
    call = attrs.evolve(call, output=attrs.evolve(call.output, text=text))
    message = new_message(step, event.turn_id, "assistant", "tool_call", call=call)
    return attrs.evolve(message, status=_MESSAGE_STATUS[call.status])


def late_tool_call(step: Step, event: ToolCallReported) -> bool:
    """A command that went on after its turn has ended now: its row says how, the turn stays as it is (RT-003).

    False when the turn left no such call open. Only a report with the whole output is taken, since the row would lose
    the text that was streamed otherwise.
    """
    key = (event.turn_id, event.call_id)
    message = step.state.late_calls.get(key)
    if message is None or message.tool_call is None or event.output_text is None:
        return False
    if event.status not in ENDED_TOOL_STATUSES:
        return False
    step.change(late_calls={other: row for other, row in step.state.late_calls.items() if other != key})
    call = _patched(attrs.evolve(message.tool_call, status="running"), event)
    text = cut_text(event.output_text, step.context.policy.max_output_bytes)
    call = attrs.evolve(call, output=attrs.evolve(call.output, text=text))
    row = attrs.evolve(
        message, tool_call=call, status=_MESSAGE_STATUS[call.status], version=step.next_version()
    )
    step.do(fx.PersistMessage(row))
    return True


def _set_output(step: Step, item: OpenItem, text: str | None) -> bool:
    """Output that only grew travels as a delta; other changes need the row. True when no row is needed."""
    if text is None or text == item.output_text:
        return True
    if text.startswith(item.output_text):
        step.do(fx.AppendText(item.message.message_id, text[len(item.output_text) :]))
        return True
    step.do(fx.ReplaceText(item.message.message_id, text))
    return False


def tool_output(step: Step, event: ToolOutputChunk) -> None:
    """More output of a tool call; output of an unknown call opens it, nothing is dropped (FC-53)."""
    item = step.state.items.get(call_item_id(event.call_id))
    if item is None:
        tool_call(step, ToolCallReported(event.turn_id, event.call_id, status="running"))
        item = step.state.items[call_item_id(event.call_id)]
    step.do(fx.AppendText(item.message.message_id, event.text))


def write_due(step: Step, message_id: MessageId) -> None:
    """The interval of a changed row is over: write what it has become."""
    for item_id, item in step.state.items.items():
        if item.message.message_id == message_id and item.dirty:
            _write(step, item_id, item, item.message)
            return


def close_items(step: Step, outcome_completed: bool) -> None:
    """The turn ends: text ends as the turn does, a tool call that never ended was interrupted."""
    for item_id, item in list(step.state.items.items()):
        message = item.message
        if message.tool_call is not None:
            call = attrs.evolve(message.tool_call, status="interrupted")
            ended = _end(
                step,
                item_id,
                attrs.evolve(item, message=attrs.evolve(message, tool_call=call)),
                "interrupted",
            )
            _remember_late_call(step, ended)
        else:
            _end(step, item_id, item, "completed" if outcome_completed else "interrupted")


def close_texts(step: Step, outcome_completed: bool) -> None:
    """The response ended and the turn goes on: what was being said ends, calls may still bring something back."""
    for item_id, item in list(step.state.items.items()):
        if item.message.tool_call is None:
            _end(step, item_id, item, "completed" if outcome_completed else "interrupted")


def new_message(
    step: Step,
    turn_id: TurnId | None,
    role: MessageRole,
    kind: MessageKind,
    *,
    status: MessageStatus = "completed",
    content: tuple[ContentBlock, ...] = (),
    call: ToolCall | None = None,
) -> Message:
    """A row with the next sequence and version of its session."""
    session = step.state.session
    return Message(
        workspace_id=session.workspace_id,
        agent_session_id=session.agent_session_id,
        message_id=MessageId(step.context.new_id()),
        turn_id=turn_id,
        sequence=step.next_message_sequence(),
        version=step.next_version(),
        role=role,
        kind=kind,
        status=status,
        content=content,
        tool_call=call,
        delta_seq=0 if status == "streaming" else None,
        created_at=step.now_ms,
    )


def _open(step: Step, item_id: str, message: Message) -> OpenItem:
    item = OpenItem(message, step.now_ms)
    step.do(fx.OpenMessage(message))
    _keep(step, item_id, item)
    step.change(spoke=True)
    return item


def _keep(step: Step, item_id: str, item: OpenItem) -> None:
    step.change(items={**step.state.items, item_id: item})


def _rewrite(step: Step, item_id: str, item: OpenItem, message: Message) -> OpenItem:
    """Write a changed row now, or by a timer when it was written within the interval."""
    interval = step.context.policy.message_update_interval_ms
    if step.now_ms - item.written_at_ms >= interval and not item.dirty:
        return _write(step, item_id, item, message)
    if not item.dirty:
        timer = Timer("message_update", message_id=message.message_id)
        step.do(fx.ArmTimer(timer, interval / 1000))
    changed = attrs.evolve(item, message=message, dirty=True)
    _keep(step, item_id, changed)
    return changed


def _write(step: Step, item_id: str, item: OpenItem, message: Message) -> OpenItem:
    message = attrs.evolve(message, version=step.next_version())
    written = attrs.evolve(item, message=message, written_at_ms=step.now_ms, dirty=False)
    step.do(fx.PersistMessage(message))
    _keep(step, item_id, written)
    return written


def _remember_late_call(step: Step, message: Message) -> None:
    if message.turn_id is None or message.tool_call is None:
        return
    late = {**step.state.late_calls, (message.turn_id, message.tool_call.call_id): message}
    step.change(late_calls=dict(list(late.items())[-LATE_CALLS_MAX:]))


def _end(step: Step, item_id: str, item: OpenItem, status: MessageStatus) -> Message:
    if item.dirty:
        step.do(fx.DisarmTimer(Timer("message_update", message_id=item.message.message_id)))
    message = attrs.evolve(item.message, status=status, delta_seq=None, version=step.next_version())
    step.do(fx.PersistMessage(message))
    step.change(items={key: value for key, value in step.state.items.items() if key != item_id})
    return message


def _patched(call: ToolCall, event: ToolCallReported) -> ToolCall:
    """Lay a report over what is known; a null field says nothing, an ended call stays ended."""
    if call.status in ENDED_TOOL_STATUSES:
        return call
    output = ToolOutput(
        text=call.output.text,
        exit_code=event.exit_code if event.exit_code is not None else call.output.exit_code,
        changes=event.changes if event.changes is not None else call.output.changes,
    )
    return attrs.evolve(
        call,
        name=event.name or call.name,
        title=event.title or call.title,
        kind=event.kind or call.kind,
        status=event.status or call.status,
        input=event.input if event.input is not None else call.input,
        output=output,
        child_agent_session_id=event.child_id or call.child_agent_session_id,
    )
