"""`greenroom run`: one prompt to its end, through the running daemon or an embedded one.

Owns the order (subscribe, submit, follow, end) and the signals. What is shown comes from `turn_view`, how from
`turn_printer`, and what the agent asks is answered by `interactions`.
"""

import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from runtime.cli.commands import all_items, ask, load, perform_async
from runtime.cli.daemon_access import open_daemon
from runtime.cli.daemon_client import DaemonClient, DaemonGone, Json
from runtime.cli.failures import EXIT_ARGUMENTS, EXIT_FAILED, CommandFailed, Subject, next_step_for
from runtime.cli.interactions import Interactions
from runtime.cli.output import Output
from runtime.cli.turn_printer import TurnPrinter
from runtime.cli.turn_view import Asked, LinePiece, NoLongerAsked, ReadAgain, TextPiece, TurnView
from runtime.config import Flags
from runtime.system_ports import SystemIdentifiers

SIGNAL_EXIT_BASE: Final = 128
CANCEL_MARGIN_SECONDS: Final = 5.0
"""Beyond `cancelGraceSeconds`: how long a canceled turn may take to settle before we leave without it."""


@attrs.frozen
class RunRequest:
    """The arguments of `greenroom run`."""

    prompt: str | None
    """None: it comes from stdin."""
    target_id: str | None
    cwd: str | None
    session_id: str | None
    workspace_id: str

    def checked(self, output: Output) -> "RunRequest":
        """With its prompt and an absolute `cwd`. Raises `CommandFailed` with exit code 2."""
        if self.session_id is not None and (self.target_id is not None or self.cwd is not None):
            raise CommandFailed(
                f"session {self.session_id} has its target and directory already",
                "leave out --target and --cwd, or leave out --session to start another session",
                exit_code=EXIT_ARGUMENTS,
            )
        prompt = self.prompt
        if prompt is None:
            prompt = "" if output.stdin.isatty() else output.stdin.read()
        if not prompt.strip():
            raise CommandFailed("the prompt is empty", 'greenroom run "what to do"', exit_code=EXIT_ARGUMENTS)
        cwd = None if self.cwd is None else str(Path(self.cwd).expanduser().absolute())
        return attrs.evolve(self, prompt=prompt, cwd=cwd)


def run_command(request: RunRequest, flags: Flags, *, as_json: bool) -> int:
    """Runs one prompt; 0 for a completed turn, 1 for another end, 128 + n when a signal ended it."""
    output = Output(as_json)
    return perform_async(partial(run_prompt, request, flags, output), output)


async def run_prompt(request: RunRequest, flags: Flags, output: Output) -> int:
    """The same within a loop. Raises `CommandFailed` for what goes wrong before there is a turn."""
    checked = request.checked(output)
    async with open_daemon(load(flags)) as daemon:
        run = _Run(daemon.client, checked, output)
        await run.follow()
        # Told before an embedded daemon is stopped, which may take a moment; and not raised, which would cut it short.
        run.tell_end()
    return run.exit_code


@attrs.define(eq=False)
class _Run:
    """One prompt on its way."""

    client: DaemonClient
    request: RunRequest
    output: Output
    exit_code: int = attrs.field(default=0, init=False)
    _subject: Subject = attrs.field(init=False)
    _view: TurnView | None = attrs.field(default=None, init=False)
    _interrupted_by: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._subject = Subject(
            self.request.session_id, self.request.workspace_id, self.request.target_id, self.request.cwd
        )

    async def follow(self) -> None:
        """From the submit to the end of the turn, or to a signal that does not wait for it."""
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(self._obey, received, nursery.cancel_scope))
                view = await self._submit()
                printer = TurnPrinter(self.output)
                await self._follow_events(view, printer)
                printer.end()
                nursery.cancel_scope.cancel()

    # --- the submit ---------------------------------------------------------------------------------------------

    async def _submit(self) -> TurnView:
        """The prompt as a turn of the session named, or of a new one; subscribed first, so that nothing is missed."""
        workspace_id, session_id = (
            self.request.workspace_id,
            self.request.session_id or SystemIdentifiers().new_id(),
        )
        key = {"workspaceId": workspace_id, "agentSessionId": session_id}
        content = [{"type": "text", "text": self.request.prompt}]
        submit: dict[str, Any] = {**key, "clientSubmitId": SystemIdentifiers().new_id()}
        if self.request.session_id is not None:
            session = (await self._ask("session/get", {**key, "projection": "summary"}))["session"]
            self._subject = attrs.evolve(self._subject, cwd=session["cwd"])
            await self._subscribe(session_id)
            reply = await self._ask("session/send", {**submit, "content": content})
        else:
            target_id = self.request.target_id or await self._default_target()
            self._subject = attrs.evolve(self._subject, target_id=target_id)
            await self._subscribe(session_id)
            submit |= {"agentTargetId": target_id, "initialContent": content}
            if self.request.cwd is not None:
                submit["cwd"] = self.request.cwd
            reply = await self._ask("session/create", submit)
            self._subject = attrs.evolve(self._subject, session_id=session_id, cwd=reply["session"]["cwd"])
        self._view = TurnView(session_id, reply["turn"]["turnId"], reply["turn"])
        return self._view

    async def _subscribe(self, session_id: str) -> None:
        await self._ask(
            "events/subscribe",
            {
                "workspaceId": self.request.workspace_id,
                "topics": ["agent.activity.updated"],
                "agentSessionIds": [session_id],
            },
        )

    async def _default_target(self) -> str:
        targets = await all_items(self.client, "target/list", {}, self._subject)
        for target in targets:
            if target["enabled"]:
                return str(target["agentTargetId"])
        raise CommandFailed("no target is enabled", "configure one as [[targets]], or set demo = true")

    async def _ask(self, method: str, params: Json) -> Json:
        return await ask(self.client, method, params, self._subject)

    # --- the events ---------------------------------------------------------------------------------------------

    async def _follow_events(self, view: TurnView, printer: TurnPrinter) -> None:
        interactions = Interactions(self.client, self.output, self.request.workspace_id)
        async with trio.open_nursery() as asking:
            while not view.ended:
                try:
                    event = await self.client.events.receive()
                except trio.EndOfChannel:
                    raise self.client.gone or DaemonGone("the connection ended") from None
                if self.output.as_json:
                    self.output.document(event)
                for piece in view.receive(event):
                    match piece:
                        case TextPiece():
                            printer.text(piece)
                        case LinePiece():
                            printer.line(piece)
                        case Asked():
                            printer.end()
                            asking.start_soon(interactions.answer, piece.interaction)
                        case NoLongerAsked():
                            interactions.withdraw(piece.key)
                        case ReadAgain():
                            asking.start_soon(self._read_again, view, printer)
            asking.cancel_scope.cancel()

    async def _read_again(self, view: TurnView, printer: TurnPrinter) -> None:
        """What events did not bring: the rows of the turn, through the same eyes."""
        whole = {"workspaceId": self.request.workspace_id, "agentSessionId": view.session_id}
        messages = await self._ask("session/messages", {**whole, "beforeSequence": 2**53 - 1, "limit": 200})
        turn = await self._ask("turn/get", {**whole, "turnId": view.turn_id})
        rows = [("message", row) for row in messages["messages"]] + [("turn", turn["turn"])]
        for kind, row in rows:
            for piece in view.see(kind, row):
                if isinstance(piece, TextPiece):
                    printer.text(piece)
                elif isinstance(piece, LinePiece):
                    printer.line(piece)

    # --- the end ------------------------------------------------------------------------------------------------

    async def _obey(self, received: AsyncIterator[int], scope: trio.CancelScope) -> None:
        """The first signal cancels the turn and lets it settle, the second leaves at once."""
        async for number in received:
            self._interrupted_by = number
            if self._view is None:
                scope.cancel()
                return
            self.output.hint("\ncanceling the turn; again to leave without waiting", style="dim")
            break
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_turn, scope)
            async for _ in received:
                scope.cancel()
                return

    async def _cancel_turn(self, scope: trio.CancelScope) -> None:
        assert self._view is not None
        limits = self.client.hello.get("limits") or {}
        scope.deadline = (
            trio.current_time() + float(limits.get("cancelGraceSeconds", 10)) + CANCEL_MARGIN_SECONDS
        )
        await self._ask(
            "turn/cancel",
            {
                "workspaceId": self.request.workspace_id,
                "agentSessionId": self._view.session_id,
                "turnId": self._view.turn_id,
            },
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
        view = self._view
        code = SIGNAL_EXIT_BASE + self._interrupted_by if self._interrupted_by else EXIT_FAILED
        if view is None:
            return CommandFailed(
                "interrupted before the prompt was acknowledged",
                "look whether it arrived: greenroom sessions",
                exit_code=code,
            )
        who = f"turn {view.turn_id} of session {view.session_id}"
        if view.turn is None or not view.ended:
            return CommandFailed(
                f"left {who} before it ended", f"greenroom show {view.session_id}", exit_code=code
            )
        outcome, error = view.turn["outcome"], view.turn["error"]
        if error is not None:
            return CommandFailed(
                f"{who} {outcome}: {error['message'].rstrip('.')} ({error['code']})",
                next_step_for(error["code"], self._subject),
                code=error["code"],
                exit_code=code,
            )
        if outcome == "completed" and not self._interrupted_by:
            return None
        forced = " by force" if outcome == "canceled" and view.turn["cancelConfirmedAt"] is None else ""
        return CommandFailed(f"{who} was {outcome}{forced}", f"go on with: {self._go_on}", exit_code=code)
