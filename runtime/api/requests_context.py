"""What a handler gets: the request, its client, and the services of the API. Handlers keep nothing of it."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, Protocol, TypeVar

import attrs

from runtime.actors.session import SessionDirectory
from runtime.actors.tails import TailRegistry
from runtime.api.access import AccessControl
from runtime.api.authentication import Principal
from runtime.api.clients import ClientList
from runtime.api.event_hub import EventHub
from runtime.api.inspection import Inspection
from runtime.api.outbound_queue import OutboundQueue
from runtime.api.request_sink import RequestSink
from runtime.api.subscription import Subscription
from runtime.catalogue.catalogues import Catalogues
from runtime.observability.metrics import MetricFamily
from runtime.operations.create_session import CreateOperation
from runtime.operations.operation import Releasable, WatchedSink
from runtime.operations.session_runtime import SessionRuntimeOperations
from runtime.operations.session_trees import SessionTreeOperations
from runtime.operations.sides import SideOperations
from runtime.ports import IdentifierSource, WallClock
from runtime.providers.side_facts import SideFacts
from runtime.refusal import Refusal
from runtime.wire.limits import Limits
from runtime.wire.replies import HealthReadReply
from runtime.wire.rows import ServerInfo, Target
from store.canonical.identifiers import SessionKey, TargetId
from store.canonical.session import Session, SessionRuntime
from store.port import StoreReader, StoreWriter

P = TypeVar("P")


class TargetListing(Protocol):
    """The targets as clients see them."""

    def listing(self) -> tuple[Target, ...]:
        """All of them, in the order of the configuration (PR-006)."""

    def refusal_for(self, target_id: TargetId) -> Refusal | None:
        """Why this target cannot serve, as far as is known without a provider."""

    def side_facts(self, session: Session) -> SideFacts:
        """What its provider family can do at least about ephemeral forks of this session."""


class StartOperation(Protocol):
    """Starts an operation task."""

    def __call__(
        self,
        body: Callable[[WatchedSink], Awaitable[None]],
        sink: RequestSink,
        mark: Releasable,
        more_seconds: float = 0.0,
    ) -> None:
        """`more_seconds` is how much longer than `lifecycleTimeoutSeconds` it may take."""


@attrs.frozen
class ApiServices:
    """Everything the API serves from. Nothing here waits, except what runs as an operation."""

    reader: StoreReader
    writer: StoreWriter
    hub: EventHub
    tails: TailRegistry
    sessions: SessionDirectory
    runtime_of: Callable[[SessionKey], SessionRuntime]
    """The live observation that reads lay over a Session row."""
    create: CreateOperation
    runtimes: SessionRuntimeOperations
    trees: SessionTreeOperations
    sides: SideOperations
    targets: TargetListing
    catalogues: Catalogues
    health: Callable[[], HealthReadReply]
    metrics: Callable[[], tuple[MetricFamily, ...]]
    clients: ClientList
    inspection: Inspection
    access: AccessControl
    start_operation: StartOperation
    limits: Limits
    server_info: ServerInfo
    clock: WallClock
    identifiers: IdentifierSource
    stopping: Callable[[], bool]


class ClientView(Protocol):
    """The client a handler works for."""

    subscriptions: dict[int, Subscription]

    @property
    def principal(self) -> Principal:
        """Who it is and what it may do."""

    @property
    def queue(self) -> OutboundQueue:
        """The only way out."""

    @property
    def source(self) -> Hashable:
        """Names the client in mailboxes: its commands keep their order."""

    def next_subscription_id(self) -> int:
        """A number unique on this connection."""


@attrs.frozen
class Request(Generic[P]):
    """One admitted request."""

    params: P
    sink: RequestSink
    client: ClientView
    services: ApiServices


Handled = Refusal | None
"""None: the reply was given, or comes by the sink."""
