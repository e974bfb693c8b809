"""Makes the cells of Sessions: mailbox, what outlives a crash, and the hooks that keep every caller answered."""

from collections.abc import Callable, Sequence
from functools import partial

import attrs
import structlog

from runtime.actors.family import SessionPost, WorkingChildren, never_begun
from runtime.actors.links import ConnectionSource, SessionLink
from runtime.actors.poisoned_session import PoisonedSession
from runtime.actors.replies import ReplySink
from runtime.actors.session import (
    SessionActor,
    SessionCell,
    SessionResources,
    SessionServices,
    UnitNotCommitted,
)
from runtime.actors.timers import SessionTimers
from runtime.lifecycle.inputs import FromProvider, FromRoot, ReloadCause, SessionInput, merge_inputs
from runtime.providers.normalized import (
    KeptItem,
    OfChild,
    TextChunk,
    ToolCallReported,
    ToolOutputChunk,
    TurnReconciled,
)
from runtime.refusal import Refusal
from store.canonical.identifiers import SessionKey
from store.errors import StoreUnavailable
from supervisor.actor import Behaviour
from supervisor.cell import Cell, CellHooks, CellPolicy
from supervisor.errors import ActorStopped
from supervisor.mailbox import Mailbox, MailboxLimits

log = structlog.get_logger(__name__)

STORE_REFUSALS = frozenset(
    {"store.full", "store.unavailable", "submit.conflict", "session.deleted", "attachment.not_found"}
)
"""Codes of a unit that was not committed although nothing was wrong with it."""
INPUT_BYTES = 512
"""What an input weighs besides its text."""


class SessionCells:
    """The factory the directory of Sessions works with."""

    def __init__(
        self,
        services: SessionServices,
        connections: ConnectionSource,
        spawn: Callable[..., None],
        limits: MailboxLimits,
        policy: CellPolicy,
        poisoned: frozenset[SessionKey] = frozenset(),
    ) -> None:
        """`poisoned` are the sessions that recovery had to set aside at the start."""
        self._services = services
        self._connections = connections
        self._spawn = spawn
        self._limits = limits
        self._policy = attrs.evolve(policy, counts=_is_fault)
        self._poisoned = poisoned

    def make(self, key: SessionKey) -> SessionCell:
        """The cell of one session."""
        children = WorkingChildren(key, self._services.post)
        resources = SessionResources(
            key=key,
            link=SessionLink(self._connections, self._spawn, children.lanes),
            timers=SessionTimers(self._spawn),
            children=children,
        )
        return Cell(
            Mailbox(self._limits, size=input_size, merge=merge_inputs),
            resources,
            factory=self._actor,
            quarantine_factory=lambda cell: SessionActor(cell, self._services, quarantined=True),
            hooks=CellHooks(
                on_discarded=partial(_answer_discarded, key, self._services.post),
                on_crash=partial(_crashed, resources),
                on_quarantine=partial(_quarantined, key),
            ),
            policy=self._policy,
        )

    def _actor(self, cell: SessionCell) -> Behaviour[SessionInput]:
        if cell.extra.key in self._poisoned:
            return PoisonedSession()
        return SessionActor(cell, self._services)


def input_size(given: SessionInput) -> int:
    """The weight of an input in its lane, in bytes."""
    if not isinstance(given, FromProvider | FromRoot):
        return INPUT_BYTES
    event = given.event.event if isinstance(given.event, OfChild) else given.event
    if isinstance(event, TextChunk | ToolOutputChunk):
        return INPUT_BYTES + len(event.text)
    if isinstance(event, ToolCallReported) and event.output_text:
        return INPUT_BYTES + len(event.output_text)
    if isinstance(event, TurnReconciled):
        return INPUT_BYTES + sum(map(_kept_size, event.items))
    return INPUT_BYTES


def _kept_size(item: KeptItem) -> int:
    return INPUT_BYTES + len((item.output_text or "") if isinstance(item, ToolCallReported) else item.text)


def _answer_discarded(
    key: SessionKey, post: SessionPost, messages: Sequence[SessionInput], error: Exception
) -> None:
    """Whoever waits for one of these is told: a crash never leaves a caller, or a root, without an answer."""
    for message in messages:
        lost = never_begun(key, message)
        if lost is not None:
            post.tell(lost.key, lost.message)
        reply: ReplySink | None = getattr(message, "reply", None)
        if reply is not None:
            reply.refuse(_refusal(error))


def _refusal(error: Exception) -> Refusal:
    match error:
        case UnitNotCommitted():
            known = error.code in ("store.full", "session.deleted", "attachment.not_found")
            return Refusal(error.code, delivery="not_dispatched" if known else "unknown")
        case ActorStopped():
            return Refusal("shutdown.in_progress")
        case _:
            return Refusal("internal", delivery="unknown")


def _is_fault(error: Exception) -> bool:
    """A store that takes no unit now is none of the session's: quarantine would outlast the full disk (FC-34)."""
    if isinstance(error, UnitNotCommitted):
        return error.code not in STORE_REFUSALS
    return not isinstance(error, StoreUnavailable)


def _cause(error: Exception) -> ReloadCause:
    """What the turn that was cut off is told: a disk that takes nothing now is no fault of ours (`contract §7`)."""
    match error:
        case StoreUnavailable() | UnitNotCommitted(code="store.unavailable"):
            return "store.unavailable"
        case UnitNotCommitted(code="store.full"):
            return "store.full"
        case _:
            return "internal"


def _crashed(resources: SessionResources, error: Exception) -> None:
    key = resources.key
    for reply in resources.waiting:
        # Its command was decided, and may have reached the provider: what came of it is told by a read.
        reply.refuse(attrs.evolve(_refusal(error), delivery="unknown"))
    resources.waiting.clear()
    resources.last_crash.cause = _cause(error)
    if not _is_fault(error):
        log.warning("a session starts again from what is stored", session=str(key), reason=str(error))
        return
    log.error("a session's actor crashed and is restarted", session=str(key), exc_info=error)


def _quarantined(key: SessionKey, error: Exception) -> None:
    log.error(
        "a session crashed too often and is set aside; `session/resume` takes it up again",
        session=str(key),
        cause=type(error).__name__,
    )
