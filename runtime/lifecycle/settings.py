"""What a session's settings may be, and who chose each: checks, merges and provenance over values alone.

Owns the rules of `contract §3`, Settings: which keys and values a session knows, when a change may still be made, and
what a provider's report does to a choice. It must not know turns, links or replies: `settings_lane` orders the changes.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

from runtime.providers.port import SettingDescription
from runtime.refusal import Refusal
from store.canonical.common import Settings, SettingSource, SettingValue
from store.canonical.session import Session

KnownSettings: TypeAlias = Mapping[str, SettingDescription]
"""What a target declares, by key."""
OfferedEfforts: TypeAlias = Callable[[str | None], frozenset[str] | None]
"""The efforts that a model offers, by a list that is fresh; null is the agent's own model, and no list nothing known."""
MODEL, EFFORT = "model", "reasoningEffort"
Changes: TypeAlias = Mapping[str, SettingValue | None]
"""Values to merge; null unsets."""


def nothing_offered(model: str | None) -> None:
    """No list is known."""


def chosen(session: Session) -> Settings:
    """What somebody chose: only that goes to the provider. The rest is the target's or the agent's own (RT-053)."""
    return {
        key: value
        for key, value in session.settings.items()
        if session.settings_source.get(key, "explicit") == "explicit"
    }


def describe(key: str, known: KnownSettings, session: Session) -> SettingDescription | None:
    """A setting as the target declares it, or as the session's own agent told of it: an option only it has."""
    declared = known.get(key)
    if declared is not None or key not in session.settings:
        return declared
    return SettingDescription(key, "now", is_truth=isinstance(session.settings[key], bool))


def fits(setting: SettingDescription | None, value: SettingValue | None) -> bool:
    """Whether a setting is known and takes this value. An agent's own list of values is its own to check."""
    if setting is None:
        return False
    if value is None:
        return True
    if isinstance(value, bool) != setting.is_truth:
        return False
    return setting.choices is None or any(value == choice.value for choice in setting.choices)


def changed(session: Session, changes: Changes) -> Changes:
    """Those of the changes that are none yet: the same choice again is no change."""
    now = chosen(session)
    return {key: value for key, value in changes.items() if now.get(key) != value}


def refusal_of(session: Session, changes: Changes, known: KnownSettings, *, launched: bool) -> Refusal | None:
    """Why these changes cannot be made, whatever the provider thinks of them (RT-051, RT-054)."""
    for key, value in changes.items():
        if not fits(describe(key, known, session), value):
            return Refusal("settings.invalid", details={"key": key})
    for key in changed(session, changes):
        setting = describe(key, known, session)
        if launched and setting is not None and setting.change == "launch":
            return Refusal("settings.launch_only", details={"key": key})
    return None


def live_part(session: Session, changes: Changes, known: KnownSettings, held: Settings) -> Changes:
    """Of the changes those that a live conversation has to take before they are stored; not what it surely holds."""
    return {
        key: value
        for key, value in changed(session, changes).items()
        if (setting := describe(key, known, session)) is not None
        and setting.change == "now"
        and (value is None or held.get(key) != value)
    }


def with_dependents(
    session: Session, changes: Changes, known: KnownSettings, offered: OfferedEfforts, *, launched: bool
) -> Changes:
    """The changes, and with another model the end of an effort that was chosen for the old one and that it does not offer.

    What is chosen together stands: of that the agent is the judge (RT-054, RT-055).
    """
    effort = chosen(session).get(EFFORT)
    if MODEL not in changed(session, changes) or EFFORT in changes or not isinstance(effort, str):
        return changes
    setting, model = describe(EFFORT, known, session), changes[MODEL]
    if setting is None or (launched and setting.change == "launch") or isinstance(model, bool):
        return changes
    efforts = offered(model)
    return {**changes, EFFORT: None} if efforts is not None and effort not in efforts else changes


def merged(session: Session, changes: Changes) -> Session:
    """The row with these choices made, and those that are unset gone."""
    values: dict[str, SettingValue] = dict(session.settings)
    sources: dict[str, SettingSource] = dict(session.settings_source)
    for key, value in changed(session, changes).items():
        if value is None:
            values.pop(key, None)
            sources.pop(key, None)
        else:
            values[key], sources[key] = value, "explicit"
    return attrs.evolve(session, settings=values, settings_source=sources)


@attrs.frozen
class Report:
    """The row and what is known to hold, once a provider's report is taken in."""

    session: Session
    held: Settings


def reported(
    session: Session, held: Settings, told: Settings, known: KnownSettings, asked: Changes
) -> Report:
    """Take in what a provider says holds now; `held` is what it was known to hold before.

    A choice stands while the provider's value did not move, and while it still waits for its turn; what the provider
    really changed is its own from here on. Keys `asked` for right now are left to the answer.
    """
    values: dict[str, SettingValue] = dict(session.settings)
    sources: dict[str, SettingSource] = dict(session.settings_source)
    choices = chosen(session)
    for key, value in told.items():
        if key in asked or values.get(key) == value:
            continue
        waits = key in choices and held.get(key) != choices[key]
        if key in choices and (waits or held.get(key) == value):
            continue
        declared = known.get(key)
        values[key] = value
        undisturbed = key not in choices and declared is not None and declared.default == value
        sources[key] = "default" if undisturbed else "provider"
    for key in held.keys() - told.keys() - choices.keys() - asked.keys():
        values.pop(key, None)
        sources.pop(key, None)
    now_held = {key: value for key, value in told.items() if key not in asked}
    now_held |= {key: value for key, value in held.items() if key in asked}
    return Report(attrs.evolve(session, settings=values, settings_source=sources), now_held)
