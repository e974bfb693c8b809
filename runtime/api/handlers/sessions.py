"""Sessions: create, resume and close as operations; get, list and messages as reads with the live tail laid over."""

from functools import partial

import attrs

from runtime.api.handlers.submissions import claim_of, prompt_of
from runtime.api.requests_context import ApiServices, Handled, Request
from runtime.operations.create_session import NewSession
from runtime.operations.operation import WatchedSink, known
from runtime.operations.placement import project_path
from runtime.refusal import Refusal
from runtime.wire import replies, requests
from runtime.wire.rows import session_list_item, session_search_item
from store.canonical.identifiers import SessionId, SessionKey
from store.canonical.session import Session
from store.port import MessageQuery, SessionFilter

DETAIL_TURNS = 50
SUMMARY_TURNS = 1


def create(request: Request[requests.SessionCreateParams]) -> Handled:
    """`session/create`: admitted at once, checked and written by an operation task."""
    params, services = request.params, request.services
    refusal = _unsupported(params) or _placement_refusal(params)
    if refusal is not None:
        return refusal
    session_id = params.agent_session_id or SessionId(services.identifiers.new_id())
    key = SessionKey(params.workspace_id, session_id)
    prompt = prompt_of(services, key, params.initial_content, None, "initialContent")
    if isinstance(prompt, Refusal):
        return prompt
    new = NewSession(
        key=key,
        target_id=params.agent_target_id,
        allowance=services.access.allowance(request.client.principal, params.workspace_id, request.sink),
        claim=claim_of(request, "session/create", key, params.client_submit_id, params.initial_content),
        cwd=params.cwd,
        project=_project(params),
        isolated=params.isolation is not None,
        title=params.title or None,
        settings=dict(params.settings or {}),
        prompt=prompt,
    )
    mark = services.sessions.reference(key).place_mark(request.client.source)
    checkout_seconds = services.limits.worktree_timeout_seconds if new.isolated else 0.0
    services.start_operation(partial(services.create.run, new), request.sink, mark, checkout_seconds)
    return None


def resume(request: Request[requests.SessionResumeParams]) -> Handled:
    """`session/resume`."""
    services, key = request.services, request.params.session_key
    mark = services.sessions.reference(key).place_mark(request.client.source)

    async def body(sink: WatchedSink) -> None:
        await services.runtimes.resume(key, request.params.mode == "fresh", mark, sink)

    services.start_operation(body, request.sink, mark)
    return None


def close(request: Request[requests.SessionCloseParams]) -> Handled:
    """`session/close`."""
    services, key = request.services, request.params.session_key
    mark = services.sessions.reference(key).place_mark(request.client.source)

    async def body(sink: WatchedSink) -> None:
        await services.runtimes.close(key, mark, sink)

    services.start_operation(body, request.sink, mark)
    return None


def get(request: Request[requests.SessionGetParams]) -> Handled:
    """`session/get`: never starts anything (RT-041). A summary is what a list of open sessions needs (AP-022)."""
    params, services = request.params, request.services
    summary = params.projection == "summary"
    turns_max = SUMMARY_TURNS if summary else DETAIL_TURNS
    read = services.reader.detail(params.session_key, turns_max, with_children=not summary)
    if read.value is None:
        return Refusal("session.not_found")
    detail = read.value
    if detail.session.deleted_at is not None:
        return Refusal("session.deleted")
    request.sink.reply(
        replies.SessionGetReply(
            session=observed(services, detail.session),
            active_turn=detail.active_turn,
            turns=detail.turns,
            turns_cursor=detail.turns_cursor,
            interactions=detail.interactions,
            children=tuple(observed(services, child) for child in detail.children),
            incomplete=detail.incomplete,
            projection=params.projection,
            commit_seq=read.commit_seq,
        )
    )
    return None


def list_sessions(request: Request[requests.SessionListParams]) -> Handled:
    """`session/list`: roots, pinned first."""
    params, services = request.params, request.services
    which = SessionFilter(params.order, params.agent_target_id, params.active, params.pinned)
    read = services.reader.sessions(params.workspace_id, which, params.cursor, params.limit)
    items = tuple(
        session_list_item(attrs.evolve(listed, session=observed(services, listed.session)))
        for listed in read.value.items
    )
    request.sink.reply(
        replies.SessionListReply(items=items, next_cursor=read.value.next_cursor, commit_seq=read.commit_seq)
    )
    return None


def search(request: Request[requests.SessionSearchParams]) -> Handled:
    """`session/search`: by words of titles, prompts and answers; never of a Side (RT-108, AP-027)."""
    params, services = request.params, request.services
    read = services.reader.search(params.workspace_id, params.query, params.cursor, params.limit)
    items = tuple(
        session_search_item(attrs.evolve(hit, session=observed(services, hit.session)))
        for hit in read.value.items
    )
    request.sink.reply(
        replies.SessionSearchReply(
            items=items, next_cursor=read.value.next_cursor, commit_seq=read.commit_seq
        )
    )
    return None


def messages(request: Request[requests.SessionMessagesParams]) -> Handled:
    """`session/messages`: rows of one transaction, with the live text laid over in the same step (ST-009..ST-011)."""
    params, services = request.params, request.services
    found = known(services.reader, params.session_key)
    if isinstance(found, Refusal):
        return found
    query = MessageQuery(
        after_version=params.after_version,
        before_sequence=params.before_sequence,
        message_ids=params.message_ids,
        include_retracted=params.include_retracted,
        limit=params.limit,
    )
    read = services.reader.messages(params.session_key, query)
    if read.value is None:
        return Refusal("session.not_found")
    window = read.value
    request.sink.reply(
        replies.SessionMessagesReply(
            messages=services.tails.lay_over(window.messages),
            has_more=window.has_more,
            oldest_sequence=window.oldest_sequence,
            message_version=window.message_version,
            commit_seq=read.commit_seq,
        )
    )
    return None


def observed(services: ApiServices, session: Session) -> Session:
    """The row with the live observation of its runtime."""
    return attrs.evolve(session, runtime=services.runtime_of(session.key))


def _unsupported(params: requests.SessionCreateParams) -> Refusal | None:
    """What the contract names and this release does not do yet is refused, never ignored."""
    unserved = {
        "initialGoalControl": params.initial_goal_control is not None,
    }
    asked = next((name for name, present in unserved.items() if present), None)
    return Refusal("capability.unsupported", details={"param": asked}) if asked else None


def _placement_refusal(params: requests.SessionCreateParams) -> Refusal | None:
    """A checkout of its own is made of a project, and a project is named by an absolute path (RT-060, AP-008)."""
    project = _project(params)
    if project is None and params.isolation is not None:
        problem = "isolation needs a placement of type project"
        return Refusal("request.invalid", details={"path": "params.railPlacement", "problem": problem})
    if project is not None and not project.startswith("/"):
        return Refusal(
            "request.invalid",
            details={"path": "params.railPlacement.path", "problem": "is not an absolute path"},
        )
    return None


def _project(params: requests.SessionCreateParams) -> str | None:
    placement = params.rail_placement
    return project_path(placement.path) if isinstance(placement, requests.ProjectPlacement) else None
