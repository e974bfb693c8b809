"""Every bound of provider connections and of their pool, with its default (`contract §1` limits)."""

from collections.abc import Mapping

import attrs
from attrs import validators

from runtime.providers.port import AdapterLimits
from runtime.providers.records import RecordLimits
from supervisor.process_guard.port import LadderTimes

KIB = 1024
MIB = 1024 * KIB


@attrs.frozen(kw_only=True)
class ConnectionLimits:
    """Bounds of one connection; bytes and seconds."""

    adapter: AdapterLimits = attrs.field(factory=AdapterLimits)
    ladder: LadderTimes = attrs.field(factory=LadderTimes)
    read_bytes: int = 64 * KIB
    """One read a pass: what a pipe holds (architecture rule 11)."""
    write_queue_bytes_max: int = 128 * MIB
    """Unwritten bytes above which a provider that does not read is given up. A prompt with the permitted
    attachments, in base64, has to fit."""
    stderr_tail_bytes: int = 16 * KIB
    diagnostics_max: int = 50
    last_reads_seconds: float = 1.0
    """How long stdout is still waited for once the process has ended or no longer reads; with the next below the
    2 s in which a turn of a dead process has to settle (FC-10)."""
    last_evidence_seconds: float = 0.5
    """How long exit status and the end of stderr are waited for after the end of stdout."""
    record: RecordLimits = attrs.field(factory=RecordLimits)
    farewell_seconds: float = 1.0
    """How long the last writes (a polite end of a conversation) may take before the process is ended."""


@attrs.frozen(kw_only=True)
class PoolLimits:
    """Bounds of the pool; counts and seconds."""

    connection: ConnectionLimits = attrs.field(factory=ConnectionLimits)
    max_live_connections: int = attrs.field(default=64, validator=validators.ge(1))
    max_concurrent_starts: int = attrs.field(default=8, validator=validators.ge(1))
    admission_wait_seconds: float = 60.0
    admission_waiting_max: int = 4096
    sessions_per_connection: Mapping[str, int] = attrs.field(factory=dict)
    """By provider key; a family that is not named here keeps its own default."""
    connection_drain_seconds: float = 60.0
    start_slot_seconds: float = 10.0
    """How long a start counts against `max_concurrent_starts`: longer, it is waiting and no longer work, and must
    not hold up the starts of others (RT-142)."""
    start_failures_max: int = attrs.field(default=5, validator=validators.ge(1))
    start_failures_window_seconds: float = 60.0
    start_back_off_seconds: float = 10.0
    start_back_off_max_seconds: float = 300.0
