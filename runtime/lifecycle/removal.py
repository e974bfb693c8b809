"""What a deletion, a restore and a purge mean to the Session they concern.

The operation that carries them out decides and writes (`runtime.operations.session_trees`); here is only how a Session
gets out of its way: it ends what runs, begins nothing, and learns what became of its row (ST-023..ST-026).
"""

from typing import get_args

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import settlement
from runtime.lifecycle.state import Step
from runtime.refusal import Refusal

_COMMANDS = get_args(i.Command)


def refused(step: Step, given: i.SessionInput) -> bool:
    """Whether `given` is a command that this Session takes no more, or not now; its caller is told."""
    if not isinstance(given, _COMMANDS):
        return False
    if step.state.session.deleted_at is not None:
        step.do(fx.Refuse(given.reply, Refusal("session.deleted")))
        return True
    if step.state.on_hold and _begins_something(given):
        step.do(fx.Refuse(given.reply, Refusal("session.busy")))
        return True
    return False


def _begins_something(command: i.SessionInput) -> bool:
    """A prompt that was taken before is only told what became of it: the same id, the same effect (promise 2)."""
    return isinstance(command, i.ResumeSession) or (
        isinstance(command, i.SendPrompt) and command.known is None
    )


def hold(step: Step, command: i.HoldSession) -> None:
    """End a running turn, then the runtime, and answer when neither is left, as a close does."""
    settlement.refuse_resumers(step, Refusal("session.busy"))
    step.change(on_hold=True, closers=(*step.state.closers, command.reply))
    if step.state.turn is not None:
        settlement.request_cancel(step, step.state.turn)


def lift(step: Step, fact: i.HoldLifted) -> None:
    """The operation is over: go on as what is stored now. Adopting the row writes nothing; it is written already."""
    step.change(on_hold=False)
    if fact.session is None:
        return
    step.change(session=attrs.evolve(step.state.session, deleted_at=fact.session.deleted_at))
    if fact.session.deleted_at is not None and step.state.quarantined:
        step.change(quarantined=False)
        step.observe_runtime()
