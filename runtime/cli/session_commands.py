"""`greenroom sessions`, `search` and `show`: reads through the running daemon, or an embedded one.

Owns which pages are read. How they look is `transcript`'s business.
"""

from functools import partial
from typing import Final

import attrs
import trio

from greenroom_client import Client, GreenroomError, text_of
from greenroom_client.contract.models import Message, SessionGetReply, SessionListItem, Turn
from runtime.cli.commands import PAGE_ITEMS, about, all_items, load, perform_async
from runtime.cli.daemon_access import open_daemon
from runtime.cli.failures import Subject
from runtime.cli.lookup import find_session_detail
from runtime.cli.output import Output
from runtime.cli.transcript import (
    SEARCH_COLUMNS,
    SESSION_COLUMNS,
    found_row,
    pending_lines,
    session_lines,
    session_row,
    transcript_lines,
)
from runtime.cli.wording import excerpt
from runtime.config import Flags

SEQUENCE_END: Final = 2**53 - 1
FIRST_MESSAGES: Final = 3
"""Among these of a session is its first prompt."""
EXCERPTS_MAX: Final = 200
"""So many sessions without a title are asked for their first prompt; the others show none."""


@attrs.frozen(kw_only=True)
class ListRequest:
    """The arguments of `greenroom sessions`."""

    workspace_id: str
    deleted: bool = False
    target_id: str | None = None
    active: bool | None = None


def sessions_command(request: ListRequest, flags: Flags, *, as_json: bool) -> int:
    """Lists the sessions of a workspace, pinned ones first."""
    output = Output(as_json)
    return perform_async(partial(list_sessions, request, flags, output), output)


def search_command(query: str, workspace_id: str, flags: Flags, *, as_json: bool) -> int:
    """Lists the sessions that have the words; 0 also when there is none."""
    output = Output(as_json)
    return perform_async(partial(search_sessions, query, workspace_id, flags, output), output)


def show_command(session_id: str, workspace_id: str, flags: Flags, *, newest: int, as_json: bool) -> int:
    """Shows a session: its newest messages by turn, and what waits for an answer."""
    output = Output(as_json)
    return perform_async(partial(show_session, session_id, workspace_id, flags, newest, output), output)


async def list_sessions(request: ListRequest, flags: Flags, output: Output) -> int:
    """The list within a loop."""
    method = "session/listDeleted" if request.deleted else "session/list"
    params = {
        "workspaceId": request.workspace_id,
        "agentTargetId": request.target_id,
        "active": request.active,
    }
    given = {name: value for name, value in params.items() if value is not None}
    async with open_daemon(load(flags)) as daemon:
        with about(Subject(workspace_id=request.workspace_id)):
            items = await all_items(daemon.client, method, given)
        excerpts = {} if output.as_json else await first_words(daemon.client, items)
    if output.as_json:
        output.document({"items": items})
    elif items:
        rows = [session_row(session, excerpts.get(session["agentSessionId"], "")) for session in items]
        output.table(SESSION_COLUMNS, rows)
    elif request.deleted:
        output.hint(f"no deleted sessions in workspace {request.workspace_id}")
    else:
        output.hint(f'no sessions in workspace {request.workspace_id}; start one: greenroom run "…"')
    return 0


async def first_words(client: Client, sessions: list[SessionListItem]) -> dict[str, str]:
    """Of sessions without a title, the beginning of their first prompt, by session; asked for side by side."""
    found: dict[str, str] = {}
    untitled = [one for one in sessions if not one["title"] and one.get("deletedAt") is None]
    async with trio.open_nursery() as nursery:
        for session in untitled[:EXCERPTS_MAX]:
            nursery.start_soon(_first_words, client, session, found)
    return found


async def _first_words(client: Client, session: SessionListItem, found: dict[str, str]) -> None:
    try:
        reply = await client.session_messages(
            workspace_id=session["workspaceId"],
            agent_session_id=session["agentSessionId"],
            after_version=0,
            limit=FIRST_MESSAGES,
        )
    except GreenroomError:
        return  # it was deleted meanwhile, or is not for us: it is listed without
    for message in reply["messages"]:
        if message["role"] == "user":
            found[session["agentSessionId"]] = excerpt(message.get("displayPrompt") or text_of(message))
            return


async def search_sessions(query: str, workspace_id: str, flags: Flags, output: Output) -> int:
    """The search within a loop."""
    async with open_daemon(load(flags)) as daemon:
        with about(Subject(workspace_id=workspace_id)):
            params = {"workspaceId": workspace_id, "query": query}
            items = await all_items(daemon.client, "session/search", params)
    if output.as_json:
        output.document({"items": items})
    elif items:
        output.table(SEARCH_COLUMNS, [found_row(session) for session in items])
    else:
        output.hint(f"no session of workspace {workspace_id} has {query!r}")
    return 0


async def show_session(session_id: str, workspace_id: str, flags: Flags, newest: int, output: Output) -> int:
    """The session within a loop."""
    async with open_daemon(load(flags)) as daemon:
        found = await find_session_detail(daemon.client, workspace_id, session_id)
        with about(Subject(session_id=found["session"]["agentSessionId"], workspace_id=workspace_id)):
            messages, more = await _newest_messages(daemon.client, found, newest)
            turns = found["turns"] + await _older_turns(daemon.client, found, messages)
    if output.as_json:
        output.document({**found, "turns": turns, "messages": messages, "hasMoreMessages": more})
    else:
        _show(output, found, turns, messages, more=more)
    return 0


async def _newest_messages(client: Client, found: SessionGetReply, newest: int) -> tuple[list[Message], bool]:
    """So many messages, ascending by sequence, and whether there are earlier ones."""
    session = found["session"]
    messages: list[Message] = []
    before, more = SEQUENCE_END, True
    while more and len(messages) < newest:
        page = await client.session_messages(
            workspace_id=session["workspaceId"],
            agent_session_id=session["agentSessionId"],
            before_sequence=before,
            limit=min(PAGE_ITEMS, newest - len(messages)),
        )
        messages = page["messages"] + messages
        more = page["hasMore"] and page["oldestSequence"] is not None
        before = page["oldestSequence"] or 0
    return messages, more


async def _older_turns(client: Client, found: SessionGetReply, messages: list[Message]) -> list[Turn]:
    """The turns beyond those of `session/get` that the messages speak of."""
    session = found["session"]
    known = {turn["turnId"] for turn in found["turns"]}
    wanted = {message["turnId"] for message in messages} - known - {None}
    cursor, turns = found["turnsCursor"], list[Turn]()
    while wanted and cursor is not None:
        page = await client.turn_list(
            workspace_id=session["workspaceId"],
            agent_session_id=session["agentSessionId"],
            limit=PAGE_ITEMS,
            cursor=cursor,
        )
        turns += [turn for turn in page["items"] if turn["turnId"] in wanted]
        wanted -= {turn["turnId"] for turn in page["items"]}
        cursor = page["nextCursor"]
    return turns


def _show(
    output: Output, found: SessionGetReply, turns: list[Turn], messages: list[Message], *, more: bool
) -> None:
    spoken = {message["turnId"] for message in messages}
    # Of the turns of old only those are shown whose messages are; the newest are, whatever they said.
    shown = turns if not more else [turn for turn in turns if turn["turnId"] in spoken]
    for line in session_lines(found["session"], found["children"]):
        output.text(line.text, line.style)
    if more:
        output.hint(f"earlier messages are left out; all of them: --newest {SEQUENCE_END}", style="dim")
    for line in transcript_lines(shown, messages):
        output.text(line.text, line.style)
    for line in pending_lines(found["interactions"]):
        output.text(line.text, line.style)
