"""What each family's words about itself are read as: facts within bounds, and nothing of whose they are."""

import attrs
import pytest

from runtime.providers.acp.offers import inquiry_answer, offered_models, read_commands
from runtime.providers.catalogue import (
    MODELS_MAX,
    TEXT_CHARACTERS_MAX,
    AccountKind,
    EffortOffer,
    ModelOffer,
    ProviderFacts,
    SkillOffer,
    UsageLimit,
    UsageReport,
    as_text,
    as_word,
    first_of_each,
)
from runtime.providers.claude_code.self_description import answered, read_facts
from runtime.providers.codex.inquiries import read_account, read_model, read_skills, read_usage
from store.canonical.common import Json


@pytest.mark.rule("PR-026", "PR-048")
@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"account": None, "requiresOpenaiAuth": True}, "none"),
        ({"account": None, "requiresOpenaiAuth": False}, "not_needed"),
        ({"account": {"type": "apiKey"}, "requiresOpenaiAuth": True}, "key"),
        ({"account": {"type": "chatgpt", "email": "a@b.test"}, "requiresOpenaiAuth": True}, "subscription"),
        ({"account": {"type": "gcp"}, "requiresOpenaiAuth": True}, "key"),
        ({"account": {"type": "of the future"}, "requiresOpenaiAuth": True}, None),
        ({"account": {}, "requiresOpenaiAuth": True}, None),
        ({"account": None}, None),
        ("odd", None),
        (None, None),
    ],
)
def test_of_a_codex_account_the_kind_is_read_and_an_odd_one_is_none(
    told: Json, kind: AccountKind | None
) -> None:
    assert read_account(told) == kind


@pytest.mark.parametrize(
    ("account", "kind"),
    [
        ({"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"}, "key"),
        ({"tokenSource": "claude.ai", "email": "a@b.test", "apiProvider": "firstParty"}, "subscription"),
        ({"tokenSource": "none", "apiKeySource": "none", "apiProvider": "firstParty"}, "none"),
        ({"tokenSource": "none", "apiProvider": "bedrock"}, "not_needed"),
        (None, None),
        ("odd", None),
    ],
)
def test_of_a_claude_account_the_kind_is_read(account: Json, kind: AccountKind | None) -> None:
    assert read_facts({"account": account}).account == kind


def test_claudes_handshake_tells_models_and_commands() -> None:
    facts = read_facts(
        {
            "models": [
                {"value": "default", "displayName": "Default", "supportedEffortLevels": ["low", 5, "high"]},
                {"value": "fast", "supportsEffort": False},
                {"value": "plain"},
                {"displayName": "without a name"},
                5,
            ],
            "commands": [
                {"name": "review", "description": "Looks\n at it.", "builtin": True},
                {"name": "mine", "description": ""},
                {"name": "review"},
                {},
            ],
        }
    )
    assert facts.models == (
        ModelOffer("default", "Default", is_default=True, efforts=(EffortOffer("low"), EffortOffer("high"))),
        ModelOffer("fast", "fast", efforts=()),
        ModelOffer("plain", "plain"),
    )
    assert facts.skills == (SkillOffer("review", "Looks at it.", "builtin"), SkillOffer("mine"))


@pytest.mark.rule("PR-047")
def test_claude_has_an_answer_for_each_subject_and_says_what_it_was_not_told() -> None:
    nothing = answered(ProviderFacts(), frozenset({"account", "models", "skills", "usage"}))
    assert nothing.failures.keys() == {"account", "models", "skills"}
    assert nothing.usage == UsageReport("unavailable", reason="unsupported")
    told = answered(ProviderFacts(account="key"), frozenset({"account"}))
    assert (told.account, told.failures, told.usage) == ("key", {}, None)


@pytest.mark.rule("PR-046")
@pytest.mark.parametrize(
    "told",
    [
        None,
        "odd",
        {},
        {"rateLimits": None},
        {"rateLimits": {"primary": {"usedPercent": "much"}}},
        {"rateLimits": {"primary": {"usedPercent": -1}}},
        {"rateLimits": {"primary": {"usedPercent": True}}},
        {"rateLimitsByLimitId": {"a": {"primary": None, "secondary": 5}}},
    ],
)
def test_limits_of_a_shape_that_nobody_knows_are_not_read_as_none_left(told: Json) -> None:
    assert read_usage(told) == UsageReport("unavailable", reason="parse_failed")


@pytest.mark.rule("PR-046")
def test_all_windows_of_all_limits_are_read() -> None:
    window: Json = {"usedPercent": 12.5, "windowDurationMins": 300, "resetsAt": 1_800_000_000}
    both: Json = {"limitId": "codex", "primary": window, "secondary": {"usedPercent": 3}}
    other: Json = {"limitId": "other", "limitName": "Other", "primary": {"usedPercent": 0}}
    report = read_usage({"rateLimits": both, "rateLimitsByLimitId": {"codex": both, "other": other}})
    assert report.limits == (
        UsageLimit("codex primary", 12.5, 300, 1_800_000_000_000),
        UsageLimit("codex secondary", 3.0),
        UsageLimit("Other primary", 0.0),
    )
    with pytest.raises(ValueError, match="complete usage has limits"):
        UsageReport("complete")
    with pytest.raises(ValueError, match="complete usage has limits"):
        UsageReport("unavailable", report.limits)


@pytest.mark.rule("PR-048")
def test_codex_models_and_skills_are_read_without_their_paths() -> None:
    told: dict[str, Json] = {
        "model": "m",
        "displayName": "M",
        "supportedReasoningEfforts": [{}, {"reasoningEffort": "low"}],
    }
    assert read_model(told) == ModelOffer("m", "M", efforts=(EffortOffer("low"),))
    assert read_model({"model": "m"}) == ModelOffer("m", "m")
    assert not read_model({"displayName": "nameless"}).model
    skill: Json = {
        "name": "s",
        "description": "d",
        "path": "/home/somebody/s",
        "scope": "repo",
        "enabled": False,
    }
    skills = read_skills({"data": [{"cwd": "/x", "skills": [skill, skill, {}], "errors": []}, 5]})
    assert skills == (SkillOffer("s", "d", "project", enabled=False),)
    assert "/home" not in str(attrs.asdict(skills[0]))
    assert read_skills({"data": 5}) is None


def test_an_acp_agent_offers_models_by_an_option_or_by_the_older_block() -> None:
    values: Json = [
        {"value": "a", "name": "A", "description": "first"},
        {"group": "more", "options": [{"value": "b", "name": "B"}, {"value": "a", "name": "again"}]},
    ]
    model: Json = {"id": "model", "category": "model", "currentValue": "b", "options": values}
    efforts: Json = {
        "id": "effort",
        "category": "thought_level",
        "currentValue": "low",
        "options": [{"value": "low", "name": "Low"}],
    }
    offers = offered_models({"configOptions": [model, efforts]}, is_new=True)
    assert offers == (
        ModelOffer("a", "A", "first"),
        ModelOffer("b", "B", is_default=True, efforts=(EffortOffer("low"),)),
    )
    resumed = offered_models({"configOptions": [model]}, is_new=False)
    assert not any(offer.is_default for offer in resumed), "what holds may have been chosen"
    block: Json = {
        "currentModelId": "x",
        "availableModels": [{"modelId": "x", "name": "X"}, {"name": "?"}, 5],
    }
    assert offered_models({"models": block}, is_new=True) == (ModelOffer("x", "X", is_default=True),)
    assert offered_models({}, is_new=True) == ()
    assert offered_models(None, is_new=True) == ()


def test_an_acp_agent_tells_commands_and_nothing_when_it_is_asked() -> None:
    assert read_commands([{"name": "plan", "description": "Plans."}, {"name": ""}, 5]) == (
        SkillOffer("plan", "Plans."),
    )
    assert inquiry_answer(frozenset({"models"})).failures["models"].code == "capability.unsupported"


def test_names_and_descriptions_keep_to_their_bounds() -> None:
    assert [as_word(word) for word in ("a", "", "a\nb", "x" * 201, 5, None)] == [
        "a",
        None,
        None,
        None,
        None,
        None,
    ]
    assert as_text("  a\n b ") == "a b"
    assert as_text("x" * 5000) == "x" * TEXT_CHARACTERS_MAX
    assert as_text(" \n") is None
    many = first_of_each(ModelOffer(str(number), "m") for number in range(MODELS_MAX * 2))
    assert len(many) == MODELS_MAX
