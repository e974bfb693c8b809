"""What every operation task shares: its place among its client's commands, its deadline, and its one answer."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

import attrs
import structlog
import trio

from runtime.actors.replies import Outcome, ReplySink
from runtime.refusal import Refusal
from store.canonical.identifiers import SessionKey
from store.canonical.session import Session
from store.errors import RowError
from store.port import StoreReader
from supervisor.cell import guard
from supervisor.errors import ActorStopped, LifecycleTimeout, MailboxFull

log = structlog.get_logger(__name__)

OVERLOADED_RETRY_MS = 250


class Releasable(Protocol):
    """The place, or the places, of an operation among its client's commands."""

    def release(self) -> None:
        """Let pass what waited behind it. Harmless when repeated."""


@attrs.frozen
class NoMark:
    """The place of what holds back nothing that is asked of a session."""

    def release(self) -> None:
        """See `Releasable`."""


def known(reader: StoreReader, key: SessionKey) -> Session | Refusal:
    """The session's row, or why there is none to work with."""
    session = reader.session(key).value
    if session is None:
        return Refusal("session.not_found")
    return Refusal("session.deleted") if session.deleted_at is not None else session


@attrs.define(eq=False)
class WatchedSink:
    """Passes the outcome on to the client in the step it is given, and lets the operation wait for it."""

    sink: ReplySink
    answered: trio.Event = attrs.field(factory=trio.Event)
    refused: Refusal | None = None
    """The no that was given."""

    def deliver(self, outcome: Outcome, commit_seq: int) -> None:
        """The result."""
        self.sink.deliver(outcome, commit_seq)
        self.answered.set()

    def refuse(self, refusal: Refusal) -> None:
        """The typed no."""
        self.sink.refuse(refusal)
        self.refused = self.refused or refusal
        self.answered.set()


async def run_operation(
    body: Callable[[WatchedSink], Awaitable[None]],
    sink: ReplySink,
    mark: Releasable,
    deadline_seconds: float,
) -> None:
    """Run an operation to its answer. However it ends, its mark is released and its caller told (rule 16)."""
    watched = WatchedSink(sink)
    try:
        with trio.move_on_after(deadline_seconds), guard(partial(_failed, watched)):
            await body(watched)
            await watched.answered.wait()
    finally:
        mark.release()
        if not watched.answered.is_set():
            # What was told to a session is not taken back: its outcome is a fact that is read later.
            watched.refuse(Refusal("provider.timeout", delivery="unknown"))


def _failed(watched: WatchedSink, error: Exception) -> None:
    """Tell the caller why. A bug costs its own operation: the task runs beside those of all sessions."""
    match error:
        case LifecycleTimeout():
            log.warning("an operation could not take its lifecycle locks", reason=str(error))
            watched.refuse(Refusal("provider.timeout"))
        case MailboxFull():
            watched.refuse(Refusal("overloaded", retry_after_ms=OVERLOADED_RETRY_MS))
        case ActorStopped():
            watched.refuse(Refusal("shutdown.in_progress"))
        case RowError():
            log.error("a stored row cannot be read", reason=str(error))
            watched.refuse(Refusal("session.quarantined"))
        case _:
            log.error("an operation crashed", exc_info=error)
            watched.refuse(Refusal("internal", delivery="unknown"))
