"""An effort that was chosen for one model, when another is chosen: kept, dropped or left to the agent, by a fresh list."""

import pytest

from runtime.lifecycle.settings import Changes, with_dependents
from runtime.lifecycle.state import SessionState
from runtime.providers.port import SettingDescription
from runtime.simulation.protocols.rows import a_session
from store.canonical.session import Session
from tests.lifecycle.playbook import Playbook

OFFERED = {None: {"low"}, "small": {"low"}, "large": {"low", "high"}, "plain": set[str]()}
KNOWN = {
    "model": SettingDescription("model", "next_turn"),
    "reasoningEffort": SettingDescription("reasoningEffort", "next_turn"),
}


def offered(model: str | None) -> frozenset[str] | None:
    return frozenset(OFFERED[model]) if model in OFFERED else None


def book(**chosen: str) -> Playbook:
    session = a_session(settings=chosen, settings_source=dict.fromkeys(chosen, "explicit"))
    return Playbook(SessionState(session), known_settings=KNOWN, offered_efforts=offered)


@pytest.mark.rule("RT-055")
@pytest.mark.parametrize(
    ("changes", "effort"),
    [
        ({"model": "small"}, None),
        ({"model": "plain"}, None),
        ({"model": None}, None),
        ({"model": "elsewhere"}, "high"),
        ({"model": "small", "reasoningEffort": "high"}, "high"),
        ({"model": "small", "reasoningEffort": "low"}, "low"),
        ({"model": "large"}, "high"),
    ],
    ids=[
        "not offered",
        "none offered",
        "the agent's own",
        "no list",
        "chosen together",
        "another",
        "same model",
    ],
)
def test_an_effort_that_the_new_model_does_not_offer_is_dropped_unless_it_is_chosen_with_it(
    changes: Changes, effort: str | None
) -> None:
    session = book(model="large", reasoningEffort="high")
    answer = session.update("u", **changes)
    assert isinstance(answer, Session)
    assert answer.settings.get("reasoningEffort") == effort
    assert ("reasoningEffort" in answer.settings_source) == (effort is not None)
    assert answer.settings.get("model") == changes["model"]


@pytest.mark.rule("RT-053")
def test_what_nobody_chose_is_not_touched() -> None:
    session = book(model="large")
    answer = session.update("u", model="small")
    assert isinstance(answer, Session)
    assert answer.settings == {"model": "small"}


def test_an_effort_that_only_holds_from_the_start_on_stays_with_a_process_that_was_started_with_it() -> None:
    known = {**KNOWN, "reasoningEffort": SettingDescription("reasoningEffort", "launch")}
    session = book(model="large", reasoningEffort="high").state.session
    changes = {"model": "small"}
    assert with_dependents(session, changes, known, offered, launched=True) == changes
    dropped = with_dependents(session, changes, known, offered, launched=False)
    assert dropped == {"model": "small", "reasoningEffort": None}
