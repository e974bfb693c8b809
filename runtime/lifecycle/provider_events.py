"""What the provider said, applied to the Session: only words of the present link and the open turn count.

A word about another turn is late (FC-13): it is counted and changes nothing, since a settled turn stands (RT-003).
"""

from typing import assert_never

import attrs

from runtime.lifecycle import (
    children,
    commands,
    guidance,
    labels,
    plans,
    publication,
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
from runtime.lifecycle.state import Step
from runtime.lifecycle.turn import Settlement
from runtime.providers import normalized as n
from runtime.providers.port import OpenThread, RefuseAsk
from runtime.providers.redaction import hide_tokens
from runtime.refusal import Refusal
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.interaction import Interaction
from store.canonical.message import NoticeSeverity
from store.canonical.session import LifecycleCapabilities
from store.canonical.turn import Turn

GONE_TEXT = "The agent no longer has the conversation of this session. The history above is kept for reading."
STOP_REASON_CHARACTERS_MAX = 200
NO_PROOF_OF_ACCEPTANCE = (n.TurnRejected, n.CancelRefused)
"""Whatever else the provider says about a turn proves that it has it."""


def from_provider(step: Step, given: i.FromProvider) -> None:
    """Apply an event of the connection; one of an older generation is dropped."""
    link = step.state.link
    if given.generation != link.generation or link.phase not in ("opening", "open", "acquiring"):
        step.do(fx.Count("late_event"))
        return
    apply(step, given.event)


def apply(step: Step, event: n.ProviderEvent) -> None:
    """Apply what this session's own agent said."""
    if type(event) is n.TextChunk:  # nearly all of them: looked at first
        _of_turn(step, event)
        return
    match event:
        case n.BackgroundReported():
            step.change(background=event.turn_ids)
            step.observe_runtime()
        case n.OfChild():
            children.heard(step, event)
        case n.ChildSpawned():
            children.refuse(step, event.child_id)  # only a Session's actor looks up whether it has one
        case n.ThreadOpened():
            _thread_opened(step, event)
        case n.ThreadOpenFailed():
            _thread_open_failed(step, event)
        case n.SideForked():
            step.do(fx.Count("fork_without_side"))
        case n.TurnStartedByProvider():
            _turn_started(step, event)
        case n.UsageReported():
            step.change(session=attrs.evolve(step.state.session, usage=event.usage))
        case n.TitleReported():
            labels.provider_title(step, event.title)
        case n.SettingsReported():
            settings_lane.reported(step, event)
        case n.SettingsApplied():
            settings_lane.applied(step, event)
        case n.SettingsRefused():
            settings_lane.refused(step, event)
        case n.ConnectionLost():
            _connection_lost(step, event.error)
        case n.GuideAccepted() | n.GuideRefused():
            guidance.answered(step, event)
        case n.TurnReconciled():
            reconcile.answered(step, event)
        case _:
            _of_turn(step, event)


def start_failed(step: Step, error: TurnError) -> None:
    """Whoever needed the runtime is told why there is none; a turn that was never dispatched failed with it."""
    settlement.refuse_resumers(step, Refusal(error.code, retry_after_ms=error.retry_after_ms))
    if step.state.link.phase in ("acquiring", "opening"):
        settings_lane.start_failed(step, error)
    settlement.settle(step, Settlement("failed", error=error))


def open_thread(step: Step, provider_session_id: str | None) -> None:
    """Ask for our conversation, with what was chosen for it; until it is open, that is what it is taken to hold."""
    session = step.state.session
    step.change(held=session.settings)
    command = OpenThread(step.state.scope, session.cwd, settings.chosen(session), provider_session_id)
    step.do(fx.TellConnection(step.state.link.generation, command))


def _of_turn(step: Step, event: n.TurnEvent) -> None:
    turn = step.state.turn
    if turn is not None and event.turn_id == step.state.continued_as:
        event = attrs.evolve(event, turn_id=turn.turn_id)
    if turn is None or event.turn_id != turn.turn_id or turn.delivery == "not_dispatched":
        if not (isinstance(event, n.ToolCallReported) and transcript.late_tool_call(step, event)):
            step.do(fx.Count("late_event"))
        if isinstance(event, n.InteractionRequested):
            _refuse_ask(step, event)  # its turn is nobody's, and must not wait for ever
        return
    if turn.delivery != "accepted" and not isinstance(event, NO_PROOF_OF_ACCEPTANCE):
        provider_turn_id = event.provider_turn_id if isinstance(event, n.TurnAccepted) else None
        turn = turns.accepted(turn, step.now_ms, provider_turn_id)
        step.set_turn(turn)
    match event:
        case n.TextChunk():
            transcript.text_chunk(step, event)
        case n.TurnAccepted():
            pass
        case n.TurnRejected():
            _rejected(step, turn, event)
        case n.ItemEnded():
            transcript.end_item(step, event)
        case n.ToolCallReported():
            if step.state.session.parent is None:
                event = children.with_known_child(step, event)
            transcript.tool_call(step, event)
        case n.ToolOutputChunk():
            transcript.tool_output(step, event)
        case n.PlanReported():
            transcript.plan(step, event)
        case n.PlanProposed():
            plans.proposed(step, event.plan)
        case n.NoticeReported():
            transcript.add_notice(step, turn.turn_id, event.code, event.severity, event.text)
        case n.InteractionRequested():
            _interaction_requested(step, turn, event)
        case n.InteractionWithdrawn():
            _interaction_withdrawn(step, event)
        case n.AnswerDelivered():
            _answer_delivered(step, event)
        case n.AnswerFailed():
            _answer_failed(step, event)
        case n.CancelRefused():
            step.do(fx.Count("cancel_refused"))
        case n.TurnEnded():
            _ended(step, turn, event)
        case _:
            assert_never(event)


def _turn_started(step: Step, event: n.TurnStartedByProvider) -> None:
    """A turn without a prompt: it runs already, and is busy, cancelled and settled like any other.

    While a turn of a prompt is open, or the session is on its way out, there is no place for it: what is told of it
    then is late.
    """
    state = step.state
    leaving = state.closers or state.stopping or state.quarantined
    is_child = state.session.parent is not None
    if state.turn is not None and state.response_end is not None:
        # The turn is still active for its sub-agents: what its agent says meanwhile goes on with it.
        step.change(continued_as=event.turn_id)
        children.goes_on(step)
        return
    if state.turn is not None or leaving or not (is_child or state.link.phase == "open"):
        step.do(fx.Count("provider_turn_not_taken"))
        if is_child:
            settlement.tell_root(step, event.turn_id)
        return
    turn = Turn(
        workspace_id=state.session.workspace_id,
        agent_session_id=state.session.agent_session_id,
        turn_id=event.turn_id,
        sequence=step.next_turn_sequence(),
        submitted_at=step.now_ms,
        phase="running",
        delivery="accepted",
        origin="provider",
        provider_turn_id=event.provider_turn_id,
        started_at=step.now_ms,
    )
    plans.withdraw(step)
    step.change(turn=turn, items={}, spoke=False, hibernated=False)
    step.set_session(attrs.evolve(step.state.session, active_turn_id=turn.turn_id))
    step.do(fx.PersistTurn(turn))
    if event.prompt is not None:
        transcript.add_prompt_of_agent(step, turn.turn_id, event.prompt)
    reconcile.watch(step, turn)
    step.observe_runtime()


def _thread_opened(step: Step, event: n.ThreadOpened) -> None:
    opened = step.state.link.after("opened")
    if opened is None:
        step.do(fx.Count("late_event"))
        return
    step.set_link(opened)
    session = step.state.session
    guidance = event.capabilities is not None and event.capabilities.guidance
    side = event.capabilities is not None and event.capabilities.side
    interrupt = event.capabilities is None or event.capabilities.interrupt
    step.set_session(
        attrs.evolve(
            session,
            provider_session_id=event.provider_session_id,
            capabilities=event.capabilities or session.capabilities,
            lifecycle_capabilities=LifecycleCapabilities(side=side, guidance=guidance, interrupt=interrupt),
            resumability="resumable" if event.resumed else session.resumability,
        )
    )
    settings_lane.opened(step, event.settings)


def _thread_open_failed(step: Step, event: n.ThreadOpenFailed) -> None:
    if event.not_resumable and _forget_unproven(step):
        open_thread(step, None)
        return
    start_failed(step, _told_as_gone(step) if event.not_resumable else event.error)
    settlement.release(step)


def conversation_gone(step: Step) -> None:
    """The program found no such conversation as it started, and is gone: the next start begins another, or none does."""
    if not _forget_unproven(step):
        start_failed(step, _told_as_gone(step))


def _forget_unproven(step: Step) -> bool:
    """The provider never showed that it kept this conversation: nothing is lost by a first one (FC-58)."""
    session = step.state.session
    if session.resumability != "unknown" or session.provider_session_id is None:
        return False
    step.set_session(attrs.evolve(session, provider_session_id=None))
    _add_notice(step, "session.fresh_conversation", "info", commands.FRESH_TEXT)
    return True


def _told_as_gone(step: Step) -> TurnError:
    """Said once: from here on nothing is tried until somebody asks for a fresh one (FC-07)."""
    step.set_session(attrs.evolve(step.state.session, resumability="not_resumable"))
    _add_notice(step, "session.not_resumable", "error", GONE_TEXT)
    return TurnError("session.not_resumable", "the agent no longer has this conversation", "provider")


def _add_notice(step: Step, code: str, severity: NoticeSeverity, text: str) -> None:
    turn_id = step.state.turn.turn_id if step.state.turn else None
    transcript.add_notice(step, turn_id, code, severity, text)


def _connection_lost(step: Step, error: TurnError) -> None:
    """The process is gone: everything on it ends, typed; the next prompt starts a new one (FC-10, FC-11)."""
    start_failed(step, error)
    settlement.gone(step)


def _rejected(step: Step, turn: Turn, event: n.TurnRejected) -> None:
    end = Settlement("failed", error=event.error)
    if turn.delivery != "accepted":  # what was accepted has arrived, whatever is said of it afterwards
        step.set_turn(attrs.evolve(turn, delivery="rejected"))
        if turn.cancel_requested_at is not None:  # nothing of it runs, which is what was asked for
            end = Settlement("canceled", confirmed=True)
    settlement.settle(step, end)
    if turn.sequence == 1:
        settlement.release(step)  # the startup runtime goes with a rejected first prompt (RT-031)


def _ended(step: Step, turn: Turn, event: n.TurnEnded) -> None:
    """The end of the turn, unless sub-agents still work for it: then only its response has ended (RT-134)."""
    end = Settlement(
        event.outcome,
        error=event.error,
        stop_reason=_shown(event.stop_reason),
        usage=event.usage,
        confirmed=event.outcome == "canceled",
    )
    if not children.hold_end(step, turn, end):
        settlement.settle(step, end)
        return
    settlement.end_response(step, turn, end)


def _shown(stop_reason: str | None) -> str | None:
    """A provider's word for the end, as it came; where it is no word, so much of it and no secret (PR-024)."""
    return None if stop_reason is None else hide_tokens(stop_reason)[:STOP_REASON_CHARACTERS_MAX]


def _interaction_requested(step: Step, turn: Turn, event: n.InteractionRequested) -> None:
    key = (event.turn_id, event.request_id)
    if key in step.state.interactions:
        step.do(fx.Count("interaction_not_published"))
        return
    waiting = sum(row.status == "pending" for row in step.state.interactions.values())
    reason = publication.why_not(event, waiting, step.context.policy)
    if turn.phase == "settling" or reason is not None:
        step.do(fx.Count("interaction_not_published"))
        _refuse_ask(step, event)
        if reason is not None and turn.phase != "settling":
            transcript.add_notice(step, turn.turn_id, publication.REFUSED_CODE, "warning", reason)
        return
    interaction = Interaction(
        workspace_id=turn.workspace_id,
        agent_session_id=turn.agent_session_id,
        turn_id=event.turn_id,
        request_id=event.request_id,
        kind=event.kind,
        input=event.input,
        options=event.options,
        created_at=step.now_ms,
    )
    # A turn that was accepted and asks at once is seen running before it is seen waiting (RT-002).
    step.do(fx.NewUnit())
    settlement.put_interaction(step, key, interaction)
    step.set_turn(turns.waiting(turn))
    seconds = step.context.policy.interaction_timeout_seconds
    if seconds > 0:
        timer = i.Timer("interaction", turn_id=event.turn_id, request_id=event.request_id)
        step.do(fx.ArmTimer(timer, seconds))


def _refuse_ask(step: Step, event: n.InteractionRequested) -> None:
    refusal = RefuseAsk(step.state.scope, step.told_as(event.turn_id), event.request_id)
    step.do(fx.TellConnection(step.state.link.generation, refusal))


def _interaction_withdrawn(step: Step, event: n.InteractionWithdrawn) -> None:
    key = (event.turn_id, event.request_id)
    interaction = step.state.interactions.get(key)
    if interaction is not None and interaction.status == "pending":
        settlement.put_interaction(step, key, interactions.superseded(interaction, step.now_ms))
        commands.resume_turn_if_answered(step)


def _answer_delivered(step: Step, event: n.AnswerDelivered) -> None:
    _answer_resolved(step, event.turn_id, event, "written")


def _answer_failed(step: Step, event: n.AnswerFailed) -> None:
    _answer_resolved(step, event.turn_id, event, "refused")


def _answer_resolved(
    step: Step,
    turn_id: TurnId,
    event: n.AnswerDelivered | n.AnswerFailed,
    what: interactions.DeliveryEvent,
) -> None:
    key = (turn_id, event.request_id)
    interaction = step.state.interactions.get(key)
    if interaction is None or interaction.answer_delivery != "dispatching":
        step.do(fx.Count("late_event"))
        return
    resolved = interactions.delivery_after(interaction, what)
    settlement.put_interaction(step, key, resolved)
    if isinstance(event, n.AnswerFailed):
        settlement.refuse_responders(step, key, Refusal(event.error.code, delivery="rejected"))
        return
    for reply in step.state.responders.get(key, ()):
        step.do(fx.ReplyInteraction(reply, resolved))
    settlement.forget_responders(step, key)
