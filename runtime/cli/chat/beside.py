"""What is asked beside a conversation: one question at a time, in a Side that is closed when it is answered.

Owns that Side and its lines, which are whole and marked, so that nobody takes them for the conversation's. The
conversation's own turn, and who types, are none of its business.
"""

from typing import Final

import attrs
import trio

from greenroom_client import (
    Asked,
    Client,
    ClientError,
    NoLongerAsked,
    NoticePiece,
    Piece,
    PlanPiece,
    TextPiece,
    ToolPiece,
    interaction_key,
)
from greenroom_client.contract.models import Answer, Interaction, Session
from greenroom_client.session_view import InteractionKey
from runtime.cli.chat.asking import Asking
from runtime.cli.chat.keyboard import Keyboard
from runtime.cli.chat.paper import Paper
from runtime.cli.commands import told_client_error
from runtime.cli.failures import CommandFailed, Subject
from runtime.cli.side_talk import SideTalk, open_side
from runtime.cli.wording import TOOL_ENDS_TOLD, notice_line, plan_line, tool_line

SIDE_MARK: Final = "side │ "


@attrs.define(eq=False)
class Beside:
    """The Side of one conversation, while there is one."""

    client: Client
    workspace_id: str
    paper: Paper
    keyboard: Keyboard
    asking: Asking
    _scope: trio.CancelScope | None = attrs.field(default=None, init=False)
    _talk: SideTalk | None = attrs.field(default=None, init=False)
    _asked: set[InteractionKey] = attrs.field(factory=set, init=False)
    _line: str = attrs.field(default="", init=False)
    """Text that is not yet a whole line, of the message `_message_id`."""
    _style: str = attrs.field(default="", init=False)
    _message_id: str | None = attrs.field(default=None, init=False)

    @property
    def busy(self) -> bool:
        """Whether a question is not answered yet."""
        return self._scope is not None

    def begin(self) -> trio.CancelScope:
        """Takes the place of the one question; `ask` gives it back."""
        self._scope = trio.CancelScope()
        return self._scope

    async def ask(self, session: Session, question: str, scope: trio.CancelScope) -> None:
        """One question to its end, within the scope `begin` gave. What goes wrong is said, and only here."""
        self._say(f"> {question}", "dim")
        try:
            with scope:
                await self._follow(session, question)
        except ClientError as error:
            self._tell(told_client_error(error, Subject(session["agentSessionId"], self.workspace_id)))
        except CommandFailed as failed:
            self._tell(failed)
        finally:
            for key in self._asked:
                self.asking.withdrawn(key)
            self._asked.clear()
            self._talk, self._scope = None, None

    async def _follow(self, session: Session, question: str) -> None:
        async with open_side(self.client, self.workspace_id, session) as talk:
            await talk.ask(question)
            self._talk = talk
            async for piece in talk.pieces():
                await self._piece(piece)
            self._end()
        failed = talk.failure()
        if failed is None:
            self._say("(answered)", "dim")
        else:
            self._tell(failed)

    def owns(self, interaction: Interaction) -> bool:
        """Whether it was asked here."""
        return interaction_key(interaction) in self._asked

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        """Answers what is asked here. Raises what the daemon refuses."""
        if self._talk is not None:
            await self._talk.respond(interaction, answer)

    async def stop(self) -> None:
        """Stops the question, and the Side with it where nothing was asked yet. Raises what the daemon refuses."""
        if self._talk is not None:
            await self._talk.stop()
        else:
            self.leave()

    def leave(self) -> None:
        """Nobody waits for the answer any more: the Side is closed."""
        if self._scope is not None:
            self._scope.cancel()

    # --- its lines ------------------------------------------------------------------------------------------------

    async def _piece(self, piece: Piece) -> None:
        match piece:
            case TextPiece():
                if piece.message_id != self._message_id:
                    self._end()
                    self._message_id = piece.message_id
                    self._style = "dim italic" if piece.kind == "reasoning" else ""
                *whole, self._line = (self._line + piece.text).split("\n")
                for line in whole:
                    self._say(line, self._style)
            case ToolPiece():
                ended = piece.call["status"] in TOOL_ENDS_TOLD
                if ended or piece.call["status"] == "completed":
                    self._whole(f"• {tool_line(piece.call)}", "yellow" if ended else "cyan")
            case PlanPiece():
                self._whole(f"plan: {plan_line(piece.entries)}", "cyan")
            case NoticePiece():
                self._whole(f"! {notice_line(piece.notices)}", "yellow")
            case Asked():
                self._end()
                await self._ask(piece.interaction)
            case NoLongerAsked():
                self._asked.discard(piece.key)
                self.asking.withdrawn(piece.key)
            case _:
                pass

    async def _ask(self, interaction: Interaction) -> None:
        if self.keyboard.patient:
            self._say("the agent asks, and nobody is there to answer: its turn is stopped", "yellow")
            await self.stop()
            return
        self._asked.add(interaction_key(interaction))
        self.asking.asked(interaction, mark=SIDE_MARK)

    def _whole(self, text: str, style: str) -> None:
        self._end()
        self._say(text, style)

    def _end(self) -> None:
        if self._line:
            self._say(self._line, self._style)
        self._line, self._message_id = "", None

    def _tell(self, failed: CommandFailed) -> None:
        self._end()
        advice = f". Next: {failed.next_step}" if failed.next_step else ""
        self._say(f"{failed.what}{advice}", "red")

    def _say(self, text: str, style: str = "") -> None:
        self.paper.beside(f"{SIDE_MARK}{text}", style)
