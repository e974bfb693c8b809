"""What each notification within a turn means, in the product's own events.

Owns the closed list of notifications this program makes something of, and of those it knows and leaves. Pure: which turn
a notification belongs to has been settled before.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from runtime.providers.codex.failures import error_info
from runtime.providers.codex.file_changes import read_changes
from runtime.providers.codex.items import PromptItem, TextPart, UnknownItem, read_item
from runtime.providers.codex.turns import OpenTurn
from runtime.providers.jsonrpc.members import Members, count_of, list_of, object_of, text_of
from runtime.providers.normalized import TurnEvent
from runtime.providers.port import Diagnostic
from store.canonical.common import Json
from store.canonical.message import PlanEntry, PlanEntryStatus

Heard: TypeAlias = list[TurnEvent | Diagnostic]

RETRY_TEXT: Final = "Codex lost its connection to the model and tries again."
HANDOFF_TEXT: Final = (
    "The conversation is too long even to be shortened. To go on, hand what matters over to a new session."
)

_PLAN_STATUSES: Final[dict[str, PlanEntryStatus]] = {
    "pending": "pending",
    "inProgress": "in_progress",
    "completed": "completed",
}


def turn_events(turn: OpenTurn, method: str, params: Members) -> Heard:
    """What a notification of `TURN_FRAMES` says of its turn."""
    return _READERS[method](turn, params)


def _item_started(turn: OpenTurn, params: Members) -> Heard:
    item = read_item(params.get("item"))
    if isinstance(item, UnknownItem):
        return [Diagnostic("item.unknown", item.kind)]
    # More was said to the agent: its request to the model was broken off, and begins anew with that.
    cut = turn.normalizer.cut_texts() if isinstance(item, PromptItem) else []
    return [*cut, *turn.normalizer.started(item)]


def _item_completed(turn: OpenTurn, params: Members) -> Heard:
    item = read_item(params.get("item"))
    if isinstance(item, UnknownItem):
        return [Diagnostic("item.unknown", item.kind)]
    return [*turn.normalizer.completed(item)]


def _text_reader(part: TextPart, index_name: str = "") -> Callable[[OpenTurn, Members], Heard]:
    def read(turn: OpenTurn, params: Members) -> Heard:
        item_id, delta = text_of(params.get("itemId")), text_of(params.get("delta"))
        if item_id is None or delta is None:
            return []
        index = count_of(params.get(index_name)) or 0
        return [*turn.normalizer.text(item_id, part, delta, index)]

    return read


def _output(turn: OpenTurn, params: Members) -> Heard:
    item_id, delta = text_of(params.get("itemId")), text_of(params.get("delta"))
    return [] if item_id is None or delta is None else [*turn.normalizer.output(item_id, delta)]


def _patch_updated(turn: OpenTurn, params: Members) -> Heard:
    item_id = text_of(params.get("itemId"))
    return [] if item_id is None else [*turn.normalizer.patched(item_id, read_changes(params.get("changes")))]


def _plan_updated(turn: OpenTurn, params: Members) -> Heard:
    return [turn.normalizer.plan(tuple(_plan_entry(step) for step in list_of(params.get("plan"))))]


def _plan_entry(step: Json) -> PlanEntry:
    members = object_of(step)
    status = _PLAN_STATUSES.get(text_of(members.get("status")) or "", "pending")
    return PlanEntry(text_of(members.get("step")) or "[unreadable step]", status)


def _error(turn: OpenTurn, params: Members) -> Heard:
    """An error within a turn is no end of it: that comes as `turn/completed`, or the model is tried again."""
    heard: Heard = []
    name, _ = error_info(params.get("error"))
    if params.get("willRetry") is True:
        heard += turn.normalizer.cut_texts()
        if not turn.retry_told:
            turn.retry_told = True
            heard.append(turn.normalizer.notice("provider.retrying", "info", RETRY_TEXT))
    elif name == "contextWindowExceeded" and turn.normalizer.compacting and not turn.handoff_told:
        turn.handoff_told = True
        heard.append(turn.normalizer.notice("provider.context_handoff_required", "error", HANDOFF_TEXT))
    return heard


def _model_rerouted(turn: OpenTurn, params: Members) -> Heard:
    old, new = text_of(params.get("fromModel")), text_of(params.get("toModel"))
    if old is None or new is None:
        return []
    text = f"The turn goes on with the model {new} in place of {old}."
    return [turn.normalizer.notice("provider.model_rerouted", "warning", text)]


_READERS: Final[dict[str, Callable[[OpenTurn, Members], Heard]]] = {
    "item/started": _item_started,
    "item/completed": _item_completed,
    "item/agentMessage/delta": _text_reader("text"),
    "item/plan/delta": _text_reader("plan"),
    "item/reasoning/summaryTextDelta": _text_reader("summary", "summaryIndex"),
    "item/reasoning/textDelta": _text_reader("content", "contentIndex"),
    "item/commandExecution/outputDelta": _output,
    "item/fileChange/outputDelta": _output,
    "item/fileChange/patchUpdated": _patch_updated,
    "turn/plan/updated": _plan_updated,
    "error": _error,
    "model/rerouted": _model_rerouted,
}

TURN_FRAMES: Final = frozenset(_READERS)
"""Notifications that say something of exactly one turn, beside its start and its end."""
