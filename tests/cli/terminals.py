"""A person at a pseudo-terminal: types into `greenroom`, reads what it draws, waits no longer than a deadline."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Self

import attrs

GREENROOM = (sys.executable, "-c", "import sys; from runtime.cli import main; sys.exit(main())")
SECONDS = 40.0
"""How long anything may take on a busy machine; nothing is expected to."""
_DRAWING = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>]|\r")


@attrs.define(eq=False)
class Person:
    """One command at one terminal."""

    words: tuple[str, ...]
    home: Path
    terminal: str = "xterm"
    seen: str = attrs.field(default="", init=False)
    """All that was drawn, without the drawing."""
    modes: list[int] = attrs.field(factory=list, init=False)
    """The terminal's local mode at each look."""
    _from: int = attrs.field(default=0, init=False)
    _raw: bytes = attrs.field(default=b"", init=False)
    _master: int = attrs.field(default=-1, init=False)
    _process: subprocess.Popen | None = attrs.field(default=None, init=False)

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        environment = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": self.terminal,
            "NO_COLOR": "1",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        self._process = subprocess.Popen(
            (*GREENROOM, *self.words),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def enter(self, text: str) -> None:
        self.type(text + ("\n" if self.terminal == "dumb" else "\r"))

    def ctrl_c(self) -> None:
        """The key, where the terminal takes keys; else what a terminal makes of it."""
        if self.terminal == "dumb":
            assert self._process is not None
            self._process.send_signal(signal.SIGINT)
        else:
            self.type("\x03")

    def sees(self, text: str) -> None:
        """Waits for something that was not seen yet."""
        deadline = time.monotonic() + SECONDS
        while text not in self.seen[self._from :]:
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"{text!r} was not drawn; this was:\n{self.seen[-3000:]}")
        self._from = self.seen.index(text, self._from) + len(text)

    def leaves(self) -> int:
        """Its exit code."""
        assert self._process is not None
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self._read():
            pass
        return self._process.wait(SECONDS)

    def _read(self) -> bool:
        """A little more; whether there may be more yet."""
        if not select.select([self._master], [], [], 0.1)[0]:
            return True
        self.modes.append(termios.tcgetattr(self._master)[3])
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False  # the other end is closed
        self._raw += piece
        self.seen = _DRAWING.sub("", self._raw.decode(errors="replace"))
        return bool(piece)
