"""Plans by which a turn ends: put to the user when it is settled, carried out by one change of settings and one prompt.

A provider-native plan is asked within its turn and answered like an approval; this is the other kind (RT-025). It waits
without a turn, holds nobody up, and stands for exactly what its turn proposed: whatever goes on in the session takes it
back, so that an old plan never carries out a newer one (AP-039). What a decision does is one unit: done or not begun.
"""

from typing import Final

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import interaction as interactions
from runtime.lifecycle import publication, settings
from runtime.lifecycle.inputs import Prompt, Submission
from runtime.lifecycle.state import Step
from runtime.providers.normalized import InteractionRequested
from runtime.providers.port import PlanEnd
from runtime.refusal import Refusal
from store.canonical.claim import SubmitClaim
from store.canonical.common import SettingValue
from store.canonical.identifiers import ClientSubmitId, RequestId
from store.canonical.interaction import Interaction, InteractionOption, OptionAnswer, PlanInput
from store.canonical.message import TextBlock
from store.canonical.operation import Operation
from store.canonical.turn import Turn

REQUEST_ID: Final = RequestId("plan")
ACCEPT: Final = InteractionOption("accept", "Carry out the plan", "allow_once")
DECLINE: Final = InteractionOption("decline", "Go on planning", "reject_once")


@attrs.frozen
class Decision:
    """What an answer to a plan does: a change of settings, a prompt, or nothing but being known."""

    changes: dict[str, SettingValue | None]
    prompt: str | None


def put_up(step: Step, turn: Turn) -> None:
    """The turn is settled: what it proposed waits for its user from now on."""
    plan = step.state.proposed_plan
    if plan is None:
        return
    options = (ACCEPT, DECLINE)
    request = InteractionRequested(turn.turn_id, REQUEST_ID, "plan", plan, options)
    if _end_of_planning(step) is None or publication.why_not(request, 0, step.context.policy) is not None:
        return
    _put(
        step,
        Interaction(
            workspace_id=turn.workspace_id,
            agent_session_id=turn.agent_session_id,
            turn_id=turn.turn_id,
            request_id=REQUEST_ID,
            kind="plan",
            input=plan,
            options=options,
            created_at=step.now_ms,
        ),
    )


def withdraw(step: Step) -> None:
    """The session goes on: a plan that still waits is an old one."""
    for row in tuple(step.state.interactions.values()):
        if is_checkpoint(step, row):
            _put(step, interactions.superseded(row, step.now_ms))


def is_checkpoint(step: Step, interaction: Interaction) -> bool:
    """Whether this is a plan that waits without a turn."""
    turn = step.state.turn
    waits = interaction.kind == "plan" and interaction.status == "pending"
    return waits and (turn is None or turn.turn_id != interaction.turn_id)


def decision_of(step: Step, interaction: Interaction, answer: object) -> Decision | Refusal:
    """What an answer comes to. Words that come with a no go on as the next prompt, since no turn takes them."""
    end = _end_of_planning(step)
    if not isinstance(answer, OptionAnswer) or not interactions.accepts(interaction, answer, guidance=True):
        return Refusal("interaction.unsupported_answer")
    if answer.option_id != ACCEPT.option_id:
        return Decision({}, answer.feedback or None)
    if end is None:
        return Refusal("interaction.unsupported_answer")
    key, plan_end = end
    known = step.context.known_settings
    changes: dict[str, SettingValue | None] = {key: plan_end.value}
    refused = settings.refusal_of(step.state.session, changes, known, launched=step.state.launched)
    return refused or Decision(changes, plan_end.prompt)


def decide(
    step: Step, interaction: Interaction, answer: OptionAnswer, decision: Decision
) -> Submission | None:
    """Write the answer, the operation and the change of settings; the prompt that is left to be begun in the same unit."""
    operation_id = step.context.new_id()
    row = interactions.answered(interaction, answer, step.now_ms)
    _put(step, interactions.delivery_after(row, "written"))
    session = step.state.session
    operation = Operation(
        session.workspace_id,
        session.agent_session_id,
        operation_id,
        "plan",
        "committed",
        None,
        step.now_ms,
        step.now_ms,
    )
    step.do(fx.PersistOperation(operation))
    if decision.changes:
        step.set_session(settings.merged(session, decision.changes))
    if decision.prompt is None:
        return None
    claim = SubmitClaim(
        scope="session",
        workspace_id=session.workspace_id,
        agent_session_id=session.agent_session_id,
        client_submit_id=ClientSubmitId(operation_id),
        method="interaction/respond",
        digest="",
        created_at=step.now_ms,
    )
    return Submission(claim, Prompt((TextBlock(decision.prompt),)))


def proposed(step: Step, plan: PlanInput) -> None:
    """The turn that runs proposes this; its last word on it counts."""
    step.change(proposed_plan=plan)


def _end_of_planning(step: Step) -> tuple[str, PlanEnd] | None:
    """The setting that ends planning, where the session's target has one."""
    known = step.context.known_settings.items()
    return next(((key, setting.plan_end) for key, setting in known if setting.plan_end is not None), None)


def _put(step: Step, interaction: Interaction) -> None:
    key = (interaction.turn_id, interaction.request_id)
    kept = {other: row for other, row in step.state.interactions.items() if other != key}
    if interaction.status == "pending":
        kept[key] = interaction
    step.change(interactions=kept)
    step.do(fx.PersistInteraction(interaction))
