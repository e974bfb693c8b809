"""What an app-server keeps of its threads, and who of several on one home may write to each.

Threads outlive their process here, as rollout files do. A thread has one writer; a process that ends, however, lets
go of its threads. Standard library only.
"""

import json
from typing import Any, Protocol, TypeAlias

Record: TypeAlias = dict[str, Any]
"""A thread as it is kept: its settings, and its turns with their items."""


class Rollouts(Protocol):
    """The home that processes share."""

    def load(self, thread_id: str) -> Record | None:
        """The thread, or None when there is no rollout of it."""

    def save(self, thread_id: str, record: Record) -> None:
        """Keep it, in place of what was kept before."""

    def claim(self, thread_id: str, owner: str) -> bool:
        """Become its writer; false while another one is."""

    def release(self, thread_id: str, owner: str) -> None:
        """Be its writer no longer."""

    def release_all(self, owner: str) -> None:
        """The process is gone."""


class MemoryRollouts:
    """A home that lives as long as whoever holds it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._writers: dict[str, str] = {}

    def load(self, thread_id: str) -> Record | None:
        """See `Rollouts`."""
        text = self._texts.get(thread_id)
        record: Record | None = None if text is None else json.loads(text)
        return record

    def save(self, thread_id: str, record: Record) -> None:
        """See `Rollouts`."""
        self._texts[thread_id] = json.dumps(record)

    def claim(self, thread_id: str, owner: str) -> bool:
        """See `Rollouts`."""
        return self._writers.setdefault(thread_id, owner) == owner

    def release(self, thread_id: str, owner: str) -> None:
        """See `Rollouts`."""
        if self._writers.get(thread_id) == owner:
            del self._writers[thread_id]

    def release_all(self, owner: str) -> None:
        """See `Rollouts`."""
        self._writers = {name: writer for name, writer in self._writers.items() if writer != owner}
