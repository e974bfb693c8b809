"""One scope's claim on a connection, from the moment it is asked for until nothing of it is left.

Owns the data that admission and pool share about it, and the reference that its holder gets. Whoever wants the
same scope again waits for the claim before it (FC-52): two processes never hold one conversation.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import attrs
import trio

from runtime.providers.connection import ProviderConnection
from runtime.providers.connection_info import ConnectionInfo
from runtime.providers.launch import LaunchSpecification
from runtime.providers.port import ConnectionCommand, ProviderDescriptor, Scope
from runtime.providers.routes import ScopeSink
from store.canonical.common import TurnError

TenancyPhase: TypeAlias = Literal["acquiring", "held", "leaving"]


class AcquireFailed(Exception):
    """There is no connection for this scope now; `error` says why in the words of the contract.

    Not `ConnectionLost`: that is an event of a connection somebody had.
    """

    def __init__(self, error: TurnError, connection: ConnectionInfo | None = None) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.error = error
        self.connection = connection
        """The connection that failed to start, with the end of its stderr (FC-50); for an admin only."""


class ScopeInUse(Exception):
    """The scope is held with another sink or launch: a bug of the caller, who has to release it first."""


@attrs.define(eq=False)
class LiveConnection:
    """A connection in the pool's books, until nothing of its process is left."""

    connection: ProviderConnection
    capacity: int
    pending: set["Tenancy"] = attrs.field(factory=set)
    """Placed here, waiting for it to become ready."""
    leaving: list["Tenancy"] = attrs.field(factory=list)
    """Gone from it, but not to be held elsewhere before its process has ended."""
    holds_start_slot: bool = True

    @property
    def tenants(self) -> int:
        """How many scopes it serves or is to serve."""
        return len(self.pending) + self.connection.scopes

    @property
    def has_room(self) -> bool:
        """Whether one more scope may share it."""
        return self.connection.takes_scopes and self.tenants < self.capacity


@attrs.define(eq=False)
class Tenancy:
    """A scope's claim. `live` is where it was placed, `refusal` why it will not be."""

    scope: Scope
    launch: LaunchSpecification
    sink: ScopeSink
    descriptor: ProviderDescriptor
    capacity: int
    phase: TenancyPhase = "acquiring"
    live: LiveConnection | None = None
    refusal: AcquireFailed | None = None
    reference: "ConnectionReference | None" = None
    joined: Scope | None = None
    """Whose connection it joined, as a fork of what that scope has there."""
    placed: trio.Event = attrs.field(factory=trio.Event)
    settled: trio.Event = attrs.field(factory=trio.Event)
    """Acquiring has come to an end, one way or the other."""
    gone: trio.Event = attrs.field(factory=trio.Event)
    """The scope may be acquired again."""


class ConnectionReference:
    """What the holder of a scope has in hand. Made by the pool; dead after release, force or ConnectionLost."""

    def __init__(
        self,
        tenancy: Tenancy,
        connection: ProviderConnection,
        release: Callable[[Tenancy], None],
        force: Callable[[Tenancy, str], None],
    ) -> None:
        self._tenancy = tenancy
        self._connection = connection
        self._release = release
        self._force = force

    @property
    def scope(self) -> Scope:
        """Whose it is."""
        return self._tenancy.scope

    @property
    def connection(self) -> ConnectionInfo:
        """What `debug/session` may show, as it stands now; also after the end."""
        return self._connection.info()

    @property
    def is_live(self) -> bool:
        """Whether events still come and commands still go."""
        return self._tenancy.phase == "held"

    def tell(self, command: ConnectionCommand) -> bool:
        """Hand a command to the provider's adapter, in this step.

        False when that did not happen, so that the provider surely knows nothing of it: the reference is dead, or
        the command would begin a turn on a connection that is being given up. ConnectionLost is then on its way or
        was there already.
        """
        if command.scope != self.scope:
            raise ValueError(f"a command of {command.scope} on the connection of {self.scope}")
        return self.is_live and self._connection.tell(command)

    def release(self) -> None:
        """Give it back: the conversation is ended on the wire, and with the last scope the process. Idempotent."""
        self._release(self._tenancy)

    def force(self, reason: str) -> None:
        """Give it back from a provider that does not obey (FC-12): nothing of it is heard again.

        The connection takes nobody new, the turns of other scopes may end within a bound, then the process is
        killed; a process of this scope alone is ended at once. Idempotent; without effect on a dead reference.
        """
        self._force(self._tenancy, reason)

    async def wait_gone(self) -> None:
        """Until the scope may be acquired again: at once on a shared connection, else when the process has ended."""
        await self._tenancy.gone.wait()
