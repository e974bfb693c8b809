"""Where a conversation is written: pieces of turns as lines, each written once and never drawn over.

Owns lines that are not finished yet. With an editor below, a line is written when it is whole, with the little of
Markdown that a line shows by itself, and stands above the editor until then; without one it is written as it comes.
"""

import attrs

from greenroom_client import NoticePiece, Piece, PlanPiece, TextPiece, ToolPiece
from greenroom_client.contract.models import ToolCall
from runtime.cli.chat.keyboard import Keyboard
from runtime.cli.output import Output
from runtime.cli.wording import TOOL_ENDS_TOLD, diff_lines, notice_line, output_tail, tool_line

_MARKS = {"completed": "[x]", "in_progress": "[>]"}
_FENCE = "```"


@attrs.define(eq=False)
class Paper:
    """The lines of one conversation."""

    output: Output
    keyboard: Keyboard
    whole_lines: bool
    """Whether an editor stands below."""
    _message_id: str | None = attrs.field(default=None, init=False)
    _style: str = attrs.field(default="", init=False)
    _line: str = attrs.field(default="", init=False)
    _open: bool = attrs.field(default=False, init=False)
    """Whether an unfinished line stands there."""
    _in_code: bool = attrs.field(default=False, init=False)
    _tools: set[str] = attrs.field(factory=set, init=False)

    def line(self, text: str, style: str = "") -> None:
        """A line of its own."""
        self.end()
        self.output.text(text, style)

    def beside(self, text: str, style: str = "") -> None:
        """A whole line of something else: what is being written of the conversation goes on after it."""
        if self._open and not self.whole_lines:
            self.output.text()
            self._open = False
        self.output.text(text, style)

    def piece(self, piece: Piece) -> None:
        """A piece of a turn; questions are somebody else's."""
        match piece:
            case TextPiece():
                if piece.message_id != self._message_id:
                    self.end()
                    self._message_id = piece.message_id
                self._style = "dim italic" if piece.kind == "reasoning" else ""
                self._text(piece.text)
            case ToolPiece():
                self._tool(piece.message_id, piece.call)
            case PlanPiece():
                self.line("plan", "cyan")
                for entry in piece.entries:
                    self.line(f"  {_MARKS.get(entry['status'], '[ ]')} {entry['text']}", "cyan")
            case NoticePiece():
                self.line(f"! {notice_line(piece.notices)}", "yellow")
            case _:
                pass

    def end(self) -> None:
        """Whatever comes next begins a line of its own."""
        if self.whole_lines and self._line:
            self._whole_line(self._line)
        elif self._open:
            self.output.text()
        self._line, self._open, self._in_code, self._message_id = "", False, False, None
        self.keyboard.unfinished("")

    def _text(self, text: str) -> None:
        if not self.whole_lines:
            self.output.text(text, self._style, end="")
            self._open = not text.endswith("\n")
            return
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self._whole_line(line)
        self.keyboard.unfinished(self._line)

    def _whole_line(self, line: str) -> None:
        style = self._style
        if line.lstrip().startswith(_FENCE):
            self._in_code = not self._in_code
            style = "dim"
        elif self._in_code:
            style = "green"
        elif line.startswith("#"):
            style = "bold"
        self.output.text(line, style)

    def _tool(self, message_id: str, call: ToolCall) -> None:
        if message_id not in self._tools:
            self._tools.add(message_id)
            self.line(f"• {tool_line(call)}", "cyan")
        elif call["status"] in TOOL_ENDS_TOLD:
            self.line(f"• {tool_line(call)}", "yellow")
        if call["status"] in ("completed", *TOOL_ENDS_TOLD):
            for line in output_tail(call):
                self.line(f"    {line}", "dim")
            for line in diff_lines(call):
                self.line(f"    {line}", {"+": "green", "-": "red"}.get(line[:1], "dim"))
