"""What the slash commands of a conversation do. Those about a session without one say so and do nothing."""

from typing import Final

from greenroom_client import repeat_until_answered
from greenroom_client.contract.models import Session
from runtime.cli.change_commands import setting_rows, settings_of, target_of
from runtime.cli.chat.conversation import Conversation
from runtime.cli.chat.slash import COMMANDS, Slash
from runtime.cli.commands import all_items
from runtime.cli.session_commands import first_words
from runtime.cli.transcript import session_state

SESSIONS_SHOWN: Final = 20


async def run_slash(conversation: Conversation, slash: Slash) -> None:
    """Does it. Raises what the daemon refuses."""
    paper = conversation.paper
    match slash.name:
        case "help":
            for name, text in COMMANDS.items():
                paper.line(f"  /{name:9} {text}")
            paper.line("  //…        sends the agent a line that begins with one slash", "dim")
        case "new":
            conversation.leave_session()
            paper.line("The next prompt begins another session.", "dim")
        case "rename":
            await _rename(conversation, slash.rest)
        case "model" if slash.rest:
            await _set(conversation, (f"model={slash.rest}",))
        case "model":
            await _show_settings(conversation, "model")
        case "settings" if slash.rest:
            await _set(conversation, tuple(slash.rest.split()))
        case "settings":
            await _show_settings(conversation, None)
        case "sessions":
            await _sessions(conversation)
        case "side":
            _side(conversation, slash.rest)
        case other:
            raise AssertionError(f"/{other} is listed and not done")


def _side(conversation: Conversation, question: str) -> None:
    session = _session(conversation)
    if session is None:
        return
    if question:
        conversation.ask_beside(session, question)
    else:
        conversation.paper.line("Ask something: /side QUESTION", "dim")


async def _rename(conversation: Conversation, title: str) -> None:
    session = _session(conversation)
    if session is None:
        return
    await repeat_until_answered(
        lambda: conversation.client.session_rename(
            workspace_id=conversation.workspace_id, agent_session_id=session["agentSessionId"], title=title
        )
    )
    conversation.paper.line(f"renamed to {title!r}" if title else "without a title now", "dim")


async def _set(conversation: Conversation, changes: tuple[str, ...]) -> None:
    settings = settings_of(changes)
    session = conversation.session
    if session is None:
        conversation.settings |= settings
        conversation.paper.line(f"The next session begins with {', '.join(changes)}.", "dim")
        return
    reply = await repeat_until_answered(
        lambda: conversation.client.session_update_settings(
            workspace_id=conversation.workspace_id,
            agent_session_id=session["agentSessionId"],
            settings=settings,
        )
    )
    conversation.session = reply["session"]
    conversation.paper.line(f"set {', '.join(changes)}", "dim")


async def _show_settings(conversation: Conversation, only: str | None) -> None:
    session = _session(conversation)
    if session is None:
        return
    for key, value, offered, change in setting_rows(session, await target_of(conversation.client, session)):
        if only in (None, key):
            conversation.paper.line(f"  {key}: {value}" + (f"  ({offered}; {change})" if offered else ""))


async def _sessions(conversation: Conversation) -> None:
    client, params = conversation.client, {"workspaceId": conversation.workspace_id}
    sessions = (await all_items(client, "session/list", params))[:SESSIONS_SHOWN]
    words = await first_words(client, sessions)
    for session in sessions:
        session_id = session["agentSessionId"]
        title = session["title"] or words.get(session_id, "")
        conversation.paper.line(f"  {session_id}  {session_state(session):10}  {title}")
    conversation.paper.line("go on with one of them: greenroom run -i --session SESSION", "dim")


def _session(conversation: Conversation) -> Session | None:
    if conversation.session is None:
        conversation.paper.line("There is no session yet; the first prompt begins one.", "dim")
    return conversation.session
