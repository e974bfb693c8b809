"""The client: typed requests and subscriptions over a connection that is had again when it is lost.

Owns the task that keeps the connection and what waits for it. Made by `connecting.connect` and its siblings, within
whose body it lives. Runs under asyncio and trio alike.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, Literal, TypeAlias

import anyio
import attrs
from anyio.abc import TaskGroup

from greenroom_client.connection import Connection, LinkSource
from greenroom_client.contract.methods import READ_METHODS, Methods
from greenroom_client.contract.models import InitializeReply
from greenroom_client.errors import (
    ClientError,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    fresh,
)
from greenroom_client.reconnect import Reconnect
from greenroom_client.subscription import (
    ACTIVITY,
    BufferLimits,
    Deltas,
    Position,
    Subscription,
    SubscriptionParams,
    Topic,
)

ConnectionState: TypeAlias = Literal["connecting", "connected", "closed"]
READ_ATTEMPTS_MAX: Final = 3


@attrs.frozen(kw_only=True)
class ClientOptions:
    """What a caller of `connect` may choose."""

    name: str = "greenroom-client"
    """Who connects, for the daemon's log."""
    version: str | None = None
    reconnect: Reconnect = attrs.field(factory=Reconnect)
    connect_timeout_seconds: float = 10.0
    """For one attempt, from the first byte to the reply to `initialize`."""
    connection_wait_seconds: float = 30.0
    """How long a request waits while the connection is being had again; then it raises `DaemonUnreachable`."""
    requests_max: int = 64
    """In flight at once; a further one waits for its turn, in the order of asking."""
    on_state: Callable[[ConnectionState], None] | None = None
    """Told of each change of `Client.state`, in the step that changes it (AP-018)."""


class Client(Methods):
    """Talks to one daemon. Any number of tasks may use it at once."""

    def __init__(self, links: LinkSource, options: ClientOptions) -> None:
        self._links = links
        self._options = options
        self._slots = anyio.Semaphore(options.requests_max)
        self._connection: Connection | None = None
        self._failure: ClientError | None = None
        self._changed = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._state: ConnectionState = "connecting"

    # --- requests -------------------------------------------------------------------------------------------------

    @property
    def state(self) -> ConnectionState:
        """`closed` is the end: the connection could not be had again, or the client was left."""
        return self._state

    @property
    def hello(self) -> InitializeReply:
        """What the daemon said of itself on the newest connection: methods, features, scope, limits."""
        assert self._connection is not None, "a client is handed out when it has been welcomed"
        return self._connection.hello

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """The result of any method, by its name on the wire; the typed calls all come through here.

        Raises `GreenroomError` for a refusal. While there is no connection it waits for one, at most
        `connection_wait_seconds`; for a deadline of the whole call put `anyio.fail_after` around it. A command whose
        connection is lost in the middle raises `ConnectionLost`, a read is asked again. Cancelling forgets the reply
        and leaves the connection as it is.
        """
        async with self._slots:
            attempt = 0
            while True:
                attempt += 1
                connection = await self._connected_soon()
                try:
                    return await connection.request(method, params)
                except ConnectionLost:
                    if method not in READ_METHODS or attempt >= READ_ATTEMPTS_MAX:
                        raise

    async def _connected_soon(self) -> Connection:
        seconds = self._options.connection_wait_seconds
        try:
            with anyio.fail_after(seconds):
                return await self.connected()
        except TimeoutError as error:
            raise DaemonUnreachable(f"no connection came back within {seconds:g} s") from error

    async def connected(self) -> Connection:
        """The connection, waited for. Raises why there is none any more."""
        while True:
            if self._failure is not None:
                raise fresh(self._failure)
            if self._connection is not None and self._connection.lost is None:
                return self._connection
            await self._changed.wait()

    # --- subscriptions --------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def subscribe(
        self,
        workspace_id: str,
        *,
        topics: Sequence[Topic] = (ACTIVITY,),
        agent_session_ids: Sequence[str] | None = None,
        deltas: Deltas = "all",
        after: Position | None = None,
        buffer: BufferLimits | None = None,
    ) -> AsyncIterator[Subscription]:
        """Events of a workspace, or of all with "*", for as long as the body runs.

        The body starts when the subscription stands: what is read from then on misses nothing. `after` is the
        `position` of an earlier subscription to go on from. Lost connections are bridged; a `gap` event says what was
        lost with one. Raises `GreenroomError` when it is refused.
        """
        if self._tasks is None:
            raise ConnectionLost("the client has been left")
        subscription = Subscription(
            SubscriptionParams(
                workspace_id=workspace_id,
                topics=tuple(topics),
                agent_session_ids=None if agent_session_ids is None else tuple(agent_session_ids),
                deltas=deltas,
            ),
            buffer or BufferLimits(),
            after,
        )
        scope = anyio.CancelScope()
        self._tasks.start_soon(self._keep_subscription, subscription, scope)
        try:
            await subscription.attached.wait()
            if subscription.failure is not None:
                raise subscription.failure
            yield subscription
        finally:
            scope.cancel()
            subscription.close()

    async def _keep_subscription(self, subscription: Subscription, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                await subscription.run(self.connected)
        finally:
            subscription.fail(ConnectionLost("the subscription has been left"))

    # --- the connection -------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Client"]:
        """The client for as long as the body runs; entered once. Raises why the first connection could not be had.

        What the body raises leaves as it is, not in a group.
        """
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._keep_connection)
            try:
                await self.connected()
                yield self
            except Exception as error:  # noqa: BLE001 -- raised again, outside the group
                failure = error
            finally:
                self._tasks = None
                self._fail(ConnectionLost("the client has been left"))
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _keep_connection(self) -> None:
        """One connection after the other, until one cannot be had."""
        reconnect, attempts = self._options.reconnect, 0
        while True:
            began, before = anyio.current_time(), self._connection
            failure = await self._one_connection()
            if self._connection is None or not _is_passing(failure):
                self._fail(failure)
                return
            lasted = anyio.current_time() - began > reconnect.longest_pause_seconds
            attempts = 1 if lasted and self._connection is not before else attempts + 1
            if attempts > reconnect.attempts_max:
                self._fail(failure)
                return
            self._tell("connecting")
            await anyio.sleep(reconnect.pause_seconds(attempts))

    async def _one_connection(self) -> ClientError:
        """A connection from its first byte to its last; why it ended, or why there was none."""
        timeout_seconds = self._options.connect_timeout_seconds
        with anyio.move_on_after(timeout_seconds) as opening:
            try:
                link = await self._links()
            except ClientError as error:
                return error
            async with aclosing(link):
                connection = Connection(link)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(connection.read)
                    tasks.start_soon(connection.write)
                    try:
                        await connection.initialize(self._client_info())
                        opening.deadline = float("inf")
                        self._become(connection)
                        await connection.ended.wait()
                    except ClientError as error:
                        connection.end(ConnectionLost(str(error)))
                        tasks.cancel_scope.cancel()
                        return error
                    finally:
                        connection.end(ConnectionLost("the client let the connection go"))
                    tasks.cancel_scope.cancel()
                assert connection.lost is not None
                return connection.lost
        return DaemonUnreachable(f"no answer within {timeout_seconds:g} s")

    def _client_info(self) -> dict[str, str]:
        info = {"name": self._options.name}
        return info if self._options.version is None else {**info, "version": self._options.version}

    def _become(self, connection: Connection) -> None:
        self._connection = connection
        self._tell("connected")
        self._changed.set()
        self._changed = anyio.Event()

    def _fail(self, failure: ClientError) -> None:
        if self._failure is None:
            self._failure = failure
            self._tell("closed")
            self._changed.set()

    def _tell(self, state: ConnectionState) -> None:
        if state != self._state:
            self._state = state
            if self._options.on_state is not None:
                self._options.on_state(state)


def _is_passing(failure: ClientError) -> bool:
    """Whether another attempt may go better."""
    if isinstance(failure, GreenroomError):
        return failure.retryable
    return isinstance(failure, (ConnectionLost, DaemonUnreachable))
