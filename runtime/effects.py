"""How far settings and answers let an agent go without being asked: the order of effects and what has which. Pure.

Owns the rule behind a token's `maxEffect`: what is not known to be less counts as unrestricted. It must not know
tokens; who may go how far is decided where principals are known (`runtime.api.access`).
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from runtime.providers.port import SettingChoice, SettingDescription, SettingEffect
from store.canonical.common import Settings, SettingValue
from store.canonical.interaction import Answer, ApprovalInput, Interaction, InteractionOption, OptionAnswer

Effect: TypeAlias = SettingEffect

RANKS: Final[Mapping[Effect, int]] = {"read_only": 0, "asks": 1, "edits": 2, "unrestricted": 3}
WITHOUT_EFFECT: Final = frozenset({"model", "reasoningEffort", "dedicatedProcess"})
"""Settings that mean the same everywhere and have no bearing on what an agent may do (`contract §3`)."""

_READING: Final = frozenset({"read", "search", "think"})
_EDITING: Final = frozenset({"edit", "delete", "move"})
_REFUSING: Final = frozenset({"reject_once", "reject_always", "stop"})


def exceeds(effect: Effect, most: Effect) -> bool:
    """Whether `effect` goes further than `most`."""
    return RANKS[effect] > RANKS[most]


def effect_of_settings(known: Iterable[SettingDescription], chosen: Settings) -> Effect:
    """The widest effect of a session's settings; where a setting was not chosen, its default holds.

    A key the target does not declare counts as unrestricted like any unknown value, and so does a default that is
    left to the provider.
    """
    described = {setting.key: setting for setting in known}
    effects: list[Effect] = ["read_only"]
    for key in (described.keys() | chosen.keys()) - WITHOUT_EFFECT:
        setting = described.get(key)
        if setting is None or setting.choices is None:
            effects.append("unrestricted")
        elif any(choice.effect is not None for choice in setting.choices):
            effects.append(_effect_of_value(setting.choices, chosen.get(key, setting.default)))
    return max(effects, key=RANKS.__getitem__)


def _effect_of_value(choices: Iterable[SettingChoice], value: SettingValue | None) -> Effect:
    for choice in choices:
        if choice.value == value:
            return choice.effect or "read_only"
    return "unrestricted"


def effect_of_answer(interaction: Interaction, answer: Answer) -> Effect | None:
    """What an answer lets the agent do; None for one that refuses or stops. A question's answer is only words.

    Once is what asking is for. For longer it is as wide as what was asked for; of an option whose meaning is the
    agent's own nobody here knows.
    """
    if not isinstance(answer, OptionAnswer):
        return "read_only"
    option = next((one for one in interaction.options if one.option_id == answer.option_id), None)
    if option is None or option.kind in _REFUSING:
        return None  # an option that was not offered is refused by the session itself
    return _effect_of_option(interaction, option)


def _effect_of_option(interaction: Interaction, option: InteractionOption) -> Effect:
    asked = interaction.input.kind if isinstance(interaction.input, ApprovalInput) else None
    if asked in _READING and option.kind != "other":
        return "read_only"
    if option.kind == "allow_once":
        return "asks"
    if option.kind in ("allow_session", "allow_always") and asked in _EDITING:
        return "edits"
    return "unrestricted"
