"""Changing settings of an open ACP conversation: at once, with a prompt, by the agent itself, and back again."""

import pytest

from runtime.providers.acp.failures import provider_error, runtime_error
from runtime.providers.acp.preparing import SettingsDeadline
from runtime.providers.normalized import (
    SettingsApplied,
    SettingsRefused,
    SettingsReported,
    TurnRejected,
)
from runtime.providers.port import (
    ApplySettings,
    CancelTurn,
    CloseThread,
    Diagnostic,
    OpenThread,
    StartTimer,
    StartTurn,
    StopTimer,
)
from store.canonical.common import Settings
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, T2, A, Playbook, Sent, frame, update

TIMER = SettingsDeadline(A)
SET = "session/set_config_option"
INVALID = {"code": -32602, "message": "no"}


def option(name: str, value: str | bool, *offered: str, category: str | None = None) -> dict[str, object]:
    options = [{"value": word, "name": word} for word in offered]
    named = {"category": category} if category is not None else {}
    return {"id": name, "type": "select", "currentValue": value, "options": options, **named}


def options(model: str = "small", mode: str = "ask", **more: bool) -> list[dict[str, object]]:
    others = [{"id": name, "type": "boolean", "currentValue": value} for name, value in more.items()]
    return [
        option("model", model, "small", "large", category="model"),
        option("mode", mode, "ask", "auto", category="mode"),
        *others,
    ]


def opened(settings: Settings | None = None, **result: object) -> Playbook:
    """An open conversation whose agent has options, or what `result` says it has."""
    book = Playbook().ready()
    book.command(OpenThread(A, "/w", settings or {}))
    told = result or {"configOptions": options()}
    return book.reply("session/new", result={"sessionId": "sa", **told}).skip()


def start(settings: Settings | None, turn_id: str = T1) -> StartTurn:
    return StartTurn(A, turn_id, (TextBlock("go"),), settings)


def sent(number: int, name: str, value: str | bool) -> Sent:
    params: dict[str, object] = {"configId": name, "sessionId": "sa", "value": value}
    if isinstance(value, bool):
        params["type"] = "boolean"
    return Sent({"id": number, "method": SET, "params": params})


def prompt(number: int) -> Sent:
    params = {"prompt": [{"text": "go", "type": "text"}], "sessionId": "sa"}
    return Sent({"id": number, "method": "session/prompt", "params": params})


# --- at once ------------------------------------------------------------------------------------------------------


def test_a_change_is_asked_for_and_told_with_all_that_holds() -> None:
    book = opened().command(ApplySettings(A, "u", {"mode": "auto"})).expect(sent(3, "mode", "auto"))
    book.reply(SET, result={"configOptions": options(mode="auto")}).expect(
        SettingsApplied("u", {"mode": "auto", "model": "small"})
    )


def test_what_holds_already_is_asked_of_nobody() -> None:
    opened().command(ApplySettings(A, "u", {"mode": "ask"})).expect(
        SettingsApplied("u", {"mode": "ask", "model": "small"})
    )


def test_a_refused_change_takes_back_those_before_it() -> None:
    book = opened().command(ApplySettings(A, "u", {"mode": "auto", "model": "large"}))
    book.expect(sent(3, "model", "large"))
    book.reply(SET, result={"configOptions": options("large")}).expect(sent(4, "mode", "auto"))
    book.reply(SET, error=INVALID).expect(sent(5, "model", "small"))
    book.reply(SET, result={"configOptions": options()}).expect(
        SettingsRefused("u", provider_error("settings.invalid"), "mode", {"mode": "ask", "model": "small"})
    )


def test_a_way_back_that_is_refused_too_is_told_as_it_is() -> None:
    book = opened().command(ApplySettings(A, "u", {"mode": "auto", "model": "large"}))
    book.reply(SET, result={"configOptions": options("large")})
    book.reply(SET, error=INVALID).skip().reply(SET, error=INVALID)
    refused = book.events()[-1]
    assert isinstance(refused, SettingsRefused)
    assert (refused.key, refused.settings) == ("mode", {"mode": "ask", "model": "large"})


def test_an_unknown_setting_is_refused_without_asking() -> None:
    opened().command(ApplySettings(A, "u", {"colour": "red"})).expect(
        SettingsRefused("u", provider_error("settings.invalid"), "colour", {"mode": "ask", "model": "small"})
    )


def test_null_goes_back_to_what_the_agent_began_with() -> None:
    book = opened({"mode": "auto"})
    book.reply(SET, result={"configOptions": options(mode="auto")}).skip()
    book.command(ApplySettings(A, "u", {"mode": None})).expect(sent(4, "mode", "ask"))
    book.reply(SET, result={"configOptions": options()}).expect(
        SettingsApplied("u", {"mode": "ask", "model": "small"})
    )


def test_without_an_open_conversation_there_is_nothing_to_change() -> None:
    book = Playbook().ready().command(ApplySettings(A, "u", {"mode": "auto"}))
    book.expect(SettingsRefused("u", runtime_error("provider.unavailable")))


def test_an_answer_after_the_scope_left_is_counted() -> None:
    book = opened().command(ApplySettings(A, "u", {"mode": "auto"})).command(CloseThread(A)).skip()
    book.reply(SET, result={"configOptions": options(mode="auto")}).expect(
        Diagnostic("settings.after_close", str(A))
    )


def test_modes_and_models_of_the_older_kind_change_by_their_own_methods() -> None:
    book = opened(modes={"currentModeId": "ask"}, models={"currentModelId": "small"})
    book.command(ApplySettings(A, "u", {"mode": "auto", "model": "large"}))
    book.expect(
        Sent({"id": 3, "method": "session/set_model", "params": {"modelId": "large", "sessionId": "sa"}})
    )
    book.reply("session/set_model", result={}).expect(
        Sent({"id": 4, "method": "session/set_mode", "params": {"modeId": "auto", "sessionId": "sa"}})
    )
    book.reply("session/set_mode", result=None).expect(
        SettingsApplied("u", {"mode": "auto", "model": "large"})
    )


# --- with a prompt ------------------------------------------------------------------------------------------------


def test_what_was_chosen_is_changed_before_the_prompt_goes_out() -> None:
    book = (
        opened().command(start({"model": "large"})).expect(sent(3, "model", "large"), StartTimer(TIMER, 60.0))
    )
    book.reply(SET, result={"configOptions": options("large")}).expect(
        StopTimer(TIMER), SettingsReported({"mode": "ask", "model": "large"}), prompt(4)
    )


@pytest.mark.parametrize("settings", [None, {}, {"mode": "ask", "dedicatedProcess": True}])
def test_nothing_to_change_is_no_delay(settings: Settings | None) -> None:
    opened().command(start(settings)).expect(prompt(3))


@pytest.mark.rule("RT-056")
def test_a_model_the_agent_refuses_rejects_the_prompt_unsent() -> None:
    book = opened().command(start({"model": "no-such"})).skip()
    book.reply(SET, error=INVALID).expect(
        StopTimer(TIMER), TurnRejected(T1, provider_error("provider.model_unavailable"))
    )
    book.command(start(None, T2)).expect(prompt(4))


@pytest.mark.rule("RT-056")
def test_another_model_than_the_one_asked_for_is_a_refusal() -> None:
    book = opened().command(start({"model": "large"})).skip()
    book.reply(SET, result={"configOptions": options("small")}).expect(
        StopTimer(TIMER), TurnRejected(T1, provider_error("provider.model_unavailable"))
    )


def test_an_alias_the_agent_does_not_list_is_shown_as_it_was_asked_for_and_not_asked_again() -> None:
    book = opened().command(start({"model": "best"})).skip()
    book.reply(SET, result={"configOptions": options("large")}).expect(
        StopTimer(TIMER), SettingsReported({"mode": "ask", "model": "best"}), prompt(4)
    )
    book.reply("session/prompt", result={"stopReason": "end_turn"}).skip()
    book.command(start({"model": "best"}, T2)).expect(prompt(5))
    book.reply("session/prompt", result={"stopReason": "end_turn"}).skip()
    book.receive(update("sa", "config_option_update", configOptions=options("small")))
    book.expect(SettingsReported({"mode": "ask", "model": "small"}))


def test_what_is_no_longer_chosen_goes_back_to_what_held_first() -> None:
    book = opened({"model": "large"})
    book.reply(SET, result={"configOptions": options("large")}).skip()
    book.command(start({})).expect(sent(4, "model", "small"), StartTimer(TIMER, 60.0))
    book.reply(SET, result={"configOptions": options()}).skip()
    book.reply("session/prompt", result={"stopReason": "end_turn"}).skip()
    book.command(start({}, T2)).expect(prompt(6))


def test_a_stop_while_the_settings_change_stops_the_turn_that_then_begins() -> None:
    book = opened().command(start({"model": "large"})).skip().command(CancelTurn(A, T1)).expect()
    book.reply(SET, result={"configOptions": options("large")}).expect(
        StopTimer(TIMER),
        SettingsReported({"mode": "ask", "model": "large"}),
        prompt(4),
        Sent({"method": "session/cancel", "params": {"sessionId": "sa"}}),
    )


def test_a_second_prompt_meanwhile_is_busy() -> None:
    book = opened().command(start({"model": "large"})).skip()
    book.command(start(None, T2)).expect(TurnRejected(T2, runtime_error("session.busy")))


def test_a_silent_agent_gets_no_prompt_and_its_late_answer_is_a_fact() -> None:
    book = opened().command(start({"model": "large"})).skip()
    book.timer(TIMER).expect(StopTimer(TIMER), TurnRejected(T1, provider_error("provider.timeout")))
    book.reply(SET, result={"configOptions": options("large")}).expect(
        SettingsReported({"mode": "ask", "model": "large"})
    )
    book.timer(TIMER).expect()


def test_a_scope_that_leaves_meanwhile_gets_no_prompt() -> None:
    book = opened().command(start({"model": "large"})).skip()
    book.command(CloseThread(A)).expect(StopTimer(TIMER))
    book.reply(SET, result={"configOptions": options("large")}).expect()


def test_a_setting_with_an_open_request_is_asked_for_whatever_seems_to_hold() -> None:
    book = opened().command(ApplySettings(A, "u", {"mode": "auto"})).expect(sent(3, "mode", "auto"))
    book.command(ApplySettings(A, "v", {"mode": "ask"})).expect(sent(4, "mode", "ask"))
    first, second = (frame["id"] for frame in book.frames[-2:])
    book.receive(frame(id=first, result={"configOptions": options(mode="auto")}))
    book.receive(frame(id=second, result={"configOptions": options()})).expect(
        SettingsApplied("u", {"mode": "auto", "model": "small"}),
        SettingsApplied("v", {"mode": "ask", "model": "small"}),
    )


# --- by the agent -------------------------------------------------------------------------------------------------


def test_what_the_agent_changes_itself_is_told_once() -> None:
    book = opened()
    book.receive(update("sa", "current_mode_update", currentModeId="auto")).expect(
        SettingsReported({"mode": "auto", "model": "small"})
    )
    book.receive(update("sa", "config_option_update", configOptions=options(mode="auto"))).expect()
    book.receive(update("sa", "config_option_update", configOptions=options(mode="auto", web=True))).expect(
        SettingsReported({"mode": "auto", "web": True, "model": "small"})
    )


def test_what_the_agent_changed_itself_is_not_changed_back_with_the_next_prompt() -> None:
    book = opened({"mode": "auto"})
    book.reply(SET, result={"configOptions": options(mode="auto")}).skip()
    book.receive(update("sa", "current_mode_update", currentModeId="plan")).skip()
    book.command(start({})).expect(prompt(4))


def test_before_the_conversation_is_open_it_is_part_of_how_it_opens() -> None:
    book = Playbook().ready().command(OpenThread(A, "/w", {"mode": "auto"}))
    book.reply("session/new", result={"sessionId": "sa", "configOptions": options()}).skip()
    book.receive(update("sa", "config_option_update", configOptions=options("large"))).expect()
    book.reply(SET, result={"configOptions": options("large", "auto")})
    assert [type(event).__name__ for event in book.events()] == ["ThreadOpened"]
