"""What a client may ask of a Session, each decided here alone: create, send, cancel, respond, resume, close.

Checks only what is known without a provider; acceptance, rejection and start-up failures are later facts of the
turn (`contract §4`, "When a reply comes").
"""

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import interaction as interactions
from runtime.lifecycle import plans, settlement, transcript
from runtime.lifecycle import turn as turns
from runtime.lifecycle.admission import child_refusal, edit_refusal
from runtime.lifecycle.state import InteractionKey, Step
from runtime.providers.port import AnswerInteraction, EndBackground
from runtime.refusal import Refusal
from store.canonical.identifiers import TurnId
from store.canonical.interaction import Answer, Interaction, OptionAnswer
from store.canonical.turn import Turn

FRESH_TEXT = (
    "The agent's earlier conversation is gone; this one starts empty. The history above is kept for reading."
)


def create(step: Step, command: i.CreateSession) -> None:
    """The Session exists from this commit on, with its first turn if content came along (RT-029)."""
    step.set_session(command.session)
    turn: Turn | None = None
    if command.prompt is not None:
        turn = _start_turn(step, i.Submission(command.session_claim, command.prompt))
    else:
        step.do(fx.AddClaim(command.session_claim))
    turn_id = turn.turn_id if turn else None
    step.do(fx.AddClaim(attrs.evolve(command.workspace_claim, turn_id=turn_id)))
    step.do(fx.ReplySession(command.reply, step.state.session, turn))


def send(step: Step, command: i.SendPrompt) -> None:
    """Start a turn, or give the state of the one this submit id started (RT-005, RT-037, FC-23)."""
    known = command.known
    if known is not None:
        _repeat(step, command, known.digest == command.submission.claim.digest)
        return
    refusal = _send_refusal(step)
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    step.do(fx.ReplyTurn(command.reply, _start_turn(step, command.submission)))


def cancel(step: Step, command: i.RequestCancel) -> None:
    """Stop exactly this turn; a settled one is returned as it is (RT-007, FC-43)."""
    active, refusal = step.state.turn, child_refusal(step)
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
    elif active is not None and active.turn_id == command.turn_id:
        settlement.request_cancel(step, active)
        asked = step.state.turn or _persisted(step, command.turn_id) or active
        step.do(fx.ReplyTurn(command.reply, asked))
    elif command.stored is not None:
        step.do(fx.ReplyTurn(command.reply, command.stored))
        if command.turn_id in step.state.background:  # the turn stands; what it left running is stopped
            ending = EndBackground(step.state.scope, command.turn_id)
            step.do(fx.TellConnection(step.state.link.generation, ending))
    else:
        step.do(fx.Refuse(command.reply, Refusal("turn.not_found")))


def respond(step: Step, command: i.Respond) -> None:
    """The first valid answer wins; it is durable before the provider sees it (RT-009..RT-011, RT-026)."""
    key = (command.turn_id, command.request_id)
    interaction = step.state.interactions.get(key) or command.stored
    if interaction is None:
        step.do(fx.Refuse(command.reply, Refusal("interaction.not_found")))
    elif plans.is_checkpoint(step, interaction):
        _decide_plan(step, command, interaction)
    elif interaction.status == "pending":
        _answer(step, command, interaction)
    elif interaction.status == "answered" and interactions.same_answer(interaction, command.answer):
        if interaction.answer_delivery == "failed" and _is_listened_for(step, interaction):
            _dispatch_answer(step, interaction, command.answer, command.reply)
        else:
            step.do(fx.ReplyInteraction(command.reply, interaction))
    else:
        step.do(
            fx.Refuse(command.reply, Refusal("interaction.not_pending", details={"interaction": interaction}))
        )


def resume(step: Step, command: i.ResumeSession) -> None:
    """Make the session live now; `fresh` gives up a conversation that is gone, explicitly (RT-042, FC-07)."""
    state = step.state
    stopping = Refusal("shutdown.in_progress") if state.stopping else None
    refusal = child_refusal(step) or stopping or step.context.target_refusal
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    if state.quarantined:
        step.change(quarantined=False)
        step.observe_runtime()
    # While a connection is being given back the conversation on it is as far away as without one.
    if settlement.conversation_is_gone(state.session) and state.link.phase in ("absent", "closing"):
        if not command.fresh:
            step.do(fx.Refuse(command.reply, Refusal("session.not_resumable")))
            return
        plans.withdraw(step)
        step.set_session(attrs.evolve(step.state.session, provider_session_id=None, resumability="unknown"))
        transcript.add_notice(step, None, "session.fresh_conversation", "warning", FRESH_TEXT)
    if step.state.link.phase == "open":
        step.do(fx.ReplySession(command.reply, step.state.session))
    else:
        step.change(resumers=(*step.state.resumers, command.reply))


def close(step: Step, command: i.CloseSession) -> None:
    """End a running turn first, then the runtime; idempotent, and no delete (FC-59). A start under way is given up."""
    refusal = child_refusal(step)
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    settlement.refuse_resumers(step, Refusal("provider.lost"))
    step.change(closers=(*step.state.closers, command.reply))
    if step.state.turn is not None:
        settlement.request_cancel(step, step.state.turn)


def _repeat(step: Step, command: i.SendPrompt, equal: bool) -> None:
    active = step.state.turn
    turn = (
        active if active and command.known and active.turn_id == command.known.turn_id else command.known_turn
    )
    if not equal or turn is None:
        step.do(fx.Refuse(command.reply, Refusal("submit.conflict")))
    else:
        step.do(fx.ReplyTurn(command.reply, turn))


def _send_refusal(step: Step) -> Refusal | None:
    state = step.state
    closed = edit_refusal(step)
    if closed is not None:
        return closed
    if state.turn is not None:
        return Refusal("session.busy", details={"turnId": state.turn.turn_id})
    if state.link.phase != "open" and settlement.conversation_is_gone(state.session):
        return Refusal("session.not_resumable")
    return step.context.target_refusal


def _start_turn(step: Step, submission: i.Submission) -> Turn:
    session = step.state.session
    turn = Turn(
        workspace_id=session.workspace_id,
        agent_session_id=session.agent_session_id,
        turn_id=TurnId(step.context.new_id()),
        sequence=step.next_turn_sequence(),
        submitted_at=step.now_ms,
        client_submit_id=submission.claim.client_submit_id,
    )
    plans.withdraw(step)
    step.change(turn=turn, prompt=submission.prompt, items={}, spoke=False, hibernated=False)
    step.set_session(attrs.evolve(step.state.session, active_turn_id=turn.turn_id))
    step.do(fx.PersistTurn(turn), fx.AddClaim(attrs.evolve(submission.claim, turn_id=turn.turn_id)))
    transcript.add_user_message(step, turn.turn_id, submission)
    return turn


def _persisted(step: Step, turn_id: TurnId) -> Turn | None:
    """The newest row of a turn among the effects of this step."""
    rows = [effect.turn for effect in step.effects if isinstance(effect, fx.PersistTurn)]
    return next((turn for turn in reversed(rows) if turn.turn_id == turn_id), None)


def answer_for_nobody(step: Step, key: InteractionKey) -> None:
    """No person answered in time: refuse this once, or stop the turn, as configured; never allow anything."""
    interaction = step.state.interactions.get(key)
    turn = step.state.turn
    if interaction is None or interaction.status != "pending" or turn is None:
        return
    refusal = next((option for option in interaction.options if option.kind == "reject_once"), None)
    if step.context.policy.interaction_timeout_answer == "reject_once" and refusal is not None:
        _dispatch_answer(step, interaction, OptionAnswer(refusal.option_id), reply=None)
    else:
        settlement.request_cancel(step, turn)


def _decide_plan(step: Step, command: i.Respond, interaction: Interaction) -> None:
    """A plan by which a turn ended: no provider waits, so the decision is all of it, in one unit (RT-025)."""
    decision = plans.decision_of(step, interaction, command.answer)
    if not isinstance(decision, Refusal) and (decision.prompt is not None or decision.changes):
        busy = Refusal("session.busy") if step.state.settings_lane else None
        decision = _send_refusal(step) or busy or decision
    if isinstance(decision, Refusal):
        step.do(fx.Refuse(command.reply, decision))
        return
    assert isinstance(command.answer, OptionAnswer)
    step.do(fx.NewUnit())
    submission = plans.decide(step, interaction, command.answer, decision)
    if submission is not None:
        _start_turn(step, submission)
    rows = [effect.interaction for effect in step.effects if isinstance(effect, fx.PersistInteraction)]
    step.do(fx.ReplyInteraction(command.reply, rows[-1]))


def _answer(step: Step, command: i.Respond, interaction: Interaction) -> None:
    session = step.state.session
    guidance = session.lifecycle_capabilities.guidance
    if session.parent is not None and session.capabilities is not None:
        guidance = session.capabilities.guidance  # nobody guides a sub-agent, but a no to it may say why
    if not interactions.accepts(interaction, command.answer, guidance=guidance):
        step.do(fx.Refuse(command.reply, Refusal("interaction.unsupported_answer")))
        return
    _dispatch_answer(step, interaction, command.answer, command.reply)


def _dispatch_answer(step: Step, interaction: Interaction, answer: Answer, reply: i.ReplyTo | None) -> None:
    """Commit the answered row in a unit of its own, then hand the answer to the connection, once."""
    key = (interaction.turn_id, interaction.request_id)
    step.do(fx.NewUnit())
    settlement.put_interaction(step, key, interactions.answered(interaction, answer, step.now_ms))
    resume_turn_if_answered(step)
    if reply is not None:
        waiting = (*step.state.responders.get(key, ()), reply)
        step.change(responders={**step.state.responders, key: waiting})
    step.do(
        fx.TellConnection(
            step.state.link.generation,
            AnswerInteraction(
                step.state.scope, step.told_as(interaction.turn_id), interaction.request_id, answer
            ),
        ),
        fx.ArmTimer(
            i.Timer("respond", turn_id=interaction.turn_id, request_id=interaction.request_id),
            step.context.policy.respond_timeout_seconds,
        ),
    )


def _is_listened_for(step: Step, interaction: Interaction) -> bool:
    """Whether the turn that asked still goes on: an answer never reaches another one (RT-010, RT-026)."""
    turn = step.state.turn
    return turn is not None and turn.turn_id == interaction.turn_id and turn.phase in ("running", "waiting")


def resume_turn_if_answered(step: Step) -> None:
    """A turn waits as long as one Interaction of it is pending."""
    turn = step.state.turn
    pending = any(row.status == "pending" for row in step.state.interactions.values())
    if turn is not None and turn.phase == "waiting" and not pending:
        step.set_turn(turns.resumed(turn))
