"""What a line of a conversation is: something for the agent, a command, or a word nobody knows."""

import pytest

from runtime.cli.chat.slash import COMMANDS, Prompt, Slash, Unknown, read


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("mend it", Prompt("mend it")),
        ("/stop", Slash("stop")),
        ("  /Rename  About tests ", Slash("rename", "About tests")),
        ("/exit", Slash("quit")),
        ("/side what is this?", Slash("side", "what is this?")),
        ("/side what is this,\nand that?", Slash("side", "what is this,\nand that?")),
        ("/side\nwhat?", Slash("side", "what?")),
        ("/compact", Unknown("compact")),
        ("//compact now", Prompt("/compact now")),
        ("/srv/work/a.py is broken", Prompt("/srv/work/a.py is broken")),
        ("/stop\nand go on", Prompt("/stop\nand go on")),
    ],
)
def test_a_line_is_read(line, meaning):
    assert read(line) == meaning


def test_every_command_is_explained():
    assert all(COMMANDS.values())
