"""The line editor of a real terminal: prompt_toolkit, in a thread of its own, below whatever is written above it.

Owns the keys, from its first to its last moment (`held_terminal`). It repaints its own line alone, never what stands
above. Its thread ends with `run`, and the terminal is as it was.
"""

import sys
import threading
from typing import Any, Final

import trio
from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import StdoutProxy

from runtime.cli.chat.held_terminal import HeldTerminal
from runtime.cli.chat.keyboard import Leave, Stop, Typed, Word
from runtime.cli.output import printable

UNFINISHED_CHARACTERS: Final = 200
"""So much of the line that is being written is shown: it must fit above the line that is typed."""
END_SECONDS: Final = 2.0


class Editor:
    """One line to type in. Made in the loop's thread; its methods are called there."""

    patient = False

    def __init__(self) -> None:
        self.stream = StdoutProxy(raw=True, sleep_between_writes=0.02)
        """What is written here stands above the line."""
        self._unfinished = ""
        self._working = False
        self._options = 0
        self._secret = False
        self._default = ""
        self._closed = False
        self._ended = threading.Event()
        self._words: trio.MemorySendChannel[Word] | None = None
        self._terminal = HeldTerminal(sys.stdin)
        self._session: PromptSession[str] = PromptSession(
            self._message,
            input=self._terminal,
            key_bindings=self._keys(),
            is_password=Condition(lambda: self._secret),
            enable_history_search=True,
            multiline=False,
        )

    async def run(
        self,
        words: trio.MemorySendChannel[Word],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Edits until cancelled; started as soon as no key is lost any more."""
        self._words = words
        with self._terminal.held():
            task_status.started()
            try:
                await trio.to_thread.run_sync(self._edit, abandon_on_cancel=True)
            finally:
                self._close()
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(self._ended.wait, END_SECONDS)
                    self.stream.close()

    def working(self, working: bool) -> None:
        """Shown before the line."""
        self._working = working
        self._session.app.invalidate()

    def asking(self, options: int, *, secret: bool = False) -> None:
        """A single digit answers then."""
        self._options, self._secret = options, secret
        self._session.app.invalidate()

    def unfinished(self, text: str) -> None:
        """Shown above the line until its end has come."""
        self._unfinished = text if len(text) <= UNFINISHED_CHARACTERS else "…" + text[-UNFINISHED_CHARACTERS:]
        self._session.app.invalidate()

    def put_back(self, text: str) -> None:
        """In the line again, unless something else is being typed there."""
        app = self._session.app
        if app.is_running and app.loop is not None:
            app.loop.call_soon_threadsafe(self._insert, text)
        else:
            self._default = text

    # --- the thread -----------------------------------------------------------------------------------------------

    def _edit(self) -> None:
        try:
            while not self._closed:
                default, self._default = self._default, ""
                try:
                    text = self._session.prompt(default=default, pre_run=self._end_when_closed)
                except EOFError:
                    self._send(Leave())
                    return
                if not self._closed:
                    self._send(Typed(text))
        finally:
            self._ended.set()

    def _send(self, word: Word) -> None:
        assert self._words is not None
        try:
            trio.from_thread.run_sync(self._words.send_nowait, word)
        except (trio.Cancelled, trio.RunFinishedError, trio.BrokenResourceError, trio.WouldBlock):
            pass  # the conversation is over, or has more to do than it can remember

    def _end_when_closed(self) -> None:
        if self._closed:
            self._session.app.exit(result="")

    def _close(self) -> None:
        self._closed = True
        app = self._session.app
        if app.is_running and app.loop is not None:
            app.loop.call_soon_threadsafe(self._exit)

    def _exit(self) -> None:
        if self._session.app.is_running and not self._session.app.is_done:
            self._session.app.exit(result="")

    def _insert(self, text: str) -> None:
        buffer = self._session.default_buffer
        if not buffer.text:
            buffer.insert_text(text)

    def _message(self) -> StyleAndTextTuples:
        before: StyleAndTextTuples = []
        if self._unfinished:
            before.append(("", printable(self._unfinished) + "\n"))
        if self._options:
            return [*before, ("bold", f"1-{self._options} › ")]
        return (
            [*before, ("fg:ansibrightblack", "working "), ("bold", "› ")]
            if self._working
            else [*before, ("bold", "› ")]
        )

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c", eager=True)
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text and not self._working:
                event.current_buffer.reset()
            else:
                self._send(Stop())

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @Condition
        def choosing() -> bool:
            return 0 < self._options < 10 and not self._session.default_buffer.text

        for number in range(1, 10):

            @keys.add(str(number), filter=choosing)
            def _(event: KeyPressEvent, number: int = number) -> None:
                if number <= self._options:
                    event.current_buffer.text = str(number)
                    event.current_buffer.validate_and_handle()

        return keys


def editor_can_draw(stdin: Any, stdout: Any, terminal: str) -> bool:
    """Whether there is a terminal that can be drawn on, and somebody before it."""
    return bool(stdin.isatty() and stdout.isatty() and terminal not in ("", "dumb", "unknown"))
