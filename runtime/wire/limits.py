"""Every bound of the service: its name, its unit and its default (`contract §1`).

The configuration takes them from `[limits]` under the same names, `initialize` shows them. Units are last in the
names: `...Bytes`, `...Ms` (integers) and `...Seconds` (fractions allowed); the rest are counts.
"""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import attrs

from runtime.wire.constraints import AtLeast

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

Positive: TypeAlias = Annotated[int, AtLeast(1)]
NotNegative: TypeAlias = Annotated[int, AtLeast(0)]
Seconds: TypeAlias = Annotated[float, AtLeast(0)]


@attrs.frozen
class RestartLimit:
    """How often something may be restarted before it is given up."""

    count: NotNegative
    period_seconds: Seconds


@attrs.frozen(kw_only=True)
class Limits:
    """The bounds in force."""

    max_frame_bytes: Positive = 16 * MIB
    """The largest frame taken from a client; a larger one closes the connection with 1009."""
    max_server_frame_bytes: Positive = 8 * MIB
    """The largest event sent; `session_reset` stands in for a larger commit."""
    max_provider_line_bytes: Positive = 32 * MIB
    """The longest line taken from a provider; a longer one is discarded."""
    max_page_bytes: Positive = 4 * MIB
    """A page ends here, whatever its `limit`."""
    max_delta_bytes: Positive = 64 * KIB
    """The longest text of one delta."""
    max_message_bytes: Positive = 4 * MIB
    """The longest text of one message; the rest is cut and the message marked `truncated`."""
    max_tool_output_bytes: Positive = 768 * KIB
    """The longest output of one tool call that is kept; head and tail of a longer one."""
    message_update_interval_ms: Positive = 100
    """At most one row per streaming message and interval, where its content changes otherwise than by deltas."""
    write_behind_ms: Positive = 250
    """How much streamed text a crash may lose."""
    max_sessions: Positive = 100_000
    max_live_connections: Positive = 64
    """Provider connections alive at once."""
    max_concurrent_starts: Positive = 8
    """Provider processes being started at once."""
    admission_wait_seconds: Seconds = 60.0
    """How long a turn waits for a live connection before it fails with `limit.exceeded`."""
    max_admission_waiting: Positive = 4096
    """Sessions that may wait for a live connection; one more fails at once."""
    start_slot_seconds: Seconds = 10.0
    """How long a start counts against `maxConcurrentStarts`: what takes longer is waiting and no longer work."""
    max_start_failures: Positive = 5
    """Failed starts of one launch within the window after which the next ones are refused for a while."""
    start_failures_window_seconds: Seconds = 60.0
    start_back_off_seconds: Seconds = 10.0
    """How long, the first time; doubled with each further failure."""
    start_back_off_max_seconds: Seconds = 300.0
    sessions_per_connection: Mapping[str, Positive] = attrs.field(
        factory=lambda: {"codex": 16, "claude": 1, "acp": 1}
    )
    """How many sessions share one provider process, by provider."""
    connection_drain_seconds: Seconds = 60.0
    """How long the others on a condemned connection may go on with their turns."""
    max_provider_discard_bytes: Positive = 32 * MIB
    """How much is discarded while the end of an overlong line is looked for, before the connection goes."""
    max_provider_record_bytes: Positive = 8 * MIB
    """How much of the end of a provider's own record of a conversation is read."""
    max_provider_noise_bytes: Positive = 10 * MIB
    """How much output that is no protocol one connection may write."""
    max_provider_unwritten_bytes: Positive = 128 * MIB
    """Unwritten bytes above which a provider that does not read is given up; a prompt with its attachments fits."""
    provider_last_reads_seconds: Seconds = 1.0
    """How long the output of a process that has ended is still waited for."""
    provider_stderr_tail_bytes: Positive = 16 * KIB
    """Of each provider's stderr, kept for `debug/session`."""
    max_provider_diagnostics: Positive = 50
    """Odd things of each provider, kept for `debug/session`; the older ones are only counted."""
    session_lane_messages: Positive = 1024
    """Commands waiting in one session; more are answered `overloaded`."""
    session_lane_controls: Positive = 64
    """Stops, answers and the like waiting in one session; more are answered `overloaded`."""
    session_lane_bytes: Positive = 8 * MIB
    """Provider output waiting in one session before its connection stops reading."""
    session_restarts: RestartLimit = RestartLimit(3, 60.0)
    """Restarts of one session's actor before it is quarantined."""
    max_client_connections: Positive = 1024
    """Connections of any kind on the port; one more is answered with HTTP 503."""
    max_subscriptions_per_connection: Positive = 64
    hello_timeout_seconds: Seconds = 10.0
    """How long a connection may take to `initialize`."""
    idle_release_seconds: Seconds = 1800.0
    """An idle session gives up its provider after this time."""
    initialize_timeout_seconds: Seconds = 60.0
    """How long a provider may take to shake hands."""
    examine_timeout_seconds: Seconds = 15.0
    """How long a provider's program may take to say what it is, before and without any conversation."""
    inquiry_timeout_seconds: Seconds = 20.0
    """How long an agent may take to say something of itself: `provider/status`, `models`, `skills`, `usage`."""
    max_inquiries: Positive = 2
    """Agents asked about themselves at once, in processes without a session; one examination may run beside them."""
    catalogue_fresh_seconds: Seconds = 900.0
    """How long a snapshot of models, skills or sign-in counts as fresh; an older one is shown while it is read again."""
    usage_fresh_seconds: Seconds = 60.0
    """The same for what is left of an account."""
    cancel_grace_seconds: Seconds = 10.0
    """How long a provider may take to obey a cancel before it is forced."""
    turn_reconcile_seconds: Seconds = 60.0
    """Silence after which the provider is asked how a turn stands."""
    guide_timeout_seconds: Seconds = 15.0
    """How long a provider may take to answer guidance."""
    max_session_children: Positive = 256
    """Sub-agents of one session that its agent may show while its process lives; one more is stopped."""
    child_start_seconds: Seconds = 10.0
    """How long a turn waits for the first turn of a sub-agent that it began."""
    max_open_guides: Positive = 16
    """Guidance of one session that waits for its provider's answer; more is answered `overloaded`."""
    max_open_interactions: Positive = 64
    """What an agent may ask of a session's user at once; more is refused before anybody sees it."""
    max_interaction_bytes: Positive = MIB
    """The text of one thing an agent asks; what could not be shown whole is refused before anybody sees it."""
    respond_timeout_seconds: Seconds = 15.0
    """How long the delivery of an answer may take."""
    settings_timeout_seconds: Seconds = 15.0
    """How long a live agent may take to change a setting at once, the wait for it to open included."""
    max_sides: Positive = 1024
    """Sides that are open or opening."""
    max_side_turns: Positive = 1000
    """Turns of one Side, all of which it remembers."""
    side_open_timeout_seconds: Seconds = 20.0
    side_owner_grace_seconds: Seconds = 2.0
    """How long a Side outlives the connection of its owner."""
    max_side_tombstones: Positive = 1024
    """How many ended Sides are remembered."""
    lifecycle_timeout_seconds: Seconds = 30.0
    """How long opening, closing, resuming or deleting may take."""
    client_send_deadline_seconds: Seconds = 10.0
    """How long one write to a client may take."""
    client_queue_bytes: Positive = 8 * MIB
    """What may wait for one client."""
    client_close_timeout_seconds: Seconds = 2.0
    """From the wish to close a client's connection to the closed socket."""
    ping_seconds: Seconds = 20.0
    max_in_flight_requests: Positive = 256
    """Unanswered requests of one connection."""
    checkpoint_seconds: Seconds = 10.0
    """A subscription hears of the head at least this often while other commits pass by."""
    commit_log_max_age_seconds: Seconds = 604_800.0
    commit_log_max_count: Positive = 1_000_000
    commit_log_max_bytes: Positive = GIB
    store_reserve_bytes: NotNegative = 16 * MIB
    """Kept free for stops and settlements on a full disk."""
    max_wal_bytes: Positive = 128 * MIB
    """A write-ahead log larger than this is a problem of health: a reader that does not end keeps it from being emptied."""
    copy_interval_seconds: Seconds = 86_400.0
    """How often the database is copied, when it has changed; 0: never."""
    copies_kept: Positive = 3
    """Copies made at that interval; the oldest goes when there is one more."""
    max_sweeper_pending: Positive = 256
    """Resources whose closing failed and is tried again; beyond it the oldest is given up and logged."""
    sweeper_attempts: Positive = 8
    deleted_retention_seconds: Seconds = 2_592_000.0
    """How long a deleted session can be restored; 30 days."""
    deleted_retention_bytes: NotNegative = GIB
    """What deleted sessions may take up together; the longest deleted are purged first."""
    max_attachment_bytes: Positive = 10 * MIB
    max_attachments_per_prompt: Positive = 8
    attachment_unused_seconds: Seconds = 3600.0
    """How long an attachment that no prompt shows is kept."""
    max_unused_attachment_bytes: Positive = 256 * MIB
    """What attachments that no prompt shows yet may take up together."""
    max_worktrees: Positive = 256
    """Checkouts made for sessions, those of deleted sessions and those kept after a purge included."""
    worktree_free_bytes: NotNegative = GIB
    """What a checkout must find free on the disk of `workRoot` before it is made."""
    worktree_timeout_seconds: Seconds = 120.0
    """How long one command of git's may take; a create with isolation may take as much longer than another."""
    max_concurrent_checkouts: Positive = 2
    """Commands of git's that run at once."""
    shutdown_grace_seconds: Seconds = 10.0
    """How long a clean stop may take."""
