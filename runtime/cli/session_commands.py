"""`greenroom sessions` and `greenroom show`: reads through the running daemon, or an embedded one.

Owns which pages are read. How they look is `transcript`'s business.
"""

from functools import partial
from typing import Final

from runtime.cli.commands import PAGE_ITEMS, all_items, ask, load, perform_async
from runtime.cli.daemon_access import open_daemon
from runtime.cli.daemon_client import DaemonClient, Json
from runtime.cli.failures import Subject
from runtime.cli.output import Output
from runtime.cli.transcript import (
    SESSION_COLUMNS,
    pending_lines,
    session_lines,
    session_row,
    transcript_lines,
)
from runtime.config import Flags

SEQUENCE_END: Final = 2**53 - 1


def sessions_command(workspace_id: str, flags: Flags, *, as_json: bool) -> int:
    """Lists the sessions of a workspace, pinned ones first."""
    output = Output(as_json)
    return perform_async(partial(list_sessions, workspace_id, flags, output), output)


def show_command(session_id: str, workspace_id: str, flags: Flags, *, newest: int, as_json: bool) -> int:
    """Shows a session: its newest messages by turn, and what waits for an answer."""
    output = Output(as_json)
    return perform_async(partial(show_session, session_id, workspace_id, flags, newest, output), output)


async def list_sessions(workspace_id: str, flags: Flags, output: Output) -> int:
    """The list within a loop."""
    subject = Subject(workspace_id=workspace_id)
    async with open_daemon(load(flags)) as daemon:
        items = await all_items(daemon.client, "session/list", {"workspaceId": workspace_id}, subject)
    if output.as_json:
        output.document({"items": items})
    elif items:
        output.table(SESSION_COLUMNS, [session_row(session) for session in items])
    else:
        output.hint(f'no sessions in workspace {workspace_id}; start one: greenroom run "…"')
    return 0


async def show_session(session_id: str, workspace_id: str, flags: Flags, newest: int, output: Output) -> int:
    """The session within a loop."""
    subject = Subject(session_id=session_id, workspace_id=workspace_id)
    key = {"workspaceId": workspace_id, "agentSessionId": session_id}
    async with open_daemon(load(flags)) as daemon:
        found = await ask(daemon.client, "session/get", key, subject)
        messages, more = await _newest_messages(daemon.client, key, subject, newest)
        turns = found["turns"] + await _older_turns(daemon.client, key, subject, found, messages)
    if output.as_json:
        output.document({**found, "turns": turns, "messages": messages, "hasMoreMessages": more})
    else:
        _show(output, found, turns, messages, more=more)
    return 0


async def _newest_messages(
    client: DaemonClient, key: Json, subject: Subject, newest: int
) -> tuple[list[Json], bool]:
    """So many messages, ascending by sequence, and whether there are earlier ones."""
    messages: list[Json] = []
    before, more = SEQUENCE_END, True
    while more and len(messages) < newest:
        limit = min(PAGE_ITEMS, newest - len(messages))
        page = await ask(
            client, "session/messages", {**key, "beforeSequence": before, "limit": limit}, subject
        )
        messages = page["messages"] + messages
        more = bool(page["hasMore"]) and page["oldestSequence"] is not None
        before = page["oldestSequence"] if more else before
    return messages, more


async def _older_turns(
    client: DaemonClient, key: Json, subject: Subject, found: Json, messages: list[Json]
) -> list[Json]:
    """The turns beyond those of `session/get` that the messages speak of."""
    known = {turn["turnId"] for turn in found["turns"]}
    wanted = {message["turnId"] for message in messages} - known - {None}
    cursor, turns = found["turnsCursor"], []
    while wanted and cursor is not None:
        page = await ask(client, "turn/list", {**key, "limit": PAGE_ITEMS, "cursor": cursor}, subject)
        turns += [turn for turn in page["items"] if turn["turnId"] in wanted]
        wanted -= {turn["turnId"] for turn in page["items"]}
        cursor = page["nextCursor"]
    return turns


def _show(output: Output, found: Json, turns: list[Json], messages: list[Json], *, more: bool) -> None:
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
