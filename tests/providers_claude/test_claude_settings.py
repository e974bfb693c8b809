"""Settings: what holds, what is changed before a prompt, and what Claude Code does not take."""

import pytest

from runtime.providers.claude_code.preparing import ChangesDeadline
from runtime.providers.normalized import (
    SettingsApplied,
    SettingsRefused,
    SettingsReported,
    ThreadOpened,
    ThreadOpenFailed,
    TurnRejected,
)
from runtime.providers.port import ApplySettings, CancelTurn, OpenThread, StartTurn
from store.canonical.common import Settings
from store.canonical.message import TextBlock
from tests.providers_claude.claude_playbook import (
    CWD,
    MODEL,
    T1,
    A,
    ClaudePlaybook,
    answer,
    init,
    initialized,
    refusal,
    result,
    system,
)


def starting(book: ClaudePlaybook, settings: Settings) -> list[dict[str, object]]:
    """What is written for a prompt under these settings."""
    book.skip().command(StartTurn(A, T1, (TextBlock("go"),), settings))
    return book.written_frames()


def test_a_model_is_changed_before_the_prompt_and_an_alias_stands_while_it_leads_to_the_same():
    book = ClaudePlaybook().opened()
    (change,) = starting(book, {"model": "opus"})
    assert change["request"] == {"subtype": "set_model", "model": "opus"}
    book.receive(answer(str(change["request_id"]), model="claude-opus"))
    assert [each["type"] for each in book.written_frames()] == ["user"]
    book.receive(system("init", uuid="u", model="claude-opus", permissionMode="default"))
    told = [event.settings for event in book.events() if isinstance(event, SettingsReported)]
    assert told == [{"permissionMode": "default", "model": "opus"}]
    book.receive(system("init", uuid="u", model="claude-other", permissionMode="default"))
    reported = [event.settings for event in book.events() if isinstance(event, SettingsReported)][-1]
    assert reported == {"permissionMode": "default", "model": "claude-other"}


def test_a_model_that_is_no_longer_chosen_is_claudes_own_again():
    book = ClaudePlaybook(settings={"model": "opus"}).opened()
    (change,) = starting(book, {})
    assert change["request"] == {"subtype": "set_model", "model": None}


def test_what_holds_already_costs_nothing():
    book = ClaudePlaybook(settings={"model": "opus", "permissionMode": "plan"}).begin()
    book.receive(initialized(mode="plan"))
    book.command(OpenThread(A, CWD, {"model": "opus", "permissionMode": "plan"}))
    frames = starting(book, {"model": "opus", "permissionMode": "plan", "reasoningEffort": "high"})
    assert [each["type"] for each in frames] == ["user"]


@pytest.mark.rule("RT-056")
def test_a_prompt_whose_settings_are_refused_is_rejected_with_nothing_sent():
    book = ClaudePlaybook().opened()
    (mode,) = starting(book, {"permissionMode": "bypassPermissions", "model": "opus"})
    book.receive(refusal(str(mode["request_id"]), "bypass_not_launched"))
    (event,) = [event for event in book.events() if isinstance(event, TurnRejected)]
    assert event.error.code == "settings.invalid"
    assert book.written_frames() == []


def test_what_was_changed_before_a_refusal_is_undone():
    book = ClaudePlaybook().opened()
    (mode,) = starting(book, {"permissionMode": "plan", "model": "opus"})
    book.receive(answer(str(mode["request_id"]), mode="plan"))
    (model,) = book.written_frames()
    book.receive(refusal(str(model["request_id"])))
    (undone,) = book.written_frames()
    assert undone["request"] == {"subtype": "set_permission_mode", "mode": "default"}


def test_settings_that_are_never_answered_reject_the_prompt():
    book = ClaudePlaybook().opened()
    (change,) = starting(book, {"model": "opus"})
    book.timer(ChangesDeadline(1))
    (event,) = [event for event in book.events() if isinstance(event, TurnRejected)]
    assert event.error.code == "provider.timeout"
    book.receive(answer(str(change["request_id"])))
    assert book.written_frames() == []


def test_a_prompt_that_is_stopped_while_it_waits_is_taken_back_once_it_is_sent():
    book = ClaudePlaybook().opened()
    (change,) = starting(book, {"model": "opus"})
    book.command(CancelTurn(A, T1))
    assert book.written_frames() == []
    book.receive(answer(str(change["request_id"])))
    _, taking_back = book.written_frames()
    assert taking_back["request"] == {"subtype": "cancel_async_message", "message_uuid": T1}


def test_the_permission_mode_changes_now():
    book = ClaudePlaybook().opened().running()
    book.command(ApplySettings(A, "u1", {"permissionMode": "acceptEdits"}))
    (change,) = book.written_frames()
    book.receive(
        system("status", status=None, permissionMode="acceptEdits"),
        answer(str(change["request_id"]), mode="acceptEdits"),
    )
    applied = [event for event in book.events() if isinstance(event, SettingsApplied)]
    assert [dict(event.settings)["permissionMode"] for event in applied] == ["acceptEdits"]


@pytest.mark.parametrize(("key", "told"), [("permissionMode", "permissionMode"), ("novelty", "novelty")])
def test_a_change_that_is_refused_says_which(key: str, told: str):
    book = ClaudePlaybook().opened()
    book.command(ApplySettings(A, "u1", {key: "x"}))
    for change in book.written_frames():
        book.receive(refusal(str(change["request_id"])))
    (refused,) = [event for event in book.events() if isinstance(event, SettingsRefused)]
    assert (refused.update_id, refused.key, refused.error.code) == ("u1", told, "settings.invalid")


def test_a_mode_of_a_plan_that_was_accepted_is_reported():
    book = ClaudePlaybook().opened().running()
    book.receive(system("status", permissionMode="acceptEdits"), result())
    told = [event.settings for event in book.events() if isinstance(event, SettingsReported)]
    assert told[-1] == {"permissionMode": "acceptEdits", "model": MODEL}


def test_a_process_that_allows_itself_more_is_changed_or_not_opened():
    book = ClaudePlaybook().begin().receive(initialized(mode="acceptEdits")).skip()
    book.command(OpenThread(A, CWD, {}))
    (change,) = book.written_frames()
    assert change["request"] == {"subtype": "set_permission_mode", "mode": "default"}
    book.receive(answer(str(change["request_id"]), mode="acceptEdits"))
    (failed,) = book.events()
    assert isinstance(failed, ThreadOpenFailed)
    assert failed.error.code == "settings.invalid"


def test_a_process_that_holds_less_is_opened_and_says_so():
    book = ClaudePlaybook(settings={"permissionMode": "acceptEdits"}).begin()
    book.receive(initialized(mode="default")).skip()
    book.command(OpenThread(A, CWD, {"permissionMode": "acceptEdits"}))
    (change,) = book.written_frames()
    book.receive(answer(str(change["request_id"]), mode="default"))
    (opened,) = book.events()
    assert isinstance(opened, ThreadOpened)
    assert opened.settings == {"permissionMode": "default"}


def test_a_turn_tells_the_model_that_claude_chose():
    book = ClaudePlaybook().opened().prompt().skip().receive(init())
    told = [event.settings for event in book.events() if isinstance(event, SettingsReported)]
    assert told == [{"permissionMode": "default", "model": MODEL}]
