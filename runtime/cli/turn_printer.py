"""Draws the pieces of a turn: the answer on stdout, everything beside it on stderr.

Owns where a line has to begin anew when pieces of several messages follow each other. Never draws over what stands
already, so it is the same on a terminal, on a dumb one and in a file. With `--json` it draws nothing.
"""

import attrs

from greenroom_client import NoticePiece, Piece, PlanPiece, TextPiece, ToolPiece
from runtime.cli.output import Output
from runtime.cli.wording import TOOL_ENDS_TOLD, notice_line, plan_line, tool_line


@attrs.define(eq=False)
class TurnPrinter:
    """The pieces of one turn on the streams of one command."""

    output: Output
    _message_id: str | None = attrs.field(default=None, init=False)
    _open_stream: str | None = attrs.field(default=None, init=False)
    """Which stream has an unfinished line."""
    _tools: set[str] = attrs.field(factory=set, init=False)

    def piece(self, piece: Piece) -> None:
        """Draw what there is to draw; questions are somebody else's."""
        match piece:
            case TextPiece():
                self._text(piece)
            case ToolPiece():
                if piece.message_id not in self._tools or piece.call["status"] in TOOL_ENDS_TOLD:
                    self._tools.add(piece.message_id)
                    self._line(f"• {tool_line(piece.call)}", "cyan")
            case PlanPiece():
                self._line(f"plan: {plan_line(piece.entries)}", "cyan")
            case NoticePiece():
                self._line(f"! {notice_line(piece.notices)}", "yellow")
            case _:
                pass

    def _text(self, piece: TextPiece) -> None:
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

    def _line(self, text: str, style: str) -> None:
        if self.output.as_json:
            return
        self.end()
        self.output.hint(text, style=style)

    def end(self) -> None:
        """Whatever comes next begins a line of its own."""
        if self._open_stream == "stdout":
            self.output.text()
        elif self._open_stream == "stderr":
            self.output.hint("")
        self._open_stream = None
        self._message_id = None
