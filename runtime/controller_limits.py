"""From the limits of the contract to the bounds each part takes: one place that knows which is which."""

import attrs

from runtime.api.transport import TransportLimits
from runtime.lifecycle.live_tail import TailLimits
from runtime.lifecycle.state import Policy, TimeoutAnswer
from runtime.operations.sides import SideBounds
from runtime.providers.examiner import ExaminationLimits
from runtime.providers.limits import ConnectionLimits, PoolLimits
from runtime.providers.port import AdapterLimits
from runtime.providers.records import RecordLimits
from runtime.wire.limits import Limits
from supervisor.cell import CellPolicy
from supervisor.mailbox import MailboxLimits
from supervisor.resource_sweeper import SweeperLimits
from supervisor.restart_intensity import RestartIntensity


@attrs.frozen
class InteractionTimeout:
    """`interactionTimeoutSeconds` and `interactionTimeoutAnswer` of the configuration."""

    seconds: float = 0.0
    answer: TimeoutAnswer = "stop"


def session_policy(limits: Limits, unanswered: InteractionTimeout) -> Policy:
    """Bounds of the Session machine."""
    return Policy(
        cancel_grace_seconds=limits.cancel_grace_seconds,
        respond_timeout_seconds=limits.respond_timeout_seconds,
        turn_reconcile_seconds=limits.turn_reconcile_seconds,
        max_message_bytes=limits.max_message_bytes,
        guide_timeout_seconds=limits.guide_timeout_seconds,
        open_guides_max=limits.max_open_guides,
        open_interactions_max=limits.max_open_interactions,
        interaction_bytes_max=limits.max_interaction_bytes,
        children_max=limits.max_session_children,
        child_start_seconds=limits.child_start_seconds,
        settings_timeout_seconds=limits.settings_timeout_seconds,
        idle_release_seconds=limits.idle_release_seconds,
        message_update_interval_ms=limits.message_update_interval_ms,
        max_output_bytes=limits.max_tool_output_bytes,
        interaction_timeout_seconds=unanswered.seconds,
        interaction_timeout_answer=unanswered.answer,
    )


def side_bounds(limits: Limits) -> SideBounds:
    """Bounds of Sides."""
    return SideBounds(
        sides_max=limits.max_sides,
        tombstones_max=limits.max_side_tombstones,
        open_timeout_seconds=limits.side_open_timeout_seconds,
        owner_grace_seconds=limits.side_owner_grace_seconds,
        lifecycle_timeout_seconds=limits.lifecycle_timeout_seconds,
        early_bytes_max=limits.session_lane_bytes,
    )


def tail_limits(limits: Limits) -> TailLimits:
    """Bounds of streamed text."""
    return TailLimits(
        max_delta_bytes=limits.max_delta_bytes,
        max_message_bytes=limits.max_message_bytes,
        max_output_bytes=limits.max_tool_output_bytes,
    )


def mailbox_limits(limits: Limits) -> MailboxLimits:
    """Bounds of a session's lanes."""
    return MailboxLimits(
        messages_max=limits.session_lane_messages,
        bytes_max=limits.session_lane_bytes,
        control_max=limits.session_lane_controls,
    )


def sweeper_limits(limits: Limits) -> SweeperLimits:
    """Bounds of the resource sweeper."""
    return SweeperLimits(pending_max=limits.max_sweeper_pending, attempts_max=limits.sweeper_attempts)


def cell_policy(limits: Limits) -> CellPolicy:
    """How often a session's actor is restarted before it is set aside."""
    restarts = limits.session_restarts
    return CellPolicy(intensity=RestartIntensity(restarts.count, restarts.period_seconds))


def pool_limits(limits: Limits) -> PoolLimits:
    """Bounds of provider connections and their pool."""
    adapter = AdapterLimits(
        max_provider_line_bytes=limits.max_provider_line_bytes,
        max_provider_discard_bytes=limits.max_provider_discard_bytes,
        max_provider_noise_bytes=limits.max_provider_noise_bytes,
        initialize_timeout_seconds=limits.initialize_timeout_seconds,
    )
    return PoolLimits(
        connection=ConnectionLimits(
            adapter=adapter,
            write_queue_bytes_max=limits.max_provider_unwritten_bytes,
            stderr_tail_bytes=limits.provider_stderr_tail_bytes,
            diagnostics_max=limits.max_provider_diagnostics,
            last_reads_seconds=limits.provider_last_reads_seconds,
            record=RecordLimits(bytes_max=limits.max_provider_record_bytes),
        ),
        max_live_connections=limits.max_live_connections,
        max_concurrent_starts=limits.max_concurrent_starts,
        admission_wait_seconds=limits.admission_wait_seconds,
        sessions_per_connection=limits.sessions_per_connection,
        admission_waiting_max=limits.max_admission_waiting,
        connection_drain_seconds=limits.connection_drain_seconds,
        start_slot_seconds=limits.start_slot_seconds,
        start_failures_max=limits.max_start_failures,
        start_failures_window_seconds=limits.start_failures_window_seconds,
        start_back_off_seconds=limits.start_back_off_seconds,
        start_back_off_max_seconds=limits.start_back_off_max_seconds,
    )


def examination_limits(limits: Limits) -> ExaminationLimits:
    """Of the short processes that say what a program is."""
    return ExaminationLimits(timeout_seconds=limits.examine_timeout_seconds)


def transport_limits(limits: Limits) -> TransportLimits:
    """Bounds of one client's connection."""
    return TransportLimits(
        max_frame_bytes=limits.max_frame_bytes,
        client_queue_bytes=limits.client_queue_bytes,
        ping_seconds=limits.ping_seconds,
        hello_timeout_seconds=limits.hello_timeout_seconds,
        client_send_deadline_seconds=limits.client_send_deadline_seconds,
        connections_max=limits.max_client_connections,
        close_timeout_seconds=limits.client_close_timeout_seconds,
    )
