"""All live tails of the daemon in one place: reads lay them over rows, the flusher writes them behind.

Owns the registry and the period of write-behind (`architecture rule 12`); the tails belong to their cells.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import structlog
import trio

from runtime.lifecycle.live_tail import LiveTail, TailLimits
from store.canonical.change import StreamPiece
from store.canonical.identifiers import MessageId, SessionKey
from store.canonical.message import Message
from store.port import StoreWriter
from supervisor.failpoints import failpoints

log = structlog.get_logger(__name__)

LATE_SECONDS: Final = 5.0
"""How long text may be written later than promised before that is a problem of health: a busy moment is none."""


class TailRegistry:
    """The live tail of each session that has a cell."""

    def __init__(self, limits: TailLimits) -> None:
        self._limits = limits
        self._tails: dict[SessionKey, LiveTail] = {}

    def of(self, key: SessionKey) -> LiveTail:
        """The session's tail; made when there is none."""
        tail = self._tails.get(key)
        if tail is None:
            tail = self._tails[key] = LiveTail(self._limits)
        return tail

    def forget(self, key: SessionKey) -> None:
        """The cell is gone; an empty tail goes with it."""
        tail = self._tails.get(key)
        if tail is not None and not len(tail):
            del self._tails[key]

    def lay_over(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Complete rows that still stream, in the step of the read that brought them (`architecture rule 13`)."""
        return tuple(self._complete(row) if row.status == "streaming" else row for row in messages)

    def streaming(self) -> Iterator[Message]:
        """Each message that streams now, as it stands."""
        for tail in self._tails.values():
            yield from tail.snapshots()

    def snapshot(self, key: SessionKey, message: Message) -> Message | None:
        """That message as it stands, or None when it no longer streams."""
        tail = self._tails.get(key)
        return tail.complete(message) if tail is not None and message.message_id in tail else None

    def streams(self, key: SessionKey, message_id: MessageId) -> bool:
        """Whether that message still streams."""
        tail = self._tails.get(key)
        return tail is not None and message_id in tail

    def give_back(self, pieces: Sequence[StreamPiece]) -> None:
        """These were taken and are not stored."""
        for piece in pieces:
            tail = self._tails.get(SessionKey(piece.workspace_id, piece.agent_session_id))
            if tail is not None:
                tail.give_back(piece)

    def take_unwritten(self) -> list[StreamPiece]:
        """Everything the store does not have yet."""
        return [piece for tail in self._tails.values() for piece in tail.take_unwritten()]

    def _complete(self, row: Message) -> Message:
        tail = self._tails.get(SessionKey(row.workspace_id, row.agent_session_id))
        return row if tail is None else tail.complete(row)


@attrs.define
class Flusher:
    """Writes live tails behind, every half period, with one flush in flight (promise 4)."""

    tails: TailRegistry
    writer: StoreWriter
    write_behind_ms: int
    failures: int = 0
    _durable_through: float | None = attrs.field(default=None, init=False)
    """On trio's clock: what was said before this is durable."""
    _late_since: float | None = attrs.field(default=None, init=False)

    def problems(self) -> Iterator[str]:
        """What `health/read` says of it: text is not durable within the period, and has not been for a while."""
        now, period_seconds = trio.current_time(), self.write_behind_ms / 1000
        stuck = (
            self._durable_through is not None and now - self._durable_through > period_seconds + LATE_SECONDS
        )
        if stuck or (self._late_since is not None and now - self._late_since > LATE_SECONDS):
            yield "store.text_late"

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Flush until cancelled."""
        self._durable_through = trio.current_time()
        task_status.started()
        while True:
            await trio.sleep(self.write_behind_ms / 2000)
            await self.flush()

    async def flush(self) -> None:
        """Write what is unwritten now, and wait for it. What the store did not take is written with the next."""
        began_at = trio.current_time()
        pieces = self.tails.take_unwritten()
        if not pieces:
            self._note(began_at)
            return
        if failpoints.on:
            await failpoints.reach("write_behind.flush.before")
        done = trio.Event()

        def complete(written: bool) -> None:
            if written:
                self._note(began_at)
            else:
                self.failures += 1
                self.tails.give_back(pieces)
                log.warning("streamed text was not written behind", pieces=len(pieces))
            done.set()

        self.writer.submit_pieces(pieces, complete)
        await done.wait()
        if failpoints.on:
            await failpoints.reach("write_behind.flush.after")

    def _note(self, began_at: float) -> None:
        """Everything said before `began_at` is durable now."""
        now = trio.current_time()
        before = began_at if self._durable_through is None else self._durable_through
        if now - before <= self.write_behind_ms / 1000:
            self._late_since = None
        elif self._late_since is None:
            self._late_since = now
        self._durable_through = began_at
