"""The one conversation of a process: which turns are open in it, how they begin and how they end.

Owns the attribution. Content frames name no turn: they belong to the turn whose prompt Claude Code said it started, or to
one that it began by itself. A turn ends by its `result`, or by the word that its prompt is done or dropped; never by
silence, an idle mark or a count (FC-01, FC-13). What the frames within a turn say is read in `content`.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from runtime.providers.claude_code import guidance
from runtime.providers.claude_code.asks import OpenAsks
from runtime.providers.claude_code.calls import CallLedger
from runtime.providers.claude_code.child_tasks import ChildTasks
from runtime.providers.claude_code.control import ControlAnswer, OpenRequests, ignore_answer
from runtime.providers.claude_code.failures import (
    Ending,
    ending_of,
    provider_error,
    runtime_error,
    was_aborted,
)
from runtime.providers.claude_code.settings import HeldSettings
from runtime.providers.claude_code.turns import Guide, OpenTurn, PastTurns, new_turn, stamp_of
from runtime.providers.claude_code.usage import ProcessUsage, together
from runtime.providers.claude_code.wire import user_message
from runtime.providers.jsonrpc.members import Members, list_of, text_of
from runtime.providers.normalized import (
    CancelRefused,
    ProviderEvent,
    SettingsReported,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
    TurnStartedByProvider,
    UsageReported,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, GuideTurn, Scope, StartTurn, Write
from store.canonical.common import Json, Settings
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock

Phase: TypeAlias = Literal["opening", "open", "closed"]

INTERRUPT: Final[Json] = {"subtype": "interrupt", "cancel_queued": True}
"""Ends what runs, and takes back what waits: nothing that was said before it runs afterwards."""


class Conversation:
    """Its state; everything it wants performed goes into the batch it is given."""

    def __init__(self, scope: Scope, requests: OpenRequests, held: HeldSettings) -> None:
        self.scope = scope
        self.phase: Phase = "opening"
        self.held = held
        self.turn: OpenTurn | None = None
        """The turn of a prompt."""
        self.own_turn: OpenTurn | None = None
        """A turn that Claude Code began by itself; a prompt waits in its queue meanwhile."""
        self.asks = OpenAsks(scope)
        self.ledger = CallLedger()
        self.past = PastTurns()
        self.children = ChildTasks(scope, requests)
        self.usage = ProcessUsage()
        self.boundary: str | None = None
        """What an ephemeral fork is told before its first prompt, until that has begun."""
        self._requests = requests
        self._settings_told: Settings = {}

    @property
    def running(self) -> OpenTurn | None:
        """The turn that content belongs to."""
        if self.own_turn is not None:
            return self.own_turn
        return self.turn if self.turn is not None and self.turn.started else None

    def find(self, turn_id: TurnId) -> OpenTurn | None:
        """An open turn by its id."""
        return next((one for one in (self.turn, self.own_turn) if one and one.turn_id == turn_id), None)

    def tell(self, event: ProviderEvent, out: OutputBatch) -> None:
        """An event of this scope, unless it is of a turn that is not told."""
        own = self.own_turn
        if own is not None and own.silent and getattr(event, "turn_id", None) == own.turn_id:
            out.add(Diagnostic("turn.not_told", type(event).__name__))
        else:
            out.deliver(self.scope, event)

    def tell_all(self, events: Sequence[ProviderEvent], out: OutputBatch) -> None:
        """Several, in order."""
        for event in events:
            self.tell(event, out)

    # --- its life ---------------------------------------------------------------------------------------------

    def opened(self) -> Settings:
        """It takes prompts from here on; what holds now."""
        self.phase = "open"
        return self.settings_now_told()

    def hold(self, held: HeldSettings, out: OutputBatch) -> None:
        """These hold from now on; told when they differ from what was told last."""
        self.held = held
        if self.phase == "open" and held.told() != self._settings_told:
            self.tell(SettingsReported(self.settings_now_told()), out)

    def settings_now_told(self) -> Settings:
        """What holds now, for an answer that tells it."""
        self._settings_told = self.held.told()
        return self._settings_told

    def closed(self, out: OutputBatch) -> None:
        """The scope left: what runs is stopped, open asks are answered, nothing more is told."""
        self.phase = "closed"
        if self.turn is not None or self.own_turn is not None:
            self._requests.send(INTERRUPT, ignore_answer, out)
        self.asks.abandon(out)
        self.children.closed(out)
        self.turn = self.own_turn = None

    # --- the beginning of a turn ------------------------------------------------------------------------------

    def begin(self, command: StartTurn, out: OutputBatch) -> None:
        """Send a prompt."""
        stamp = stamp_of(command.turn_id)
        self.turn = new_turn(command.turn_id, self.ledger, stamp)
        before = (TextBlock(self.boundary),) if self.boundary is not None else ()
        out.add(Write(user_message(stamp, (*before, *command.content))))

    def goes_on(self, turn_id: TurnId) -> bool:
        """Whether the response of this turn has ended while sub-agents in the background still work for it (PR-013)."""
        is_free = self.phase == "open" and self.turn is None and self.own_turn is None
        return is_free and self.past.outcome(turn_id) is not None and self.children.works_for(turn_id)

    def go_on(self, command: GuideTurn, out: OutputBatch) -> None:
        """Begin another response within that turn, with what guidance says."""
        stamp = stamp_of(command.guide_id)
        self.turn = turn = new_turn(command.turn_id, self.ledger, stamp)
        turn.current = stamp
        turn.guide = Guide(command, stamp, interrupted=True, broken_off=True, sent=True, continues=True)
        out.add(Write(user_message(stamp, command.content)))

    def prompt_moved(self, frame: Members, out: OutputBatch) -> None:
        """Claude Code says how far it is with something that was said to it."""
        turn, stamp, state = self.turn, text_of(frame.get("command_uuid")) or "", frame.get("state")
        if turn is None or stamp not in turn.stamps:
            if state not in ("completed", "cancelled"):  # those come after the result
                out.add(Diagnostic("prompt.not_open", str(state)[:40]))
            return
        if state in ("queued", "started"):
            self._accept(turn, stamp, out)
            if state == "started":
                turn.started, self.boundary = True, None
            if turn.guide is None or stamp == turn.guide.stamp:
                turn.current = stamp
            guidance.taken(self, turn, stamp, out)
        elif stamp != turn.current:
            pass  # the part of the turn that guidance has interrupted
        elif state == "cancelled":
            self.end(turn, Ending("canceled", "cancelled"), out)
        elif state == "completed":
            self.end(turn, Ending("completed", "end_turn"), out)

    def _accept(self, turn: OpenTurn, stamp: str | None, out: OutputBatch) -> None:
        """Claude Code has the prompt; told once no other turn is open for the session."""
        if not turn.accepted and (self.own_turn is None or self.own_turn.silent):
            turn.accepted = True
            self.tell(TurnAccepted(turn.turn_id, stamp), out)

    def turn_begins(self, frame: Members, out: OutputBatch) -> None:
        """`system/init`: a turn begins, by a prompt that was started or by nobody's."""
        self.hold(self.held.heard(text_of(frame.get("model")), text_of(frame.get("permissionMode"))), out)
        if self.phase == "open" and self.running is None:
            turn_id = TurnId(stamp_of(text_of(frame.get("uuid")) or "turn"))
            if self.past.outcome(turn_id) is not None:
                out.add(Diagnostic("turn.repeated", turn_id))
                return
            self.own_turn = turn = new_turn(turn_id, self.ledger)
            turn.accepted = turn.started = True
            turn.silent = self.turn is not None
            self.tell(TurnStartedByProvider(turn_id, turn_id), out)

    # --- the end of a turn ------------------------------------------------------------------------------------

    def stop(self, turn: OpenTurn, out: OutputBatch) -> None:
        """End exactly this turn: one that waits is taken back, one that runs is interrupted; its asks are refused."""
        turn.cancel_asked = True
        turn.cancel_stops_children = self.children.works_for(turn.turn_id)
        if turn is self.running:
            self._interrupt(turn, out)
            self.asks.withdraw_all(out)
            return

        def taken_back(answer: ControlAnswer, out: OutputBatch) -> None:
            if answer.body.get("cancelled") is not True and self.find(turn.turn_id) is turn:
                self._interrupt(turn, out)

        request: Json = {"subtype": "cancel_async_message", "message_uuid": stamp_of(turn.turn_id)}
        self._requests.send(request, taken_back, out)

    def result(self, frame: Members, out: OutputBatch) -> None:
        """A turn is over. Results are never counted: one may stand for several prompts, or for none."""
        turn = self._ended_by(frame)
        if turn is None:
            out.add(Diagnostic("result.no_turn", str(frame.get("subtype"))[:40]))
            return
        turn.spent = together(turn.spent, self.usage.turn(frame))
        self.tell(UsageReported(self.usage.conversation(frame), turn.turn_id), out)
        overtaken = guidance.overtaken(self, turn, aborted=was_aborted(frame))
        if guidance.broken_off(self, turn, aborted=was_aborted(frame), out=out):
            return
        ending = ending_of(frame)
        stops_children = turn.cancel_stops_children or self.children.works_for(turn.turn_id)
        if turn.cancel_asked and ending.outcome == "completed" and stops_children:
            # The response had ended by itself; what its sub-agents still owe the turn is stopped, or was by the interrupt.
            ending = Ending("canceled", ending.stop_reason)
        if ending.outcome == "completed" and not turn.normalizer.spoke:
            self.tell_all(turn.normalizer.said(text_of(frame.get("result")) or ""), out)
        self.end(turn, ending, out)
        if overtaken is not None:
            guidance.guide(self, self._requests, overtaken, out)

    def end(self, turn: OpenTurn, ending: Ending, out: OutputBatch) -> None:
        """What is open in the turn ends first, its end is told last.

        Text that is open when a turn stops short is not told as ended: it was cut off, and ends as its turn does.
        """
        self._accept(turn, turn.current or None, out)
        guidance.give_up(self, turn, out)
        if turn is self.own_turn or self.own_turn is None:
            self.asks.confirm_all(out)
            self.asks.withdraw_all(out)
        if ending.outcome == "completed":
            self.tell_all(turn.normalizer.end(), out)
        if turn.accepted:
            ended = TurnEnded(turn.turn_id, ending.outcome, ending.stop_reason, ending.error, turn.spent)
            self.tell(ended, out)
        else:  # it waited behind another turn, and never began
            error = ending.error or runtime_error("session.busy")
            self.tell(TurnRejected(turn.turn_id, error), out)
        self.children.response_ended(turn.turn_id, stopped=turn.stopping, out=out)
        self.past.add(turn.turn_id, ending.outcome)
        if turn is self.turn:
            self.turn = None
        else:
            self.own_turn = None

    def _interrupt(self, turn: OpenTurn, out: OutputBatch) -> None:
        def answered(answer: ControlAnswer, out: OutputBatch) -> None:
            if not answer.accepted and self.find(turn.turn_id) is turn:
                self.tell(CancelRefused(turn.turn_id, provider_error("provider.rejected")), out)

        self._requests.send(INTERRUPT, answered, out)

    def _ended_by(self, frame: Members) -> OpenTurn | None:
        values = [frame.get("user_message_uuid"), *list_of(frame.get("user_message_uuids"))]
        stamps = {value for value in values if isinstance(value, str)}
        turn = self.turn
        if turn is not None and stamps & turn.stamps:
            return turn
        if self.own_turn is not None:
            return self.own_turn
        return turn if turn is not None and turn.started and not stamps else None
