"""What Codex tells of a thread as a whole, beside its turns: figures, its name, warnings, whether it is idle or gone.

Owns the closed list of those notifications and what each means for the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from runtime.providers.codex.settings import read_settings
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.jsonrpc.peer import Notification, request_key
from runtime.providers.normalized import TitleReported, UsageReported
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic

if TYPE_CHECKING:
    from runtime.providers.codex.conversation import Conversation

WARNING_CHARACTERS_MAX: Final = 2000

Take: TypeAlias = "Callable[[Conversation, Notification, Members, OutputBatch], None]"


def _used(conversation: Conversation, frame: Notification, params: Members, out: OutputBatch) -> None:
    turn, pending = conversation.turn, conversation.pending
    provider_turn_id = text_of(params.get("turnId"))
    if turn is None and pending is not None and pending.sent:
        conversation.hold(pending, provider_turn_id, frame, out)
        return
    told_in = turn if turn is not None and provider_turn_id in turn.aliases else None
    usage = conversation.usage.report(params.get("tokenUsage"), told_in)
    conversation.tell(UsageReported(usage, told_in.turn_id if told_in is not None else None), out)


def _named(conversation: Conversation, frame: Notification, params: Members, out: OutputBatch) -> None:
    title = text_of(params.get("threadName"))
    if title is not None:
        conversation.tell(TitleReported(title), out)


def _settings_updated(
    conversation: Conversation, frame: Notification, params: Members, out: OutputBatch
) -> None:
    settings = object_of(params.get("threadSettings"))
    conversation.hold_settings(read_settings(settings, conversation.held), out)


def _warned(conversation: Conversation, frame: Notification, params: Members, out: OutputBatch) -> None:
    text = (text_of(params.get("message")) or "")[:WARNING_CHARACTERS_MAX]
    turn, pending = conversation.turn, conversation.pending
    if pending is not None and pending.sent:
        conversation.hold(pending, None, frame, out)
    elif turn is not None and text:
        conversation.tell(turn.normalizer.notice("provider.notice", "warning", text), out)
    else:
        out.add(Diagnostic("warning", text))


def _server_status(
    conversation: Conversation, frame: Notification, params: Members, out: OutputBatch
) -> None:
    if params.get("status") == "failed":
        out.add(Diagnostic("mcp.not_started", text_of(params.get("name")) or ""))


def _status_changed(
    conversation: Conversation, frame: Notification, params: Members, out: OutputBatch
) -> None:
    if text_of(object_of(params.get("status")).get("type")) in ("idle", "systemError"):
        conversation.free(out)


def _resolved(conversation: Conversation, frame: Notification, params: Members, out: OutputBatch) -> None:
    conversation.resolved(request_key(params.get("requestId")), out)


def _gone(conversation: Conversation, frame: Notification, params: Members, out: OutputBatch) -> None:
    conversation.unloaded(out)


THREAD_FACTS: Final[Mapping[str, Take]] = {
    "thread/tokenUsage/updated": _used,
    "thread/name/updated": _named,
    "thread/settings/updated": _settings_updated,
    "thread/status/changed": _status_changed,
    "thread/closed": _gone,
    "thread/deleted": _gone,
    "mcpServer/startupStatus/updated": _server_status,
    "serverRequest/resolved": _resolved,
    "warning": _warned,
    "guardianWarning": _warned,
}
