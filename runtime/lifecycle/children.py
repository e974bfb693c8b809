"""The sub-agents of a root: which of them are known, what they still do, and that the root's turn waits for it.

The root owns the connection, so whatever a sub-agent's session hears and says passes through here; what that session
makes of it is decided there, by the same tables (`child`). Owned here is the tree as the agent showed it: a sub-agent has
a session from the unit in which its beginning was taken, and none that was not shown to begin (RT-132, RT-133).
"""

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import turn as turns
from runtime.lifecycle.state import Child, Step
from runtime.lifecycle.turn import Settlement
from runtime.providers import normalized as n
from runtime.providers.port import CancelTurn, DropChild, ForChild, Scope
from store.canonical.common import TurnError
from store.canonical.identifiers import SessionId, SessionKey, TurnId
from store.canonical.session import TITLE_CHARACTERS_MAX, Session, SessionParent
from store.canonical.turn import Turn

CUT_OFF = TurnError("provider.lost", "the agent this sub-agent belonged to is gone", "runtime")


# --- what the agent shows of them -------------------------------------------------------------------------------


def appeared(step: Step, given: i.ChildAppeared) -> None:
    """A sub-agent began: it has a session from here on, or is stopped where none may begin any more (RT-135)."""
    state, event = step.state, given.event
    if given.generation != state.link.generation or state.link.phase != "open":
        step.do(fx.Count("late_event"))
        return
    if event.child_id in state.children:
        return
    turn = state.turn
    parent_turn_id = _parent_turn_id(step, given)
    if turn is None or parent_turn_id is None or not _may_begin(step, turn, given.stored):
        refuse(step, event.child_id)
        return
    step.set_turn(
        turns.accepted(turn, step.now_ms, None)
    )  # whatever is told of a turn proves that the agent has it
    if given.stored is None:
        step.do(fx.CreateChild(_session(step, given, turn.turn_id, parent_turn_id)))
    _put(step, event.child_id, Child(given.parent_id, root_turn_id=turn.turn_id))
    timer = i.Timer("child_start", child_id=event.child_id)
    step.do(fx.ArmTimer(timer, step.context.policy.child_start_seconds))


def refuse(step: Step, child_id: SessionId) -> None:
    """No session for this one: its agent is told to end it."""
    step.do(fx.Count("child_not_taken"))
    step.do(fx.TellConnection(step.state.link.generation, DropChild(step.state.scope, child_id)))


def heard(step: Step, event: n.OfChild) -> None:
    """Something of a sub-agent: pass it on, and note the turn that it begins as work this session's turn waits for."""
    state, said = step.state, event.event
    child = state.children.get(event.child_id)
    if child is None:
        step.do(fx.Count("event_of_no_child"))
        return
    if isinstance(said, n.TurnStartedByProvider):
        turn = state.turn
        if turn is not None and turn.phase == "settling":  # asked to stop: what begins now is not taken
            step.do(fx.Count("child_turn_not_taken"))
            _no_longer_awaited(step, event.child_id)
            _tell_agent(step, event.child_id, said.turn_id)
            return
        _no_longer_awaited(step, event.child_id)
        began_in = turn.turn_id if turn is not None else None
        working = attrs.evolve(child, awaited=False, turn_id=said.turn_id, root_turn_id=began_in)
        _put(step, event.child_id, working)
    elif isinstance(said, n.BackgroundReported):
        _put(step, event.child_id, attrs.evolve(child, background=bool(said.turn_ids)))
    elif isinstance(said, n.ToolCallReported):
        said = with_known_child(step, said)
    passed_on = i.FromRoot(state.session.agent_session_id, said)
    step.do(fx.TellSession(_key(step, event.child_id), passed_on))


def with_known_child(step: Step, event: n.ToolCallReported) -> n.ToolCallReported:
    """A call names the session it began only where there is one."""
    if event.child_id is None or event.child_id in step.state.children:
        return event
    return attrs.evolve(event, child_id=None)


# --- what their sessions say ------------------------------------------------------------------------------------


def from_child(step: Step, given: i.FromChild) -> None:
    """A session below wants something of its agent."""
    if step.state.link.phase != "open" or given.child_id not in step.state.children:
        step.do(fx.Count("command_of_no_child"))
        return
    command = ForChild(step.state.scope, given.command)
    step.do(fx.TellConnection(step.state.link.generation, command))


def settled(step: Step, fact: i.ChildSettled) -> bool:
    """That turn of a sub-agent is over. True when its agent did not obey, so that it has to be ended for all."""
    child = step.state.children.get(fact.child_id)
    if child is None or child.turn_id != fact.turn_id:
        return False
    _put(step, fact.child_id, attrs.evolve(child, turn_id=None, root_turn_id=None))
    return fact.forced


def not_begun(step: Step, timer: i.Timer) -> None:
    """A sub-agent was begun and does nothing: nobody waits for it any longer."""
    if timer.child_id is not None:
        _no_longer_awaited(step, timer.child_id)


# --- what becomes of this session's turn ------------------------------------------------------------------------


def hold_end(step: Step, turn: Turn, end: Settlement) -> bool:
    """Whether the turn stays active though its response ended, for work of sub-agents that is not done (RT-134)."""
    if not _unfinished(step, turn):
        return False
    step.change(response_end=end)
    return True


def end_to_settle(step: Step) -> Settlement | None:
    """How the turn ends now, if its response has ended and nothing is left to wait for."""
    turn, end = step.state.turn, step.state.response_end
    if turn is None or end is None or _unfinished(step, turn):
        return None
    if turn.cancel_requested_at is not None and end.outcome == "completed":
        # The response was over when the stop was asked for; what was stopped is the work that went on.
        return attrs.evolve(end, outcome="canceled", confirmed=True)
    return end


def goes_on(step: Step) -> None:
    """A new response began in the turn: its end is to come."""
    step.change(response_end=None)


def stop_all(step: Step, turn: Turn) -> None:
    """The turn is being cancelled: so is each turn of a sub-agent that works for it, and no other (RT-135)."""
    for child_id, child in step.state.children.items():
        if child.turn_id is not None and child.root_turn_id == turn.turn_id:
            step.do(fx.TellSession(_key(step, child_id), i.StopWithRoot(child.turn_id)))


def link_lost(step: Step) -> None:
    """Nothing is heard of the agent any more: the sessions of its sub-agents are told, and forgotten here."""
    state = step.state
    how = Settlement("failed", error=CUT_OFF)
    if state.stopping:
        how = Settlement("interrupted")
    elif state.turn is not None and state.turn.cancel_requested_at is not None:
        how = Settlement("canceled")
    depending = [name for name, child in state.children.items() if child.turn_id or child.background]
    step.do(*(fx.TellSession(_key(step, child_id), i.RootLost(how)) for child_id in depending))
    for child_id in state.children:
        _no_longer_awaited(step, child_id)
    step.change(children={}, background=frozenset())


def _no_longer_awaited(step: Step, child_id: SessionId) -> None:
    child = step.state.children.get(child_id)
    if child is not None and child.awaited:
        _put(step, child_id, Child(child.parent_id, awaited=False))
        step.do(fx.DisarmTimer(i.Timer("child_start", child_id=child_id)))


def _unfinished(step: Step, turn: Turn) -> bool:
    """Sub-agents that work for the turn, or guidance that may begin a response in it."""
    state = step.state
    stopped = turn.cancel_requested_at is not None  # what begins from then on is not taken
    working = any(
        child.root_turn_id == turn.turn_id and (child.turn_id is not None or (child.awaited and not stopped))
        for child in state.children.values()
    )
    return working or (
        state.response_end is not None
        and any(guide.turn.turn_id == turn.turn_id and guide.replies for guide in state.guides.values())
    )


def _may_begin(step: Step, turn: Turn, stored: Session | None) -> bool:
    state = step.state
    if state.scope_kind == "side" or turn.phase == "settling" or turn.delivery == "not_dispatched":
        return False
    if state.stopping or state.quarantined or state.on_hold:
        return False
    if stored is not None:
        is_ours = stored.root_agent_session_id == state.session.agent_session_id
        return is_ours and stored.parent is not None and stored.deleted_at is None
    return len(state.children) < step.context.policy.children_max


def _parent_turn_id(step: Step, given: i.ChildAppeared) -> TurnId | None:
    """The turn in which it began, if that is open in the session that began it."""
    state, turn_id = step.state, given.event.turn_id
    if given.parent_id == state.session.agent_session_id:
        return turn_id if state.turn is not None and turn_id == state.turn.turn_id else None
    parent = state.children.get(given.parent_id)
    return turn_id if parent is not None and parent.turn_id == turn_id else None


def _session(step: Step, given: i.ChildAppeared, root_turn_id: TurnId, parent_turn_id: TurnId) -> Session:
    root, event = step.state.session, given.event
    title = event.title[:TITLE_CHARACTERS_MAX] if event.title else None
    return Session(
        workspace_id=root.workspace_id,
        agent_session_id=event.child_id,
        agent_target_id=root.agent_target_id,
        provider=root.provider,
        cwd=root.cwd,
        created_at=step.now_ms,
        updated_at=step.now_ms,
        provider_session_id=event.provider_session_id,
        title=title,
        title_source="provider" if title else "none",
        capabilities=root.capabilities,
        resumability="not_resumable",
        parent=SessionParent(
            root_agent_session_id=root.agent_session_id,
            root_turn_id=root_turn_id,
            parent_agent_session_id=given.parent_id,
            parent_turn_id=parent_turn_id,
            parent_tool_call_id=event.call_id,
        ),
    )


def _tell_agent(step: Step, child_id: SessionId, turn_id: TurnId) -> None:
    state = step.state
    child_scope = Scope("session", state.session.workspace_id, child_id)
    command = ForChild(state.scope, CancelTurn(child_scope, turn_id))
    step.do(fx.TellConnection(state.link.generation, command))


def _put(step: Step, child_id: SessionId, child: Child) -> None:
    step.change(children={**step.state.children, child_id: child})


def _key(step: Step, child_id: SessionId) -> SessionKey:
    return SessionKey(step.state.session.workspace_id, child_id)
