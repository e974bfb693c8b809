"""Where a command's words go: texts to stdout, hints and errors to stderr, styles on a terminal only.

Owns the two streams and the choice between text and JSON; rich is imported when there is a terminal to draw on. What
an agent wrote is shown without control characters, so that it cannot drive the terminal.
"""

import io
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

import attrs
import orjson

from runtime.cli.failures import CommandFailed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_CONTROLS: Final = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}
# Marks that reorder what is shown: a command to be approved must read as it will run.
_CONTROLS.update(dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A))))


def printable(text: str) -> str:
    """`text` without control characters (but line feeds and tabs) and without marks of direction."""
    return text.translate(_CONTROLS)


@attrs.define(eq=False)
class Output:
    """The streams of one command."""

    as_json: bool = False
    """Whether `--json` was given: stdout then holds JSON and nothing else."""
    stdout: TextIO = attrs.field(factory=lambda: sys.stdout)
    stderr: TextIO = attrs.field(factory=lambda: sys.stderr)
    stdin: TextIO = attrs.field(factory=lambda: sys.stdin or io.StringIO())
    _consoles: dict[TextIO, "Console"] = attrs.field(factory=dict, init=False)

    @property
    def can_ask(self) -> bool:
        """Whether there is a person to be asked: what is read and what asks are both a terminal."""
        return self.stdin.isatty() and self.stderr.isatty()

    def text(self, text: str = "", style: str = "", *, end: str = "\n") -> None:
        """Something the command was asked for."""
        self._write(self.stdout, text, style, end)

    def hint(self, text: str, style: str = "", *, end: str = "\n") -> None:
        """Something beside it: progress, advice, questions."""
        self._write(self.stderr, text, style, end)

    def document(self, value: Any) -> None:
        """One JSON value on one line of stdout."""
        self.stdout.write(orjson.dumps(value).decode() + "\n")
        self.stdout.flush()

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Rows under their headings: drawn on a terminal, separated by tabs elsewhere."""
        if not self.stdout.isatty():
            for row in (columns, *rows):
                self.stdout.write("\t".join(" ".join(printable(cell).split()) for cell in row) + "\n")
            self.stdout.flush()  # so that it stands before what is said about it, where both go to one place
            return
        self.console(self.stdout).print(self.drawn_table(columns, rows))

    def drawn_table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
        """Rows under their headings, for a terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(Text(printable(cell), overflow="fold") for cell in row))
        return table

    def failure(self, failed: CommandFailed) -> None:
        """Why the command ends without success: one line, and what to do next."""
        if self.as_json:
            error = {
                "code": failed.code,
                "message": failed.what,
                "next": failed.next_step,
                "exitCode": failed.exit_code,
            }
            self.stderr.write(orjson.dumps({"error": error}).decode() + "\n")
            return
        end = "" if failed.what.endswith((".", "?")) else "."
        advice = f"{end} Next: {failed.next_step}" if failed.next_step else ""
        self.hint(f"greenroom: {failed.what}{advice}", style="red")

    def _write(self, stream: TextIO, text: str, style: str, end: str) -> None:
        text = printable(text)
        if style and stream.isatty():
            from rich.text import Text

            self.console(stream).print(Text(text, style=style), end=end, soft_wrap=True)
        else:
            stream.write(text + end)
        stream.flush()

    def console(self, stream: TextIO) -> "Console":
        """What draws on one of the streams."""
        from rich.console import Console

        if stream not in self._consoles:
            self._consoles[stream] = Console(file=stream, highlight=False, markup=False, emoji=False)
        return self._consoles[stream]
