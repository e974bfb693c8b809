"""What a subscription yields: the events of the contract as they are, and the one event this client makes itself."""

from typing import Any, Literal, TypeAlias

from typing_extensions import TypedDict

from greenroom_client.contract.models import Event


class Gap(TypedDict):
    """Something is missing here, and what. Made by the client, never sent by the daemon."""

    type: Literal["gap"]
    lost: Literal["text", "facts"]
    """`text`: streamed text only; every committed fact follows without a hole, and messages that still stream follow
    as snapshots. `facts`: committed facts are missing as well: read again."""
    reason: Literal["reconnected", "slow_consumer", "not_in_log"]
    """Why: the connection was lost, this subscription was not read fast enough, or the log no longer reaches back
    to the commit asked for (or belongs to another store)."""
    commitSeq: int
    """What follows is newer than this."""


SubscriptionEvent: TypeAlias = Event | Gap


def facts_are_missing(event: SubscriptionEvent) -> bool:
    """Whether rows have to be read again: after a `gap` of facts, a `resync` or a `session_reset`."""
    if event["type"] == "gap":
        return event["lost"] == "facts"
    return event["type"] in ("resync", "session_reset")


def as_event(event: dict[str, Any]) -> SubscriptionEvent:
    """An event as it came, with the type that says what is known of it."""
    return event  # type: ignore[return-value]
