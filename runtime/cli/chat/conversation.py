"""One conversation: words go to the agent, turns come back, whoever began them.

Owns what a line means at this moment (an answer, guidance, a prompt, a command) and which turn Ctrl-C stops. Lines
wait for one another (`line_queue`), Ctrl-C for nothing. A turn is followed by the client library, from its beginning
and across restarts of the daemon, and each piece of it is shown once however long the daemon was away.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import attrs
import trio

from greenroom_client import (
    Asked,
    Client,
    ClientError,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    NoLongerAsked,
    TurnView,
    interaction_key,
    new_submit_id,
    prompt,
    repeat_until_answered,
    stream_turn,
)
from greenroom_client.contract.models import Answer, Interaction, Session, Turn
from runtime.cli.chat.asking import Asking
from runtime.cli.chat.beside import Beside
from runtime.cli.chat.keyboard import Keyboard, Leave, Stop, Typed, Word
from runtime.cli.chat.line_queue import LineQueue
from runtime.cli.chat.paper import Paper
from runtime.cli.chat.slash import Prompt, Slash, Unknown, read
from runtime.cli.commands import told_client_error
from runtime.cli.failures import EXIT_INTERRUPTED, CommandFailed, Subject, next_step_for
from runtime.cli.lookup import default_target
from runtime.cli.run_command import Placement
from runtime.cli.session_turns import session_turns

LEAVE_SECONDS: Final = 5.0
"""So long whoever leaves waits for the lines before it to reach the daemon."""


@attrs.define(eq=False)
class Conversation:
    """The session that is talked to; none before the first prompt."""

    client: Client
    workspace_id: str
    target_id: str | None
    cwd: str | None
    paper: Paper
    keyboard: Keyboard
    tasks: trio.Nursery
    run_slash: Callable[["Conversation", Slash], Awaitable[None]]
    session: Session | None = None
    placement: Placement = attrs.field(factory=Placement)
    settings: dict[str, str | bool | None] = attrs.field(factory=dict)
    """For a session that is begun by the next prompt."""
    _turn: Turn | None = attrs.field(default=None, init=False)
    """The turn that runs."""
    _last_ended: str | None = attrs.field(default=None, init=False)
    """A turn may be heard of to its end before the reply that begins it has been looked at."""
    _stops: int = attrs.field(default=0, init=False)
    _stop_wanted: bool = attrs.field(default=False, init=False)
    """Ctrl-C came while a prompt was on its way: the turn it begins is stopped as soon as it is known."""
    _lines: LineQueue = attrs.field(init=False)
    _view: TurnView | None = attrs.field(default=None, init=False)
    """What has been shown of the turn shown last."""
    _following: trio.CancelScope | None = attrs.field(default=None, init=False)
    _asking: Asking = attrs.field(init=False)
    _beside: Beside = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._asking = Asking(self.paper, self.keyboard)
        self._beside = Beside(self.client, self.workspace_id, self.paper, self.keyboard, self._asking)
        self._lines = LineQueue(self._act)

    async def hold(self, words: trio.MemoryReceiveChannel[Word], first: str | None) -> int:
        """Until somebody leaves; the exit code."""
        if self.session is not None:
            self.follow(self.session)
        if first is None:
            self.keyboard.working(False)
        else:
            self._lines.add(first)
        left: Leave | None = None
        async with trio.open_nursery() as tasks:
            tasks.start_soon(self._lines.run)
            async for word in words:
                left = self._word(word)
                if left is not None:
                    break
            if left is None or left.exit_code == 0:
                with trio.move_on_after(LEAVE_SECONDS):
                    await self._lines.idle()
            tasks.cancel_scope.cancel()
        return left.exit_code if left is not None else 0

    # --- words ----------------------------------------------------------------------------------------------------

    def _word(self, word: Word) -> Leave | None:
        """Takes one in; whether it is the last. What cannot wait for the lines before it is done here."""
        match word:
            case Leave():
                return word
            case Stop():
                return self._stop_or_leave()
            case Typed(text):
                self._stops = 0
                match read(text):
                    case Slash("quit"):
                        return Leave()
                    case Slash("stop"):
                        self.tasks.start_soon(self._stop_by_word)
                    case _:
                        self._queue(text)
        return None

    def _queue(self, line: str) -> None:
        if not self._lines.add(line):
            self.keyboard.put_back(line)
            self.paper.line("Too many lines wait for the daemon already.", "yellow")

    async def _act(self, line: str) -> None:
        await self._try(self._line, line)
        if self._stop_wanted and self._turn is not None:
            self._stop_wanted = False
            await self._try(self.stop)
        if self._lines.count <= 1:
            self._stop_wanted = False

    async def _line(self, line: str) -> None:
        if self._asking.current is not None and not line.strip().startswith("/"):
            await self._answer(self._asking.current, line)
        elif line.strip():
            match read(line):
                case Prompt(text):
                    await self._say(text)
                    return
                case Unknown(name):
                    self.paper.line(
                        f"There is no /{name}; /help lists what there is, // sends a slash.", "yellow"
                    )
                case Slash() as slash:
                    await self.run_slash(self, slash)
        self._rest()

    def _rest(self) -> None:
        """Says so where nothing is waited for: the turn, and for who reads line by line a question beside it."""
        if self._turn is None and not (self.keyboard.patient and self._beside.busy):
            self.keyboard.working(False)

    async def _say(self, text: str) -> None:
        if self._turn is not None:
            await self._guide(self._turn, text)
            return
        submit_id = new_submit_id()
        self.keyboard.working(True)
        try:
            if self.session is None:
                await self._create(text, submit_id)
            else:
                session_id = self.session["agentSessionId"]
                reply = await repeat_until_answered(
                    lambda: self.client.session_send(
                        workspace_id=self.workspace_id,
                        agent_session_id=session_id,
                        client_submit_id=submit_id,
                        content=prompt(text),
                    )
                )
                if reply["turn"]["turnId"] != self._last_ended:
                    self._turn = reply["turn"]
        except (ClientError, CommandFailed):
            self.keyboard.working(False)
            self.keyboard.put_back(text)
            raise

    async def _create(self, text: str, submit_id: str) -> None:
        target_id = self.target_id or await default_target(self.client)
        settings = {key: value for key, value in self.settings.items() if value is not None}
        reply = await repeat_until_answered(
            lambda: self.client.session_create(
                workspace_id=self.workspace_id,
                agent_target_id=target_id,
                client_submit_id=submit_id,
                cwd=self.cwd,
                rail_placement=self.placement.rail_placement,
                isolation=self.placement.isolation,
                settings=settings or None,
                initial_content=prompt(text),
            )
        )
        self.session, self._turn = reply["session"], reply.get("turn")
        self.follow(self.session, self._turn)

    async def _guide(self, turn: Turn, text: str) -> None:
        """More for the turn that runs, where its agent takes it."""
        submit_id = new_submit_id()
        try:
            await repeat_until_answered(
                lambda: self.client.turn_guide(
                    workspace_id=self.workspace_id,
                    agent_session_id=turn["agentSessionId"],
                    turn_id=turn["turnId"],
                    client_submit_id=submit_id,
                    content=prompt(text),
                )
            )
        except ClientError:
            self.keyboard.put_back(text)
            self.paper.line("Not sent: wait for the turn to end, or stop it with Ctrl-C.", "yellow")
            raise
        self.paper.line("(told the agent)", "dim")

    async def _answer(self, interaction: Interaction, line: str) -> None:
        answer = self._asking.take(line)
        if answer is not None:
            self._asking.withdrawn(interaction_key(interaction))
            self.tasks.start_soon(self._try, self._respond, interaction, answer)

    async def _respond(self, interaction: Interaction, answer: Answer) -> None:
        if self._beside.owns(interaction):
            await self._beside.respond(interaction, answer)
            return
        await repeat_until_answered(
            lambda: self.client.interaction_respond(
                workspace_id=interaction["workspaceId"],
                agent_session_id=interaction["agentSessionId"],
                turn_id=interaction["turnId"],
                request_id=interaction["requestId"],
                answer=answer,
            )
        )

    # --- beside it ------------------------------------------------------------------------------------------------

    def ask_beside(self, session: Session, question: str) -> None:
        """Asks in a Side of the session, whatever its turn does meanwhile; one question at a time."""
        if self._beside.busy:
            self.paper.line("A question beside is not answered yet; wait for it, or stop it.", "yellow")
            self.keyboard.put_back(f"/side {question}")
            return
        self.tasks.start_soon(self._ask_beside, session, question, self._beside.begin())

    async def _ask_beside(self, session: Session, question: str, scope: trio.CancelScope) -> None:
        await self._beside.ask(session, question, scope)
        self._stops = 0
        self._rest()

    # --- stopping -------------------------------------------------------------------------------------------------

    def _stop_or_leave(self) -> Leave | None:
        self._stops += 1
        if self._stops > 1:
            return Leave(EXIT_INTERRUPTED)
        if self._turn is not None or self._lines.count:
            self.paper.line("stopping; Ctrl-C again leaves", "dim")
            self.tasks.start_soon(self._try, self.stop)
        elif self._beside.busy:
            self.paper.beside("stopping the question beside; Ctrl-C again leaves", "dim")
            self.tasks.start_soon(self._try, self._beside.stop)
        else:
            self.paper.line("Ctrl-C again leaves", "dim")
        return None

    async def _stop_by_word(self) -> None:
        await self._try(self.stop)
        self._rest()

    async def stop(self) -> None:
        """Stops the turn that runs or is about to, and no other; a question beside it only where none does."""
        turn = self._turn
        if turn is None:
            if self._lines.count:
                self._stop_wanted = True
            elif self._beside.busy:
                await self._beside.stop()
            else:
                self.paper.line("no turn runs", "dim")
            return
        await repeat_until_answered(
            lambda: self.client.turn_cancel(
                workspace_id=self.workspace_id,
                agent_session_id=turn["agentSessionId"],
                turn_id=turn["turnId"],
            )
        )

    # --- turns ----------------------------------------------------------------------------------------------------

    def leave_session(self) -> None:
        """The next prompt begins another one."""
        if self._following is not None:
            self._following.cancel()
        self._following, self.session, self._turn = None, None, None
        self._beside.leave()
        self._asking.forget()
        self.keyboard.working(False)

    def follow(self, session: Session, known: Turn | None = None) -> None:
        """Shows its turns from now on, first the one that is known already."""
        self._following = trio.CancelScope()
        self.tasks.start_soon(self._follow, session["agentSessionId"], known, self._following)

    async def _follow(self, session_id: str, known: Turn | None, scope: trio.CancelScope) -> None:
        with scope:
            while True:
                try:
                    async with session_turns(
                        self.client, self.workspace_id, session_id, known=known
                    ) as turns:
                        known = None
                        async for turn_id in turns:
                            await self._show(session_id, turn_id)
                except (ConnectionLost, DaemonUnreachable) as lost:
                    self.paper.line(f"no word from the daemon ({lost}); trying again", "yellow")
                    known = self._turn  # it may end before it is heard of again
                    await trio.sleep(1)
                except GreenroomError as refused:  # it was deleted, or this program may not see it any more
                    self._tell(told_client_error(refused, Subject(session_id, self.workspace_id)))
                    self.leave_session()

    async def _show(self, session_id: str, turn_id: str) -> None:
        if self._view is None or self._view.turn_id != turn_id:
            self._view = TurnView(session_id, turn_id)
        async with stream_turn(
            self.client,
            workspace_id=self.workspace_id,
            agent_session_id=session_id,
            turn_id=turn_id,
            view=self._view,
        ) as pieces:
            self._turn = pieces.turn
            self._asking.turn_begins(session_id, turn_id)
            self.keyboard.working(True)
            async for piece in pieces:
                match piece:
                    case Asked():
                        await self._ask(piece.interaction)
                    case NoLongerAsked():
                        self._asking.withdrawn(piece.key)
                    case _:
                        self.paper.piece(piece)
            self.paper.end()
        self._turn, self._last_ended, self._stops = None, turn_id, 0
        self._tell_end(pieces.turn)
        self._rest()

    def asked_before(self, interaction: Interaction) -> None:
        """Something that waits for an answer since before this conversation, and whose turn is over."""
        if not self.keyboard.patient:
            self._asking.asked(interaction)

    async def _ask(self, interaction: Interaction) -> None:
        if not self.keyboard.patient:
            self._asking.asked(interaction)
            return
        if interaction["kind"] == "plan":
            self.paper.line("the agent proposes a plan, and nobody is there to accept it", "yellow")
        else:
            self.paper.line("the agent asks, and nobody is there to answer: the turn is stopped", "yellow")
        await self._try(self.stop)

    def _tell_end(self, turn: Turn) -> None:
        error, outcome = turn["error"], turn["outcome"]
        if error is not None:
            subject = Subject(session_id=turn["agentSessionId"], workspace_id=self.workspace_id, cwd=self.cwd)
            step = next_step_for(error["code"], subject)
            self.paper.line(
                f"{outcome}: {error['message'].rstrip('.')} ({error['code']}). Next: {step}", "red"
            )
        elif turn["settledAt"] is not None:
            seconds = (turn["settledAt"] - turn["submittedAt"]) / 1000
            self.paper.line(f"({outcome}, {seconds:.1f} s)", "dim" if outcome == "completed" else "yellow")

    async def _try(self, action: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """What is refused, or does not reach the daemon, is said; the conversation goes on."""
        session_id = None if self.session is None else self.session["agentSessionId"]
        subject = Subject(session_id=session_id, workspace_id=self.workspace_id, target_id=self.target_id)
        try:
            await partial(action, *arguments)()
        except ClientError as error:
            failed = told_client_error(error, subject)
        except CommandFailed as error:
            failed = error
        else:
            return
        self._tell(failed)

    def _tell(self, failed: CommandFailed) -> None:
        advice = f". Next: {failed.next_step}" if failed.next_step else ""
        self.paper.line(f"{failed.what}{advice}", "red")
