"""What one Claude Code may be used for, decided from its version.

Owns the table. The protocol is documented nowhere and lists no abilities before the first turn, so a version that was not
driven for real is used for what has stayed the same since a tested one, and an older one not at all (RT-090).
"""

import re
from enum import StrEnum
from typing import Final, Literal, TypeAlias

import attrs

from store.canonical.session import SessionCapabilities


class Ability(StrEnum):
    """Something Greenroom does with a Claude Code, as `greenroom doctor` calls it."""

    CONVERSATION = "conversation"
    """Prompts are followed by their uuid, turns can be stopped, sessions found again. Without it nothing is."""
    GUIDANCE = "guidance"
    """A running turn is interrupted and goes on with what is said."""
    SIDE = "side"
    """A kept conversation is forked into a process that keeps nothing, and questions are answered beside any."""


TESTED: Final[dict[str, frozenset[Ability]]] = {"2.1.332": frozenset(Ability)}
"""Versions that were driven for real (docs/providers/claude-code.md)."""

_BASE: Final = frozenset({Ability.CONVERSATION})
_NUMBERS: Final = re.compile(r"^(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
Basis: TypeAlias = Literal["tested", "newer", "nothing"]


@attrs.frozen
class Attestation:
    """What a program may be used for, and how that is known."""

    abilities: frozenset[Ability] = frozenset()
    basis: Basis = "nothing"

    @property
    def usable(self) -> bool:
        """Whether there is anything to do with it at all."""
        return Ability.CONVERSATION in self.abilities

    def capabilities(self, *, kept: bool = True) -> SessionCapabilities:
        """The same as a session shows it; `kept` says whether its conversation is written down."""
        return SessionCapabilities(
            load=self.usable and kept,
            image_prompts=self.usable,
            interrupt=self.usable,
            guidance=Ability.GUIDANCE in self.abilities,
            side=Ability.SIDE in self.abilities,
        )


def attest(version: str | None) -> Attestation:
    """The abilities of a program of this version, as it says it."""
    if version in TESTED:
        return Attestation(TESTED[version], "tested")
    numbers = _numbers(version or "")
    if numbers is not None:
        for tested in TESTED:
            known = _numbers(tested)
            if known is not None and numbers[0] == known[0] and numbers > known:
                return Attestation(_BASE, "newer")
    return Attestation()


def _numbers(version: str) -> tuple[int, int, int] | None:
    found = _NUMBERS.match(version)
    return (int(found.group(1)), int(found.group(2)), int(found.group(3))) if found else None
