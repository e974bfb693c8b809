"""`greenroom run`: one prompt to its end, through the running daemon or an embedded one.

Owns the order (subscribe, submit, follow, end) and the signals. What there is to show comes from the client library,
how it looks from `turn_printer`, and what the agent asks is answered by `interactions`.
"""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from greenroom_client import (
    Client,
    Reconnect,
    SubscriptionEvent,
    TurnStream,
    TurnView,
    new_submit_id,
    prompt,
    repeat_until_answered,
)
from greenroom_client.contract.models import Interaction, ProjectPlacement, Session, Turn, WorktreeIsolation
from runtime.cli.commands import about, load, perform_async
from runtime.cli.daemon_access import Access, open_daemon
from runtime.cli.failures import EXIT_ARGUMENTS, EXIT_FAILED, CommandFailed, Subject, next_step_for
from runtime.cli.interactions import TurnReplies
from runtime.cli.interrupts import Interrupts
from runtime.cli.lookup import default_target, find_session
from runtime.cli.output import Output
from runtime.cli.questions import described
from runtime.cli.turn_commands import prompt_text
from runtime.cli.turn_drawing import draw_turn
from runtime.config import Flags
from runtime.system_ports import SystemIdentifiers

RECONNECT: Final = Reconnect(attempts_max=8)
"""Some ten seconds: a daemon that is started again is met again, one that is gone is told."""


@attrs.frozen
class Placement:
    """Whose session it is to be: a project's, and whether in a checkout of its own."""

    rail_placement: ProjectPlacement | None = None
    isolation: WorktreeIsolation | None = None


@attrs.frozen
class RunRequest:
    """The arguments of `greenroom run`."""

    prompt: str | None
    """None: it comes from stdin."""
    target_id: str | None
    cwd: str | None
    session_id: str | None
    """As typed: an id or the beginning of one."""
    workspace_id: str
    project: str | None = attrs.field(default=None, kw_only=True)
    worktree: bool = attrs.field(default=False, kw_only=True)
    """In a checkout of its own, of the project, or else of where it would work."""

    def checked(self, output: Output) -> "RunRequest":
        """With its prompt and an absolute `cwd`. Raises `CommandFailed` with exit code 2."""
        placed = self.placed()
        return attrs.evolve(placed, prompt=prompt_text(self.prompt, output))

    def placed(self) -> "RunRequest":
        """With absolute paths. Raises `CommandFailed` with exit code 2."""
        chosen = (self.target_id, self.cwd, self.project, self.worktree or None)
        if self.session_id is not None and any(one is not None for one in chosen):
            raise CommandFailed(
                f"session {self.session_id} has its target and directory already",
                "leave out --target, --cwd, --project and --worktree, or leave out --session to start another session",
                exit_code=EXIT_ARGUMENTS,
            )
        project = self.project or ((self.cwd or ".") if self.worktree else None)
        return attrs.evolve(self, cwd=_absolute(self.cwd), project=_absolute(project))

    @property
    def placement(self) -> Placement:
        """What `session/create` is to be asked about it."""
        if self.project is None:
            return Placement()
        project: ProjectPlacement = {"type": "project", "version": 1, "path": self.project}
        return Placement(project, {"type": "worktree"} if self.worktree else None)


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())


def run_command(request: RunRequest, flags: Flags, *, as_json: bool) -> int:
    """Runs one prompt; 0 for a completed turn, 1 for another end, 128 + n when a signal ended it."""
    output = Output(as_json)
    return perform_async(partial(run_prompt, request, flags, output), output)


async def run_prompt(request: RunRequest, flags: Flags, output: Output) -> int:
    """The same within a loop. Raises `CommandFailed` for what goes wrong before there is a turn."""
    checked = request.checked(output)
    async with open_daemon(load(flags), Access(reconnect=RECONNECT)) as daemon:
        run = _Run(daemon.client, checked, output)
        await run.follow()
        # Told before an embedded daemon is stopped, which may take a moment; and not raised, which would cut it short.
        run.tell_end()
    return run.exit_code


@attrs.define(eq=False)
class _Run:
    """One prompt on its way."""

    client: Client
    request: RunRequest
    output: Output
    exit_code: int = attrs.field(default=0, init=False)
    _subject: Subject = attrs.field(init=False)
    _view: TurnView | None = attrs.field(default=None, init=False)
    _interrupts: Interrupts = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._interrupts = Interrupts(self.client, self.output)
        self._subject = Subject(
            self.request.session_id,
            self.request.workspace_id,
            self.request.target_id,
            self.request.cwd or self.request.project,
        )

    async def follow(self) -> None:
        """From the submit to the end of the turn, or to a signal that does not wait for it."""
        await self._interrupts.guard(self._submit_and_follow)

    # --- the submit ---------------------------------------------------------------------------------------------

    async def _submit_and_follow(self) -> None:
        """The prompt as a turn of the session named, or of a new one; subscribed first, so that nothing is missed."""
        workspace_id = self.request.workspace_id
        if self.request.session_id is not None:
            session = await find_session(self.client, workspace_id, self.request.session_id)
            session_id = session["agentSessionId"]
            self._subject = attrs.evolve(self._subject, session_id=session_id, cwd=session["cwd"])
        else:
            session_id = SystemIdentifiers().new_id()
            target_id = self.request.target_id or await default_target(self.client)
            self._subject = attrs.evolve(self._subject, target_id=target_id)
        async with self.client.subscribe(workspace_id, agent_session_ids=[session_id]) as events:
            turn, commit_seq = await self._submit(session_id)
            view = self._view = TurnView(session_id, turn["turnId"])
            view.see_turn(turn, commit_seq)
            self._interrupts.stop = self._cancel_turn
            seen = _written_down(events, self.output) if self.output.as_json else events
            await self._draw(TurnStream(self.client, workspace_id, seen, view))

    async def _submit(self, session_id: str) -> tuple[Turn, int]:
        """The turn of the prompt, as of a commit. A lost reply repeats the command with the same id."""
        request, submit_id = self.request, new_submit_id()
        content = prompt(request.prompt or "")
        with about(self._subject):
            if request.session_id is not None:
                sent = await repeat_until_answered(
                    lambda: self.client.session_send(
                        workspace_id=request.workspace_id,
                        agent_session_id=session_id,
                        client_submit_id=submit_id,
                        content=content,
                    )
                )
                return sent["turn"], sent["commitSeq"]
            created = await repeat_until_answered(
                lambda: self.client.session_create(
                    workspace_id=request.workspace_id,
                    agent_session_id=session_id,
                    client_submit_id=submit_id,
                    agent_target_id=str(self._subject.target_id),
                    cwd=request.cwd,
                    rail_placement=request.placement.rail_placement,
                    isolation=request.placement.isolation,
                    initial_content=content,
                )
            )
        session: Session = created["session"]
        self._subject = attrs.evolve(self._subject, session_id=session_id, cwd=session["cwd"])
        turn = created["turn"]
        assert turn is not None, "a session that is created with content has a turn"
        return turn, created["commitSeq"]

    # --- the turn -----------------------------------------------------------------------------------------------

    async def _draw(self, pieces: TurnStream) -> None:
        def left_open(interaction: Interaction) -> bool:
            """A decision that is asked for as the turn ends can wait, and this command does not."""
            if pieces.turn["phase"] != "settled":
                return False
            for line in described(interaction):
                self.output.hint(line)
            self.output.hint(f"answer it: greenroom run -i --session {pieces.turn['agentSessionId']}")
            return True

        replies = TurnReplies(self.client, self.request.workspace_id)
        await draw_turn(pieces, self.output, replies, left_open)

    # --- the end ------------------------------------------------------------------------------------------------

    async def _cancel_turn(self) -> None:
        view = self._view
        assert view is not None
        with about(self._subject):
            await repeat_until_answered(
                lambda: self.client.turn_cancel(
                    workspace_id=self.request.workspace_id,
                    agent_session_id=view.session_id,
                    turn_id=view.turn_id,
                )
            )

    def tell_end(self) -> None:
        """How it went: a hint how to go on, or why it failed."""
        failed = self._failure()
        if failed is not None:
            self.exit_code = failed.exit_code
            self.output.failure(failed)
        elif not self.output.as_json:
            self.output.hint(f"session {self._subject.session_id}; go on with: {self._go_on}", style="dim")

    @property
    def _go_on(self) -> str:
        return f'greenroom run --session {self._subject.session_id} "…"'

    def _failure(self) -> CommandFailed | None:
        code = self._interrupts.exit_code(EXIT_FAILED)
        if self._view is None:
            return CommandFailed(
                "interrupted before the prompt was acknowledged",
                "look whether it arrived: greenroom sessions",
                exit_code=code,
            )
        return turn_failure(
            self._view,
            self._subject,
            exit_code=code,
            go_on=self._go_on,
            wanted=not self._interrupts.signal_number,
        )


def turn_failure(
    view: TurnView, subject: Subject, *, exit_code: int, go_on: str, wanted: bool = True
) -> CommandFailed | None:
    """How a turn ended, where that is not well; `wanted` says whether nobody asked it to end."""
    who = f"turn {view.turn_id} of session {view.session_id}"
    if view.turn is None or not view.ended:
        step = f"greenroom show {view.session_id}"
        return CommandFailed(f"left {who} before it ended", step, exit_code=exit_code)
    outcome, error = view.turn["outcome"], view.turn["error"]
    if error is not None:
        return CommandFailed(
            f"{who} {outcome}: {error['message'].rstrip('.')} ({error['code']})",
            next_step_for(error["code"], subject),
            code=error["code"],
            exit_code=exit_code,
        )
    if outcome == "completed" and wanted:
        return None
    forced = " by force" if outcome == "canceled" and view.turn["cancelConfirmedAt"] is None else ""
    return CommandFailed(f"{who} was {outcome}{forced}", f"go on with: {go_on}", exit_code=exit_code)


async def _written_down(
    events: AsyncIterator[SubscriptionEvent], output: Output
) -> AsyncIterator[SubscriptionEvent]:
    """The same events, each a line of JSON before anybody looks at it."""
    async for event in events:
        output.document(event)
        yield event
