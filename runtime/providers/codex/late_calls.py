"""Commands that went on after their turn: the one kind of item that may still end then, in the row of that turn.

Owns which of them are known, the newest ones. It opens no turn and changes no outcome (RT-003, ST-006).
"""

from typing import Final

import attrs

from runtime.providers.codex.items import read_item
from runtime.providers.codex.tool_items import CallItem
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.jsonrpc.members import Members, text_of
from runtime.providers.normalized import ToolCallReported
from runtime.providers.port import Diagnostic
from store.canonical.identifiers import CallId, TurnId

LATE_CALLS_MAX: Final = 64


@attrs.frozen
class LateCall:
    """A command that was running when its turn ended."""

    turn_id: TurnId
    call_id: CallId
    item_id: str
    provider_turn_ids: frozenset[str]
    being_ended: bool = False
    """Codex was asked to end it: nothing is kept for it any more."""


class LateCalls:
    """Those of one thread."""

    def __init__(self) -> None:
        self._calls: list[LateCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def turn_ids(self) -> frozenset[TurnId]:
        """The turns that have such commands, but for those that are being ended."""
        return frozenset(call.turn_id for call in self._calls if not call.being_ended)

    def end(self, turn_id: TurnId) -> frozenset[str]:
        """The items of one turn's, which are ended from here on."""
        self._calls = [
            attrs.evolve(call, being_ended=call.being_ended or call.turn_id == turn_id)
            for call in self._calls
        ]
        return frozenset(call.item_id for call in self._calls if call.turn_id == turn_id)

    def add(self, turn: OpenTurn) -> None:
        """The turn ended: its commands that still run."""
        ids = frozenset(turn.aliases)
        self._calls += [
            LateCall(turn.turn_id, call.call_id, call.item.item_id, ids)
            for call in turn.normalizer.going_on()
        ]
        del self._calls[:-LATE_CALLS_MAX]

    def heard(
        self, provider_turn_id: str, method: str, params: Members
    ) -> ToolCallReported | Diagnostic | None:
        """A frame of a settled turn: the end of one of these commands, its output meanwhile, or just late."""
        item = read_item(params.get("item"))
        item_id = item.item_id if isinstance(item, CallItem) else text_of(params.get("itemId"))
        call = self._find(provider_turn_id, item_id)
        if call is None:
            return Diagnostic("update.late", method)
        if method != "item/completed" or not isinstance(item, CallItem):
            return None
        self._calls.remove(call)
        status = item.status if item.status not in (None, "running") else "completed"
        return ToolCallReported(
            call.turn_id,
            call.call_id,
            status=status,
            output_text=item.output_text or "",
            exit_code=item.exit_code,
        )

    def _find(self, provider_turn_id: str, item_id: str | None) -> LateCall | None:
        return next(
            (
                call
                for call in self._calls
                if call.item_id == item_id and provider_turn_id in call.provider_turn_ids
            ),
            None,
        )
