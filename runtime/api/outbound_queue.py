"""The one way out to a client: a queue of frames bounded by bytes. Performs no I/O.

Producers (dispatcher, hub) put whole messages and never wait; the one writer task takes bytes and reports what the
kernel took. Replies are never dropped; a committed fact over the bound is refused, so that its subscription falls
behind and is replayed from the log; a delta is dropped, so that its consumer gets a gap (contract §5, rule 11,
AP-021, FC-16). What is said on the wire about a gap or a replay is the hub's decision, not this module's.
"""

from collections import deque
from collections.abc import Callable

import attrs
import trio

from runtime.api.frames import text_header


@attrs.frozen
class QueueStatistics:
    """Counters of one client's queue since it connected; sizes in bytes."""

    bytes_queued: int
    bytes_queued_max: int
    bytes_written: int
    replies: int
    facts: int
    facts_refused: int
    deltas: int
    deltas_dropped: int


class OutboundQueue:
    """Frames for one client, in the order they were put; control frames overtake at a frame boundary.

    `bytes_queued` counts everything the kernel has not taken yet, the writer's hand included. Deltas stop at half of
    the bound, facts at the whole: so a flood of text alone never keeps the client's own requests, a Stop above all,
    from being read (rule 8: requests are read only while the queue is under half).

    A closed queue swallows what is put and says yes: nobody should begin to catch up with a client that is leaving.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._half_bytes = bytes_max // 2
        self._entries: deque[tuple[bytes, bytes]] = deque()
        self._controls: deque[bytes] = deque()
        self._pong: bytes | None = None
        self._ping: bytes | None = None
        self._close: bytes | None = None
        self._waiting_bytes = 0
        self._taken_bytes = 0
        self._closed = False
        self._finished = False
        self._wake: trio.Event | None = None
        self._room: trio.Event | None = None
        self._refill_under_bytes: int | None = None
        self._drained_callbacks: list[Callable[[], None]] = []
        self.congested = False
        """True while the last write had to wait for the kernel: merging a little longer then costs nothing."""
        self._bytes_queued_max = 0
        self._bytes_written = 0
        self._replies = 0
        self._facts = 0
        self._facts_refused = 0
        self._deltas = 0
        self._deltas_dropped = 0

    # For the dispatcher and the hub.

    @property
    def bytes_queued(self) -> int:
        """Bytes put and not yet taken by the kernel."""
        return self._waiting_bytes + self._taken_bytes

    @property
    def closed(self) -> bool:
        """True once the connection is ending: whatever is put from now on goes nowhere."""
        return self._closed

    def put_reply(self, payload: bytes) -> None:
        """Queues the reply to a request: never refused, since the bound on requests in flight bounds it."""
        if not self._closed:
            self._replies += 1
            self._append(text_header(len(payload)), payload)

    def put_fact(self, prefix: bytes, body: bytes) -> bool:
        """Queues a committed fact; False means over the bound: replay it from the log after `on_drained`.

        `body` is shared between clients and not copied. An empty queue takes a fact of any size, else one as large
        as the bound could never be delivered.
        """
        if self._closed:
            return True
        head = text_header(len(prefix) + len(body)) + prefix
        queued = self._waiting_bytes + self._taken_bytes
        if queued and queued + len(head) + len(body) > self._bytes_max:
            self._facts_refused += 1
            self._refused_at(queued)
            return False
        self._facts += 1
        self._append(head, body)
        return True

    def put_delta(self, prefix: bytes, body: bytes) -> bool:
        """Queues an optimistic delta; False means it was dropped: mark a gap, send a snapshot after `on_drained`."""
        if self._closed:
            return True
        head = text_header(len(prefix) + len(body)) + prefix
        queued = self._waiting_bytes + self._taken_bytes
        if queued + len(head) + len(body) >= self._half_bytes:
            self._deltas_dropped += 1
            self._refused_at(queued)
            return False
        self._deltas += 1
        self._append(head, body)
        return True

    def below_half(self) -> bool:
        """Whether a request may be read from this client (rule 8)."""
        return self.bytes_queued < self._half_bytes

    async def wait_below_half(self) -> None:
        """Returns when `below_half`, at once when it is so now or when the queue is closed."""
        while not (self._closed or self.below_half()):
            if self._room is None:
                self._room = trio.Event()
            await self._room.wait()

    def on_drained(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls `callback` whenever there is room again for what was refused; returns the way to unregister.

        It is called in the writer's step each time the queue falls under half, and, when something was refused
        while it was under half already, when it falls under a quarter or is empty. It must not block or raise; it
        may put, and is called again after further refusals.
        """
        self._drained_callbacks.append(callback)

        def unregister() -> None:
            if callback in self._drained_callbacks:
                self._drained_callbacks.remove(callback)

        return unregister

    def statistics(self) -> QueueStatistics:
        """The counters as they stand."""
        return QueueStatistics(
            bytes_queued=self.bytes_queued,
            bytes_queued_max=self._bytes_queued_max,
            bytes_written=self._bytes_written,
            replies=self._replies,
            facts=self._facts,
            facts_refused=self._facts_refused,
            deltas=self._deltas,
            deltas_dropped=self._deltas_dropped,
        )

    # For the transport.

    @property
    def ping_waiting(self) -> bool:
        """True while our last ping has not left the queue."""
        return self._ping is not None

    def put_control(self, data: bytes) -> None:
        """Queues bytes that go before all messages: the answer to the handshake."""
        if not self._closed:
            self._controls.append(data)
            self._count_in(len(data))

    def put_pong(self, frame: bytes) -> None:
        """Queues a pong in place of an older one that has not left: the newest ping is the one to answer
        (RFC 6455 §5.5.3), and so a client that floods pings without reading costs one frame."""
        if not self._closed:
            before = len(self._pong or b"")
            self._pong = frame
            self._count_in(len(frame) - before)

    def put_ping(self, frame: bytes) -> None:
        """Queues our ping, unless one still waits."""
        if not self._closed and self._ping is None:
            self._ping = frame
            self._count_in(len(frame))

    def close(self, frame: bytes | None, *, flush: bool) -> None:
        """Ends the queue with a close frame: after what is queued (`flush`), or instead of it.

        With no frame everything is dropped and the writer is told that it has finished. The first call decides,
        but a later one without a frame still drops what is left: the connection is lost.
        """
        if self._closed and frame is not None:
            return
        self._closed = True
        self._close = frame
        if not flush:
            self._drop_messages()
        if frame is None:
            self._drop_messages()
            self._drop_controls()
            self._finished = True
        else:
            self._count_in(len(frame))
        self._notify()
        if self._room is not None:
            self._room.set()
            self._room = None

    # For the writer.

    @property
    def finished(self) -> bool:
        """True when nothing more will ever be given out: the close frame was taken, or the connection is lost."""
        return self._finished

    def take(self, bytes_max: int) -> list[bytes]:
        """The next pieces to write, whole frames only, until `bytes_max` is reached or passed; empty if none.

        Each piece is counted as queued until `written` says that the kernel took it.
        """
        pieces = self._take_controls()
        taken = sum(map(len, pieces))
        entries = self._entries
        while entries and taken < bytes_max:
            head, body = entries.popleft()
            pieces.append(head)
            if body:
                pieces.append(body)
            taken += len(head) + len(body)
        if self._close is not None and not entries:
            pieces.append(self._close)
            taken += len(self._close)
            self._close = None
            self._finished = True
        self._waiting_bytes -= taken
        self._taken_bytes += taken
        return pieces

    def written(self, count_bytes: int) -> None:
        """The kernel took `count_bytes` of what `take` gave: frees the room and tells those who wait for it."""
        before = self.bytes_queued
        self._taken_bytes -= count_bytes
        self._bytes_written += count_bytes
        queued = before - count_bytes
        if queued >= self._half_bytes and queued:
            return
        if self._room is not None:
            self._room.set()
            self._room = None
        refill_under = self._refill_under_bytes
        refill = refill_under is not None and (queued < refill_under or queued == 0)
        if refill or before >= self._half_bytes:
            self._refill_under_bytes = None
            for callback in tuple(self._drained_callbacks):
                callback()

    async def wait_ready(self) -> None:
        """Returns when `take` would give something or the queue has finished; always a checkpoint, so that a client
        that keeps up does not keep its writer from yielding."""
        if self._waiting_bytes or self._finished:
            await trio.lowlevel.checkpoint()
        while not (self._waiting_bytes or self._finished):
            self._wake = trio.Event()
            await self._wake.wait()

    def _append(self, head: bytes, body: bytes) -> None:
        self._entries.append((head, body))
        self._count_in(len(head) + len(body))

    def _count_in(self, count_bytes: int) -> None:
        # Runs for each delta of each client: one call, no property.
        self._waiting_bytes += count_bytes
        queued = self._waiting_bytes + self._taken_bytes
        if queued > self._bytes_queued_max:
            self._bytes_queued_max = queued
        if self._wake is not None:
            self._wake.set()
            self._wake = None

    def _notify(self) -> None:
        if self._wake is not None:
            self._wake.set()
            self._wake = None

    def _refused_at(self, queued_bytes: int) -> None:
        # A mark below the present level, so that what was refused here is worth a new attempt there.
        quarter = self._half_bytes // 2
        if queued_bytes >= self._half_bytes:
            mark = self._half_bytes
        else:
            mark = quarter if queued_bytes >= quarter else 0
        self._refill_under_bytes = max(mark, self._refill_under_bytes or 0)

    def _take_controls(self) -> list[bytes]:
        pieces = list(self._controls)
        self._controls.clear()
        if self._pong is not None:
            pieces.append(self._pong)
            self._pong = None
        if self._ping is not None:
            pieces.append(self._ping)
            self._ping = None
        return pieces

    def _drop_messages(self) -> None:
        self._waiting_bytes -= sum(len(head) + len(body) for head, body in self._entries)
        self._entries.clear()

    def _drop_controls(self) -> None:
        self._take_controls()
        self._waiting_bytes = 0
