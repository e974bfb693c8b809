"""One Side as a person uses it: opened, asked one question, followed to the end of its answer, closed.

Owns the order (subscribe, open, ask, follow, close) and what is said where there is no Side, or it ends early. How
pieces look and who answers what the agent asks is the caller's. Nothing here is taken up again after a lost
connection: a Side ends with its owner (`contract §4`).
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import attrs
import trio

from greenroom_client import (
    Client,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    Piece,
    SubscriptionEvent,
    TurnView,
    new_submit_id,
    prompt,
    repeat_until_answered,
)
from greenroom_client.contract.models import Answer, Interaction, Session, SideUpdated
from runtime.cli.commands import about, refusal_told
from runtime.cli.failures import EXIT_FAILED, CommandFailed, Subject, next_step_for
from runtime.system_ports import SystemIdentifiers

SIDES: Final = "agent.side.updated"
CLOSE_SECONDS: Final = 5.0
"""How long we wait for a Side to be closed; our connection's end closes it too."""
_GONE: Final = frozenset({"side.not_found", "side.expired"})
_HOLES: Final = frozenset({"side_gap", "gap", "resync"})
"""Something may be missing, and of a Side nothing can be read again (RT-124)."""
_UNSUPPORTED: Final = "capability.unsupported"
_NO_SIDES: Final[Mapping[str, tuple[str, str]]] = {
    "provider": ("sessions of this agent have no Sides", "ask it in a session of its own"),
    "program": (
        "sessions of this agent have no Sides with the version that is installed",
        "update the agent's program, or ask it in a session of its own",
    ),
    "conversation": ("there is no conversation yet that a Side could be forked from", "send a prompt first"),
    "child": ("a session that an agent began itself has no Sides", "ask in the session it belongs to"),
}
"""What `details.reason` means, and what to do."""


@attrs.define(eq=False)
class SideTalk:
    """An open Side. Answers its Interactions, and stops its turn and no other."""

    client: Client
    subject: Subject
    side_id: str
    _events: AsyncIterator[SubscriptionEvent]
    _watch: Callable[[SubscriptionEvent], None]
    view: TurnView | None = attrs.field(default=None, init=False)
    """The turn of the question; None before that was acknowledged."""

    async def ask(self, question: str) -> None:
        """Sends the question. Raises `CommandFailed` for a refusal."""
        submit_id = new_submit_id()
        with about(self.subject):
            sent = await self.client.side_send(
                workspace_id=self.subject.workspace_id,
                side_agent_session_id=self.side_id,
                client_submit_id=submit_id,
                content=prompt(question),
            )
        view = TurnView(self.side_id, sent["turn"]["turnId"])
        view.see_turn(sent["turn"], 0)  # whatever is told of the Side counts from 1
        self.view = view

    async def pieces(self) -> AsyncIterator[Piece]:
        """The answer as it comes, to the end of its turn. Raises `CommandFailed` when the Side ends before."""
        view = self.view
        assert view is not None, "something was asked"
        while not view.ended:
            event = await anext(self._events)
            self._watch(event)
            if event["type"] == "side":
                for piece in self._told(event, view):
                    yield piece
            elif event["type"] in _HOLES:
                raise self._ended("the daemon was out of reach, or we were too slow")

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        """Answers what its agent asks. Raises what `side_respond` raises."""
        await repeat_until_answered(
            lambda: self.client.side_respond(
                workspace_id=self.subject.workspace_id,
                side_agent_session_id=self.side_id,
                turn_id=interaction["turnId"],
                request_id=interaction["requestId"],
                answer=answer,
            )
        )

    async def stop(self) -> None:
        """Stops the turn of the question. Raises what `side_cancel` raises."""
        view = self.view
        assert view is not None, "something was asked"
        await repeat_until_answered(
            lambda: self.client.side_cancel(
                workspace_id=self.subject.workspace_id,
                side_agent_session_id=self.side_id,
                turn_id=view.turn_id,
            )
        )

    async def stop_asking(self, interaction: Interaction) -> None:
        """Ends a question that offers no refusal, with the turn that asks it."""
        await self.stop()

    def failure(self, *, exit_code: int = EXIT_FAILED, wanted: bool = True) -> CommandFailed | None:
        """How the turn ended, where that is not well; `wanted` says whether nobody asked it to end."""
        who = f"a Side of session {self.subject.session_id}"
        turn = None if self.view is None else self.view.turn
        if turn is None:
            return CommandFailed(f"interrupted before {who} was asked", exit_code=exit_code)
        error = turn["error"]
        if error is not None:
            step = next_step_for(error["code"], self.subject)
            what = f"{who} {turn['outcome']}: {error['message'].rstrip('.')} ({error['code']})"
            return CommandFailed(what, step, code=error["code"], exit_code=exit_code)
        if turn["outcome"] == "completed" and wanted:
            return None
        ended = turn["outcome"] or "left before it ended"
        return CommandFailed(f"{who} was {ended}", f"ask again: {self.subject.again}", exit_code=exit_code)

    def _told(self, event: SideUpdated, view: TurnView) -> Iterator[Piece]:
        payload, sequence = event["payload"], event["sequence"]
        match payload["type"]:
            case "turn":
                view.see_turn(payload["turn"], sequence)
            case "message":
                yield from view.see_message(payload["message"], sequence)
            case "message_delta":
                yield from view.see_delta(payload)
            case "interaction":
                yield from view.see_interaction(payload["interaction"], sequence)
            case "closed" | "expired":
                raise self._ended(payload["reason"])
            case _:
                pass  # its error is in the row of the turn too

    def _ended(self, why: str) -> CommandFailed:
        what = f"the Side of session {self.subject.session_id} ended before it had answered: {why}"
        return CommandFailed(what, f"ask again: {self.subject.again}", code="side.expired")


@asynccontextmanager
async def open_side(
    client: Client,
    workspace_id: str,
    session: Session,
    *,
    watch: Callable[[SubscriptionEvent], None] = lambda _: None,
) -> AsyncIterator[SideTalk]:
    """A Side of a session for as long as the body runs; `watch` sees each event of it before anybody else.

    Raises `CommandFailed` where it cannot be opened; nothing is left of it then, nor after the body.
    """
    side_id = SystemIdentifiers().new_id()
    session_id = session["agentSessionId"]
    subject = Subject(session_id, workspace_id, cwd=session["cwd"], again=f'greenroom side {session_id} "…"')
    async with client.subscribe(workspace_id, topics=[SIDES], agent_session_ids=[side_id]) as events:
        try:
            await _open(client, subject, side_id)
            yield SideTalk(client, subject, side_id, events, watch)
        finally:
            await _close(client, workspace_id, side_id)


async def _open(client: Client, subject: Subject, side_id: str) -> None:
    try:
        await client.side_open(
            workspace_id=subject.workspace_id,
            agent_session_id=str(subject.session_id),
            side_agent_session_id=side_id,
            surface_id=f"cli-{side_id}",
        )
    except GreenroomError as refused:
        told = _NO_SIDES.get(str(refused.details.get("reason")))
        if refused.code != _UNSUPPORTED or told is None:
            raise refusal_told(refused, subject) from refused
        what = f"{subject}: {told[0]}; nothing was sent ({refused.code})"
        raise CommandFailed(what, told[1], code=refused.code) from refused


async def _close(client: Client, workspace_id: str, side_id: str) -> None:
    """Whatever became of the opening: one that nobody waits for any more is closed as well."""
    with trio.move_on_after(CLOSE_SECONDS, shield=True):
        try:
            await client.side_close(workspace_id=workspace_id, side_agent_session_id=side_id)
        except GreenroomError as refused:
            if refused.code not in _GONE:
                raise
        except (ConnectionLost, DaemonUnreachable):
            return  # it ends with the connection that owned it
