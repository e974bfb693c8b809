"""The Side machine: one input in, the next state and the effects out. Pure, and without a word for keeping anything.

A Side is a conversation like a Session's, so its turns, messages and interactions are decided by the same tables; what
those want written is told instead, to the followers of this Side alone. Its own are its books (submits, turns and
interactions live and die with it), its end, and that it never looks for another connection (RT-114..RT-118).
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, assert_never

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.link import Link
from runtime.lifecycle.session import decide as decide_conversation
from runtime.lifecycle.state import Context, InteractionKey, SessionState
from runtime.providers.normalized import ConnectionLost, TurnRejected
from runtime.providers.port import Scope, StartTurn
from runtime.refusal import Refusal
from runtime.side import effects as se
from runtime.side.rows import (
    CloseReason,
    ExpiryReason,
    Side,
    SideClosed,
    SideError,
    SideExpired,
    SideInteraction,
    SideOpened,
    SideState,
    SideTurn,
)
from store.canonical.claim import SubmitClaim
from store.canonical.common import TurnError
from store.canonical.identifiers import ClientSubmitId, TurnId
from store.canonical.interaction import Interaction
from store.canonical.session import Session, SessionCapabilities
from store.canonical.turn import Turn

GENERATION: Final = 1
"""Of the one connection a Side ever has."""
INTERACTIONS_MAX: Final = 256
"""Interactions that are remembered, the newest ones; pending ones are never forgotten."""
_NOBODY: Final = object()
"""Waits for the conversation's close on behalf of the Side itself."""


@attrs.frozen
class CloseSide:
    """End the Side: its turn first, within the cancel's grace, then its fork. The first reason stands."""

    reply: i.ReplyTo | None
    reason: CloseReason


@attrs.frozen
class Overflowed:
    """More came from the provider than the Side may keep waiting."""


SideInput: TypeAlias = (
    i.SendPrompt
    | i.RequestCancel
    | i.Respond
    | i.FromProvider
    | i.ConnectionReleased
    | i.TimerFired
    | CloseSide
    | Overflowed
)


@attrs.frozen
class SideConversation:
    """A Side with everything about it."""

    side: Side
    talk: SessionState
    """The conversation, in the words of any."""
    turns_max: int
    submits: Mapping[ClientSubmitId, SubmitClaim] = attrs.field(factory=dict)
    """Correlation within this Side alone; no durable claim is made or looked for (RT-116)."""
    turns: Mapping[TurnId, Turn] = attrs.field(factory=dict)
    interactions: Mapping[InteractionKey, Interaction] = attrs.field(factory=dict)
    closing: CloseReason | None = None
    closers: tuple[i.ReplyTo, ...] = ()
    gives_back: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing of it follows."""
        return self.side.state in ("closed", "expired")

    @property
    def pending(self) -> tuple[Interaction, ...]:
        """What waits for an answer."""
        return tuple(row for row in self.interactions.values() if row.status == "pending")


def scope_of(side: Side) -> Scope:
    """The Side as the provider port names it."""
    return Scope("side", side.workspace_id, side.side_agent_session_id)


def open_side(
    side: Side, source: Session, provider_session_id: str, turns_max: int
) -> tuple[SideConversation, tuple[se.SideEffect, ...]]:
    """A Side whose fork is verified and registered."""
    row = Session(
        workspace_id=side.workspace_id,
        agent_session_id=side.side_agent_session_id,
        agent_target_id=source.agent_target_id,
        provider=source.provider,
        cwd=source.cwd,
        created_at=side.opened_at,
        updated_at=side.opened_at,
        provider_session_id=provider_session_id,
        settings=side.settings,
        capabilities=SessionCapabilities(interrupt=True),
    )
    talk = SessionState(session=row, link=Link("open", GENERATION), title_locked=True, scope_kind="side")
    return SideConversation(side, talk, turns_max), (se.Tell(SideOpened(side=side)),)


def decide_side(
    state: SideConversation, given: SideInput, context: Context
) -> tuple[SideConversation, tuple[se.SideEffect, ...]]:
    """Decide one input."""
    refusal = _refusal(state, given)
    if refusal is not None:
        reply = getattr(given, "reply", None)
        return state, (fx.Refuse(reply, refusal),) if reply is not None else ()
    match given:
        case CloseSide():
            state, wanted = _close(state, given, context)
        case Overflowed():
            return _expire(state, "overflow", context)
        case i.ConnectionReleased():
            return _released(state)
        case i.SendPrompt() | i.RequestCancel() | i.Respond() | i.FromProvider() | i.TimerFired():
            state, wanted = _converse(state, _known(state, given), context)
        case _:
            assert_never(given)
    return _settle_life(state, wanted, context)


def _refusal(state: SideConversation, given: SideInput) -> Refusal | None:
    if state.ended or (state.closing is not None and isinstance(given, i.SendPrompt)):
        return Refusal("side.expired")
    if isinstance(given, i.SendPrompt):
        repeats = given.submission.claim.client_submit_id in state.submits
        if not repeats and len(state.turns) >= state.turns_max:
            return Refusal("limit.exceeded", details={"limit": "maxSideTurns"})
    return None


def _known(state: SideConversation, given: i.SessionInput) -> i.SessionInput:
    """The same input with what the Side remembers of the things it names, and nothing else anybody knows."""
    match given:
        case i.SendPrompt():
            claim = state.submits.get(given.submission.claim.client_submit_id)
            turn = state.turns.get(claim.turn_id) if claim is not None and claim.turn_id is not None else None
            return attrs.evolve(given, known=claim, known_turn=turn)
        case i.RequestCancel():
            return attrs.evolve(given, stored=state.turns.get(given.turn_id))
        case i.Respond():
            return attrs.evolve(given, stored=state.interactions.get((given.turn_id, given.request_id)))
        case _:
            return given


# --- the conversation -----------------------------------------------------------------------------------------


def _converse(
    state: SideConversation, given: i.SessionInput, context: Context
) -> tuple[SideConversation, list[se.SideEffect]]:
    before = state.talk
    talk, effects = decide_conversation(before, given, context)
    rejected = isinstance(given, i.FromProvider) and isinstance(given.event, TurnRejected)
    if rejected and before.link.phase == "open" and talk.link.phase == "closing" and state.closing is None:
        # A Session gives up what it started for a first prompt that was rejected. A Side was there before it.
        talk = attrs.evolve(talk, link=before.link)
        effects = tuple(effect for effect in effects if not isinstance(effect, fx.ReleaseConnection))
    state = attrs.evolve(state, talk=talk)
    replies: list[se.SideEffect] = []
    others: list[se.SideEffect] = []
    for effect in effects:
        state = _remember(state, effect)
        for wanted in _told(effect):
            answers = isinstance(wanted, fx.ReplyTurn | fx.ReplyInteraction | fx.Refuse)
            (replies if answers else others).append(wanted)
    # The answer to a command precedes the first event that shows its effect (`contract §2`, Order).
    return state, [*replies, *others]


def _remember(state: SideConversation, effect: fx.Effect) -> SideConversation:
    match effect:
        case fx.PersistTurn(turn):
            return attrs.evolve(state, turns={**state.turns, turn.turn_id: turn})
        case fx.AddClaim(claim):
            return attrs.evolve(state, submits={**state.submits, claim.client_submit_id: claim})
        case fx.PersistInteraction(row):
            kept = {**state.interactions, (row.turn_id, row.request_id): row}
            over = len(kept) - INTERACTIONS_MAX
            old = [key for key, one in kept.items() if one.status != "pending"][: max(0, over)]
            return attrs.evolve(state, interactions={key: one for key, one in kept.items() if key not in old})
        case _:
            return state


def _told(effect: fx.Effect) -> tuple[se.SideEffect, ...]:
    """What a Side makes of what its conversation wants: nothing is kept, all of it is told."""
    match effect:
        case fx.PersistTurn(turn):
            failed = turn.settled and turn.error is not None
            error = SideError(code=turn.error.code, turn_id=turn.turn_id) if failed and turn.error else None
            told = se.Tell(SideTurn(turn=turn))
            return (told,) if error is None else (told, se.Tell(error))
        case fx.PersistInteraction(interaction):
            return (se.Tell(SideInteraction(interaction=interaction)),)
        case fx.OpenMessage(message):
            return (se.ShowMessage(message, opens=True),)
        case fx.PersistMessage(message):
            return (se.ShowMessage(message),)
        case fx.TellConnection(_, StartTurn() as start):
            # What holds in the fork was verified when it opened and stays (RT-127).
            return (se.TellProvider(attrs.evolve(start, settings=None)),)
        case fx.TellConnection(_, command):
            return (se.TellProvider(command),)
        case fx.ArmTimer(timer, _) if timer.kind == "idle":
            return ()  # an open Side is never cut for being quiet (FC-37)
        case (
            fx.AppendText()
            | fx.ReplaceText()
            | fx.ReplyTurn()
            | fx.ReplyInteraction()
            | fx.Refuse()
            | fx.ArmTimer()
            | fx.DisarmTimer()
            | fx.Count()
        ):
            return (effect,)
        case _:
            # Claims are in the Side's own books; a row of the session, units and activity there are none.
            return ()


# --- its life -------------------------------------------------------------------------------------------------


def _close(
    state: SideConversation, given: CloseSide, context: Context
) -> tuple[SideConversation, list[se.SideEffect]]:
    closers = state.closers if given.reply is None else (*state.closers, given.reply)
    state = attrs.evolve(state, closers=closers)
    if state.closing is not None:
        return state, []
    state = _in_state(attrs.evolve(state, closing=given.reason), "closing")
    return _converse(state, i.CloseSession(_NOBODY), context)


def _settle_life(
    state: SideConversation, wanted: list[se.SideEffect], context: Context
) -> tuple[SideConversation, tuple[se.SideEffect, ...]]:
    """What follows from where the conversation's connection stands: a Side has one, and never gets another."""
    phase = state.talk.link.phase
    if phase == "open":
        return _in_state(state, state.side.state), tuple(wanted)
    if state.closing is None:
        state, expired = _expire(state, "provider_lost", context)
        return state, (*wanted, *expired)
    if state.gives_back:
        return state, tuple(wanted)
    return attrs.evolve(state, gives_back=True), (*wanted, se.GiveBack())


def _released(state: SideConversation) -> tuple[SideConversation, tuple[se.SideEffect, ...]]:
    if state.closing is None:
        return state, ()
    ended = _in_state(state, "closed")
    answers = tuple(se.ReplySide(reply, ended.side) for reply in state.closers)
    closed = se.Tell(SideClosed(reason=state.closing))
    return attrs.evolve(ended, closers=()), (*answers, closed, se.End())


def _expire(
    state: SideConversation, reason: ExpiryReason, context: Context
) -> tuple[SideConversation, tuple[se.SideEffect, ...]]:
    """It ends by itself: what runs in it has failed with it, and it is never taken up again (RT-118)."""
    wanted: list[se.SideEffect] = []
    if state.talk.link.phase == "open":
        error = TurnError(
            "provider.lost", "the side conversation could not keep up with its agent", "runtime"
        )
        state, wanted = _converse(state, i.FromProvider(GENERATION, ConnectionLost(error)), context)
    expired = _in_state(state, "expired")
    answers = tuple(se.ReplySide(reply, expired.side) for reply in state.closers)
    told = se.Tell(SideExpired(reason=reason))
    return attrs.evolve(expired, closers=()), (*wanted, *answers, told, se.GiveBack(), se.End())


def _in_state(state: SideConversation, name: SideState) -> SideConversation:
    turn = state.talk.turn
    active = turn.turn_id if turn is not None else None
    side = attrs.evolve(state.side, state=name, active_turn_id=active)
    return attrs.evolve(state, side=side)
