"""`greenroom side`: one question beside a session, answered in a Side that is closed afterwards.

Puts together what others own: the Side (`side_talk`), how its answer looks, who is asked, and the signals.
"""

from functools import partial

import attrs

from runtime.cli.commands import about, load, perform_async
from runtime.cli.daemon_access import Access, Daemon, open_daemon
from runtime.cli.failures import EXIT_FAILED, CommandFailed
from runtime.cli.interrupts import Interrupts
from runtime.cli.lookup import find_session
from runtime.cli.output import Output
from runtime.cli.side_talk import SideTalk, open_side
from runtime.cli.turn_commands import prompt_text
from runtime.cli.turn_drawing import draw_turn
from runtime.config import Flags


@attrs.frozen
class SideRequest:
    """The arguments of `greenroom side`."""

    session_id: str
    """As typed: an id or the beginning of one."""
    question: str | None
    """None: it comes from stdin."""
    workspace_id: str


def side_command(request: SideRequest, flags: Flags, *, as_json: bool) -> int:
    """Asks one question; 0 for a whole answer, 1 for another end, 128 + n when a signal ended it."""
    output = Output(as_json)
    return perform_async(partial(ask_beside, request, flags, output), output)


async def ask_beside(request: SideRequest, flags: Flags, output: Output) -> int:
    """The same within a loop. Raises `CommandFailed` for what goes wrong before anything was asked."""
    question = prompt_text(request.question, output)
    async with open_daemon(load(flags), Access()) as daemon:
        asking = _Asking(daemon, request, question, output)
        await asking.interrupts.guard(asking.ask)
        failed = asking.failure()
        # Told before an embedded daemon is stopped, which may take a moment; and not raised, which would cut it short.
        if failed is not None:
            output.failure(failed)
    return 0 if failed is None else failed.exit_code


@attrs.define(eq=False)
class _Asking:
    """One question on its way."""

    daemon: Daemon
    request: SideRequest
    question: str
    output: Output
    interrupts: Interrupts = attrs.field(init=False)
    _talk: SideTalk | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.interrupts = Interrupts(self.daemon.client, self.output)

    async def ask(self) -> None:
        """From the opening of the Side to its close."""
        client, workspace_id = self.daemon.client, self.request.workspace_id
        watch = self.output.document if self.output.as_json else lambda _: None
        session = await find_session(client, workspace_id, self.request.session_id)
        async with open_side(client, workspace_id, session, watch=watch) as talk:
            self._talk = talk
            await talk.ask(self.question)
            self.interrupts.stop = self._stop
            await draw_turn(talk.pieces(), self.output, talk)

    async def _stop(self) -> None:
        assert self._talk is not None
        with about(self._talk.subject):
            await self._talk.stop()

    def failure(self) -> CommandFailed | None:
        """Why it did not go well, where it did not."""
        code, interrupted = self.interrupts.exit_code(EXIT_FAILED), bool(self.interrupts.signal_number)
        if self._talk is None:
            what = f"interrupted before a Side of session {self.request.session_id} was open"
            return CommandFailed(what, exit_code=code)
        return self._talk.failure(exit_code=code, wanted=not interrupted)
