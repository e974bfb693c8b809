"""One thread of a connection: which turn is open in it, and to whom each frame belongs.

Owns the attribution. Codex names thread and turn in every frame, so a frame belongs to the open turn only if it names
it; what names a settled turn is late, and what names none of ours is dropped and counted (FC-13, FC-24, ST-006). A turn
is settled by `turn/completed` of that very thread and turn, and by nothing else (FC-01).
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from runtime.providers.codex.asking import ELICITATION, Refusal, refuse
from runtime.providers.codex.asks import AnswerToken, GivenAnswer, OpenAsks
from runtime.providers.codex.failures import provider_error, runtime_error
from runtime.providers.codex.feedback import Feedback
from runtime.providers.codex.items import TextItem, read_item
from runtime.providers.codex.late_calls import LateCalls
from runtime.providers.codex.normalizer import TurnNormalizer
from runtime.providers.codex.quiet import QUIET
from runtime.providers.codex.requests import TurnRequests
from runtime.providers.codex.settings import PLANNING, ThreadSettings
from runtime.providers.codex.thread_calls import ThreadCalls
from runtime.providers.codex.thread_facts import THREAD_FACTS
from runtime.providers.codex.tool_items import ChildThread
from runtime.providers.codex.turn_end import Ending, ending_of
from runtime.providers.codex.turn_frames import TURN_FRAMES, turn_events
from runtime.providers.codex.turns import HELD_FRAMES_MAX, Frame, OpenTurn, PastTurns, PendingStart
from runtime.providers.codex.usage import ThreadUsage, usage_of
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.jsonrpc.peer import JsonRpcPeer, Notification, Request, RequestKey
from runtime.providers.normalized import (
    BackgroundReported,
    GuideAccepted,
    GuideRefused,
    PlanProposed,
    ProviderEvent,
    SettingsReported,
    ThreadOpenFailed,
    ToolCallReported,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
    TurnStartedByProvider,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, Scope
from store.canonical.common import TurnError
from store.canonical.identifiers import CallId, TurnId, is_identifier
from store.canonical.interaction import PlanInput

Phase: TypeAlias = Literal["opening", "open", "closed"]
ChildBegan: TypeAlias = Callable[["Conversation", OpenTurn, CallId, ChildThread, OutputBatch], None]

_BEGINNINGS: Final = frozenset({"turn/started", "item/started"})
_OF_TURN: Final = TURN_FRAMES | {"turn/started", "turn/completed"}


class Conversation:
    """The state of one scope's thread; everything it wants performed goes into the batch it is given."""

    def __init__(
        self, scope: Scope, peer: JsonRpcPeer, calls: ThreadCalls, on_gone: Callable[["Conversation"], None]
    ) -> None:
        self.scope = scope
        self.thread_id: str | None = None
        self.phase: Phase = "opening"
        self.turn: OpenTurn | None = None
        self.pending: PendingStart | None = None
        self.busy_elsewhere = False
        """A turn that nobody here waits for still runs in the thread: it was left while it ran."""
        self.side_rules: str | None = None
        """What holds in an ephemeral fork alone and goes along with each of its turns; null in any other thread."""
        self.told_to: str | None = None
        """What a sub-agent was begun with, until its first turn begins."""
        self.unwanted = False
        """A sub-agent that has no session: whatever it begins is stopped."""
        self.on_child: ChildBegan = _no_child
        """Told of each call that shows a sub-agent begin, before the call itself is told."""
        self.held = ThreadSettings()
        """The settings that hold in the thread, as Codex last told of them."""
        self.calls = calls
        self.asks = OpenAsks(scope, peer)
        self.requests = TurnRequests(peer, self.asks, self.tell)
        self.late_calls = LateCalls()
        self.past = PastTurns()
        self._peer = peer
        self._on_gone = on_gone
        self.usage = ThreadUsage()
        self._feedback = Feedback()
        self._early: list[Frame] = []
        self._background: frozenset[TurnId] = frozenset()
        """The turns that were last told to have commands that go on."""
        self._last: OpenTurn | None = None
        """The one that ended last: guidance may go on with it, in names of its own."""

    @property
    def ended_last(self) -> TurnId | None:
        """The turn that ended last."""
        return self._last.turn_id if self._last is not None else None

    # --- its life ---------------------------------------------------------------------------------------------

    def opened(self, *, fresh: bool, busy: bool, out: OutputBatch) -> None:
        """The thread takes prompts. `busy` says that a turn of somebody else's runs in it."""
        self.phase = "open"
        self.busy_elsewhere = busy
        if fresh:
            self.usage.begin_new()
        early, self._early = self._early, []
        for frame in early:
            self.frame(frame, out)

    def not_opened(self, out: OutputBatch) -> None:
        """It did not open: requests that came meanwhile get their replies."""
        self.phase = "closed"
        for frame in self._early:
            if isinstance(frame, Request):
                refuse(self._peer, frame, "cancel", out)
        self._early.clear()

    def closed(self, out: OutputBatch) -> None:
        """The scope left: what runs is stopped, open asks are answered, nothing more is told."""
        self.phase = "closed"
        thread_id, turn = self.thread_id, self.turn
        self.turn, pending, self.pending = None, self.pending, None
        self._refuse_all_held(turn, pending, "cancel", out)
        self.asks.abandon(out)
        if thread_id is None:
            return
        if turn is not None:
            if not turn.cancel_asked:
                self.calls.interrupt_unowned(thread_id, turn.provider_turn_id, out)
            self.late_calls.add(turn)
        if self.late_calls:
            self.calls.end_all_commands(thread_id, out)
        self.calls.leave(thread_id, out)

    def hold_settings(self, held: ThreadSettings, out: OutputBatch) -> None:
        """These hold from now on; told when they are others than before."""
        if held != self.held:
            self.held = held
            self.tell(SettingsReported(held.told()), out)

    def tell(self, event: ProviderEvent, out: OutputBatch) -> None:
        """An event of this scope."""
        out.deliver(self.scope, event)

    # --- frames -----------------------------------------------------------------------------------------------

    def frame(self, frame: Frame, out: OutputBatch) -> None:
        """A notification or request of this thread."""
        if self.phase == "opening":
            self._keep_early(frame, out)
        elif isinstance(frame, Request):
            self._asked(frame, out)
        elif frame.method in _OF_TURN:
            self._of_turn(frame, object_of(frame.params), out)
        elif (take := THREAD_FACTS.get(frame.method)) is not None:
            take(self, frame, object_of(frame.params), out)
        elif frame.method not in QUIET:
            out.add(Diagnostic("notification.unknown", frame.method[:80]))

    def _keep_early(self, frame: Frame, out: OutputBatch) -> None:
        if len(self._early) < HELD_FRAMES_MAX:
            self._early.append(frame)
        else:
            self._drop(frame, out)

    def _drop(self, frame: Frame, out: OutputBatch) -> None:
        """More than is kept came before it was clear whose it is."""
        out.add(Diagnostic("update.early_dropped", frame.method[:80]))
        if isinstance(frame, Request):
            refuse(self._peer, frame, "decline", out)

    def _of_turn(self, frame: Notification, params: Members, out: OutputBatch) -> None:
        provider_turn_id = turn_id_of(params)
        if provider_turn_id is None:
            out.add(Diagnostic("update.malformed", f"{frame.method} names no turn"))
            return
        turn = self.turn
        if turn is not None and provider_turn_id in turn.aliases:
            self._hear(turn, frame, params, out)
        elif provider_turn_id in self.past:
            # A settled turn stands; only a command that went on after it still has an end to tell (RT-003).
            self._take(self.late_calls.heard(provider_turn_id, frame.method, params), out)
            self._tell_background(out)
        elif self.pending is not None and self.pending.sent:
            self.hold(self.pending, provider_turn_id, frame, out)
        elif self.busy_elsewhere:
            out.add(Diagnostic("turn.left", frame.method))
            if frame.method == "turn/completed":
                self.free(out)
        elif turn is not None:
            self._of_another(turn, provider_turn_id, frame, params, out)
        elif frame.method in _BEGINNINGS and is_identifier(provider_turn_id):
            self._hear(self._begun_by_provider(provider_turn_id, out), frame, params, out)
        else:
            out.add(Diagnostic("turn.unknown", frame.method))

    def _of_another(
        self, turn: OpenTurn, provider_turn_id: str, frame: Notification, params: Members, out: OutputBatch
    ) -> None:
        """A thread has one active turn. A review tells of its by one id and announces it by another."""
        if frame.method == "turn/started" and not turn.started_by_us and not turn.start_told:
            turn.aliases.add(provider_turn_id)
            self._hear(turn, frame, params, out)
        else:
            out.add(Diagnostic("turn.stray", frame.method))

    def _hear(self, turn: OpenTurn, frame: Notification, params: Members, out: OutputBatch) -> None:
        if frame.method == "turn/started":
            turn.start_told = True
        elif frame.method == "turn/completed":
            self._completed(turn, object_of(params.get("turn")), out)
        else:
            item_id = text_of(object_of(params.get("item")).get("id")) or text_of(params.get("itemId"))
            for heard in turn_events(turn, frame.method, params):
                if isinstance(heard, ToolCallReported) and heard.child_id is not None and item_id is not None:
                    call = turn.normalizer.call(item_id)
                    if call is not None and call.item.child is not None:
                        self.on_child(self, turn, heard.call_id, call.item.child, out)
                self._take(heard, out)
            if turn.held_requests:
                self.requests.item_told(turn, item_id, out)

    def _take(self, heard: ProviderEvent | Diagnostic | None, out: OutputBatch) -> None:
        """Tell it, or count it."""
        if isinstance(heard, Diagnostic):
            out.add(heard)
        elif heard is not None:
            self.tell(heard, out)

    # --- the beginning of a turn ------------------------------------------------------------------------------

    def hold(
        self, pending: PendingStart, provider_turn_id: str | None, frame: Frame, out: OutputBatch
    ) -> None:
        """Keep what may be of the prompt's turn. So much of one turn as this can only be of that one."""
        if len(pending.held) < HELD_FRAMES_MAX:
            pending.held.append(frame)
        elif provider_turn_id is not None:
            pending.held.append(frame)
            self.adopt(pending, provider_turn_id, out)
        else:
            self._drop(frame, out)

    def adopt(self, pending: PendingStart, provider_turn_id: str, out: OutputBatch) -> None:
        """The prompt's turn has its name: what was held of it is heard now, the rest belonged to none of ours."""
        turn_id = pending.command.turn_id
        self.pending = None
        if provider_turn_id in self.past:
            self._tell_refused(pending, provider_error("provider.protocol"), out)
            self._take_back(pending, out)
            return
        self.turn = turn = self._new_turn(turn_id, provider_turn_id)
        if pending.guide_id is not None:
            self.tell(GuideAccepted(turn_id, pending.guide_id, continued=True), out)
        else:
            self.tell(TurnAccepted(turn_id, provider_turn_id), out)
        for frame in pending.held:
            self.frame(frame, out)
        if pending.cancel_asked and self.turn is turn:
            self.stop(turn, out)

    def start_named(self, pending: PendingStart, provider_turn_id: str, out: OutputBatch) -> None:
        """The answer came after so much of a turn that it was taken for the prompt's."""
        turn = self.turn
        if turn is not None and turn.turn_id == pending.command.turn_id:
            turn.aliases.add(provider_turn_id)
            turn.provider_turn_id = provider_turn_id
        else:
            out.add(Diagnostic("answer.after_end", str(self.scope)))

    def start_refused(
        self, pending: PendingStart, error: TurnError, *, unloaded: bool, out: OutputBatch
    ) -> None:
        """Codex does not take the prompt; nothing of it ran."""
        if self.phase == "closed":
            return
        turn = self.turn
        if self.pending is pending:
            self.pending = None
            self._tell_refused(pending, error, out)
            self._take_back(pending, out)
        elif turn is not None and turn.turn_id == pending.command.turn_id:
            self.end(turn, Ending("failed", error=error), out)
        if unloaded:
            self.unloaded(out)

    def _tell_refused(self, pending: PendingStart, error: TurnError, out: OutputBatch) -> None:
        turn_id = pending.command.turn_id
        if pending.guide_id is not None:
            self.tell(GuideRefused(turn_id, pending.guide_id, error), out)
        else:
            self.tell(TurnRejected(turn_id, error), out)

    def stop_pending(self, pending: PendingStart, out: OutputBatch) -> None:
        """A prompt without a turn is to be stopped: at once if Codex was not told it, else when it has its name."""
        if pending.sent:
            pending.cancel_asked = True
        else:
            self.start_refused(pending, runtime_error("session.busy"), unloaded=False, out=out)

    def _take_back(self, pending: PendingStart, out: OutputBatch) -> None:
        """What was held for a prompt that has no turn is looked at without it."""
        for frame in pending.held:
            self.frame(frame, out)

    def _begun_by_provider(self, provider_turn_id: str, out: OutputBatch) -> OpenTurn:
        self.turn = self._new_turn(TurnId(provider_turn_id), provider_turn_id)
        self.turn.started_by_us = False
        told_to, self.told_to = self.told_to, None
        self.tell(TurnStartedByProvider(self.turn.turn_id, provider_turn_id, told_to), out)
        if self.unwanted:
            self.stop(self.turn, out)
        return self.turn

    def _new_turn(self, turn_id: TurnId, provider_turn_id: str) -> OpenTurn:
        before = self._last if self._last is not None and self._last.turn_id == turn_id else None
        normalizer = before.normalizer if before is not None else TurnNormalizer(turn_id)
        turn = OpenTurn(turn_id, provider_turn_id, normalizer, aliases={provider_turn_id})
        self.usage.turn_begins(turn)
        return turn

    # --- the end of a turn ------------------------------------------------------------------------------------

    def stop(self, turn: OpenTurn, out: OutputBatch) -> None:
        """Ask Codex to end this turn; open asks of it are refused at once (FC-04)."""
        turn.cancel_asked = True
        self.calls.interrupt(self, turn, out)
        self.asks.withdraw_all("cancel", out)
        self.requests.refuse_held(turn, "cancel", out)

    def _completed(self, turn: OpenTurn, members: Members, out: OutputBatch) -> None:
        status = text_of(members.get("status"))
        if status == "completed":
            # The last words of the turn come along once more: for the case that they were not told.
            for item in map(read_item, list_of(members.get("items"))):
                for event in turn.normalizer.completed(item) if isinstance(item, TextItem) else ():
                    self.tell(event, out)
        self.end(turn, ending_of(status, members.get("error")), out)

    def end(self, turn: OpenTurn, ending: Ending, out: OutputBatch) -> None:
        """What is open in the turn ends first, its end is told last."""
        for given in self.asks.confirm_all(out):
            self._given(given)
        self.asks.withdraw_all("decline", out)
        self.requests.refuse_held(turn, "decline", out)
        for event in (*self._feedback.turn_ends(turn), *turn.normalizer.end()):
            self.tell(event, out)
        plan = turn.normalizer.proposed_plan
        if ending.outcome == "completed" and plan is not None and self._plans:
            self.tell(PlanProposed(turn.turn_id, PlanInput(markdown=plan)), out)
        ended = TurnEnded(turn.turn_id, ending.outcome, ending.stop_reason, ending.error, usage_of(turn))
        self.tell(ended, out)
        self.past.add(turn)
        self.late_calls.add(turn)
        self.turn, self._last = None, turn
        if ending.outcome == "canceled":
            self.end_background(
                turn.turn_id, out
            )  # an interrupt ends the turn, not the commands it was running
        else:
            self._tell_background(out)

    def end_background(self, turn_id: TurnId, out: OutputBatch) -> None:
        """End what one settled turn left running."""
        running = self.late_calls.end(turn_id)
        if running and self.thread_id is not None:
            self.calls.end_commands(self.thread_id, running, out)
        self._tell_background(out)

    def _tell_background(self, out: OutputBatch) -> None:
        turn_ids = self.late_calls.turn_ids
        if turn_ids != self._background:
            self._background = turn_ids
            self.tell(BackgroundReported(turn_ids), out)

    @property
    def _plans(self) -> bool:
        return self.held.mode == PLANNING and self.side_rules is None

    # --- requests and answers ---------------------------------------------------------------------------------

    def _asked(self, request: Request, out: OutputBatch) -> None:
        turn, provider_turn_id = self.turn, text_of(object_of(request.params).get("turnId"))
        if self.requests.is_known(turn, request):
            out.add(Diagnostic("ask.repeated_id", request.method[:80]))
        elif turn is not None and (
            provider_turn_id in turn.aliases or (provider_turn_id is None and request.method == ELICITATION)
        ):
            self.requests.take(turn, request, out)
        elif self.pending is not None and self.pending.sent and provider_turn_id not in self.past:
            self.hold(self.pending, provider_turn_id, request, out)
        else:
            refuse(self._peer, request, "cancel" if self.busy_elsewhere else "decline", out)
            out.add(Diagnostic("ask.stray_turn", request.method[:80]))

    def written(self, token: AnswerToken, out: OutputBatch) -> None:
        """An answer is out whole."""
        given = self.asks.written(token.request_id, out)
        if given is not None:
            self._given(given)

    def _given(self, given: GivenAnswer) -> None:
        """A person's no marks the call it was about: Codex does not always say so itself."""
        if given.rejected and given.ask.asked.item_id is not None and self.turn is not None:
            call = self.turn.normalizer.call(given.ask.asked.item_id)
            if call is not None:
                call.rejected = True
        self._feedback.keep(given)

    def resolved(self, key: RequestKey, out: OutputBatch) -> None:
        """Codex waits no longer for an answer to this request of its."""
        given = self.asks.resolved(key, out)
        if given is not None:
            self._given(given)
        self._feedback.resolved(key, self, out)

    def _refuse_all_held(
        self, turn: OpenTurn | None, pending: PendingStart | None, how: Refusal, out: OutputBatch
    ) -> None:
        if turn is not None:
            self.requests.refuse_held(turn, how, out)
        for frame in pending.held if pending is not None else ():
            if isinstance(frame, Request):
                refuse(self._peer, frame, how, out)

    # --- the thread as a whole --------------------------------------------------------------------------------

    def free(self, out: OutputBatch) -> None:
        """No turn of somebody else's runs in the thread any more: a prompt that waited for that is sent."""
        if self.busy_elsewhere:
            self.busy_elsewhere = False
            if self.pending is not None:
                self.calls.start(self, self.pending, out)

    def unloaded(self, out: OutputBatch) -> None:
        """Codex holds the thread no more, though it is in use here: its next use has to load it again."""
        turn, pending = self.turn, self.pending
        if turn is not None:
            self.end(turn, Ending("failed", error=provider_error("provider.lost")), out)
        self.phase, self.pending = "closed", None
        self._refuse_all_held(None, pending, "decline", out)
        self.tell(ThreadOpenFailed(provider_error("provider.lost")), out)
        self._on_gone(self)


def _no_child(
    parent: Conversation, turn: OpenTurn, call_id: CallId, child: ChildThread, out: OutputBatch
) -> None:
    out.add(Diagnostic("child.not_followed", str(parent.scope)))


def turn_id_of(params: Members) -> str | None:
    """The turn a notification names."""
    return text_of(params.get("turnId")) or text_of(object_of(params.get("turn")).get("id"))
