"""From what a person types to what the contract wants: a session by the beginning of its id, a turn, a target.

Reads only. Raises `CommandFailed` for a beginning that several ids have, with the ids.
"""

from collections.abc import Iterable
from typing import Final

from greenroom_client import Client, GreenroomError
from greenroom_client.contract.models import Session, SessionGetReply
from runtime.cli.commands import about, all_items
from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed, Subject

IDS_SHOWN: Final = 5
_NOT_THERE: Final = "session.not_found"


async def find_session(client: Client, workspace_id: str, typed: str) -> Session:
    """The session of this id, or the only one whose id begins so."""
    return (await find_session_detail(client, workspace_id, typed, summary=True))["session"]


async def find_session_detail(
    client: Client, workspace_id: str, typed: str, *, summary: bool = False
) -> SessionGetReply:
    """The same with its newest turns and what it asks."""
    subject = Subject(session_id=typed, workspace_id=workspace_id)
    try:
        return await _read(client, workspace_id, typed, summary=summary)
    except GreenroomError as refused:
        if refused.code != _NOT_THERE:
            with about(subject):
                raise
        items = await all_items(client, "session/list", {"workspaceId": workspace_id})
        found = only_match(typed, (item["agentSessionId"] for item in items))
        with about(subject):
            if found is None:
                raise
            return await _read(client, workspace_id, found, summary=summary)


async def find_deleted_session(client: Client, workspace_id: str, typed: str) -> str:
    """The id of a deleted session; what was typed when none begins so, for the daemon to refuse."""
    items = await all_items(client, "session/listDeleted", {"workspaceId": workspace_id})
    return only_match(typed, (item["agentSessionId"] for item in items)) or typed


def only_match(typed: str, ids: Iterable[str]) -> str | None:
    """The only id that begins as typed, or is it; None when there is none. Raises `CommandFailed` for several."""
    matches = [one for one in ids if typed and one.startswith(typed)]
    if typed in matches:
        return typed
    if len(matches) > 1:
        shown = ", ".join(matches[:IDS_SHOWN]) + (", …" if len(matches) > IDS_SHOWN else "")
        raise CommandFailed(
            f"{typed!r} begins the ids of {len(matches)} sessions: {shown}",
            "type more of the id",
            exit_code=EXIT_ARGUMENTS,
        )
    return matches[0] if matches else None


async def default_target(client: Client) -> str:
    """The first enabled target (`contract §1`)."""
    for target in await all_items(client, "target/list", {}):
        if target["enabled"]:
            return str(target["agentTargetId"])
    raise CommandFailed("no target is enabled", "configure one as [[targets]], or set demo = true")


async def _read(client: Client, workspace_id: str, session_id: str, *, summary: bool) -> SessionGetReply:
    return await client.session_get(
        workspace_id=workspace_id, agent_session_id=session_id, projection="summary" if summary else None
    )
