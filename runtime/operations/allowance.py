"""What the caller of an operation may, as far as an operation has to ask: decided where tokens are known."""

from typing import Protocol

from runtime.refusal import Refusal
from store.canonical.common import Settings
from store.canonical.identifiers import TargetId


class Allowance(Protocol):
    """The bounds of one caller. Each answer is None, or why not."""

    def count_refusal(self, *, begins_turn: bool) -> Refusal | None:
        """Whether one more session, with a turn or without, is one too many."""

    def directory_refusal(self, path: str) -> Refusal | None:
        """Whether its sessions may work in this directory."""

    def effect_refusal(self, target_id: TargetId, settings: Settings) -> Refusal | None:
        """Whether its sessions may have these settings."""
