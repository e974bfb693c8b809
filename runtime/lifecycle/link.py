"""The Session's view of its provider connection: which one it has, and how far it has come.

A link has a generation; whatever comes from an older generation is late and dropped (FC-13). Physical starting
and ending belongs to the connection pool.
"""

from typing import Literal

import attrs

from runtime.lifecycle.transitions import Transition, TransitionTable
from store.canonical.session import RuntimeState

LinkPhase = Literal["absent", "acquiring", "opening", "open", "closing"]
LinkEvent = Literal["acquire", "acquired", "opened", "release", "gone"]

TRANSITIONS: TransitionTable[LinkPhase, LinkEvent] = TransitionTable(
    "link",
    "absent",
    (
        Transition("absent", "acquire", "acquiring"),
        Transition("acquiring", "acquired", "opening"),
        Transition("acquiring", "gone", "absent"),
        Transition("acquiring", "release", "closing"),
        Transition("opening", "opened", "open"),
        Transition("opening", "gone", "absent"),
        Transition("opening", "release", "closing"),
        Transition("open", "release", "closing"),
        Transition("open", "gone", "absent"),
        Transition("closing", "gone", "absent"),
    ),
)
"""`acquired` = the pool gave a ready connection; `opened` = the provider holds our conversation; `gone` = the
connection failed, was lost, or has been released."""

RUNTIME_STATES: dict[LinkPhase, RuntimeState] = {
    "absent": "absent",
    "acquiring": "activating",
    "opening": "activating",
    "open": "live",
    "closing": "closing",
}


@attrs.frozen
class Link:
    """Phase and generation; generation 0 has never been acquired."""

    phase: LinkPhase = "absent"
    generation: int = 0

    def after(self, event: LinkEvent) -> "Link | None":
        """The link after `event`, or None when the table does not allow it. Acquiring begins a generation."""
        phase = TRANSITIONS.after(self.phase, event)
        if phase is None:
            return None
        return Link(phase, self.generation + 1 if event == "acquire" else self.generation)
