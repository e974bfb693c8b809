"""What is known of the turns of one conversation: those that are open, and how the last ones ended.

Owns the names. A prompt is stamped with a uuid that follows from its turn's id, so that Claude Code says by name what
became of it; a turn that nobody prompted is named by the frame that began it.
"""

import hashlib
import re
from typing import Final

import attrs

from runtime.providers.claude_code.calls import CallLedger
from runtime.providers.claude_code.normalizer import TurnNormalizer
from runtime.providers.port import GuideTurn
from store.canonical.common import Usage
from store.canonical.identifiers import TurnId
from store.canonical.turn import TurnOutcome

REMEMBERED_TURNS_MAX: Final = 64
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")


def stamp_of(name: str) -> str:
    """The uuid of a prompt or of guidance: the name itself when it is one already, else one that follows from it."""
    if _UUID.match(name):
        return name
    digits = hashlib.sha256(f"greenroom:{name}".encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


@attrs.define
class Guide:
    """Guidance of an open turn, until Claude Code has queued it."""

    command: GuideTurn
    stamp: str
    interrupted: bool = False
    """The interrupt was confirmed."""
    broken_off: bool = False
    """What ran has ended by it."""
    sent: bool = False
    continues: bool = False
    """It begins a response of its own: the one before it had ended."""


@attrs.define
class OpenTurn:
    """A turn that Claude Code has not ended."""

    turn_id: TurnId
    normalizer: TurnNormalizer
    stamps: set[str] = attrs.field(factory=set)
    """What was said in it; empty for a turn that Claude Code began by itself."""
    current: str = ""
    """The stamp of what is being worked on."""
    accepted: bool = False
    started: bool = False
    cancel_asked: bool = False
    cancel_stops_children: bool = False
    """Sub-agents worked for it when that was asked: an interrupt stops them too, before its result comes."""
    guide: Guide | None = None
    spent: Usage | None = None
    """What the part took that guidance broke off."""
    retry_told: bool = False
    silent: bool = False
    """Claude Code began it while a prompt was on its way: there is no place for it, so nothing of it is told."""

    @property
    def stopping(self) -> bool:
        """Whether what runs is being broken off."""
        return self.cancel_asked or self.guide is not None


def new_turn(turn_id: TurnId, ledger: CallLedger, *stamps: str) -> OpenTurn:
    """A turn of which nothing has been heard."""
    return OpenTurn(turn_id, TurnNormalizer(turn_id, ledger), set(stamps))


class PastTurns:
    """The newest turns that ended here."""

    def __init__(self) -> None:
        self._outcomes: dict[TurnId, TurnOutcome] = {}

    def add(self, turn_id: TurnId, outcome: TurnOutcome) -> None:
        """It has ended."""
        self._outcomes[turn_id] = outcome
        if len(self._outcomes) > REMEMBERED_TURNS_MAX:
            del self._outcomes[next(iter(self._outcomes))]

    def outcome(self, turn_id: TurnId) -> TurnOutcome | None:
        """How it ended, if it is remembered."""
        return self._outcomes.get(turn_id)
