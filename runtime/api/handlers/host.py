"""The host itself: health and targets."""

import attrs

from runtime.api.handlers.pages import page_start
from runtime.api.requests_context import Handled, Request
from runtime.refusal import Refusal
from runtime.wire import replies, requests
from runtime.wire.rows import Workspace


def health(request: Request[requests.HealthReadParams]) -> Handled:
    """`health/read`: a token limited to workspaces hears of no session elsewhere, and of everything else."""
    health, allowed = request.services.health(), request.client.principal.workspaces
    if allowed is not None:
        here = {None, *allowed}
        health = attrs.evolve(
            health,
            problems=tuple(one for one in health.problems if one.workspace_id in here),
            quarantined=tuple(key for key in health.quarantined if key.workspace_id in here),
        )
    request.sink.reply(health)
    return None


def metrics(request: Request[requests.MetricsReadParams]) -> Handled:
    """`metrics/read`: the same figures as `GET /metrics`."""
    services = request.services
    request.sink.reply(
        replies.MetricsReadReply(families=services.metrics(), commit_seq=services.writer.head_commit_seq)
    )
    return None


def inspect(request: Request[requests.DebugSessionParams]) -> Handled:
    """`debug/session`: also of one whose rows cannot be read; it wakes nothing."""
    services, key = request.services, request.params.session_key
    if services.reader.root_of(key) is None and services.sessions.find(key) is None:
        return Refusal("session.not_found")
    request.sink.reply(
        replies.DebugSessionReply(
            session=key,
            inspection=services.inspection.of(key),
            commit_seq=services.writer.head_commit_seq,
        )
    )
    return None


def targets(request: Request[requests.TargetListParams]) -> Handled:
    """`target/list`: a read of what is known; it starts and probes nothing."""
    params, services = request.params, request.services
    listing = services.targets.listing()
    start = page_start(params.cursor, len(listing))
    if isinstance(start, Refusal):
        return start
    end = start + params.limit
    request.sink.reply(
        replies.TargetListReply(
            items=listing[start:end],
            next_cursor=str(end) if end < len(listing) else None,
            commit_seq=services.writer.head_commit_seq,
        )
    )
    return None


def workspaces(request: Request[requests.WorkspaceListParams]) -> Handled:
    """`workspace/list`: those that hold sessions; of a limited token's, those it may name."""
    params, allowed = request.params, request.client.principal.workspaces
    read = request.services.reader.workspaces(allowed, params.cursor, params.limit)
    request.sink.reply(
        replies.WorkspaceListReply(
            items=tuple(Workspace(*attrs.astuple(listed)) for listed in read.value.items),
            next_cursor=read.value.next_cursor,
            commit_seq=read.commit_seq,
        )
    )
    return None
