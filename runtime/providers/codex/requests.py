"""Requests of Codex within a thread: which are put to a person, which wait for their other half, which are refused.

Owns the decision alone; a published one is then in the hands of `asks`. A request belongs to the open turn only if it
names it. The approval of a patch waits for the item that holds its changes (RT-014); whatever cannot be carried is
declined in its own words, and the user is told so (RT-016).
"""

from typing import Final, Protocol

from runtime.providers.codex import asking
from runtime.providers.codex.approvals import (
    read_command_approval,
    read_file_approval,
    read_permissions_approval,
)
from runtime.providers.codex.asking import KNOWN, Asked, Unusable, refuse
from runtime.providers.codex.asks import OpenAsks
from runtime.providers.codex.questions import read_elicitation, read_user_input
from runtime.providers.codex.tool_items import CallItem, command_kind, shown_command
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.jsonrpc.peer import JsonRpcPeer, Request
from runtime.providers.normalized import TurnEvent
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic

UNSUPPORTED_CODE: Final = "interaction.unsupported"
UNSUPPORTED_TEXT: Final = "Codex asked for something in a form that cannot be answered here; it was told so."


class Told(Protocol):
    """Tells an event of the open turn."""

    def __call__(self, event: TurnEvent, out: OutputBatch) -> None: ...


class TurnRequests:
    """Takes requests of the open turn of one thread."""

    def __init__(self, peer: JsonRpcPeer, asks: OpenAsks, tell: Told) -> None:
        self._peer = peer
        self._asks = asks
        self._tell = tell

    def is_known(self, turn: OpenTurn | None, request: Request) -> bool:
        """Whether Codex still waits for a request of this very id, which then gets the one reply that is due."""
        held = turn.held_requests if turn is not None else []
        return self._asks.is_open(request.key) or any(each.key == request.key for each in held)

    def take(self, turn: OpenTurn, request: Request, out: OutputBatch) -> None:
        """A request that names this turn, or none."""
        params = object_of(request.params)
        item_id = text_of(params.get("itemId"))
        call = turn.normalizer.call(item_id) if item_id is not None else None
        if turn.cancel_asked:
            refuse(self._peer, request, "cancel", out)
            out.add(Diagnostic("ask.cancelled", "the turn is being stopped"))
            return
        if request.method == asking.FILE_APPROVAL and (call is None or not (call.ended or call.item.changes)):
            turn.held_requests.append(request)
            return
        asked = self._read(turn, request.method, params)
        if isinstance(asked, Unusable):
            refuse(self._peer, request, "decline", out)
            kind = "ask.unusable" if request.method in KNOWN else "request.unknown"
            out.add(Diagnostic(kind, f"{request.method[:80]}: {asked.reason}"))
            self._tell(turn.normalizer.notice(UNSUPPORTED_CODE, "warning", UNSUPPORTED_TEXT), out)
            return
        if request.method == asking.COMMAND_APPROVAL and call is None and item_id is not None:
            for event in turn.normalizer.started(_asked_command(item_id, params)):
                self._tell(event, out)
        self._asks.publish(request, turn.turn_id, asked, out)

    def item_told(self, turn: OpenTurn, item_id: str | None, out: OutputBatch) -> None:
        """An item has been told, or its changes: an approval that waited for them is complete."""
        for request in tuple(turn.held_requests):
            if text_of(object_of(request.params).get("itemId")) == item_id:
                turn.held_requests.remove(request)
                self.take(turn, request, out)

    def refuse_held(self, turn: OpenTurn, how: asking.Refusal, out: OutputBatch) -> None:
        """What waited for its other half is waited for no longer."""
        for request in turn.held_requests:
            refuse(self._peer, request, how, out)
        turn.held_requests.clear()

    def _read(self, turn: OpenTurn, method: str, params: Members) -> Asked | Unusable:
        item_id = text_of(params.get("itemId"))
        call = turn.normalizer.call(item_id) if item_id is not None else None
        match method:
            case asking.COMMAND_APPROVAL:
                return read_command_approval(params, call)
            case asking.FILE_APPROVAL:
                return read_file_approval(params, call)
            case asking.PERMISSIONS_APPROVAL:
                return read_permissions_approval(params, call)
            case asking.USER_INPUT:
                return read_user_input(params)
            case asking.ELICITATION:
                server = text_of(params.get("serverName")) or ""
                return read_elicitation(params, turn.normalizer.running_of(server))
            case _:
                return Unusable("nobody answers this here")


def _asked_command(item_id: str, params: Members) -> CallItem:
    """The call a command's approval is about, where it comes before its item (FC-53)."""
    command, actions = text_of(params.get("command")) or "", params.get("commandActions")
    return CallItem(
        item_id=item_id,
        name="command",
        title=shown_command(command, actions) or "command",
        kind=command_kind(actions),
        input={"command": command, "cwd": text_of(params.get("cwd"))},
        outlives_turn=True,
    )
