"""The Side actor: drain, ask the machine, perform the effects. It has no store, and no word for keeping anything.

Owns one Side from its verified fork to its end: mailbox, streamed text, numbers of what is told, and the reference to its
connection. It is never restarted: a crash of this code expires the Side (`architecture §5`). An import contract keeps
the store out (rule 7).
"""

from collections.abc import Callable, Iterable
from typing import Final, Protocol, TypeAlias, assert_never

import attrs
import structlog
import trio

from runtime.actors.replies import InteractionReply, ReplySink, SideReply, TurnReply
from runtime.actors.timers import SessionTimers
from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.live_tail import Delta, LiveTail, TailLimits
from runtime.lifecycle.state import Context, Policy
from runtime.ports import IdentifierSource, WallClock
from runtime.providers.normalized import (
    ProviderEvent,
    TextChunk,
    ToolCallReported,
    ToolOutputChunk,
    merge_events,
)
from runtime.providers.tenancy import ConnectionReference
from runtime.refusal import Refusal
from runtime.side import effects as se
from runtime.side.machine import (
    GENERATION,
    Overflowed,
    SideConversation,
    SideInput,
    decide_side,
)
from runtime.side.open_buffer import OpenBuffer
from runtime.side.rows import Side, SideExpired, SideFact, SideMessage
from supervisor.cell import guard
from supervisor.errors import ActorStopped
from supervisor.mailbox import Mailbox, MailboxLimits

log = structlog.get_logger(__name__)

INPUT_BYTES: Final = 512
"""What an input weighs besides its text."""
BATCH_MAX: Final = 256

SideMailbox: TypeAlias = Mailbox[SideInput]


class SideHub(Protocol):
    """The part of the event hub a Side uses. Every call is one step and never waits."""

    def publish_side(self, side: Side, sequence: int, told: SideFact | Delta) -> None:
        """Something of a Side, to those who follow Sides of its workspace."""


@attrs.frozen
class SideServices:
    """What every Side actor works with. There is no store among it."""

    hub: SideHub
    clock: WallClock
    identifiers: IdentifierSource
    policy: Policy
    tail_limits: TailLimits
    lane_limits: MailboxLimits
    turns_max: int
    spawn: Callable[..., None]
    count: Callable[[str], None]
    head_commit_seq: Callable[[], int]
    """What a reply says of the commits it contains; a Side makes none."""


def side_mailbox(limits: MailboxLimits) -> SideMailbox:
    """Where everything for one Side waits; commands may, from its reservation on."""
    return Mailbox(limits, size=_size, merge=_merge)


@attrs.define(eq=False)
class SideSink:
    """Events of the Side's scope: into the buffer of its opening, then into its mailbox.

    A Side never makes its connection pause, which is its source's too: where it cannot keep up, it expires (FC-38).
    """

    buffer: OpenBuffer
    decided: trio.Event = attrs.field(factory=trio.Event)
    """The opening's one outcome is known."""
    mailbox: SideMailbox | None = None

    def put(self, event: ProviderEvent) -> None:
        """Take the event; never refuses."""
        if self.mailbox is None:
            self.buffer.take_in(event)
            if self.buffer.outcome is not None:
                self.decided.set()
            return
        try:
            if self.mailbox.above_high_water:
                self.mailbox.put_first(Overflowed())
            self.mailbox.put(i.FromProvider(GENERATION, event))
        except ActorStopped:
            log.debug("an event came after its Side had ended", kind=type(event).__name__)

    @property
    def above_high_water(self) -> bool:
        """Never: see the class."""
        return False

    async def wait_below_low_water(self) -> None:
        """At once."""
        await trio.lowlevel.checkpoint()


class SideActor:
    """One Side."""

    def __init__(
        self,
        state: SideConversation,
        mailbox: SideMailbox,
        reference: ConnectionReference,
        services: SideServices,
        on_ended: Callable[[], None],
    ) -> None:
        self.state = state
        self.sequence = 0
        """Of the last thing told; counts from 1 in this Side alone (RT-117)."""
        self.gone = trio.Event()
        """Nothing of it is left here."""
        self._mailbox = mailbox
        self._reference = reference
        self._services = services
        self._on_ended = on_ended
        self._timers = SessionTimers(services.spawn)
        self._tail = LiveTail(services.tail_limits)
        self._over = False

    def begin(self, effects: Iterable[se.SideEffect], early: Iterable[ProviderEvent]) -> None:
        """Tell that it is open, then what its provider said before it was. One step of the opening."""
        self._perform_all(effects)
        for event in early:
            self._receive(i.FromProvider(GENERATION, event))

    async def run(self) -> None:
        """Work until it has ended. However that comes, nothing of it stays behind."""
        try:
            with guard(self._crashed):
                while not self._over:
                    await self._mailbox.wait()
                    for message in self._mailbox.drain(BATCH_MAX):
                        self._receive(message)
        finally:
            self._leave()

    def close_mailbox(self) -> None:
        """Answer what still waits: the Side it is for has ended."""
        refuse_all(self._mailbox, Refusal("side.expired"))

    def _receive(self, message: SideInput) -> None:
        context = Context(
            now_ms=self._services.clock.now_ms(),
            new_id=self._services.identifiers.new_id,
            policy=self._services.policy,
        )
        self.state, effects = decide_side(self.state, message, context)
        self._perform_all(effects)

    def _perform_all(self, effects: Iterable[se.SideEffect]) -> None:
        for effect in effects:
            self._perform(effect)

    def _perform(self, effect: se.SideEffect) -> None:
        match effect:
            case se.Tell(fact):
                self._tell(fact)
            case se.ShowMessage(message, opens):
                if opens:
                    self._tail.open(message)
                shown = self._tail.complete(message)
                if message.status != "streaming":
                    self._tail.close(message.message_id)
                elif message.message_id in self._tail:
                    self._tail.revise(message)
                self._tell(SideMessage(message=shown))
            case fx.AppendText(message_id, text):
                for delta in self._tail.append(message_id, text):
                    self._tell(delta)
            case fx.ReplaceText(message_id, text):
                self._tail.replace(message_id, text)
            case se.ReplySide() | fx.ReplyTurn() | fx.ReplyInteraction() | fx.Refuse():
                self._answer(effect)
            case se.TellProvider(command):
                self._reference.tell(command)
            case fx.ArmTimer(timer, seconds):
                self._timers.arm(timer, seconds, self._mailbox)
            case fx.DisarmTimer(timer):
                self._timers.disarm(timer)
            case se.GiveBack():
                self._services.spawn(self._give_back)
            case fx.Count(what):
                self._services.count(what)
            case se.End():
                self._over = True
                # In the step in which its end is told: from now on its id says so.
                self._on_ended()
            case _:
                assert_never(effect)

    def _answer(self, effect: se.ReplySide | fx.ReplyTurn | fx.ReplyInteraction | fx.Refuse) -> None:
        head = self._services.head_commit_seq()
        sink: ReplySink = effect.to  # type: ignore[assignment]  # handed back untouched by the machine
        match effect:
            case se.ReplySide(_, side):
                sink.deliver(SideReply(side), head)
            case fx.ReplyTurn(_, turn):
                sink.deliver(TurnReply(turn), head)
            case fx.ReplyInteraction(_, interaction):
                sink.deliver(InteractionReply(interaction), head)
            case fx.Refuse(_, refusal):
                sink.refuse(refusal)

    def _tell(self, told: SideFact | Delta) -> None:
        self.sequence += 1
        self._services.hub.publish_side(self.state.side, self.sequence, told)

    async def _give_back(self) -> None:
        self._reference.release()
        await self._reference.wait_gone()
        try:
            self._mailbox.put(i.ConnectionReleased(GENERATION))
        except ActorStopped:
            return  # it ended without waiting for this

    def _crashed(self, fault: Exception) -> None:
        log.error("a Side crashed and has ended", exc_info=fault)
        self._services.count("side_crashed")
        for reply in (*self.state.closers, *self.state.talk.waiting_replies):
            if hasattr(reply, "refuse"):
                reply.refuse(Refusal("internal", delivery="unknown"))
        self.state = attrs.evolve(self.state, side=attrs.evolve(self.state.side, state="expired"))
        self._tell(SideExpired(reason="provider_lost"))

    def _leave(self) -> None:
        self._timers.disarm_all()
        self._reference.release()
        self._on_ended()
        self.close_mailbox()
        self.gone.set()


def refuse_all(mailbox: SideMailbox, refusal: Refusal) -> None:
    """End a Side's mailbox and answer whoever waits for something in it."""
    for message in mailbox.close():
        reply: ReplySink | None = getattr(message, "reply", None)
        if reply is not None:
            reply.refuse(refusal)


def _size(given: SideInput) -> int:
    event = given.event if isinstance(given, i.FromProvider) else None
    if isinstance(event, TextChunk | ToolOutputChunk):
        return INPUT_BYTES + len(event.text)
    if isinstance(event, ToolCallReported) and event.output_text:
        return INPUT_BYTES + len(event.output_text)
    return INPUT_BYTES


def _merge(earlier: SideInput, later: SideInput) -> SideInput | None:
    if isinstance(earlier, i.FromProvider) and isinstance(later, i.FromProvider):
        merged = merge_events(earlier.event, later.event)
        return None if merged is None else i.FromProvider(GENERATION, merged)
    return None
