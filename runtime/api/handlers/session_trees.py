"""Deleting sessions and bringing them back: each as one operation on all trees that are named."""

from collections.abc import Awaitable, Callable
from functools import partial

from runtime.api.requests_context import Handled, Request
from runtime.operations.operation import WatchedSink
from runtime.operations.place_marks import PlaceMarks
from runtime.operations.placement import project_path, section_key
from runtime.operations.session_trees import AskedTrees
from runtime.wire import replies, requests
from store.canonical.identifiers import SessionKey
from store.port import DeletedFilter


def delete(request: Request[requests.SessionTreesParams]) -> Handled:
    """`session/delete`: answered once the trees are deleted; what runs in them is ended first (ST-023, ST-024)."""
    return _start(request, request.services.trees.delete)


def restore(request: Request[requests.SessionTreesParams]) -> Handled:
    """`session/restore`: starts nothing (ST-025)."""
    return _start(request, request.services.trees.restore)


def purge(request: Request[requests.SessionTreesParams]) -> Handled:
    """`session/purge`: what is purged already is left out of the answer (ST-029)."""
    return _start(request, request.services.trees.purge)


def list_deleted(request: Request[requests.SessionListDeletedParams]) -> Handled:
    """`session/listDeleted`: topmost sessions, the newest deletion first (ST-027)."""
    params = request.params
    placement, keys = params.rail_placement, None
    if placement is not None:
        # A project that is gone is named as one that is there; the list is how its sessions are found again (AP-029).
        project = placement.path if isinstance(placement, requests.ProjectPlacement) else None
        keys = (section_key(None if project is None else project_path(project)),)
    which = DeletedFilter(params.agent_session_ids, params.title, keys)
    read = request.services.reader.deleted_sessions(params.workspace_id, params.cursor, params.limit, which)
    items = read.value.items
    request.sink.reply(
        replies.SessionListDeletedReply(
            items=items, sessions=items, next_cursor=read.value.next_cursor, commit_seq=read.commit_seq
        )
    )
    return None


def _start(
    request: Request[requests.SessionTreesParams],
    operation: Callable[[AskedTrees, WatchedSink], Awaitable[None]],
) -> Handled:
    params, services = request.params, request.services
    marks = PlaceMarks(services.sessions, request.client.source)
    asked = AskedTrees(params.workspace_id, params.agent_session_ids, marks)
    try:
        marks.keep(SessionKey(params.workspace_id, name) for name in dict.fromkeys(params.agent_session_ids))
        services.start_operation(partial(operation, asked), request.sink, marks)
    except BaseException:
        marks.release()
        raise
    return None
