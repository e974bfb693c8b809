"""The streams of a command in a test: text kept in memory, with a terminal at will."""

import io
import os

from runtime.cli.output import Output


class Stream(io.StringIO):
    """Kept text; a terminal when it says so."""

    def __init__(self, text: str = "", *, terminal: bool = False) -> None:
        super().__init__(text)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Typed:
    """A person's keyboard: lines put in come out of a descriptor, as a terminal's do."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def type(self, text: str) -> None:
        os.write(self._write_end, text.encode())

    def end(self) -> None:
        if self._write_end >= 0:
            os.close(self._write_end)
            self._write_end = -1

    def close(self) -> None:
        self.end()
        os.close(self._read_end)

    def fileno(self) -> int:
        return self._read_end

    def isatty(self) -> bool:
        return True


def quiet_output(*, as_json: bool = False, stdin: str = "") -> Output:
    """No terminal anywhere."""
    return Output(as_json, stdout=Stream(), stderr=Stream(), stdin=Stream(stdin))


def terminal_output(keyboard: Typed, *, as_json: bool = False) -> Output:
    """A person at a terminal."""
    return Output(as_json, stdout=Stream(terminal=True), stderr=Stream(terminal=True), stdin=keyboard)
