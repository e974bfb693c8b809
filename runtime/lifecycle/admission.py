"""What closes a session to commands, whatever the command: deleted, a child, set aside, or the daemon stopping."""

from runtime.lifecycle.state import Step
from runtime.refusal import Refusal


def edit_refusal(step: Step) -> Refusal | None:
    """Why the row cannot be edited: no provider and no target is needed for that, and a running turn is no reason."""
    state = step.state
    if state.session.deleted_at is not None:
        return Refusal("session.deleted")
    child = child_refusal(step)
    if child is not None:
        return child
    if state.stopping:
        return Refusal("shutdown.in_progress")
    if state.quarantined:
        return Refusal("session.quarantined")
    return None


def child_refusal(step: Step) -> Refusal | None:
    """A child is its provider's: it is read, and its Interactions are answered, nothing else (`contract §4`)."""
    return Refusal("capability.unsupported") if step.state.session.parent is not None else None
