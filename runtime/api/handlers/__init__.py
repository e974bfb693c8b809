"""The methods of the contract, one function each, and the table that finds them. No domain logic: reads go to the
store, commands to a mailbox, operations to a task."""

from collections.abc import Callable
from typing import Any

from runtime.api.handlers import (
    attachments,
    events,
    faults,
    host,
    labels,
    session_trees,
    sessions,
    sides,
    turns,
)
from runtime.api.requests_context import Handled, Request

HANDLERS: dict[str, Callable[[Request[Any]], Handled]] = {
    "session/create": sessions.create,
    "session/get": sessions.get,
    "session/list": sessions.list_sessions,
    "session/messages": sessions.messages,
    "session/send": turns.send,
    "session/resume": sessions.resume,
    "session/close": sessions.close,
    "session/rename": labels.rename,
    "session/pin": labels.pin,
    "session/updateSettings": labels.update_settings,
    "session/delete": session_trees.delete,
    "session/restore": session_trees.restore,
    "session/purge": session_trees.purge,
    "session/listDeleted": session_trees.list_deleted,
    "session/search": sessions.search,
    "turn/get": turns.get,
    "turn/list": turns.list_turns,
    "turn/guide": turns.guide,
    "turn/cancel": turns.cancel,
    "interaction/respond": turns.respond,
    "interaction/list": turns.list_interactions,
    "side/capabilities": sides.capabilities,
    "side/open": sides.open_side,
    "side/send": sides.send,
    "side/cancel": sides.cancel,
    "side/respond": sides.respond,
    "side/close": sides.close,
    "side/get": sides.get,
    "side/list": sides.list_sides,
    "surface/dispose": sides.dispose,
    "surface/attach": sides.attach,
    "attachment/put": attachments.put,
    "attachment/get": attachments.get,
    "events/subscribe": events.subscribe,
    "events/update": events.update,
    "events/unsubscribe": events.unsubscribe,
    "health/read": host.health,
    "metrics/read": host.metrics,
    "debug/session": host.inspect,
    "fault/inject": faults.inject,
    "fault/list": faults.list_faults,
    "fault/clear": faults.clear,
    "target/list": host.targets,
    "workspace/list": host.workspaces,
}
"""Every served method except `initialize`, which is the connection's own."""
