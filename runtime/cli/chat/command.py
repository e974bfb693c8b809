"""`greenroom run -i`: the terminal, the daemon and the conversation put together, and what is said at the end."""

import os
import signal
from collections.abc import AsyncIterator
from functools import partial
from typing import Final, TextIO, cast

import trio

from greenroom_client import FOREVER, ConnectionState
from runtime.cli.chat.conversation import Conversation
from runtime.cli.chat.keyboard import Keyboard, Leave, Lines, Stop, Word
from runtime.cli.chat.paper import Paper
from runtime.cli.chat.slash_commands import run_slash
from runtime.cli.commands import load, perform_async
from runtime.cli.daemon_access import Access, Daemon, open_daemon
from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed
from runtime.cli.interrupts import SIGNAL_EXIT_BASE
from runtime.cli.lookup import find_session_detail
from runtime.cli.output import Output
from runtime.cli.run_command import RunRequest
from runtime.cli.transcript import session_lines, transcript_lines
from runtime.config import Flags

WORDS_WAITING_MAX: Final = 100
MESSAGES_SHOWN: Final = 20
"""Of a session that is gone on with."""
SEQUENCE_END: Final = 2**53 - 1


def chat_command(request: RunRequest, flags: Flags, *, as_json: bool) -> int:
    """Holds a conversation; 0 when it was left by a word, 130 by Ctrl-C."""
    output = Output(as_json)
    return perform_async(partial(chat, request, flags, output), output)


async def chat(request: RunRequest, flags: Flags, output: Output) -> int:
    """The same within a loop."""
    if output.as_json:
        raise CommandFailed(
            "a conversation has no JSON", "greenroom run --json, without -i", exit_code=EXIT_ARGUMENTS
        )
    placed, configuration = request.placed(), load(flags)
    keyboard, spoken = _keyboard(output)
    paper = Paper(spoken, keyboard, whole_lines=spoken is not output)
    access = Access(reconnect=FOREVER, on_state=partial(_tell_state, paper, [False]))
    async with open_daemon(configuration, access) as daemon, trio.open_nursery() as tasks:
        conversation = Conversation(
            daemon.client,
            placed.workspace_id,
            placed.target_id,
            placed.cwd,
            paper,
            keyboard,
            tasks,
            run_slash,
            placement=placed.placement,
        )
        if placed.session_id is not None:
            await _show_before(conversation, placed.session_id)
        words_in, words = trio.open_memory_channel[Word](WORDS_WAITING_MAX)
        await tasks.start(_signals, words_in.clone())
        await tasks.start(keyboard.run, words_in)
        paper.line("Type a prompt; /help lists commands, Ctrl-C stops a turn, Ctrl-D leaves.", "dim")
        code = await conversation.hold(words, placed.prompt)
        tasks.cancel_scope.cancel()
    _say_goodbye(conversation, daemon, output)
    return code


def _keyboard(output: Output) -> tuple[Keyboard, Output]:
    """How words come in, and where the conversation is written."""
    from runtime.cli.chat.editor import Editor, editor_can_draw

    if editor_can_draw(output.stdin, output.stdout, os.environ.get("TERM", "")):
        editor = Editor()
        stream = cast("TextIO", editor.stream)
        above = Output(stdout=stream, stderr=stream, stdin=output.stdin)
        return editor, above
    return Lines(output.stdin.fileno(), patient=not output.stdin.isatty()), output


def _tell_state(paper: Paper, was_lost: list[bool], state: ConnectionState) -> None:
    if state == "connecting":
        was_lost[0] = True
        paper.line("the daemon is gone; waiting for it", "yellow")
    elif state == "connected" and was_lost[0]:
        was_lost[0] = False
        paper.line("the daemon is back", "dim")


async def _signals(
    words: trio.MemorySendChannel[Word], *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Ctrl-C where no editor takes it as a key, and the end of the program by others."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as received:
        task_status.started()
        await _send_signals(received, words)


async def _send_signals(received: AsyncIterator[int], words: trio.MemorySendChannel[Word]) -> None:
    async for number in received:
        await words.send(Stop() if number == signal.SIGINT else Leave(SIGNAL_EXIT_BASE + number))


async def _show_before(conversation: Conversation, typed: str) -> None:
    """The session that is gone on with, and the end of what was said in it."""
    found = await find_session_detail(conversation.client, conversation.workspace_id, typed)
    conversation.session = session = found["session"]
    conversation.cwd = session["cwd"]
    page = await conversation.client.session_messages(
        workspace_id=conversation.workspace_id,
        agent_session_id=session["agentSessionId"],
        before_sequence=SEQUENCE_END,
        limit=MESSAGES_SHOWN,
    )
    running = found["activeTurn"]
    messages = [one for one in page["messages"] if running is None or one["turnId"] != running["turnId"]]
    spoken = {one["turnId"] for one in messages}
    turns = [turn for turn in found["turns"] if turn["turnId"] in spoken]
    for line in (*session_lines(session, found["children"]), *transcript_lines(turns, messages)):
        conversation.paper.line(line.text, line.style)
    for interaction in found["interactions"]:
        ended = running is None or interaction["turnId"] != running["turnId"]
        if interaction["status"] == "pending" and ended:
            conversation.asked_before(interaction)


def _say_goodbye(conversation: Conversation, daemon: Daemon, output: Output) -> None:
    session = conversation.session
    if session is None:
        return
    place = "" if conversation.workspace_id == "default" else f" --workspace {conversation.workspace_id}"
    kept = " is kept" if daemon.embedded else " lives on"
    session_id = session["agentSessionId"]
    output.hint(f"session {session_id}{kept}; go on with: greenroom run -i --session {session_id}{place}")
