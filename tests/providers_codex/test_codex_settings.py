"""Settings of a thread that change with a turn, or by Codex itself."""

import pytest

from runtime.providers.codex.failures import provider_error, runtime_error
from runtime.providers.normalized import (
    SettingsRefused,
    SettingsReported,
    TurnAccepted,
    TurnRejected,
)
from runtime.providers.port import ApplySettings, StartTurn
from store.canonical.common import Settings
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, T2
from tests.providers_codex.codex_playbook import A, CodexPlaybook, notice, turn_completed

HELD = {"approvalPolicy": "on-request", "sandbox": "workspace-write", "model": "gpt-5.5"}


def overrides(book: CodexPlaybook) -> dict[str, object]:
    """What the newest prompt says of settings."""
    frame = next(sent for sent in reversed(book.frames) if sent.get("method") == "turn/start")
    params = frame["params"]
    assert isinstance(params, dict)
    return {key: params[key] for key in params if key not in ("threadId", "clientUserMessageId", "input")}


def prompted(book: CodexPlaybook, settings: Settings | None, turn_id: str = T1) -> CodexPlaybook:
    book.command(StartTurn(A, turn_id, (TextBlock("go"),), settings)).skip()
    return book


def finished(book: CodexPlaybook, turn_id: str = "p1") -> CodexPlaybook:
    book.reply("turn/start", result={"turn": {"id": turn_id}})
    book.receive(turn_completed(turn_id=turn_id))
    return book


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (None, {}),
        ({}, {}),
        ({"approvalPolicy": "on-request", "sandbox": "workspace-write", "model": "gpt-5.5"}, {}),
        ({"model": "gpt-6"}, {"model": "gpt-6"}),
        ({"reasoningEffort": "high"}, {"effort": "high"}),
        ({"approvalPolicy": "never"}, {"approvalPolicy": "never"}),
        ({"sandbox": "read-only"}, {"sandboxPolicy": {"type": "readOnly"}}),
        ({"sandbox": "danger-full-access"}, {"sandboxPolicy": {"type": "dangerFullAccess"}}),
    ],
)
def test_a_prompt_says_what_changes_and_nothing_else(
    settings: Settings | None, said: dict[str, object]
) -> None:
    assert overrides(prompted(CodexPlaybook().opened(), settings)) == said


def test_what_codex_took_is_told_and_not_said_again() -> None:
    book = prompted(CodexPlaybook().opened(), {"model": "gpt-6", "sandbox": "read-only"})
    book.reply("turn/start", result={"turn": {"id": "p1"}})
    held = {**HELD, "model": "gpt-6", "sandbox": "read-only"}
    book.expect(SettingsReported(held), TurnAccepted(T1, "p1"))
    book.receive(turn_completed())
    assert overrides(prompted(book, {"model": "gpt-6", "sandbox": "read-only"}, T2)) == {}


def test_what_is_no_longer_chosen_goes_back_to_the_default_where_there_is_one() -> None:
    book = CodexPlaybook().opened(
        settings={"approvalPolicy": "never", "model": "gpt-6"}, approvalPolicy="never", model="gpt-6"
    )
    assert overrides(prompted(book, {})) == {"approvalPolicy": "on-request"}


def test_a_prompt_that_codex_rejects_changes_nothing() -> None:
    book = prompted(CodexPlaybook().opened(), {"model": "gpt-6"})
    book.reply("turn/start", error={"code": -32600, "message": "no"})
    assert not any(isinstance(event, SettingsReported) for event in book.events())
    assert overrides(prompted(book, {"model": "gpt-6"}, T2)) == {"model": "gpt-6"}


def test_a_value_codex_would_not_know_is_never_sent() -> None:
    book = CodexPlaybook().opened()
    book.command(StartTurn(A, T1, (TextBlock("go"),), {"sandbox": "none"}))
    book.expect(TurnRejected(T1, provider_error("settings.invalid")))


def test_no_setting_changes_at_once() -> None:
    book = CodexPlaybook().opened().command(ApplySettings(A, "u", {"model": "gpt-6"}))
    text = "This agent changes its settings between turns."
    book.expect(SettingsRefused("u", runtime_error("capability.unsupported", text)))


def test_what_codex_says_holds_is_told_once() -> None:
    book = CodexPlaybook().opened()
    told = {
        "approvalPolicy": "never",
        "sandboxPolicy": {"type": "dangerFullAccess"},
        "model": "gpt-6",
        "effort": "low",
    }
    held = {
        "approvalPolicy": "never",
        "sandbox": "danger-full-access",
        "model": "gpt-6",
        "reasoningEffort": "low",
    }
    book.receive(notice("thread/settings/updated", threadSettings=told))
    book.expect(SettingsReported(held))
    book.receive(notice("thread/settings/updated", threadSettings=told)).expect()
    strange = {"approvalPolicy": {"granular": {}}, "sandboxPolicy": {"type": "new"}, "model": None}
    book.receive(notice("thread/settings/updated", threadSettings=strange)).expect()
    book.receive(notice("thread/settings/updated")).expect()
    assert overrides(prompted(book, {"model": "gpt-5.5"})) == {
        "approvalPolicy": "on-request",
        "sandboxPolicy": {"type": "workspaceWrite"},
        "model": "gpt-5.5",
    }


def test_an_echo_of_what_a_prompt_changed_comes_before_or_after_its_answer() -> None:
    echo = notice(
        "thread/settings/updated",
        threadSettings={
            "approvalPolicy": "on-request",
            "sandboxPolicy": {"type": "workspaceWrite"},
            "model": "gpt-6",
        },
    )
    held = {**HELD, "model": "gpt-6"}
    for early in (True, False):
        book = prompted(CodexPlaybook().opened(), {"model": "gpt-6"})
        if early:
            book.receive(echo)
        book.reply("turn/start", result={"turn": {"id": "p1"}})
        if not early:
            book.receive(echo)
        assert [e for e in book.events() if isinstance(e, SettingsReported)] == [SettingsReported(held)]
        assert finished(book).events()
