"""Draws the pieces of a turn: the answer on stdout, everything beside it on stderr.

Owns where a line has to begin anew when pieces of several messages follow each other. With `--json` it draws nothing.
"""

import attrs

from runtime.cli.output import Output
from runtime.cli.turn_view import LinePiece, TextPiece

_MARKS = {"tool": "•", "plan": "plan:", "notice": "!"}


@attrs.define(eq=False)
class TurnPrinter:
    """The pieces of one turn on the streams of one command."""

    output: Output
    _message_id: str | None = attrs.field(default=None, init=False)
    _open_stream: str | None = attrs.field(default=None, init=False)
    """Which stream has an unfinished line."""

    def text(self, piece: TextPiece) -> None:
        """More of an answer or of the reasoning before it; the latter is for people at a terminal only."""
        if self.output.as_json or (piece.kind == "reasoning" and not self.output.stderr.isatty()):
            return
        if piece.message_id != self._message_id:
            self.end()
            self._message_id = piece.message_id
        if piece.kind == "text":
            self.output.text(piece.text, end="")
        else:
            self.output.hint(piece.text, style="dim italic", end="")
        stream = "stdout" if piece.kind == "text" else "stderr"
        self._open_stream = None if piece.text.endswith("\n") else stream

    def line(self, piece: LinePiece) -> None:
        """A tool call, a plan or a notice."""
        if self.output.as_json:
            return
        self.end()
        style = "yellow" if piece.kind == "notice" else "cyan"
        self.output.hint(f"{_MARKS[piece.kind]} {piece.text}", style=style)

    def end(self) -> None:
        """Whatever comes next begins a line of its own."""
        if self._open_stream == "stdout":
            self.output.text()
        elif self._open_stream == "stderr":
            self.output.hint("")
        self._open_stream = None
        self._message_id = None
