"""`greenroom tail`: follows a session turn by turn, or a workspace line by line, and touches neither.

Owns which turn is followed next. A session's turns are streamed by the client library, from their beginning and
across restarts of the daemon; of a workspace whole rows are told, each once it says something final.
"""

from functools import partial
from typing import Any, Final

import attrs

from greenroom_client import (
    FOREVER,
    Asked,
    Client,
    ConnectionState,
    facts_are_missing,
    stream_turn,
)
from greenroom_client.contract.models import Change, Session
from runtime.cli import questions
from runtime.cli.commands import about, load, perform_async
from runtime.cli.daemon_access import Access, open_daemon
from runtime.cli.failures import Subject
from runtime.cli.lookup import find_session
from runtime.cli.output import Output
from runtime.cli.session_turns import SessionTurns, session_turns
from runtime.cli.transcript import Line, message_lines, turn_line
from runtime.cli.turn_printer import TurnPrinter
from runtime.config import Flags

SHORT_ID_CHARACTERS: Final = 13
"""Enough of an id to name its session elsewhere."""


@attrs.frozen
class TailRequest:
    """The arguments of `greenroom tail`."""

    session_id: str | None
    workspace_id: str
    once: bool = attrs.field(kw_only=True)


def tail_command(request: TailRequest, flags: Flags, *, as_json: bool) -> int:
    """Follows until Ctrl-C (130), or with `once` to the end of the running turn (0)."""
    output = Output(as_json)
    return perform_async(partial(tail, request, flags, output), output)


async def tail(request: TailRequest, flags: Flags, output: Output) -> int:
    """The same within a loop."""

    def tell_state(state: ConnectionState) -> None:
        if state == "connecting":
            output.hint("the daemon is gone; waiting for it", style="dim")

    access = Access(may_embed=False, reconnect=FOREVER, on_state=tell_state)
    async with open_daemon(load(flags), access) as daemon:
        tailing = _Tail(daemon.client, request, output)
        if request.session_id is None:
            await tailing.workspace()
        else:
            await tailing.session(await find_session(daemon.client, request.workspace_id, request.session_id))
    return 0


@attrs.define(eq=False)
class _Tail:
    """What is followed."""

    client: Client
    request: TailRequest
    output: Output

    # --- a session ------------------------------------------------------------------------------------------------

    async def session(self, session: Session) -> None:
        """One session, each turn from its beginning."""
        session_id, workspace_id = session["agentSessionId"], self.request.workspace_id
        with about(Subject(session_id=session_id, workspace_id=workspace_id)):
            async with session_turns(self.client, workspace_id, session_id) as turns:
                if self.request.once and turns.running is None:
                    self.output.hint(f"session {session_id}: no turn runs")
                elif self.output.as_json:
                    await self._write_down(session_id, turns.running)
                else:
                    await self._turns(turns, session_id)

    async def _turns(self, turns: SessionTurns, session_id: str) -> None:
        async for turn_id in turns:
            await self._turn(session_id, turn_id)
            if self.request.once:
                return

    async def _turn(self, session_id: str, turn_id: str) -> None:
        printer = TurnPrinter(self.output)
        async with stream_turn(
            self.client,
            workspace_id=self.request.workspace_id,
            agent_session_id=session_id,
            turn_id=turn_id,
        ) as pieces:
            self.output.hint(f"turn {turn_id}", style="bold")
            async for piece in pieces:
                if isinstance(piece, Asked):
                    printer.end()
                    for line in questions.asked_lines(piece.interaction):
                        self.output.hint(line, style="yellow")
                    self.output.hint(f"answer with: greenroom respond {session_id} ANSWER", style="dim")
                else:
                    printer.piece(piece)
            printer.end()
            self.output.hint(turn_line(pieces.turn), style="bold")

    async def _write_down(self, session_id: str, running: str | None) -> None:
        """Every event as it is; with `once` until the turn that runs has settled."""
        async with self.client.subscribe(self.request.workspace_id, agent_session_ids=[session_id]) as events:
            async for event in events:
                self.output.document(event)
                if self.request.once and event["type"] == "commit":
                    rows: list[Any] = [change["row"] for change in event["changes"]]
                    if any(row.get("turnId") == running and row.get("phase") == "settled" for row in rows):
                        return

    # --- a workspace ----------------------------------------------------------------------------------------------

    async def workspace(self) -> None:
        """All sessions of the workspace, by whole rows."""
        deltas = "all" if self.output.as_json else "none"
        async with self.client.subscribe(self.request.workspace_id, deltas=deltas) as events:
            async for event in events:
                if self.output.as_json:
                    self.output.document(event)
                elif facts_are_missing(event):
                    self.output.hint("some of what happened is missing here", style="yellow")
                elif event["type"] == "commit":
                    for change in event["changes"]:
                        self._tell(change)

    def _tell(self, change: Change) -> None:
        row: Any = change["row"]
        for line in _change_lines(change["type"], row):
            self.output.text(f"{row['agentSessionId'][:SHORT_ID_CHARACTERS]}  {line.text}", line.style)


def _change_lines(kind: str, row: Any) -> list[Line]:
    """What of a change is worth a line: ends of messages, beginnings and ends of turns, questions, deletions."""
    match kind:
        case "message" if row["status"] != "streaming":
            return list(message_lines([row]))
        case "turn" if row["phase"] in ("submitted", "settled"):
            return [Line(turn_line(row), "bold")]
        case "interaction" if row["status"] == "pending":
            return [Line(line, "yellow") for line in questions.asked_lines(row)]
        case "session_removed":
            return [Line("session deleted", "yellow")]
        case "session_restored":
            return [Line("session restored", "yellow")]
        case _:
            return []
