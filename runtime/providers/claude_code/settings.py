"""A conversation's settings on the Claude Code wire: how a process is started with them, and what holds now.

Owns the words of permission modes and models. A mode that nobody chose is `default`, whatever the person's own settings
files say, and one that allows more than was asked is not gone on with. A chosen model is often an alias: it stands as
long as the model it led to does not change.
"""

from typing import Final

import attrs

from runtime.providers.hosting import HostedConversation
from runtime.providers.port import SettingChoice, SettingDescription
from store.canonical.common import Json, Settings, SettingValue

MODES: Final = (
    SettingChoice("plan", "Plan only", "read_only"),
    SettingChoice("dontAsk", "Refuse what is not allowed already", "asks"),
    SettingChoice("default", "Ask before edits and commands", "asks"),
    SettingChoice("acceptEdits", "Edit files without asking", "edits"),
    SettingChoice("bypassPermissions", "Never ask", "unrestricted"),
)
"""From the narrowest to the widest."""
EFFORTS: Final = tuple(SettingChoice(word, word) for word in ("low", "medium", "high", "xhigh", "max"))
DEFAULT_MODE: Final = "default"
_MODE_VALUES: Final = frozenset(mode.value for mode in MODES)
_RANKS: Final = {"plan": 0, "dontAsk": 1, "default": 1, "acceptEdits": 2, "auto": 3, "bypassPermissions": 4}

DESCRIPTIONS: Final = (
    SettingDescription("model", "next_turn"),
    SettingDescription("reasoningEffort", "launch", EFFORTS),
    SettingDescription("permissionMode", "now", MODES, DEFAULT_MODE),
)


@attrs.frozen
class HeldSettings:
    """What holds. `model` is what was chosen; the alias stands for `resolved`, once Claude Code has said so."""

    mode: str = DEFAULT_MODE
    model: str | None = None
    resolved: str | None = None
    effort: str | None = None

    def told(self) -> Settings:
        """The same by the keys used outside."""
        values = (
            ("permissionMode", self.mode),
            ("model", self.model or self.resolved),
            ("reasoningEffort", self.effort),
        )
        return {key: value for key, value in values if value is not None}

    def heard(self, model: str | None, mode: str | None) -> "HeldSettings":
        """The same with what Claude Code tells of: its model, its permission mode."""
        held = self if mode is None else attrs.evolve(self, mode=mode)
        if model is None or model == self.resolved:
            return held
        moved = self.resolved is not None and self.model is not None
        return attrs.evolve(held, model=None if moved else self.model, resolved=model)


@attrs.frozen
class SettingChange:
    """One request that changes a setting."""

    key: str
    value: str | None

    def request(self) -> Json:
        """The request; a null model is Claude Code's own choice."""
        if self.key == "permissionMode":
            return {"subtype": "set_permission_mode", "mode": self.value or DEFAULT_MODE}
        return {"subtype": "set_model", "model": self.value}

    def after(self, held: HeldSettings, mode: str | None) -> HeldSettings:
        """What holds once it was taken; `mode` is the one that Claude Code answers with."""
        if self.key == "permissionMode":
            return attrs.evolve(held, mode=mode or self.value or DEFAULT_MODE)
        return attrs.evolve(held, model=self.value, resolved=None)


def launched_with(conversation: HostedConversation) -> HeldSettings:
    """What holds in a process that is started for it. A fork may do no more than its source does and was to do."""
    chosen, fork = conversation.settings, conversation.fork
    mode = mode_of(chosen)
    if fork is not None and wider(mode, mode_of(fork.held)):
        mode = mode_of(fork.held)
    return HeldSettings(mode, _word(chosen.get("model")), None, _word(chosen.get("reasoningEffort")))


def mode_of(settings: Settings) -> str:
    """The permission mode of these settings."""
    value = settings.get("permissionMode")
    return value if isinstance(value, str) and value in _MODE_VALUES else DEFAULT_MODE


def changes_towards(held: HeldSettings, settings: Settings) -> list[SettingChange]:
    """What has to be changed so that these hold."""
    changes: list[SettingChange] = []
    if mode_of(settings) != held.mode:
        changes.append(SettingChange("permissionMode", mode_of(settings)))
    model = _word(settings.get("model"))
    if model != held.model:
        changes.append(SettingChange("model", model))
    return changes


def wider(mode: str, wanted: str) -> bool:
    """Whether one mode lets the agent do more than the other; of an unknown word nothing good is known."""
    return _RANKS.get(mode, len(_RANKS)) > _RANKS.get(wanted, 0)


def _word(value: SettingValue | None) -> str | None:
    return value if isinstance(value, str) else None
