"""How a turn of Codex ended, by its own word, in the terms of `contract §3`. Pure."""

import attrs

from runtime.providers.codex.failures import provider_error, turn_failure
from store.canonical.common import Json, TurnError
from store.canonical.turn import TurnOutcome


@attrs.frozen
class Ending:
    """The end of a turn. `stop_reason` is Codex's word, as it came."""

    outcome: TurnOutcome
    stop_reason: str | None = None
    error: TurnError | None = None


def ending_of(status: str | None, error: Json) -> Ending:
    """What the status of a completed turn means. An unknown word is kept and is never a success (FC-11)."""
    match status:
        case "completed":
            return Ending("completed", status)
        case "interrupted":
            return Ending("canceled", status)
        case "failed":
            return Ending("failed", status, turn_failure(error))
        case None:
            return Ending("failed", None, provider_error("provider.protocol"))
        case _:
            return Ending("failed", status, provider_error("provider.stopped"))
