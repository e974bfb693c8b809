"""What a provider tells about itself beside any conversation: the account, the models, the skills, the usage left.

Owns the words and their bounds. Facts alone: no message of a provider, no path, no endpoint, no credential and no name
of an account has a place in here (PR-048). What follows from them is decided in `runtime.catalogue`. Pure.
"""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

import attrs

from store.canonical.common import TurnError

Subject: TypeAlias = Literal["account", "models", "skills", "usage"]
SUBJECTS: Final[tuple[Subject, ...]] = ("account", "models", "skills", "usage")

MODELS_MAX: Final = 500
SKILLS_MAX: Final = 1000
LIMITS_MAX: Final = 50
WORD_CHARACTERS_MAX: Final = 200
"""Of names, labels and values; whatever is longer is no name, and left out."""
TEXT_CHARACTERS_MAX: Final = 1000
"""Of descriptions, which are cut."""

AccountKind: TypeAlias = Literal["none", "not_needed", "key", "subscription"]
"""`none`: there is none and one is needed. `not_needed`: whoever answers for the model wants none."""


@attrs.frozen
class EffortOffer:
    """One degree of reasoning that a model takes."""

    value: str
    description: str | None = None


@attrs.frozen
class ModelOffer:
    """One model, by the value that the setting `model` takes."""

    model: str
    label: str
    description: str | None = None
    is_default: bool = False
    hidden: bool = False
    """Left out of lists to choose from; it may still be named."""
    efforts: tuple[EffortOffer, ...] | None = None
    """All values `reasoningEffort` may have with it; empty when it takes none, null when nobody says."""
    default_effort: str | None = None


SkillSource: TypeAlias = Literal["builtin", "user", "project", "other"]


@attrs.frozen
class SkillOffer:
    """One skill or command that a prompt can call for."""

    name: str
    description: str | None = None
    source: SkillSource = "other"
    enabled: bool = True


@attrs.frozen
class UsageLimit:
    """One bound on an account's use. Times are integer milliseconds, shares per cent."""

    name: str
    used_percent: float
    window_minutes: int | None = None
    resets_at: int | None = None


@attrs.frozen
class UsageReport:
    """How much of an account is left. Only a `complete` one has limits (PR-046)."""

    state: Literal["complete", "unavailable", "not_applicable"]
    limits: tuple[UsageLimit, ...] = ()
    reason: Literal["auth_required", "unsupported", "parse_failed"] | None = None
    """Why it is unavailable."""

    def __attrs_post_init__(self) -> None:
        if bool(self.limits) != (self.state == "complete"):
            raise ValueError("complete usage has limits, any other has none")


@attrs.frozen
class ProviderFacts:
    """What was told, once; null where nothing was. `failures`: what was asked and not told, and why."""

    account: AccountKind | None = None
    models: tuple[ModelOffer, ...] | None = None
    skills: tuple[SkillOffer, ...] | None = None
    usage: UsageReport | None = None
    failures: dict[Subject, TurnError] = attrs.field(factory=dict)
    reached_provider: bool = False
    """To tell this, a request with the account's credentials succeeded: the account holds (PR-026)."""


@attrs.frozen
class CredentialFile:
    """Where programs of a family keep a sign-in: `folder` below HOME, unless a variable names another."""

    variable: str
    folder: str
    name: str
    members: tuple[str, ...]
    """The file counts when it is a JSON object with a value for one of these."""


@attrs.frozen
class CredentialPlaces:
    """What shows, without asking anybody, that a sign-in was set up. It proves no more than that (PR-026)."""

    variables: tuple[str, ...] = ()
    files: tuple[CredentialFile, ...] = ()


@attrs.frozen
class CatalogueAbilities:
    """What the programs of a family tell without a conversation, and how what they offer is called for."""

    subjects: frozenset[Subject] = frozenset()
    skill_trigger: str = "/"
    """What stands before a skill's name in a prompt (PR-038)."""
    credentials: CredentialPlaces = attrs.field(factory=CredentialPlaces)


NOTHING_TOLD: Final = CatalogueAbilities()
"""Of a family whose programs only tell of themselves within a conversation."""


def as_word(text: object) -> str | None:
    """The text, if it is one that can be a name or a value."""
    if not isinstance(text, str) or not 0 < len(text) <= WORD_CHARACTERS_MAX or not text.isprintable():
        return None
    return text


def as_text(text: object) -> str | None:
    """A description, cut to its bound and to one line."""
    if not isinstance(text, str):
        return None
    return " ".join(text.split())[:TEXT_CHARACTERS_MAX] or None


def first_of_each(models: Iterable[ModelOffer]) -> tuple[ModelOffer, ...]:
    """Each model once, within the bound."""
    found: dict[str, ModelOffer] = {}
    for offer in models:
        if len(found) < MODELS_MAX:
            found.setdefault(offer.model, offer)
    return tuple(found.values())


def skills_once(skills: Iterable[SkillOffer]) -> tuple[SkillOffer, ...]:
    """Each skill once, within the bound."""
    found: dict[str, SkillOffer] = {}
    for skill in skills:
        if len(found) < SKILLS_MAX:
            found.setdefault(skill.name, skill)
    return tuple(found.values())
