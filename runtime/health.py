"""What `health/read` and `/healthz` say: derived from the parts each time, kept nowhere."""

from collections.abc import Callable, Iterable

import attrs

from runtime.actors.activities import ActivityRegistry
from runtime.actors.session import SessionDirectory
from runtime.actors.turn_book import TurnBook
from runtime.ports import WallClock
from runtime.providers.pool import ConnectionPool
from runtime.wire.replies import HealthReadReply
from runtime.wire.rows import HealthProblem, LiveCounts, SweeperHealth
from store.canonical.identifiers import SessionKey
from store.port import StoreWriter
from supervisor import ResourceSweeper


@attrs.define(eq=False)
class HealthReport:
    """Reads the state of the whole service in one step."""

    writer: StoreWriter
    pool: ConnectionPool
    sessions: SessionDirectory
    activities: ActivityRegistry
    turns: TurnBook
    sweeper: ResourceSweeper
    clock: WallClock
    sides: Callable[[], int]
    """Open and opening ones."""
    poisoned: tuple[SessionKey, ...] = ()
    """Sessions that recovery at the start had to set aside."""
    watches: tuple[Callable[[], Iterable[str]], ...] = ()
    """Further parts that say which problems they have at present, by code."""
    _since: dict[tuple[str, SessionKey | None], int] = attrs.field(factory=dict, init=False)

    def read(self) -> HealthReadReply:
        """The present health."""
        store = self.writer.health()
        pool = self.pool.statistics()
        directory = self.sessions.statistics()
        quarantined = (*self.activities.quarantined(), *self.poisoned)
        pending = len(self.sweeper.pending())
        problems = self._problems(store.state, quarantined, pending)
        status = store.state if store.state != "ok" else ("degraded" if problems else "ok")
        return HealthReadReply(
            status=status,
            problems=problems,
            store=store,
            live=LiveCounts(
                connections=sum(pool.connections.values()),
                sessions=directory.cells,
                sides=self.sides(),
                turns=self.turns.unsettled(),
            ),
            queues={"admission": pool.waiting, "starts": pool.starts_in_flight},
            sweeper=SweeperHealth(pending=pending),
            quarantined=quarantined,
            commit_seq=self.writer.head_commit_seq,
        )

    def _problems(
        self, store_state: str, quarantined: tuple[SessionKey, ...], pending: int
    ) -> tuple[HealthProblem, ...]:
        found: list[tuple[str, SessionKey | None]] = []
        if store_state != "ok":
            found.append((f"store.{store_state}", None))
        found.extend(("session.quarantined", key) for key in quarantined)
        if pending:
            found.append(("sweeper.pending", None))
        found.extend((code, None) for watch in self.watches for code in watch())
        now_ms = self.clock.now_ms()
        # A problem keeps the time it was first seen, as long as it stays.
        self._since = {problem: self._since.get(problem, now_ms) for problem in found}
        return tuple(
            HealthProblem(
                code=code,
                since=since,
                workspace_id=key.workspace_id if key else None,
                agent_session_id=key.agent_session_id if key else None,
            )
            for (code, key), since in self._since.items()
        )
