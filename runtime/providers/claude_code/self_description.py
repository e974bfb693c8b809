"""What a Claude Code tells of itself in its handshake: the account's kind, the models, the commands.

Owns the reading of the answer to `initialize`. It says nothing of the usage that is left. Nothing of an account but its
kind is kept.
"""

import attrs

from runtime.providers.catalogue import (
    AccountKind,
    EffortOffer,
    ModelOffer,
    ProviderFacts,
    SkillOffer,
    Subject,
    UsageReport,
    as_text,
    as_word,
    first_of_each,
    skills_once,
)
from runtime.providers.claude_code.failures import provider_error
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json

_DEFAULT = "default"
"""Claude Code's word for the model it chooses itself."""


def read_facts(answer: Members) -> ProviderFacts:
    """What the answer to `initialize` holds; what it leaves out is null."""
    models = tuple(
        offer for item in list_of(answer.get("models")) if (offer := _read_model(object_of(item))) is not None
    )
    commands = answer.get("commands")
    return ProviderFacts(
        account=_read_account(answer.get("account")),
        models=first_of_each(models) or None,
        skills=_read_commands(commands) if isinstance(commands, list) else None,
    )


def answered(facts: ProviderFacts, subjects: frozenset[Subject]) -> ProviderFacts:
    """The same as the answer to an inquiry: of each subject a fact or a failure."""
    known: dict[Subject, object] = {"account": facts.account, "models": facts.models, "skills": facts.skills}
    failures = {
        subject: provider_error("provider.protocol")
        for subject, fact in known.items()
        if subject in subjects and fact is None
    }
    usage = UsageReport("unavailable", reason="unsupported") if "usage" in subjects else None
    return attrs.evolve(facts, usage=usage, failures=failures)


def _read_account(account: Json) -> AccountKind | None:
    if not isinstance(account, dict):
        return None
    if (text_of(account.get("apiKeySource")) or "none") != "none":
        return "key"
    if (text_of(account.get("tokenSource")) or "none") != "none":
        return "subscription"
    # Where another host answers for the model, its own sign-in is none of Claude Code's.
    return "none" if account.get("apiProvider") == "firstParty" else "not_needed"


def _read_model(members: Members) -> ModelOffer | None:
    model = as_word(members.get("value"))
    if model is None:
        return None
    efforts: tuple[EffortOffer, ...] | None = None
    levels = members.get("supportedEffortLevels")
    if isinstance(levels, list):
        efforts = tuple(EffortOffer(level) for item in levels if (level := as_word(item)) is not None)
    elif members.get("supportsEffort") is False:
        efforts = ()
    return ModelOffer(
        model=model,
        label=as_word(members.get("displayName")) or model,
        description=as_text(members.get("description")),
        is_default=model == _DEFAULT,
        efforts=efforts,
    )


def _read_commands(commands: list[Json]) -> tuple[SkillOffer, ...]:
    return skills_once(
        SkillOffer(
            name,
            as_text(members.get("description")),
            "builtin" if members.get("builtin") is True else "other",
        )
        for members in map(object_of, commands)
        if (name := as_word(members.get("name"))) is not None
    )
