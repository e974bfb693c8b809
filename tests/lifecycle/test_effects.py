"""How far settings and answers let an agent go: the widest counts, and what is unknown counts as unrestricted."""

import pytest

from runtime.effects import RANKS, effect_of_answer, effect_of_settings, exceeds
from runtime.providers.codex.settings import DESCRIPTIONS
from runtime.providers.port import SettingChoice, SettingDescription
from store.canonical.identifiers import CallId, RequestId, SessionId, TurnId, WorkspaceId
from store.canonical.interaction import (
    ApprovalInput,
    Interaction,
    InteractionOption,
    OptionAnswer,
    PlanInput,
    QuestionAnswer,
)

KINDS = ("allow_once", "allow_session", "allow_always", "reject_once", "reject_always", "stop", "other")
MODES = SettingDescription(
    "mode",
    "now",
    (SettingChoice("look", "Look", "read_only"), SettingChoice("do", "Do", "edits"), SettingChoice("x", "X")),
)


def test_effects_are_ordered():
    assert list(RANKS) == ["read_only", "asks", "edits", "unrestricted"]
    assert exceeds("unrestricted", "edits")
    assert not exceeds("edits", "edits")


@pytest.mark.parametrize(
    ("chosen", "effect"),
    [
        ({}, "edits"),
        ({"sandbox": "read-only"}, "read_only"),
        ({"sandbox": "read-only", "approvalPolicy": "untrusted"}, "asks"),
        ({"sandbox": "danger-full-access", "approvalPolicy": "untrusted"}, "unrestricted"),
        ({"sandbox": "read-only", "approvalPolicy": "never"}, "read_only"),
        ({"sandbox": "another"}, "unrestricted"),
        (
            {"sandbox": "read-only", "model": "m", "reasoningEffort": "e", "dedicatedProcess": True},
            "read_only",
        ),
        ({"sandbox": "read-only", "more": "x"}, "unrestricted"),
    ],
)
def test_the_widest_of_what_was_chosen_and_what_holds_otherwise(chosen, effect):
    assert effect_of_settings(DESCRIPTIONS, chosen) == effect


@pytest.mark.parametrize(
    ("chosen", "effect"),
    [
        ({}, "unrestricted"),
        ({"mode": "look"}, "read_only"),
        ({"mode": "do"}, "edits"),
        ({"mode": "x"}, "read_only"),
    ],
)
def test_a_default_that_is_the_providers_is_unknown(chosen, effect):
    assert effect_of_settings([MODES], chosen) == effect


def test_a_setting_without_a_list_of_values_is_unknown():
    assert effect_of_settings([SettingDescription("mode", "now")], {}) == "unrestricted"
    assert effect_of_settings([SettingDescription("model", "now")], {}) == "read_only"


def asked(kind: str | None) -> Interaction:
    given = PlanInput(markdown="x") if kind is None else ApprovalInput(CallId("c"), "Title", kind)
    options = tuple(InteractionOption(one, one, one) for one in KINDS)
    return Interaction(
        workspace_id=WorkspaceId("w"),
        agent_session_id=SessionId("s"),
        turn_id=TurnId("t"),
        request_id=RequestId("r"),
        kind="plan" if kind is None else "approval",
        input=given,
        created_at=0,
        options=options,
    )


@pytest.mark.parametrize(
    ("kind", "effects"),
    [
        ("read", ["read_only", "read_only", "read_only", "unrestricted"]),
        ("edit", ["asks", "edits", "edits", "unrestricted"]),
        ("execute", ["asks", "unrestricted", "unrestricted", "unrestricted"]),
        ("other", ["asks", "unrestricted", "unrestricted", "unrestricted"]),
        (None, ["asks", "unrestricted", "unrestricted", "unrestricted"]),
    ],
)
def test_an_answer_goes_as_far_as_what_it_allows_from_now_on(kind, effects):
    allowed = [effect_of_answer(asked(kind), OptionAnswer(one)) for one in KINDS]
    assert allowed == [*effects[:3], None, None, None, effects[3]]


def test_words_and_what_was_not_offered_allow_nothing():
    assert effect_of_answer(asked("edit"), OptionAnswer("none")) is None
    assert effect_of_answer(asked("edit"), QuestionAnswer({"q": "a"})) == "read_only"
