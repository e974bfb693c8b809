"""A terminal that stays in the editor's mode for a whole conversation.

prompt_toolkit gives the terminal back between two lines and whenever something is written above the line. In those
moments the terminal would take keys for itself: echo them, edit them, make a signal of Ctrl-C and throw away what was
typed before it. Here such a key waits, and is the first of the next line. Owns the terminal's mode, nothing of keys.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from prompt_toolkit.input.vt100 import Vt100Input, raw_mode


class HeldTerminal(Vt100Input):
    """The input of an editor that runs within `held`."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keys are keys for as long as the body runs; afterwards the terminal is as it was."""
        with raw_mode(self.fileno()):
            yield

    def raw_mode(self) -> AbstractContextManager[None]:
        """It is in that mode already."""
        return nullcontext()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """What is written above the line asks nobody anything, so nobody needs another mode for it."""
        return nullcontext()
