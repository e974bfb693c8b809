"""One turn of a thread: by which ids Codex knows it, who began it, and what has been asked of it.

Owns data alone. Codex names every turn, so what belongs to it is never guessed; but it may name one turn by two ids, and
may tell of a turn before it answers the request that began it.
"""

from typing import Final, TypeAlias

import attrs

from runtime.providers.codex.normalizer import TurnNormalizer
from runtime.providers.codex.settings import ThreadSettings
from runtime.providers.jsonrpc.peer import Notification, Request
from runtime.providers.port import StartTurn
from runtime.providers.recent import RecentSet
from store.canonical.common import Usage
from store.canonical.identifiers import TurnId

HELD_FRAMES_MAX: Final = 256
PAST_TURNS_MAX: Final = 256

Frame: TypeAlias = Notification | Request


@attrs.define
class OpenTurn:
    """The one turn that is open in a thread."""

    turn_id: TurnId
    provider_turn_id: str
    """By which Codex is asked to stop or guide it."""
    normalizer: TurnNormalizer
    started_by_us: bool = True
    aliases: set[str] = attrs.field(factory=set)
    """Every id under which Codex tells of it, that one included."""
    start_told: bool = False
    """Whether `turn/started` came."""
    cancel_asked: bool = False
    cancel_retried: bool = False
    retry_told: bool = False
    handoff_told: bool = False
    usage_before: Usage | None = None
    """The thread's figures when the turn began; null when they are not known."""
    usage_now: Usage | None = None
    held_requests: list[Request] = attrs.field(factory=list)
    """Approvals of a patch whose item has not been told yet (RT-014)."""


@attrs.define
class PendingStart:
    """A prompt whose turn has no name yet: its request is not answered, or not even sent.

    It is not sent while a turn nobody here waits for still runs in the thread: Codex would take it as a steer.
    """

    command: StartTurn
    wanted: ThreadSettings = attrs.field(factory=ThreadSettings)
    """What was chosen for the turn."""
    guide_id: str | None = None
    """The guidance this is, when a turn goes on whose response has ended: Codex begins another turn for it (PR-013)."""
    sent: bool = False
    cancel_asked: bool = False
    held: list[Frame] = attrs.field(factory=list)
    """What came of turns whose name is new: the answer will tell which of them is this one."""


class PastTurns:
    """The ids of turns that are settled, the newest ones: what still comes of them is known to be late."""

    def __init__(self) -> None:
        self._ids = RecentSet(PAST_TURNS_MAX)

    def __contains__(self, provider_turn_id: object) -> bool:
        return isinstance(provider_turn_id, str) and provider_turn_id in self._ids

    def add(self, turn: OpenTurn) -> None:
        """This turn is settled, by all the ids it had."""
        for provider_turn_id in turn.aliases:
            self._ids.add(provider_turn_id)
