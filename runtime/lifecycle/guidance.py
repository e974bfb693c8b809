"""Guidance: more said within one exact, running turn, without ending it (RT-078..RT-080).

Owns which guidance the provider was told and has not answered. Its submit id is bound before the provider hears of it,
stays bound when nobody knows whether it did, and is free again once it is known that nothing took effect. It never
starts, stops or ends a turn.
"""

from typing import Final

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import transcript
from runtime.lifecycle.admission import child_refusal
from runtime.lifecycle.prompt_blocks import prompt_blocks
from runtime.lifecycle.state import OpenGuide, Step
from runtime.providers.normalized import GuideAccepted, GuideRefused
from runtime.providers.port import CancelTurn, GuideTurn
from runtime.refusal import Refusal
from store.canonical.identifiers import ClientSubmitId
from store.canonical.turn import Delivery, Turn

OVERLOADED_RETRY_MS: Final = 1000
_PREFIX: Final = "guide:"
_TYPED: Final = frozenset({"turn.mismatch", "turn.settled", "capability.unsupported", "request.too_large"})
"""What a provider's no may say by itself; anything else is `provider.rejected`."""

_UNKNOWN: Final = Refusal("submit.delivery_unknown", delivery="unknown")


def guide_id_of(submit_id: ClientSubmitId) -> str:
    """The name the provider knows a guidance by: told apart from the names of prompts, which are ids of turns."""
    return f"{_PREFIX}{submit_id}"


def submit_id_of(guide_id: str) -> ClientSubmitId | None:
    """The submit id of such a name; None for any other."""
    return ClientSubmitId(guide_id.removeprefix(_PREFIX)) if guide_id.startswith(_PREFIX) else None


def request(step: Step, command: i.RequestGuide) -> None:
    """Tell the provider, once its submit id is bound; every no before that is told without a call (RT-079)."""
    if command.known is not None:
        _repeat(step, command, equal=command.known.digest == command.submission.claim.digest)
        return
    refusal = _refusal(step, command)
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    turn = step.state.turn
    assert turn is not None
    claim = attrs.evolve(command.submission.claim, turn_id=turn.turn_id)
    submission = attrs.evolve(command.submission, claim=claim)
    guide = OpenGuide(turn, submission, (command.reply,))
    kept = {**step.state.guides, claim.client_submit_id: guide}
    step.change(guides=kept)
    content = prompt_blocks(submission.prompt.content)
    guide_id = guide_id_of(claim.client_submit_id)
    step.do(
        fx.TellOnceClaimed(
            claim,
            step.state.link.generation,
            GuideTurn(step.state.scope, step.told_as(turn.turn_id), guide_id, content),
            _timer(turn, claim.client_submit_id),
            step.context.policy.guide_timeout_seconds,
        )
    )


def answered(step: Step, event: GuideAccepted | GuideRefused) -> None:
    """The provider has it, or does not have it; what is known of it is known for good."""
    guide = _taken(step, submit_id_of(event.guide_id))
    if guide is None:
        step.do(fx.Count("late_event"))
        return
    if isinstance(event, GuideAccepted):
        active = step.state.turn
        turn = active if active is not None and active.turn_id == guide.turn.turn_id else guide.turn
        if event.continued:
            _continued(step, turn, event)
        transcript.add_user_message(step, turn.turn_id, guide.submission)
        step.do(*(fx.ReplyTurn(reply, turn) for reply in guide.replies))
        return
    code = event.error.code if event.error.code in _TYPED else "provider.rejected"
    delivery: Delivery = "rejected" if event.error.origin == "provider" else "not_dispatched"
    step.do(fx.RemoveClaim(guide.submission.claim))
    _refuse(step, guide, Refusal(code, delivery=delivery))


def _continued(step: Step, turn: Turn, event: GuideAccepted) -> None:
    """A new response began in the turn. One that settled while nobody waited any longer has no place for it."""
    if turn.settled:
        command = CancelTurn(step.state.scope, event.turn_id)
        step.do(fx.TellConnection(step.state.link.generation, command))
    else:
        step.change(response_end=None)


def not_kept(step: Step, fact: i.ClaimNotKept) -> None:
    """The submit id could not be bound, so the provider was not told."""
    guide = _taken(step, fact.claim.client_submit_id)
    if guide is not None:
        _refuse(step, guide, Refusal(fact.code))


def timed_out(step: Step, timer: i.Timer) -> None:
    """Nobody waits any longer. The answer may still come: what was said is then part of its turn."""
    guide = step.state.guides.get(timer.submit_id) if timer.submit_id is not None else None
    if guide is None or timer.submit_id is None:
        return
    step.change(guides={**step.state.guides, timer.submit_id: attrs.evolve(guide, replies=())})
    _refuse(step, guide, _UNKNOWN)


def turn_ended(step: Step, turn: Turn) -> None:
    """Guidance of this turn may still be answered; who waits for that is shown the turn as it ended."""
    guides = step.state.guides
    if any(guide.turn.turn_id == turn.turn_id for guide in guides.values()):
        step.change(
            guides={
                submit_id: attrs.evolve(guide, turn=turn) if guide.turn.turn_id == turn.turn_id else guide
                for submit_id, guide in guides.items()
            }
        )


def give_up(step: Step) -> None:
    """The link goes, and with it every answer: whether the provider heard it stays unknown (RT-034)."""
    for submit_id in step.state.guides:
        guide = _taken(step, submit_id)
        if guide is not None:
            _refuse(step, guide, _UNKNOWN)


def _repeat(step: Step, command: i.RequestGuide, *, equal: bool) -> None:
    """The same request again: nothing is sent, it shares the fate of the first (`contract §4`, Idempotency)."""
    submit_id = command.submission.claim.client_submit_id
    guide, turn = step.state.guides.get(submit_id), command.known_turn
    active = step.state.turn
    if active is not None and turn is not None and active.turn_id == turn.turn_id:
        turn = active
    if not equal or turn is None:
        step.do(fx.Refuse(command.reply, Refusal("submit.conflict")))
    elif guide is not None and guide.replies:
        joined = attrs.evolve(guide, replies=(*guide.replies, command.reply))
        step.change(guides={**step.state.guides, submit_id: joined})
    elif command.known_delivered:
        step.do(fx.ReplyTurn(command.reply, turn))
    else:
        step.do(fx.Refuse(command.reply, attrs.evolve(_UNKNOWN, details={"turn": turn})))


def _refusal(step: Step, command: i.RequestGuide) -> Refusal | None:
    state, turn = step.state, step.state.turn
    if state.session.deleted_at is not None:
        return Refusal("session.deleted")
    child = child_refusal(step)
    if child is not None:
        return child
    if state.stopping:
        return Refusal("shutdown.in_progress")
    if state.quarantined:
        return Refusal("session.quarantined")
    if turn is None or turn.turn_id != command.turn_id:
        return Refusal("turn.not_found" if command.stored is None else "turn.settled")
    capabilities = state.session.capabilities
    opened = state.link.phase == "open"
    if (capabilities is None and opened) or (capabilities is not None and not capabilities.guidance):
        return Refusal("capability.unsupported")
    if not opened or turn.delivery != "accepted" or turn.phase not in ("running", "waiting"):
        return Refusal("turn.mismatch")
    return _make_room(step)


def _make_room(step: Step) -> Refusal | None:
    """Guidance that nobody waits for any more gives way; where all are waited for, the newest has to wait."""
    guides = step.state.guides
    if len(guides) < step.context.policy.open_guides_max:
        return None
    given_up = next((submit_id for submit_id, guide in guides.items() if not guide.replies), None)
    if given_up is None:
        return Refusal("overloaded", retry_after_ms=OVERLOADED_RETRY_MS)
    _taken(step, given_up)
    return None


def _taken(step: Step, submit_id: ClientSubmitId | None) -> OpenGuide | None:
    """An open guidance, which is none any more."""
    guide = step.state.guides.get(submit_id) if submit_id is not None else None
    if guide is None or submit_id is None:
        return None
    step.change(guides={other: kept for other, kept in step.state.guides.items() if other != submit_id})
    if guide.replies:
        step.do(fx.DisarmTimer(_timer(guide.turn, submit_id)))
    return guide


def _refuse(step: Step, guide: OpenGuide, refusal: Refusal) -> None:
    step.do(*(fx.Refuse(reply, refusal) for reply in guide.replies))


def _timer(turn: Turn, submit_id: ClientSubmitId) -> i.Timer:
    return i.Timer("guide", turn_id=turn.turn_id, submit_id=submit_id)
