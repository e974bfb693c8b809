"""A conversation's settings on the ACP wire: what the agent offers, what holds now, and how to change it.

`model`, `mode` and `reasoningEffort` are the words of `contract §3`; every other key is the id of one of the
agent's configuration options. Options are preferred to the older `modes` and `models` blocks, which agents keep in
step with them.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import attrs

from runtime.providers.acp.failures import provider_error
from runtime.providers.acp.wire import ConfigUpdate, ModeUpdate
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json, Settings, SettingValue, TurnError

NOT_FOR_THE_AGENT: Final = frozenset({"dedicatedProcess"})
"""Settings that say how the runtime hosts a conversation."""

_CATEGORIES: Final = {"model": "model", "mode": "mode", "reasoningEffort": "thought_level"}
_OPTION_IDS: Final = {
    "model": ("model",),
    "mode": ("mode",),
    "reasoningEffort": ("reasoning_effort", "effort", "thought_level"),
}
_CATEGORY_KEYS: Final = {category: key for key, category in _CATEGORIES.items()}

BlockName: TypeAlias = Literal["mode", "model"]
Wanted: TypeAlias = list[tuple[str, SettingValue]]
"""Settings in the order they are asked for."""


@attrs.frozen
class SettingStep:
    """One request that changes one setting; the session id is added by the caller."""

    key: str
    value: SettingValue
    method: str
    params: dict[str, Json]


@attrs.frozen
class _Taken:
    """What was asked of the agent, and what it made of it: some take aliases and tell of their full names."""

    asked: SettingValue
    became: SettingValue


@attrs.frozen
class ConfigOption:
    """A configuration option with its present value."""

    option_id: str
    category: str | None
    value: SettingValue
    offered: frozenset[str] = frozenset()
    """The values it lists; empty when it lists none."""

    @property
    def key(self) -> str:
        """The settings key under which this option is known outside."""
        key = _CATEGORY_KEYS.get(self.category or "")
        return key or next(
            (name for name, ids in _OPTION_IDS.items() if self.option_id in ids), self.option_id
        )


class SessionSettings:
    """The settings of one conversation as the agent last reported them."""

    def __init__(self) -> None:
        self._options: tuple[ConfigOption, ...] = ()
        self._blocks: dict[BlockName, str] = {}
        self._taken: dict[str, _Taken] = {}
        self._asked: set[str] = set()
        """Keys whose value is one that was asked for: of what the agent changed since, it is the agent's own."""
        self._open: Counter[str] = Counter()
        """Keys for which a request is not answered: what holds of them is not known."""
        self.first: Settings = {}
        """What held before anything was asked for: where a setting goes back to that is no longer chosen."""

    def begin(self) -> None:
        """The conversation is open, as the agent opens it."""
        self.first = self._told()

    def report(self, result: Json) -> None:
        """Take over what a result of new, load, resume or set_config_option says; what it omits stays."""
        members = object_of(result)
        if "configOptions" in members:
            self.report_options(members["configOptions"])
        if mode := text_of(object_of(members.get("modes")).get("currentModeId")):
            self._blocks["mode"] = mode
        if model := text_of(object_of(members.get("models")).get("currentModelId")):
            self._blocks["model"] = model

    def report_options(self, options: Json) -> None:
        """Take over all configuration options."""
        self._options = tuple(option for option, _ in read_options(options))

    def report_mode(self, mode: str) -> None:
        """Take over the mode the agent says it is in."""
        self._blocks["mode"] = mode
        self._set_option("mode", mode)

    def current(self) -> Settings:
        """Every setting with its present value, by the keys used outside; in the words in which it was asked for."""
        told = self._told()
        asked = {key: taken.asked for key, taken in self._taken.items() if told.get(key) == taken.became}
        return told | asked

    def _told(self) -> dict[str, SettingValue]:
        settings: dict[str, SettingValue] = dict(self._blocks.items())
        # The first option of a category is the one that counts, so it is written last.
        for option in reversed(self._options):
            settings[option.key] = option.value
        return settings

    def step(self, key: str, value: SettingValue) -> SettingStep | TurnError | None:
        """What to send so that `key` becomes `value`: null when it is so, an error when the agent has no such key.

        The values an option lists are not checked here: some agents take aliases they do not list.
        """
        if self.current().get(key) == value and not self._open[key]:
            return None
        option = next((option for option in self._options if option.key == key), None)
        if option is not None:
            if type(option.value) is not type(value):
                return refused_setting(key)
            params: dict[str, Json] = {"configId": option.option_id, "value": value}
            if isinstance(value, bool):
                params["type"] = "boolean"
            return SettingStep(key, value, "session/set_config_option", params)
        if key == "mode" and "mode" in self._blocks and isinstance(value, str):
            return SettingStep(key, value, "session/set_mode", {"modeId": value})
        if key == "model" and "model" in self._blocks and isinstance(value, str):
            return SettingStep(key, value, "session/set_model", {"modelId": value})
        return refused_setting(key)

    def asked(self, key: str) -> None:
        """A request to change this one is on its way."""
        self._open[key] += 1

    def answered(self, key: str) -> None:
        """It has its answer, whatever that is."""
        self._open[key] -= 1

    def told(self, update: ConfigUpdate | ModeUpdate) -> None:
        """The agent tells what holds, unasked: what it changed by itself is nobody's wish any more."""
        before = self._told()
        if isinstance(update, ConfigUpdate):
            self.report_options(update.options)
        else:
            self.report_mode(update.mode)
        after = self._told()
        self._asked -= {
            key for key in self._asked if after.get(key) != before.get(key) and not self._open[key]
        }

    def changed(self, step: SettingStep, result: Json) -> TurnError | None:
        """A step was answered: take over what the answer says, and where it says nothing, what was asked.

        An error when the agent now holds another value than asked although it offers that one (RT-056).
        """
        self._asked.add(step.key)
        self.report(result)
        if step.method == "session/set_mode":
            self.report_mode(str(step.params["modeId"]))
        elif step.method == "session/set_model":
            self._blocks["model"] = str(step.params["modelId"])
        elif "configOptions" not in object_of(result):
            self._set_option(step.key, step.value)
        became = self._told().get(step.key)
        if became is None or became == step.value:
            self._taken.pop(step.key, None)
            return None
        option = next((option for option in self._options if option.key == step.key), None)
        if option is not None and step.value in option.offered:
            return refused_setting(step.key)
        self._taken[step.key] = _Taken(step.value, became)
        return None

    def in_order(self, settings: Settings) -> Wanted:
        """The settings meant for the agent, the model first: it decides which other options there are."""
        wanted = [(key, value) for key, value in settings.items() if key not in NOT_FOR_THE_AGENT]
        return sorted(wanted, key=lambda item: item[0] != "model")

    def towards(self, chosen: Settings) -> Wanted:
        """What to ask for so that what was chosen holds, and what no longer is goes back to what it was first."""
        back = {key: self.first[key] for key in self._asked - chosen.keys() if key in self.first}
        return self.in_order({**chosen, **back})

    def _set_option(self, key: str, value: SettingValue) -> None:
        self._options = tuple(
            attrs.evolve(option, value=value) if option.key == key else option for option in self._options
        )


def refused_setting(key: str) -> TurnError:
    """The agent does not take this setting; going on with another model or mode would be a silent change."""
    return provider_error("provider.model_unavailable" if key == "model" else "settings.invalid")


def read_options(options: Json) -> Iterator[tuple[ConfigOption, Members]]:
    """Each configuration option that can be read, with all the agent says of it."""
    for item in list_of(options):
        if (option := _read_option(item)) is not None:
            yield option, object_of(item)


def _read_option(item: Json) -> ConfigOption | None:
    members = object_of(item)
    option_id, value = text_of(members.get("id")), members.get("currentValue")
    if option_id is None or not isinstance(value, str | bool):
        return None
    offered = frozenset(_read_values(members.get("options")))
    return ConfigOption(option_id, text_of(members.get("category")), value, offered)


def _read_values(options: Json) -> Iterator[str]:
    """The values of an option, which may stand in groups."""
    for option in map(object_of, list_of(options)):
        value = text_of(option.get("value"))
        if value is not None:
            yield value
        yield from (text for member in list_of(option.get("options")) if (text := _value_of(member)))


def _value_of(option: Json) -> str | None:
    return text_of(object_of(option).get("value"))
