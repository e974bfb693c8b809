"""Sides: opened and ended by operation tasks; what is asked of one goes straight to its mailbox, and reads look at it."""

from collections.abc import Awaitable, Callable
from hashlib import sha256

from runtime.api.requests_context import Handled, Request
from runtime.lifecycle.inputs import Prompt, RequestCancel, Respond, SendPrompt, Submission
from runtime.operations.operation import NoMark, WatchedSink, known
from runtime.operations.sides import AskedSide
from runtime.refusal import Refusal
from runtime.side.lineage import resolve_support
from runtime.wire import replies, requests
from runtime.wire.encoding import canonical_json
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import SessionKey
from store.canonical.message import TextBlock


def capabilities(request: Request[requests.SideCapabilitiesParams]) -> Handled:
    """`side/capabilities`: from what a session is known to be able to do; nothing is started (RT-109, RT-110)."""
    services = request.services
    session = known(services.reader, request.params.session_key)
    if isinstance(session, Refusal):
        return session
    support = resolve_support(session, services.targets.side_facts(session))
    request.sink.reply(
        replies.SideCapabilitiesReply(
            supported=support.supported,
            facts=support.facts,
            reason=support.reason,
            commit_seq=services.writer.head_commit_seq,
        )
    )
    return None


def open_side(request: Request[requests.SideOpenParams]) -> Handled:
    """`side/open`: the id is taken at once, the rest is an operation's (RT-112, RT-113)."""
    params, services = request.params, request.services
    session = known(services.reader, params.session_key)
    if isinstance(session, Refusal):
        return session
    asked = AskedSide(
        key=SessionKey(params.workspace_id, params.side_agent_session_id),
        source=params.session_key,
        surface_id=params.surface_id,
        owner=request.client.source,
        instructions=params.instructions,
    )
    refusal = services.sides.reserve(asked)
    if refusal is not None:
        return refusal
    try:
        mark = services.sessions.reference(asked.source).place_mark(request.client.source)

        async def body(sink: WatchedSink) -> None:
            await services.sides.open(asked, mark, sink)

        services.start_operation(body, request.sink, mark)
    except BaseException:
        services.sides.abandon(asked.key)
        raise
    return None


def send(request: Request[requests.SideSendParams]) -> Handled:
    """`side/send`: one turn at a time, text alone (RT-116, RT-123)."""
    params, services = request.params, request.services
    other = next((block for block in params.content if not isinstance(block, TextBlock)), None)
    if other is not None:
        return Refusal("attachment.unsupported", details={"type": other.type})
    texts = [block.text for block in params.content if isinstance(block, TextBlock)]
    if sum(len(text.encode()) for text in texts) > services.limits.max_message_bytes:
        return Refusal("request.too_large", details={"limit": "maxMessageBytes"})
    claim = SubmitClaim(
        scope="session",
        workspace_id=params.workspace_id,
        agent_session_id=params.side_agent_session_id,
        client_submit_id=params.client_submit_id,
        method="session/send",
        digest=sha256(canonical_json(params)).hexdigest(),
        created_at=services.clock.now_ms(),
    )
    command = SendPrompt(request.sink, Submission(claim, Prompt(params.content)))
    return services.sides.tell(params.side_key, command, request.client.source, control=False)


def cancel(request: Request[requests.SideCancelParams]) -> Handled:
    """`side/cancel`: exactly that turn of that Side (RT-114)."""
    params = request.params
    command = RequestCancel(request.sink, params.turn_id)
    return request.services.sides.tell(params.side_key, command, request.client.source, control=True)


def respond(request: Request[requests.SideRespondParams]) -> Handled:
    """`side/respond`: exactly that interaction of that Side (RT-115)."""
    params = request.params
    command = Respond(request.sink, params.turn_id, params.request_id, params.answer)
    return request.services.sides.tell(params.side_key, command, request.client.source, control=True)


def close(request: Request[requests.SideCloseParams]) -> Handled:
    """`side/close`: answered once nothing of it is left; its source goes on (RT-119)."""
    services, key = request.services, request.params.side_key
    if services.sides.registry.find(key) is None:
        return services.sides.registry.refusal(key)

    async def body(sink: WatchedSink) -> None:
        await services.sides.close(key, sink)

    _start(request, body)
    return None


def get(request: Request[requests.SideGetParams]) -> Handled:
    """`side/get`: as it stands. One that is still opening has nothing to show yet."""
    services, key = request.services, request.params.side_key
    actor = services.sides.actor(key)
    if actor is None:
        return services.sides.registry.refusal(key)
    request.sink.reply(
        replies.SideGetReply(
            side=actor.state.side,
            active_turn=actor.state.talk.turn,
            interactions=actor.state.pending,
            sequence=actor.sequence,
            commit_seq=services.writer.head_commit_seq,
        )
    )
    return None


def list_sides(request: Request[requests.SideListParams]) -> Handled:
    """`side/list`: those that are open, in the order of their opening."""
    params, services = request.params, request.services
    rows = [row for entry in services.sides.registry if (row := services.sides.row(entry)) is not None]
    here = sorted(
        (row for row in rows if row.workspace_id == params.workspace_id),
        key=lambda row: (row.opened_at, row.side_agent_session_id),
    )
    if params.agent_session_id is not None:
        here = [row for row in here if row.source_agent_session_id == params.agent_session_id]
    after = _place(params.cursor)
    if after is None:
        problem = {"path": "params.cursor", "problem": "is not a cursor of this list"}
        return Refusal("request.invalid", details=problem)
    later = [row for row in here if (row.opened_at, row.side_agent_session_id) > after]
    page = later[: params.limit]
    more = len(later) > len(page)
    request.sink.reply(
        replies.SideListReply(
            items=tuple(page),
            next_cursor=f"{page[-1].opened_at}:{page[-1].side_agent_session_id}" if more else None,
            commit_seq=services.writer.head_commit_seq,
        )
    )
    return None


def dispose(request: Request[requests.SurfaceDisposeParams]) -> Handled:
    """`surface/dispose`: what this connection owns there; another client's place of that name is its own (RT-126)."""
    params, services, owner = request.params, request.services, request.client.source

    async def body(sink: WatchedSink) -> None:
        await services.sides.dispose(params.workspace_id, params.surface_id, owner, sink)

    _start(request, body)
    return None


def attach(request: Request[requests.SurfaceAttachParams]) -> Handled:
    """`surface/attach`: a client that came back takes its Sides over before their grace is over."""
    params, services = request.params, request.services
    sides = services.sides.attach(params.workspace_id, params.surface_id, request.client.source)
    request.sink.reply(replies.SurfaceAttachReply(sides=sides, commit_seq=services.writer.head_commit_seq))
    return None


def _start(
    request: Request[requests.SideCloseParams] | Request[requests.SurfaceDisposeParams],
    body: Callable[[WatchedSink], Awaitable[None]],
) -> None:
    request.services.start_operation(body, request.sink, NoMark())


def _place(cursor: str | None) -> tuple[int, str] | None:
    """Where a page begins; None for what is no cursor of ours."""
    if cursor is None:
        return (0, "")
    opened_at, colon, name = cursor.partition(":")
    return (int(opened_at), name) if colon and opened_at.isascii() and opened_at.isdigit() else None
