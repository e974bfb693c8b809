"""What one Codex may be used for: decided from its version, its own schema, or the methods it lists.

Owns the table of tested versions and what each ability needs on the wire. Codex ignores members it does not know
without a word, so an ability nobody attested is an ability that is absent: it closes, and nothing is tried (RT-090).
Pure: `examination` reads the schema, `adapter` asks for the list.
"""

import re
from enum import StrEnum
from typing import Final, Literal, TypeAlias

import attrs

from store.canonical.session import SessionCapabilities


class Ability(StrEnum):
    """Something Greenroom does with a Codex, as `greenroom doctor` calls it."""

    CONVERSATION = "conversation"
    """Threads begin, are found again and are left; prompts start turns. Without it nothing is."""
    INTERRUPT = "interrupt"
    GUIDANCE = "guidance"
    """More can be said within exactly one running turn."""
    TURN_SETTINGS = "turn_settings"
    """Settings can change from one turn to the next. A Codex that does not know them would go on with the old ones."""
    TURN_HISTORY = "turn_history"
    """What became of a turn can be read, and a prompt of ours be found in it."""
    COMMAND_ENDING = "command_ending"
    """Single commands that go on after a stop are ended."""
    COMMAND_CLEANING = "command_cleaning"
    """All commands of a thread are ended when it is left."""
    USER_INPUT = "user_input"
    """It asks a person questions of its own."""
    SIDE = "side"
    """An ephemeral fork of a conversation whose boundary the model can see."""
    PLANNING = "planning"
    """Turns that end with a plan, to be carried out when its user says so."""
    FORK_THROUGH_TURN = "fork_through_turn"
    REVERT = "revert"
    GOAL = "goal"


NEEDS: Final[dict[Ability, frozenset[str]]] = {
    Ability.CONVERSATION: frozenset({"thread/start", "thread/resume", "thread/unsubscribe", "turn/start"}),
    Ability.INTERRUPT: frozenset({"turn/interrupt"}),
    Ability.GUIDANCE: frozenset({"turn/steer", "turn/steer.expectedTurnId"}),
    Ability.TURN_SETTINGS: frozenset(
        {"turn/start.approvalPolicy", "turn/start.sandboxPolicy", "turn/start.model", "turn/start.effort"}
    ),
    Ability.TURN_HISTORY: frozenset(
        {"thread/turns/list", "thread/turns/list.itemsView", "turn/start.clientUserMessageId"}
    ),
    Ability.COMMAND_ENDING: frozenset(
        {"thread/backgroundTerminals/list", "thread/backgroundTerminals/terminate"}
    ),
    Ability.COMMAND_CLEANING: frozenset({"thread/backgroundTerminals/clean"}),
    Ability.USER_INPUT: frozenset({"item/tool/requestUserInput"}),
    Ability.SIDE: frozenset(
        {
            "thread/fork",
            "thread/fork.ephemeral",
            "thread/fork.excludeTurns",
            "thread/fork.sandbox",
            "thread/fork.approvalPolicy",
            "thread/fork.model",
            "thread/inject_items",
            "turn/start.collaborationMode",
            "turn/interrupt",
        }
    ),
    Ability.PLANNING: frozenset({"turn/start.collaborationMode"}),
    Ability.FORK_THROUGH_TURN: frozenset({"thread/fork", "thread/fork.lastTurnId"}),
    Ability.REVERT: frozenset({"thread/revert", "thread/revert.beforeTurnId"}),
    Ability.GOAL: frozenset({"thread/goal/set", "thread/goal/get", "thread/goal/clear"}),
}
"""Methods, `method.member` for a member of its params, and requests of the server."""

FACTS: Final = frozenset().union(*NEEDS.values())
"""Everything about a program that is worth knowing."""

TESTED: Final[dict[str, frozenset[Ability]]] = {"0.171.0": frozenset(Ability)}
"""Versions that were driven for real, and what was seen to work with them (docs/providers/codex-app-server.md)."""

Basis: TypeAlias = Literal["tested", "schema", "methods", "nothing"]
_LISTED: Final = re.compile(r"`([A-Za-z][\w/.]*)`")
_METHODS_MAX: Final = 2000


@attrs.frozen
class Attestation:
    """What a program may be used for, and how that is known."""

    abilities: frozenset[Ability] = frozenset()
    basis: Basis = "nothing"

    @property
    def usable(self) -> bool:
        """Whether there is anything to do with it at all."""
        return Ability.CONVERSATION in self.abilities

    def capabilities(self) -> SessionCapabilities:
        """The same as a session shows it."""
        return SessionCapabilities(
            load=Ability.CONVERSATION in self.abilities,
            image_prompts=Ability.CONVERSATION in self.abilities,
            interrupt=Ability.INTERRUPT in self.abilities,
            guidance=Ability.GUIDANCE in self.abilities,
            side=Ability.SIDE in self.abilities,
        )


def attest(
    version: str | None, facts: frozenset[str] | None, methods: frozenset[str] | None = None
) -> Attestation:
    """The abilities of a program.

    Args:
        version: as the program says it.
        facts: those of `FACTS` its own schema shows; None when there is no schema of exactly this program.
        methods: what it lists; of use only where there is no schema, since it says nothing of members.
    """
    tested = TESTED.get(version) if version is not None else None
    if facts is not None:
        shown = _shown_by(facts)
        return Attestation(shown & tested, "tested") if tested is not None else Attestation(shown, "schema")
    if tested is not None:
        return Attestation(tested, "tested")
    if methods:
        return Attestation(_shown_by(methods), "methods")
    return Attestation()


def listed_methods(message: str) -> frozenset[str]:
    """The methods in Codex's answer to one it does not know; of requests of the server it says nothing."""
    found = _LISTED.findall(message.partition("expected one of")[2])
    return frozenset(found[:_METHODS_MAX])


def _shown_by(facts: frozenset[str]) -> frozenset[Ability]:
    return frozenset(ability for ability, needed in NEEDS.items() if needed <= facts)
