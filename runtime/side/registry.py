"""Which Sides there are: reserved, open, or remembered as ended, and who owns each.

Owns identity alone: one id is one Side of one source as long as it is known, and its owner is a connection together with
a surface of that client. It performs nothing; who ends a Side, and when, is decided by its callers (RT-112, RT-126).
"""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

import attrs

from runtime.refusal import Refusal
from store.canonical.identifiers import SessionKey

L = TypeVar("L")


@attrs.define(eq=False)
class SideEntry(Generic[L]):
    """One Side from its reservation to its end. `live` is what its holder keeps with it."""

    key: SessionKey
    source: SessionKey
    surface_id: str
    owner: Hashable
    """The connection whose end closes it."""
    live: L


class SideRegistry(Generic[L]):
    """All Sides of the service.

    Args:
        sides_max: open and opening ones together.
        tombstones_max: ended ones that are remembered; the oldest is forgotten first.
    """

    def __init__(self, sides_max: int, tombstones_max: int) -> None:
        self._sides_max = sides_max
        self._tombstones_max = tombstones_max
        self._entries: dict[SessionKey, SideEntry[L]] = {}
        self._ended: dict[SessionKey, None] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[SideEntry[L]]:
        return iter(tuple(self._entries.values()))

    def find(self, key: SessionKey) -> SideEntry[L] | None:
        """The Side of this id, if it has not ended."""
        return self._entries.get(key)

    def refusal(self, key: SessionKey) -> Refusal:
        """Why there is no Side of this id."""
        return Refusal("side.expired" if key in self._ended else "side.not_found")

    def reserve_refusal(self, key: SessionKey, source: SessionKey) -> Refusal | None:
        """Why this id cannot be a Side of that source; None as well when it is one already."""
        entry = self._entries.get(key)
        if entry is not None:
            return None if entry.source == source else Refusal("side.exists")
        if key in self._ended:
            return Refusal("side.expired")
        if len(self._entries) >= self._sides_max:
            return Refusal("limit.exceeded", details={"limit": "maxSides"})
        return None

    def reserve(self, entry: SideEntry[L]) -> None:
        """From this step on the id is this Side's. Only where `reserve_refusal` had nothing against it."""
        assert entry.key not in self._entries, f"{entry.key} is reserved"
        self._entries[entry.key] = entry

    def cancel(self, entry: SideEntry[L]) -> None:
        """It did not open: nothing of it is remembered."""
        if self._entries.get(entry.key) is entry:
            del self._entries[entry.key]

    def end(self, entry: SideEntry[L]) -> None:
        """It has ended; its id answers so for as long as there is room to remember it."""
        if self._entries.get(entry.key) is not entry:
            return
        del self._entries[entry.key]
        self._ended[entry.key] = None
        while len(self._ended) > self._tombstones_max:
            del self._ended[next(iter(self._ended))]

    def of_source(self, source: SessionKey) -> list[SideEntry[L]]:
        """Those forked from this session."""
        return [entry for entry in self._entries.values() if entry.source == source]

    def of_owner(self, owner: Hashable) -> list[SideEntry[L]]:
        """Those that end with this connection."""
        return [entry for entry in self._entries.values() if entry.owner == owner]

    def of_surface(self, workspace_id: str, surface_id: str) -> list[SideEntry[L]]:
        """Those shown in this place, whoever owns them."""
        return [
            entry
            for entry in self._entries.values()
            if entry.key.workspace_id == workspace_id and entry.surface_id == surface_id
        ]
