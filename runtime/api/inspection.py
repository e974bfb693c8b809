"""Looks into one session for `debug/session`: reads the parts, wakes and changes nothing."""

import attrs
import trio

from runtime.actors.activities import ActivityRegistry
from runtime.actors.session import SessionCell, SessionDirectory
from runtime.providers.connection_info import ConnectionInfo
from runtime.providers.pool import ConnectionPool
from runtime.providers.port import Scope
from runtime.wire.inspection import (
    ActorView,
    ConnectionView,
    DiagnosticView,
    LockView,
    MailboxView,
    PoolView,
    SessionInspection,
    TimerView,
)
from store.canonical.identifiers import SessionKey
from supervisor import LifecycleLocks


@attrs.frozen
class Inspection:
    """The parts a session can be seen in."""

    sessions: SessionDirectory
    locks: LifecycleLocks
    pool: ConnectionPool
    activities: ActivityRegistry

    def of(self, key: SessionKey) -> SessionInspection:
        """All of it as it stands now."""
        cell = self.sessions.find(key)
        pool = self.pool.statistics()
        last = self.pool.last_failed(Scope("session", key.workspace_id, key.agent_session_id))
        references = () if cell is None else cell.extra.link.references()
        return SessionInspection(
            runtime_state=self.activities.runtime(key).state,
            actor=None if cell is None else _actor(cell),
            locks=tuple(self._locks(key)),
            connections=tuple(_connection(reference.connection) for reference in references),
            last_connection=None if last is None else _connection(last),
            pool=PoolView(
                connections={str(state): count for state, count in pool.connections.items()},
                scopes=pool.scopes,
                waiting=pool.waiting,
                starts_in_flight=pool.starts_in_flight,
            ),
        )

    def _locks(self, key: SessionKey) -> list[LockView]:
        now = trio.current_time()
        return [
            LockView(
                kind=identity.kind,
                id=identity.id,
                holder=holding.holder,
                held_ms=_ms(now - holding.since_seconds),
                waiting=holding.waiting,
            )
            for identity, holding in self.locks.holders().items()
            if (identity.workspace_id, identity.id) == (key.workspace_id, key.agent_session_id)
        ]


def _actor(cell: SessionCell) -> ActorView:
    resources, waiting, now = cell.extra, cell.mailbox.statistics(), trio.current_time()
    state = resources.glimpse.state
    turn = None if state is None else state.turn
    return ActorView(
        restarts=cell.restarts,
        quarantined=cell.quarantined or (state is not None and state.quarantined),
        link="absent" if state is None else state.link.phase,
        generation=resources.link.generation,
        turn_id=None if turn is None else turn.turn_id,
        turn_phase=None if turn is None else turn.phase,
        pending_interactions=0 if state is None else len(state.interactions),
        streaming_messages=0 if state is None else len(state.items),
        mailbox=MailboxView(
            messages=waiting.messages,
            control=waiting.control,
            bytes=waiting.bytes,
            bytes_high_water=waiting.bytes_high_water,
            marks=waiting.marks,
            refused_commands=waiting.refused_commands + waiting.refused_control + waiting.refused_marks,
            paused=cell.mailbox.above_high_water,
        ),
        timers=tuple(
            TimerView(timer.kind, timer.turn_id, _ms(due - now)) for timer, due in resources.timers.due()
        ),
    )


def _connection(info: ConnectionInfo) -> ConnectionView:
    return ConnectionView(
        provider=info.provider,
        program=info.program,
        state=info.state,
        scopes=info.scopes,
        pid=info.pid,
        exit_status=info.exit_status,
        agent_name=info.agent_name,
        agent_version=info.agent_version,
        unwritten_bytes=info.unwritten_bytes,
        stderr_bytes=info.stderr_bytes,
        stderr_tail=info.stderr_tail,
        diagnostic_counts=info.diagnostics.counts,
        diagnostics=tuple(DiagnosticView(one.kind, one.detail) for one in info.diagnostics.newest),
    )


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))
