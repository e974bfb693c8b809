"""What happened to a Session: words of its provider, reports of its child tasks, timers, the daemon's own end.

Nothing here is ever refused: a fact that does not fit is counted and changes nothing. `advance` is the one place
that decides what follows from the state as it then stands.
"""

from typing import Final, assert_never

from runtime.lifecycle import (
    children,
    commands,
    guidance,
    provider_events,
    reconcile,
    settings,
    settings_lane,
    settlement,
    transcript,
)
from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import interaction as interactions
from runtime.lifecycle import turn as turns
from runtime.lifecycle.prompt_blocks import prompt_blocks
from runtime.lifecycle.state import Step, survives_release
from runtime.lifecycle.turn import Settlement
from runtime.providers.port import CancelTurn, CloseThread, StartTurn
from runtime.refusal import Refusal
from store.canonical.common import TurnError


def advance(step: Step) -> None:
    """Do what the state now calls for: connect, dispatch, release, answer those who wait."""
    settings_lane.advance(step)
    end = children.end_to_settle(step)
    if end is not None:
        settlement.settle(step, end)
    state = step.state
    wants_runtime = (state.turn is not None and state.turn.delivery == "not_dispatched") or bool(
        state.resumers
    )
    phase = state.link.phase
    if phase in ("acquiring", "opening") and not wants_runtime:
        settlement.release(step)
    elif phase == "open":
        _use(step)
    elif phase == "absent":
        _answer_closers(step)
        if wants_runtime and not state.stopping:
            _acquire(step)


def acquired(step: Step, fact: i.ConnectionAcquired) -> None:
    """A ready connection: open our conversation on it."""
    state = step.state
    opening = state.link.after("acquired")
    if opening is None or fact.generation != state.link.generation:
        step.do(fx.Count("late_acquired"))
        return
    step.set_link(opening)
    if state.turn is not None and state.turn.delivery == "not_dispatched":
        step.set_turn(turns.queued_until(state.turn, step.now_ms))
    session = state.session
    provider_events.open_thread(step, session.provider_session_id)


def unavailable(step: Step, fact: i.ConnectionUnavailable) -> None:
    """No connection: the turn that needed it failed, typed; the Session stays (RT-030, FC-50)."""
    if fact.generation != step.state.link.generation or step.state.link.phase == "absent":
        return
    settlement.gone(step)
    if fact.error.code == "session.not_resumable":
        provider_events.conversation_gone(step)
    else:
        provider_events.start_failed(step, fact.error)


def released(step: Step, fact: i.ConnectionReleased) -> None:
    """The connection is given back."""
    if fact.generation == step.state.link.generation and step.state.link.phase == "closing":
        settlement.gone(step)


def release_if_idle(step: Step) -> None:
    """Hibernate, unless something is going on or the conversation would be lost with the process (FC-21)."""
    state = step.state
    if state.idle and state.link.phase == "open" and survives_release(state):
        step.change(hibernated=True)
        step.do(fx.TellConnection(state.link.generation, CloseThread(state.scope)))
        settlement.release(step)


def child_settled(step: Step, fact: i.ChildSettled) -> None:
    """A turn of a sub-agent is over. One that did not obey still runs in the agent: that is ended, as for its root."""
    turn = step.state.turn
    if children.settled(step, fact) and turn is not None and turn.cancel_requested_at is not None:
        settlement.force(step, "a sub-agent did not stop in time")
        settlement.settle(step, Settlement("canceled"))


def timer_fired(step: Step, timer: i.Timer) -> None:
    """A bound has passed. A timer of something that is over is late and changes nothing."""
    turn = step.state.turn
    match timer.kind:
        case "cancel_grace":
            if turn is not None and turn.turn_id == timer.turn_id:
                settlement.force(step, "cancel was not confirmed in time")
                settlement.settle(step, Settlement("canceled"))
        case "respond":
            _answer_timed_out(step, timer)
        case "reconcile":
            reconcile.due(step, timer)
        case "child_start":
            children.not_begun(step, timer)
        case "guide":
            guidance.timed_out(step, timer)
        case "message_update":
            if timer.message_id is not None:
                transcript.write_due(step, timer.message_id)
        case "interaction":
            if timer.turn_id is not None and timer.request_id is not None:
                commands.answer_for_nobody(step, (timer.turn_id, timer.request_id))
        case "settings":
            if timer.update_id is not None:
                settings_lane.timed_out(step, timer.update_id)
        case "idle":
            if timer.generation == step.state.link.generation:
                release_if_idle(step)
        case _:
            assert_never(timer.kind)


_RELOADED: Final = {
    "internal": "the session's controller restarted during the turn",
    "store.full": "the disk had no room for what the turn did",
    "store.unavailable": "the disk did not take what the turn did",
}


def reloaded(step: Step, given: i.Reloaded) -> None:
    """The actor could not go on in a turn: end it as what is known. What the provider keeps of it is read when its
    conversation is opened again."""
    if step.state.turn is not None:
        error = TurnError(given.cause, _RELOADED[given.cause], "runtime")
        settlement.settle(step, Settlement("failed", error=error))


def shutdown(step: Step) -> None:
    """The daemon stops: nothing new starts, a running turn is interrupted, the runtime released (RT-144)."""
    step.change(stopping=True)
    _interrupt(step, Settlement("interrupted"))
    settlement.refuse_resumers(step, Refusal("shutdown.in_progress"))
    settings_lane.refuse_all(step, Refusal("shutdown.in_progress"))
    if step.state.link.phase != "absent":
        settlement.release(step)


def quarantine(step: Step) -> None:
    """Too many crashes: readable, closed to commands until a resume (`architecture rule 9`)."""
    step.change(quarantined=True)
    error = TurnError(
        "internal", "the session was set aside after repeated faults; resume it to go on", "runtime"
    )
    _interrupt(step, Settlement("failed", error=error))
    settings_lane.refuse_all(step, Refusal("session.quarantined"))
    settlement.force(step, "the session is quarantined")
    step.observe_runtime()


def _use(step: Step) -> None:
    """The conversation is open: dispatch what waits, or release it for those who close."""
    state = step.state
    if state.resumers:
        step.do(*(fx.ReplySession(reply, state.session) for reply in state.resumers))
        step.change(resumers=())
    turn = state.turn
    if turn is not None:
        # A prompt runs under the settings that were asked for before it, or their refusal is known.
        if turn.delivery == "not_dispatched" and not state.settings_lane:
            _dispatch(step)
    elif state.closers:
        step.do(fx.TellConnection(state.link.generation, CloseThread(state.scope)))
        settlement.release(step)
    elif state.idle:
        timer = i.Timer("idle", generation=state.link.generation)
        step.do(fx.ArmTimer(timer, step.context.policy.idle_release_seconds))


def _acquire(step: Step) -> None:
    acquiring = step.state.link.after("acquire")
    assert acquiring is not None
    step.change(hibernated=False)
    step.set_link(acquiring)
    step.do(fx.AcquireConnection(acquiring.generation, step.state.session))


def _dispatch(step: Step) -> None:
    """Commit the marker in a unit of its own, then tell the provider, once (`architecture rule 2`)."""
    state = step.state
    assert state.turn is not None
    assert state.prompt is not None
    prompt = prompt_blocks(state.prompt.content)
    step.do(fx.NewUnit())
    step.set_turn(turns.dispatching(state.turn))
    wanted = settings.chosen(state.session)
    command = StartTurn(state.scope, state.turn.turn_id, prompt, wanted)
    step.do(fx.TellConnection(state.link.generation, command))
    step.change(prompt=None)
    reconcile.watch(step, state.turn)


def _answer_closers(step: Step) -> None:
    if step.state.closers and step.state.turn is None:
        step.do(*(fx.ReplySession(reply, step.state.session) for reply in step.state.closers))
        step.change(closers=())


def _interrupt(step: Step, how: Settlement) -> None:
    turn = step.state.turn
    if turn is None:
        return
    if turn.delivery in ("dispatching", "accepted"):
        told_as = step.told_as(turn.turn_id)
        step.do(fx.TellConnection(step.state.link.generation, CancelTurn(step.state.scope, told_as)))
    settlement.settle(step, how)


def _answer_timed_out(step: Step, timer: i.Timer) -> None:
    if timer.turn_id is None or timer.request_id is None:
        return
    key = (timer.turn_id, timer.request_id)
    interaction = step.state.interactions.get(key)
    if interaction is None or interaction.answer_delivery != "dispatching":
        return
    settlement.put_interaction(step, key, interactions.delivery_after(interaction, "lost"))
    settlement.refuse_responders(step, key, Refusal("provider.timeout", delivery="unknown"))
