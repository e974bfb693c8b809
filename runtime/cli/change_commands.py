"""`greenroom rename`, `pin`, `unpin`, `set`, `delete` and `undelete`: changes that need no agent, so no running daemon.

Owns how settings are written on a command line. What may be set is the target's.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeAlias

from greenroom_client import Client, repeat_until_answered
from greenroom_client.contract.models import Session, Target
from runtime.cli.commands import about, all_items, load, perform_async
from runtime.cli.daemon_access import open_daemon
from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed, Subject
from runtime.cli.lookup import find_deleted_session, find_session
from runtime.cli.output import Output
from runtime.config import Flags

Change: TypeAlias = Callable[[Client, Session], Awaitable[Session]]

SETTING_COLUMNS: Final = ("SETTING", "VALUE", "OFFERED", "CHANGES")
_SWITCHES: Final = {"true": True, "false": False}


def rename_command(session: str, title: str, workspace_id: str, flags: Flags, *, as_json: bool) -> int:
    """Gives a session another title, or none."""

    async def change(client: Client, row: Session) -> Session:
        reply = await client.session_rename(
            workspace_id=workspace_id, agent_session_id=row["agentSessionId"], title=title
        )
        return reply["session"]

    said = f"renamed to {title!r}" if title else "without a title now"
    return _change(session, workspace_id, flags, change, said, as_json=as_json)


def pin_command(session: str, workspace_id: str, flags: Flags, *, pinned: bool, as_json: bool) -> int:
    """Pins a session, or no longer."""

    async def change(client: Client, row: Session) -> Session:
        reply = await client.session_pin(
            workspace_id=workspace_id, agent_session_id=row["agentSessionId"], pinned=pinned
        )
        return reply["session"]

    said = "pinned" if pinned else "no longer pinned"
    return _change(session, workspace_id, flags, change, said, as_json=as_json)


def set_command(
    session: str, changes: tuple[str, ...], workspace_id: str, flags: Flags, *, as_json: bool
) -> int:
    """Changes settings, or shows them where no change is given."""
    output = Output(as_json)
    if not changes:
        return perform_async(partial(show_settings, session, workspace_id, flags, output), output)

    async def change(client: Client, row: Session) -> Session:
        reply = await client.session_update_settings(
            workspace_id=workspace_id,
            agent_session_id=row["agentSessionId"],
            settings=settings_of(changes),
        )
        return reply["session"]

    return _change(session, workspace_id, flags, change, f"set {', '.join(changes)}", as_json=as_json)


def delete_command(sessions: tuple[str, ...], workspace_id: str, flags: Flags, *, as_json: bool) -> int:
    """Deletes sessions with all below them; all of them or none."""
    output = Output(as_json)
    return perform_async(partial(delete_sessions, sessions, workspace_id, flags, output), output)


def undelete_command(sessions: tuple[str, ...], workspace_id: str, flags: Flags, *, as_json: bool) -> int:
    """Brings deleted sessions back; all of them or none."""
    output = Output(as_json)
    return perform_async(partial(undelete_sessions, sessions, workspace_id, flags, output), output)


def settings_of(changes: tuple[str, ...]) -> dict[str, str | bool | None]:
    """`KEY=VALUE` words as settings; an empty value unsets. Raises `CommandFailed` with exit code 2."""
    settings: dict[str, str | bool | None] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key:
            raise CommandFailed(
                f"{change!r} is not KEY=VALUE", "greenroom set --help", exit_code=EXIT_ARGUMENTS
            )
        settings[key] = _SWITCHES.get(value, value or None)
    return settings


def _change(typed: str, workspace_id: str, flags: Flags, change: Change, said: str, *, as_json: bool) -> int:
    """A change of one session, with what is said afterwards."""
    output = Output(as_json)

    async def body() -> int:
        async with open_daemon(load(flags)) as daemon:
            row = await find_session(daemon.client, workspace_id, typed)
            with about(Subject(session_id=row["agentSessionId"], workspace_id=workspace_id)):
                changed = await repeat_until_answered(lambda: change(daemon.client, row))
        if output.as_json:
            output.document({"session": changed})
        else:
            output.text(f"session {changed['agentSessionId']}: {said}")
        return 0

    return perform_async(body, output)


# --- settings ---------------------------------------------------------------------------------------------------


async def show_settings(typed: str, workspace_id: str, flags: Flags, output: Output) -> int:
    """What is set and what there is to set."""
    async with open_daemon(load(flags)) as daemon:
        session = await find_session(daemon.client, workspace_id, typed)
        target = await target_of(daemon.client, session)
    offered = [] if target is None else target["settings"]
    if output.as_json:
        output.document({"settings": session["settings"], "offered": offered})
    else:
        output.table(SETTING_COLUMNS, setting_rows(session, target))
    return 0


async def target_of(client: Client, session: Session) -> Target | None:
    """The target of a session; None when it is not configured any more."""
    targets = await all_items(client, "target/list", {})
    return next((one for one in targets if one["agentTargetId"] == session["agentTargetId"]), None)


def setting_rows(session: Session, target: Target | None) -> list[tuple[str, ...]]:
    """Every setting with its value and what else it may be."""
    settings: dict[str, Any] = dict(session["settings"])
    rows: list[tuple[str, ...]] = []
    for offered in [] if target is None else target["settings"]:
        values = offered["values"]
        words = "any" if values is None else ", ".join(_word(one["value"]) for one in values)
        rows.append((offered["key"], _word(settings.pop(offered["key"], None)), words, offered["change"]))
    return rows + [(key, _word(value), "", "") for key, value in settings.items()]


def _word(value: str | bool | None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value or "(the agent's choice)"


# --- deleting ---------------------------------------------------------------------------------------------------


async def delete_sessions(typed: tuple[str, ...], workspace_id: str, flags: Flags, output: Output) -> int:
    """The deletion within a loop."""
    _refuse_none(typed, "delete")
    async with open_daemon(load(flags)) as daemon:
        client = daemon.client
        ids = [(await find_session(client, workspace_id, one))["agentSessionId"] for one in typed]
        with about(_subject(ids, workspace_id)):
            reply = await repeat_until_answered(
                lambda: client.session_delete(workspace_id=workspace_id, agent_session_ids=ids)
            )
    _tell(reply["sessions"], "deleted", f"greenroom undelete {' '.join(ids)}", output)
    return 0


async def undelete_sessions(typed: tuple[str, ...], workspace_id: str, flags: Flags, output: Output) -> int:
    """The restoration within a loop."""
    _refuse_none(typed, "undelete")
    async with open_daemon(load(flags)) as daemon:
        client = daemon.client
        ids = [await find_deleted_session(client, workspace_id, one) for one in typed]
        with about(_subject(ids, workspace_id)):
            reply = await repeat_until_answered(
                lambda: client.session_restore(workspace_id=workspace_id, agent_session_ids=ids)
            )
    _tell(reply["sessions"], "is back", "", output)
    return 0


def _refuse_none(typed: tuple[str, ...], command: str) -> None:
    if not typed:
        raise CommandFailed("no session was named", f"greenroom {command} SESSION", exit_code=EXIT_ARGUMENTS)


def _subject(ids: list[str], workspace_id: str) -> Subject:
    return Subject(session_id=ids[0] if len(ids) == 1 else None, workspace_id=workspace_id)


def _tell(sessions: list[Session], said: str, undo: str, output: Output) -> None:
    if output.as_json:
        output.document({"sessions": sessions})
        return
    for session in sessions:
        output.text(f"session {session['agentSessionId']}: {said}")
    if undo:
        output.hint(f"have it back with: {undo}", style="dim")
