"""What a connection says to a Side that is not open yet: the one outcome of its fork, and what came around it.

Owns the bound on it. What comes before the outcome is kept and replayed in order once the Side is registered; too much
of it ends the opening, since nothing of a Side is dropped singly (RT-112).
"""

from typing import Final, Literal, TypeAlias

import attrs

from runtime.providers.normalized import (
    ConnectionLost,
    ProviderEvent,
    SideForked,
    TextChunk,
    ThreadOpenFailed,
    ToolOutputChunk,
)

EVENT_BYTES: Final = 512
"""What an event weighs besides its text."""

ForkOutcome: TypeAlias = SideForked | ThreadOpenFailed | ConnectionLost | Literal["overflow"]


@attrs.define(eq=False)
class OpenBuffer:
    """Of one opening."""

    bytes_max: int
    outcome: ForkOutcome | None = None
    """The first word that decides; nothing after it changes it."""
    lost: ConnectionLost | None = None
    """The connection ended, also after the fork was made."""
    _events: list[ProviderEvent] = attrs.field(factory=list, init=False)
    _bytes: int = attrs.field(default=0, init=False)

    def take_in(self, event: ProviderEvent) -> None:
        """An event of the Side's scope."""
        if isinstance(event, ConnectionLost):
            self.lost = event
        if isinstance(event, SideForked | ThreadOpenFailed | ConnectionLost) and self.outcome is None:
            self.outcome = event
            return
        self._bytes += _weight(event)
        if self._bytes > self.bytes_max:
            self._events.clear()
            self.outcome = "overflow"
        elif self.outcome != "overflow":
            self._events.append(event)

    def replay(self) -> tuple[ProviderEvent, ...]:
        """What came besides the outcome, in order."""
        return tuple(self._events)


def _weight(event: ProviderEvent) -> int:
    text = event.text if isinstance(event, TextChunk | ToolOutputChunk) else ""
    return EVENT_BYTES + len(text)
