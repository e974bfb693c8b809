"""The Session machine: one input in, the next state and the effects out. It composes all other tables.

Owns the decision what happens next (`advance`); it performs nothing, and knows no mailbox, store or process.
"""

from typing import assert_never

from runtime.lifecycle import (
    child,
    children,
    commands,
    facts,
    guidance,
    labels,
    provider_events,
    reconcile,
    removal,
    settings_lane,
)
from runtime.lifecycle import inputs as i
from runtime.lifecycle.effects import Effect
from runtime.lifecycle.state import Context, SessionState, Step


def decide(
    state: SessionState, given: i.SessionInput, context: Context
) -> tuple[SessionState, tuple[Effect, ...]]:
    """Decide one input. The given state stays valid: the caller adopts the new one after the effects' commit."""
    step = Step(state, context)
    if removal.refused(step, given):
        return step.state, tuple(step.effects)
    match given:
        case i.FromProvider():
            provider_events.from_provider(step, given)
        case i.Reopened():
            provider_events.from_provider(step, i.FromProvider(given.generation, given.event))
            reconcile.reopened(step, given)
        case i.Reconciled():
            reconcile.kept(step, given)
        case i.ChildAppeared() | i.FromRoot() | i.StopWithRoot() | i.RootLost():
            _of_the_tree(step, given)
        case i.FromChild() | i.ChildSettled():
            _of_the_tree(step, given)
        case i.CreateSession():
            commands.create(step, given)
        case i.SendPrompt():
            commands.send(step, given)
        case i.RequestCancel():
            commands.cancel(step, given)
        case i.RequestGuide():
            guidance.request(step, given)
        case i.ClaimNotKept():
            guidance.not_kept(step, given)
        case i.Respond():
            commands.respond(step, given)
        case i.ResumeSession():
            commands.resume(step, given)
        case i.CloseSession():
            commands.close(step, given)
        case i.RenameSession():
            labels.rename(step, given)
        case i.PinSession():
            labels.pin(step, given)
        case i.UpdateSettings():
            settings_lane.update(step, given)
        case i.HoldSession():
            removal.hold(step, given)
        case i.HoldLifted():
            removal.lift(step, given)
        case i.SessionPurged():
            pass  # the actor forgets the session: there is nothing left to decide on
        case i.ReleaseIfIdle():
            facts.release_if_idle(step)
        case i.ConnectionAcquired():
            facts.acquired(step, given)
        case i.ConnectionUnavailable():
            facts.unavailable(step, given)
        case i.ConnectionReleased():
            facts.released(step, given)
        case i.TimerFired():
            facts.timer_fired(step, given.timer)
        case i.Reloaded():
            facts.reloaded(step, given)
        case i.Shutdown():
            facts.shutdown(step)
        case i.Quarantine():
            facts.quarantine(step)
        case _:
            assert_never(given)
    facts.advance(step)
    return step.state, tuple(step.effects)


def _of_the_tree(step: Step, given: i.TreeFact) -> None:
    """What sessions of one tree tell each other, and what the agent shows of sub-agents."""
    match given:
        case i.ChildAppeared():
            children.appeared(step, given)
        case i.FromRoot():
            child.from_root(step, given)
        case i.StopWithRoot():
            child.stop_with_root(step, given)
        case i.RootLost():
            child.root_lost(step, given)
        case i.FromChild():
            children.from_child(step, given)
        case i.ChildSettled():
            facts.child_settled(step, given)
        case _:
            assert_never(given)
