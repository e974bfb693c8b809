"""All clients that are connected, and what those who left have had: figures that outlive a connection.

Owns the list and the sums. Each client's own bounds are kept by itself; who may connect is the front's.
"""

from collections.abc import Iterator

import attrs

from runtime.api.outbound_queue import OutboundQueue, QueueStatistics


@attrs.define
class DeliveryFigures:
    """What was sent, and what was not, since the daemon started. `*_dropped` and `*_deferred` never are errors."""

    bytes_written: int = 0
    replies: int = 0
    facts: int = 0
    facts_deferred: int = 0
    """Facts that found no room and were left to the log."""
    deltas: int = 0
    deltas_dropped: int = 0

    def add(self, queue: QueueStatistics) -> None:
        """Count in what one client's queue has done."""
        self.bytes_written += queue.bytes_written
        self.replies += queue.replies
        self.facts += queue.facts
        self.facts_deferred += queue.facts_refused
        self.deltas += queue.deltas
        self.deltas_dropped += queue.deltas_dropped


@attrs.define(eq=False)
class ClientList:
    """The queues of all clients that are there."""

    _queues: set[OutboundQueue] = attrs.field(factory=set, init=False)
    _past: DeliveryFigures = attrs.field(factory=DeliveryFigures, init=False)

    def __len__(self) -> int:
        return len(self._queues)

    def __iter__(self) -> Iterator[QueueStatistics]:
        return (queue.statistics() for queue in self._queues)

    def add(self, queue: OutboundQueue) -> None:
        """A client came."""
        self._queues.add(queue)

    def remove(self, queue: OutboundQueue) -> None:
        """It left; what it had stays counted."""
        self._queues.discard(queue)
        self._past.add(queue.statistics())

    def figures(self) -> DeliveryFigures:
        """Of all clients there ever were."""
        sums = attrs.evolve(self._past)
        for statistics in self:
            sums.add(statistics)
        return sums
