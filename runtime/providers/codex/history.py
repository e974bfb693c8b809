"""What Codex keeps of a thread's turns, read from `thread/turns/list`, and which of them is the one asked for.

Pure. The list is the owner's only where the thread is loaded: a process that does not own it reports a running turn as
interrupted. A turn is known by its id, or by the name that was given to its prompt: both are exact, no guess is made.
"""

from typing import Final

import attrs

from runtime.providers.codex.items import Item, PromptItem, read_item
from runtime.providers.jsonrpc.members import list_of, object_of, text_of
from store.canonical.common import Json

PAGE_TURNS: Final = 5
"""What is asked for are turns that ended last; each may be megabytes with its items."""
ENDED: Final = frozenset({"completed", "interrupted", "failed"})


@attrs.frozen
class KeptTurn:
    """One turn as Codex keeps it."""

    provider_turn_id: str
    status: str
    error: Json
    items: tuple[Item, ...]

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.status in ENDED

    def has_prompt(self, client_id: str) -> bool:
        """Whether a prompt of this name began it, or was added to it."""
        return any(isinstance(item, PromptItem) and item.client_id == client_id for item in self.items)


def list_params(thread_id: str) -> Json:
    """Params of `thread/turns/list` for the newest turns, with all their items."""
    return {"threadId": thread_id, "itemsView": "full", "limit": PAGE_TURNS}


def read_turns(result: Json) -> tuple[KeptTurn, ...]:
    """Read a page, newest turn first; a turn without an id or a status is left out."""
    turns = (_read_turn(value) for value in list_of(object_of(result).get("data")))
    return tuple(turn for turn in turns if turn is not None)


def find_turn(
    turns: tuple[KeptTurn, ...], provider_turn_ids: frozenset[str], client_id: str
) -> KeptTurn | None:
    """The turn of one of these ids, or the one this prompt went into."""
    by_id = next((turn for turn in turns if turn.provider_turn_id in provider_turn_ids), None)
    return by_id or next((turn for turn in turns if turn.has_prompt(client_id)), None)


def _read_turn(value: Json) -> KeptTurn | None:
    members = object_of(value)
    turn_id, status = text_of(members.get("id")), text_of(members.get("status"))
    if turn_id is None or status is None:
        return None
    items = tuple(read_item(item) for item in list_of(members.get("items")))
    return KeptTurn(turn_id, status, members.get("error"), items)
