"""What `metrics/read` and `GET /metrics` say: read off the parts each time, like health, and kept nowhere here."""

from collections.abc import Callable, Iterable, Iterator

import attrs

from runtime.actors.session import SessionDirectory
from runtime.actors.tails import Flusher
from runtime.actors.turn_book import TurnBook
from runtime.api.clients import ClientList
from runtime.api.event_hub import EventHub
from runtime.catalogue.inquiries import Inquiries
from runtime.observability.loop_lag import LoopLag
from runtime.observability.metrics import MetricFamily, by_label, counter, gauge, histogram
from runtime.observability.process_figures import ProcessFigures
from runtime.providers.connection_info import ConnectionState
from runtime.providers.pool import ConnectionPool
from runtime.wire.replies import HealthReadReply
from store.port import StoreReader, StoreWriter
from supervisor import ResourceSweeper

STATES: tuple[ConnectionState, ...] = ("starting", "ready", "draining", "ended")
STATUSES = ("ok", "degraded", "failing")


@attrs.define(eq=False)
class MetricsReport:
    """Reads the figures of the whole service in one step."""

    writer: StoreWriter
    reader: StoreReader
    hub: EventHub
    clients: ClientList
    turns: TurnBook
    sessions: SessionDirectory
    pool: ConnectionPool
    inquiries: Inquiries
    sweeper: ResourceSweeper
    flusher: Flusher
    lag: LoopLag
    health: Callable[[], HealthReadReply]
    process: Callable[[], ProcessFigures]
    counts: dict[str, int]
    """Odd but harmless things, by name."""
    further: list[Callable[[], Iterable[MetricFamily]]] = attrs.field(factory=list)
    """Sources outside of the controller, such as the front."""

    def read(self) -> tuple[MetricFamily, ...]:
        """All families, each name once."""
        parts = (
            self._sessions(),
            self._checkouts(),
            self._providers(),
            self._store(),
            self._delivery(),
            self._service(),
        )
        return tuple(family for source in (*parts, *(one() for one in self.further)) for family in source)

    def _sessions(self) -> Iterator[MetricFamily]:
        directory = self.sessions.statistics()
        yield gauge("sessions", "Sessions kept and not deleted.", self.reader.session_count())
        yield gauge("session_cells", "Sessions that are awake.", directory.cells)
        yield counter("session_activations_total", "Times a session was woken.", directory.activations)
        yield gauge("turns_unsettled", "Turns that have not ended.", self.turns.unsettled())
        yield counter("turns_submitted_total", "Turns begun.", self.turns.submitted)
        yield by_label("turns_settled_total", "Turns ended.", "counter", "outcome", dict(self.turns.ended))

    def _checkouts(self) -> Iterator[MetricFamily]:
        counts = self.reader.worktree_counts()
        kinds: dict[str, float] = {"used": counts.all - counts.kept, "kept": counts.kept}
        yield by_label(
            "checkouts", "Checkouts made for sessions; kept: after a purge.", "gauge", "state", kinds
        )

    def _providers(self) -> Iterator[MetricFamily]:
        pool = self.pool.statistics()
        states: dict[str, float] = {state: pool.connections.get(state, 0) for state in STATES}
        yield by_label("provider_processes", "Agent processes not gone yet.", "gauge", "state", states)
        yield gauge("provider_scopes", "Sessions that hold an agent process.", pool.scopes)
        yield gauge("admission_waiting", "Sessions that wait for an agent process.", pool.waiting)
        asked: dict[str, float] = {"told": self.inquiries.told, "failed": self.inquiries.failed}
        yield by_label(
            "inquiries_total", "Agents asked about themselves, and how.", "counter", "outcome", asked
        )
        yield gauge("inquiries_under_way", "Agents being asked about themselves.", self.inquiries.under_way)
        yield gauge("provider_starts_in_flight", "Agent processes being started.", pool.starts_in_flight)

    def _store(self) -> Iterator[MetricFamily]:
        figures, health = self.writer.figures, self.writer.health()
        yield histogram("commit_seconds", "From a unit's submission to its being told.", figures.commit)
        yield counter("commit_groups_total", "Transactions, each with one fsync.", figures.groups)
        yield by_label(
            "commits_refused_total", "Units not committed.", "counter", "code", dict(figures.refused)
        )
        yield counter("stream_pieces_total", "Pieces of streamed text written behind.", figures.pieces)
        yield counter(
            "stream_flush_failures_total", "Flushes of streamed text that failed.", self.flusher.failures
        )
        yield gauge("writer_queue", "Jobs that wait for the writer.", self.writer.waiting)
        sizes = {"database": health.bytes, "log": health.wal_bytes, "free": health.free_bytes}
        yield by_label("store_bytes", "Sizes of the store, and free space.", "gauge", "part", sizes)
        yield gauge("commit_seq", "The newest commit.", self.writer.head_commit_seq)

    def _delivery(self) -> Iterator[MetricFamily]:
        sums, queues = self.clients.figures(), [queue.bytes_queued for queue in self.clients]
        yield gauge("clients", "Clients connected.", len(self.clients))
        yield gauge("subscriptions", "Subscriptions of all clients.", len(self.hub))
        yield gauge("client_queue_bytes", "What waits for all clients together.", sum(queues))
        yield gauge("client_queue_bytes_max", "What waits for the slowest one.", max(queues, default=0))
        yield counter("client_bytes_total", "Bytes sent to clients.", sums.bytes_written)
        sent = {"reply": sums.replies, "fact": sums.facts, "optimistic": sums.deltas}
        yield by_label("client_messages_total", "Messages queued for clients.", "counter", "kind", sent)
        yield counter("client_deltas_dropped_total", "Deltas a client had no room for.", sums.deltas_dropped)
        yield counter(
            "client_facts_deferred_total", "Facts left to the log for a slow client.", sums.facts_deferred
        )
        yield counter("deltas_total", "Pieces of text numbered and published.", self.hub.figures.deltas)
        yield counter("stream_gaps_total", "Gaps told to slow clients.", self.hub.figures.gaps)
        yield counter("resyncs_total", "Subscriptions that fell behind the log.", self.hub.figures.resyncs)

    def _service(self) -> Iterator[MetricFamily]:
        sweeper, process = self.sweeper, self.process()
        yield gauge("sweeper_pending", "Resources whose closing failed.", len(sweeper.pending()))
        closes = {"swept": sweeper.swept, "abandoned": sweeper.abandoned}
        yield by_label("sweeper_ended_total", "What became of them.", "counter", "how", closes)
        status = self.health().status
        yield by_label(
            "health",
            "1 for the present status.",
            "gauge",
            "status",
            {s: float(s == status) for s in STATUSES},
        )
        yield by_label("oddities_total", "Odd but harmless events.", "counter", "kind", dict(self.counts))
        yield histogram("loop_lag_seconds", "How late the event loop ran.", self.lag.latency)
        yield gauge("resident_memory_bytes", "Memory of the daemon.", process.resident_bytes)
        yield counter("cpu_seconds_total", "Processor time of the daemon.", process.cpu_seconds)
        yield gauge("threads", "Threads of the daemon.", process.threads)
        yield gauge("open_files", "Open descriptors of the daemon.", process.open_files)
        yield gauge("open_files_max", "How many it may open.", process.open_files_max)
