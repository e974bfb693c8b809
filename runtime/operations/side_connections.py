"""Which connection makes a Side: its source's, or a process of the Side's own.

Owns the order in which they are tried. A fork in the source's connection has that very moment of it; a process of its own
reads what is kept of the source. Where a process hosts one conversation, the fork has its own even beside a live source,
and a conversation of which nothing is kept can only be asked where it lives (RT-110, RT-120).
"""

from typing import Protocol

from runtime.providers.port import Scope
from runtime.providers.routes import ScopeSink
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from store.canonical.session import Session


class SideConnections(Protocol):
    """Where a Side gets its connection."""

    def forks_apart(self, session: Session) -> bool:
        """Whether a fork of it has a process of its own, even while the session has one."""

    def join(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference | None:
        """The connection the session holds now, for one more scope; None when it holds none."""

    async def acquire_own(
        self, session: Session, scope: Scope, sink: ScopeSink, instructions: str | None
    ) -> ConnectionReference:
        """A process of the scope's own, in the session's home. Raises AcquireFailed."""

    async def left(self, scope: Scope) -> None:
        """Until nothing is left of a connection that the scope had, or tried to have."""


async def connection_for_fork(
    connections: SideConnections, session: Session, scope: Scope, sink: ScopeSink, instructions: str | None
) -> ConnectionReference:
    """The connection that is to fork this session, ready. Raises AcquireFailed."""
    apart = connections.forks_apart(session)
    joined = None if apart else connections.join(session, scope, sink)
    if joined is not None:
        return joined
    try:
        return await connections.acquire_own(session, scope, sink, instructions)
    except AcquireFailed as failed:
        if not apart or failed.error.code != "session.not_resumable":
            raise
        # Nothing of it is kept, or not yet. The scope's claim on the process that found nothing has to end first.
        await connections.left(scope)
        joined = connections.join(session, scope, sink)
        if joined is None:
            raise
        return joined
