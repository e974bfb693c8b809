"""What `debug/session` shows of one session's insides: rows for an administrator, who mends what others only see.

Texts from an agent's process are redacted and bounded where they are kept (`runtime.providers.diagnostics`). The
shapes follow the inside of this version: within v1 members may be added.
"""

from collections.abc import Mapping
from typing import Literal

import attrs

from runtime.wire.rows import Count
from store.canonical.identifiers import TurnId
from store.canonical.session import RuntimeState
from store.canonical.turn import TurnPhase


@attrs.frozen
class MailboxView:
    """What waits in front of the session, and what was refused since it woke."""

    messages: Count
    control: Count
    """Of these, stops, answers and the like."""
    bytes: Count
    bytes_high_water: Count
    marks: Count
    """Operations that keep their place among their client's commands."""
    refused_commands: Count
    paused: bool
    """Whether its provider's output is left unread until this has drained."""


@attrs.frozen
class TimerView:
    """One running timer."""

    kind: str
    turn_id: TurnId | None
    due_ms: Count
    """In so many milliseconds."""


@attrs.frozen
class ActorView:
    """A session that is awake. One that sleeps has only what is stored."""

    restarts: Count
    """How often its code crashed since it woke."""
    quarantined: bool
    link: Literal["absent", "acquiring", "opening", "open", "closing"]
    """How far its connection to a provider has come."""
    generation: Count
    """How many connections it has asked for since it woke."""
    turn_id: TurnId | None
    turn_phase: TurnPhase | None
    pending_interactions: Count
    streaming_messages: Count
    mailbox: MailboxView
    timers: tuple[TimerView, ...]


@attrs.frozen
class LockView:
    """A lifecycle identity of this session that an operation holds."""

    kind: str
    id: str
    holder: str
    held_ms: Count
    waiting: tuple[str, ...]


@attrs.frozen
class DiagnosticView:
    """One odd thing a provider did."""

    kind: str
    detail: str


@attrs.frozen
class ConnectionView:
    """A provider connection."""

    provider: str
    program: str
    state: Literal["starting", "ready", "draining", "ended"]
    scopes: Count
    """How many sessions hear it."""
    pid: int | None
    exit_status: str | None
    agent_name: str | None
    agent_version: str | None
    unwritten_bytes: Count
    stderr_bytes: Count
    """All that came; the tail is its end."""
    stderr_tail: str
    diagnostic_counts: Mapping[str, Count]
    diagnostics: tuple[DiagnosticView, ...]
    """The newest, oldest first."""


@attrs.frozen
class PoolView:
    """The pool of all provider connections."""

    connections: Mapping[str, Count]
    """By state."""
    scopes: Count
    waiting: Count
    starts_in_flight: Count
    """Processes being started."""


@attrs.frozen
class SessionInspection:
    """One session's insides at one moment."""

    runtime_state: RuntimeState
    actor: ActorView | None
    """Null when it sleeps."""
    locks: tuple[LockView, ...]
    connections: tuple[ConnectionView, ...]
    """What it holds; more than one only while one replaces another."""
    last_connection: ConnectionView | None
    """The one that last failed to start or was lost, as long as it is remembered."""
    pool: PoolView
