"""How things end: a turn, its open messages and Interactions, and the link to the provider.

Owns the order inside the last unit of a turn: messages and Interactions first, the turn and its session with
them, so that no client sees a settled turn with something still open (`contract §5`).
"""

import attrs

from runtime.lifecycle import children, guidance, plans, settings_lane, transcript
from runtime.lifecycle import effects as fx
from runtime.lifecycle import interaction as interactions
from runtime.lifecycle import turn as turns
from runtime.lifecycle.inputs import ChildSettled, Timer
from runtime.lifecycle.state import InteractionKey, Step
from runtime.lifecycle.turn import Settlement
from runtime.providers.port import CancelTurn
from runtime.refusal import Refusal
from store.canonical.common import TurnError
from store.canonical.identifiers import SessionKey, TurnId
from store.canonical.interaction import Interaction
from store.canonical.session import Session
from store.canonical.turn import Turn

EMPTY_TURN_TEXT = "The agent ended its turn without a message and without a tool call."


def settle(step: Step, settlement: Settlement) -> None:
    """End the active turn. After this the session takes a new prompt (FC-49)."""
    turn = step.state.turn
    if turn is None:
        return
    if settlement.outcome == "completed" and not step.state.spoke:
        transcript.add_notice(step, turn.turn_id, "turn.empty", "info", EMPTY_TURN_TEXT)
    transcript.close_items(step, settlement.outcome == "completed")
    lost = settlement.error or TurnError(
        "provider.lost", "the turn ended before the answer was confirmed", "runtime"
    )
    supersede_interactions(step, turn, lost)
    settled = turns.settled(turn, settlement, step.now_ms)
    step.set_turn(settled)
    guidance.turn_ended(step, settled)
    if settlement.outcome == "completed":
        plans.put_up(step, settled)
    step.change(prompt=None, asked_as=None, response_end=None, continued_as=None, proposed_plan=None)
    step.set_session(_after_turn(step.state.session, settlement))
    step.do(
        fx.DisarmTimer(Timer("cancel_grace", turn_id=turn.turn_id)),
        fx.DisarmTimer(Timer("reconcile", turn_id=turn.turn_id)),
    )
    step.observe_runtime()
    tell_root(step, turn.turn_id, forced=settlement.outcome == "canceled" and not settlement.confirmed)


def end_response(step: Step, turn: Turn, end: Settlement) -> None:
    """The response ended and the turn has not: what it said ends, and a new response may begin (PR-013)."""
    transcript.close_texts(step, end.outcome == "completed")
    over = TurnError("provider.lost", "the response ended before the answer was confirmed", "runtime")
    supersede_interactions(step, turn, end.error or over)
    active = step.state.turn
    if active is not None and active.phase == "waiting":
        step.set_turn(turns.resumed(active))


def tell_root(step: Step, turn_id: TurnId, *, forced: bool = False) -> None:
    """A turn of a sub-agent is over, or never began: its root may wait for that."""
    parent = step.state.session.parent
    if parent is not None:
        session = step.state.session
        key = SessionKey(session.workspace_id, parent.root_agent_session_id)
        step.do(fx.TellSession(key, ChildSettled(session.agent_session_id, turn_id, forced)))


def request_cancel(step: Step, turn: Turn) -> None:
    """Ask for the end of the active turn. Before dispatch nobody need be asked (`contract §3`)."""
    if turn.delivery == "not_dispatched":
        step.set_turn(turns.cancel_requested(turn, step.now_ms))
        settle(step, Settlement("canceled", confirmed=True))
        return
    if turn.cancel_requested_at is not None:
        return
    step.set_turn(turns.cancel_requested(turn, step.now_ms))
    withdraw_pending(step)
    children.stop_all(step, turn)
    step.do(
        fx.TellConnection(
            step.state.link.generation, CancelTurn(step.state.scope, step.told_as(turn.turn_id))
        ),
        fx.ArmTimer(Timer("cancel_grace", turn_id=turn.turn_id), step.context.policy.cancel_grace_seconds),
    )


def withdraw_pending(step: Step) -> None:
    """Nobody may answer any more what the turn still asks (FC-04)."""
    for key, interaction in list(step.state.interactions.items()):
        if interaction.status == "pending":
            put_interaction(step, key, interactions.superseded(interaction, step.now_ms))


def supersede_interactions(step: Step, turn: Turn, error: TurnError) -> None:
    """The turn ends: pending Interactions are superseded, answers on their way become unknown."""
    for key, interaction in list(step.state.interactions.items()):
        if interaction.turn_id != turn.turn_id:
            continue
        put_interaction(step, key, interactions.superseded(interaction, step.now_ms))
        refuse_responders(step, key, Refusal(error.code, delivery="unknown"))


def put_interaction(step: Step, key: InteractionKey, interaction: Interaction) -> None:
    """Write a changed Interaction; it stays in hand while it is pending or its delivery is open."""
    kept = {k: v for k, v in step.state.interactions.items() if k != key}
    if interaction.status == "pending" or interaction.answer_delivery == "dispatching":
        kept[key] = interaction
    step.change(interactions=kept)
    step.do(fx.PersistInteraction(interaction))
    if interaction.status != "pending" and step.context.policy.interaction_timeout_seconds > 0:
        step.do(fx.DisarmTimer(Timer("interaction", turn_id=key[0], request_id=key[1])))


def refuse_responders(step: Step, key: InteractionKey, refusal: Refusal) -> None:
    """Tell everybody who waits for this answer's delivery."""
    for reply in step.state.responders.get(key, ()):
        step.do(fx.Refuse(reply, refusal))
    forget_responders(step, key)


def forget_responders(step: Step, key: InteractionKey) -> None:
    """Nobody waits for this answer any more."""
    step.change(responders={k: v for k, v in step.state.responders.items() if k != key})
    step.do(fx.DisarmTimer(Timer("respond", turn_id=key[0], request_id=key[1])))


def refuse_resumers(step: Step, refusal: Refusal) -> None:
    """Tell everybody who waits for the session to become live why it does not."""
    for reply in step.state.resumers:
        step.do(fx.Refuse(reply, refusal))
    step.change(resumers=())


def release(step: Step) -> None:
    """Give the connection back; what it still says is late."""
    closing = step.state.link.after("release")
    if closing is not None:
        children.link_lost(step)
        guidance.give_up(step)
        settings_lane.link_lost(step)
        step.set_link(closing)
        step.do(fx.ReleaseConnection(closing.generation))


def force(step: Step, reason: str) -> None:
    """The provider does not obey: nothing of this generation is heard again."""
    link = step.state.link
    if link.phase == "absent":
        return
    step.do(fx.ForceConnection(link.generation, reason))
    gone(step)


def gone(step: Step) -> None:
    """The link is absent from here on. A conversation that cannot be loaded again went with it."""
    absent = step.state.link.after("gone")
    if absent is None:
        return
    children.link_lost(step)
    guidance.give_up(step)
    settings_lane.link_lost(step)
    step.set_link(absent)
    session = step.state.session
    if conversation_is_gone(session) and session.resumability != "not_resumable":
        step.set_session(attrs.evolve(session, resumability="not_resumable"))


def conversation_is_gone(session: Session) -> bool:
    """Without a live connection this provider cannot find the conversation again."""
    if session.provider_session_id is None:
        return False
    return session.resumability == "not_resumable" or (
        session.capabilities is not None and not session.capabilities.load
    )


def _after_turn(session: Session, settlement: Settlement) -> Session:
    session = attrs.evolve(session, active_turn_id=None)
    provider_spoke = settlement.outcome == "completed" or settlement.stop_reason is not None
    loads = session.capabilities is not None and session.capabilities.load
    if provider_spoke and loads and settlement.outcome == "completed":
        # A conversation is resumable only once the provider has shown that it keeps it (FC-58).
        session = attrs.evolve(session, resumability="resumable")
    return session
