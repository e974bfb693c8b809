"""A conversation that loses its turn on the way: nothing is shown twice, and its end is shown."""

import io
import os
from contextlib import asynccontextmanager

import pytest
import trio

from greenroom_client import DaemonUnreachable, TextPiece, connect_to_daemon, stream_turn
from runtime.cli.chat.conversation import Conversation
from runtime.cli.chat.keyboard import Leave, Lines, Stop
from runtime.cli.chat.paper import Paper
from runtime.cli.chat.slash_commands import run_slash
from runtime.cli.output import Output
from tests.cli.terminals import SECONDS


class LostAfterText:
    """A turn that can be followed until its agent said something; then nobody answers any more."""

    def __init__(self, pieces):
        self._pieces = pieces
        self._said = False

    @property
    def turn(self):
        return self._pieces.turn

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self._said:
            raise DaemonUnreachable("no connection came back within 30 s")
        piece = await anext(self._pieces)
        self._said = isinstance(piece, TextPiece) and "0 xxx" in piece.text
        return piece


@pytest.fixture
def lost_once(monkeypatch):
    """The first turn that is followed is lost."""
    streams = []

    @asynccontextmanager
    async def stream(client, **asked):
        async with stream_turn(client, **asked) as pieces:
            streams.append(asked["turn_id"])
            yield LostAfterText(pieces) if len(streams) == 1 else pieces

    monkeypatch.setattr("runtime.cli.chat.conversation.stream_turn", stream)
    return streams


async def written_soon(written, text):
    """Waits until it is there."""
    while text not in written.getvalue():
        await trio.lowlevel.checkpoint()


async def test_a_turn_that_was_lost_goes_on_where_it_was_and_is_shown_to_its_end(
    daemon, workspace, lost_once
):
    written = io.StringIO()
    with trio.fail_after(SECONDS), open(os.devnull) as nothing:
        async with connect_to_daemon(daemon.data_dir) as client, trio.open_nursery() as tasks:
            keyboard = Lines(nothing.fileno(), patient=False)
            paper = Paper(Output(stdout=written, stderr=written, stdin=nothing), keyboard, whole_lines=False)
            conversation = Conversation(client, workspace, "demo", None, paper, keyboard, tasks, run_slash)
            words_in, words = trio.open_memory_channel(10)
            tasks.start_soon(conversation.hold, words, "[[stream 20 delay=30]] [[hang]]")
            await written_soon(written, "no word from the daemon")
            await written_soon(written, "19 xxx")
            words_in.send_nowait(Stop())
            await written_soon(written, "(canceled")
            words_in.send_nowait(Leave())
            tasks.cancel_scope.cancel()
    assert [written.getvalue().count(f"{number} xxx") for number in (0, 5)] == [2, 2]  # 10 and 15 end so too
    assert len(set(lost_once)) == 1
