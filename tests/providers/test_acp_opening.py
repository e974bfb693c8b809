"""Opening an ACP conversation: new, resumed or loaded, with its settings, its deadline and its failures."""

import pytest

from runtime.providers.acp.failures import provider_error, runtime_error
from runtime.providers.acp.opening import OpenDeadline
from runtime.providers.catalogue import ModelOffer, ProviderFacts
from runtime.providers.normalized import TextChunk, ThreadOpened, ThreadOpenFailed, TitleReported
from runtime.providers.port import (
    CloseThread,
    Deliver,
    Diagnostic,
    Learned,
    OpenThread,
    StartTimer,
    StopTimer,
)
from store.canonical.common import Settings
from store.canonical.session import SessionCapabilities
from tests.providers.adapter_playbook import T1, A, B, Playbook, Sent, ask, chunk, update

TIMER = OpenDeadline(A)
ABLE = SessionCapabilities(load=True, interrupt=True)
RESUMES = {"sessionCapabilities": {"resume": {}, "close": {}}}

MODEL = {
    "id": "model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}],
}
MODE = {"id": "m", "category": "mode", "type": "select", "currentValue": "ask", "options": []}
EFFORT = {"id": "effort", "category": "thought_level", "type": "select", "currentValue": "low", "options": []}
WEB = {"id": "web", "type": "boolean", "currentValue": False}
OFFERS = Learned(ProviderFacts(models=(ModelOffer("small", "Small", is_default=True),)))


def opening(
    provider_session_id: str | None = None, settings: Settings | None = None, **capabilities: object
) -> Playbook:
    book = Playbook().ready(**capabilities)
    return book.command(OpenThread(A, "/w", settings or {}, provider_session_id))


# --- new ----------------------------------------------------------------------------------------------------------


def test_new_conversation_is_opened_with_its_folder() -> None:
    book = opening().expect(
        StartTimer(TIMER, 60.0),
        Sent({"id": 2, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
    )
    book.reply("session/new", result={"sessionId": "s"}).expect(
        StopTimer(TIMER), ThreadOpened("s", False, ABLE, {})
    )


@pytest.mark.parametrize("result", [None, {}, {"sessionId": ""}, {"sessionId": 5}])
def test_answer_without_a_session_fails(result: object) -> None:
    opening().skip().reply("session/new", result=result).expect(
        StopTimer(TIMER), ThreadOpenFailed(provider_error("provider.protocol"))
    )


def test_session_another_conversation_has_is_not_taken() -> None:
    book = Playbook().opened(B, "s").command(OpenThread(A, "/w", {})).skip()
    book.reply("session/new", result={"sessionId": "s"}).expect(
        StopTimer(TIMER), ThreadOpenFailed(provider_error("provider.protocol"))
    )
    book.prompted(B).receive(chunk("s", "x")).expect(Deliver(B, TextChunk(T1, "item-1", "text", "x")))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": -32000, "message": "Authentication required"}, "provider.auth_required"),
        ({"code": -32603, "message": "no"}, "provider.rejected"),
    ],
)
def test_refused_new_conversation_fails_by_its_kind_and_the_scope_may_try_again(
    error: object, code: str
) -> None:
    book = opening().skip().reply("session/new", error=error)
    book.expect(StopTimer(TIMER), ThreadOpenFailed(provider_error(code)))
    book.command(OpenThread(A, "/w", {})).reply("session/new", result={"sessionId": "s"})
    assert isinstance(book.events()[-1], ThreadOpened)


def test_second_opening_of_an_open_conversation_is_refused() -> None:
    error = runtime_error("internal", "The conversation is already open or opening.")
    Playbook().opened().command(OpenThread(A, "/w", {})).expect(ThreadOpenFailed(error))


@pytest.mark.case("FC-24")
def test_updates_that_come_before_the_answer_wait_for_it() -> None:
    book = (
        opening()
        .skip()
        .receive(
            update("s", "session_info_update", title="Early"),
            update("other", "session_info_update", title="Not mine"),
            update("s", "config_option_update", configOptions=[MODE]),
            chunk("s", "noise"),
        )
    )
    book.expect()
    book.reply("session/new", result={"sessionId": "s"}).expect(
        StopTimer(TIMER), ThreadOpened("s", False, ABLE, {"mode": "ask"}), TitleReported("Early")
    )
    book.receive(update("other", "session_info_update", title="x")).expect(
        Diagnostic("update.stray_session", "other")
    )


@pytest.mark.case("FC-24")
def test_early_updates_are_bounded() -> None:
    book = opening().skip().receive(*[update("s", "plan", entries=[])] * 300)
    assert book.diagnostics() == ["update.stray_session"] * 44


# --- resume and load ----------------------------------------------------------------------------------------------


def test_resume_is_preferred_to_load() -> None:
    book = opening("old", **RESUMES)
    params = {"sessionId": "old", "cwd": "/w", "mcpServers": []}
    book.expect(StartTimer(TIMER, 60.0), Sent({"id": 2, "method": "session/resume", "params": params}))
    book.reply("session/resume", result={}).expect(StopTimer(TIMER), ThreadOpened("old", True, ABLE, {}))


def test_agent_that_does_not_know_resume_after_all_is_asked_to_load() -> None:
    book = opening("old", **RESUMES).skip()
    book.reply("session/resume", error={"code": -32601, "message": "Method not found"})
    params = {"sessionId": "old", "cwd": "/w", "mcpServers": []}
    book.expect(Sent({"id": 3, "method": "session/load", "params": params}))
    book.reply("session/load", result=None).expect(StopTimer(TIMER), ThreadOpened("old", True, ABLE, {}))


@pytest.mark.case("FC-58")
def test_new_id_in_the_answer_of_a_resume_is_taken_over() -> None:
    book = opening("old").skip().reply("session/load", result={"sessionId": "newer"})
    book.expect(StopTimer(TIMER), ThreadOpened("newer", True, ABLE, {}))
    book.prompted().receive(chunk("newer", "x"), chunk("old", "y")).expect(
        TextChunk(T1, "item-1", "text", "x"), Diagnostic("update.stray_session", "old")
    )


@pytest.mark.case("FC-26")
def test_history_replayed_by_a_loading_agent_is_no_new_output() -> None:
    old, late = "old-message-0123456789", "late-message-0123456789"
    replay = [
        chunk("old", "prompt", "user_message_chunk"),
        *[chunk("old", f"{n}", messageId=old) for n in range(500)],
        update("old", "tool_call", toolCallId="c1", title="x", status="completed"),
        update("old", "plan", entries=[]),
        ask("old", 0, "c1", "allow_once"),
        update("old", "session_info_update", title="Old title"),
        update("old", "current_mode_update", currentModeId="plan"),
    ]
    book = opening("old").skip().receive(*replay)
    book.expect(
        Sent({"id": 0, "result": {"outcome": {"outcome": "cancelled"}}}),
        Diagnostic("ask.cancelled", "no open turn"),
    )
    book.reply("session/load", result={}).expect(
        StopTimer(TIMER), ThreadOpened("old", True, ABLE, {"mode": "plan"}), TitleReported("Old title")
    )
    book.receive(*[chunk("old", "z", messageId=late)] * 20)
    assert book.diagnostics()[-20:] == ["update.no_turn"] + ["update.late"] * 19
    book.prompted().receive(
        chunk("old", "still replaying", messageId=late),
        update("old", "tool_call_update", toolCallId="c1", status="completed"),
        chunk("old", "live"),
    )
    book.expect(
        Diagnostic("update.late", f"message {late}"),
        Diagnostic("update.late", "replayed call c1"),
        TextChunk(T1, "item-1", "text", "live"),
    )


@pytest.mark.case("FC-07")
@pytest.mark.parametrize("code", [-32002, -32602, -32603, -32601, 0])
def test_refused_resume_means_the_conversation_is_gone_whatever_the_code(code: int) -> None:
    opening("old").skip().reply("session/load", error={"code": code, "message": "Internal error"}).expect(
        StopTimer(TIMER), ThreadOpenFailed(provider_error("session.not_resumable"), not_resumable=True)
    )


@pytest.mark.case("FC-07")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": -32000, "message": "Authentication required"}, "provider.auth_required"),
        ({"code": -32603, "message": "rate limit reached"}, "provider.rate_limited"),
    ],
)
def test_sign_in_and_limits_do_not_make_a_conversation_gone(error: object, code: str) -> None:
    opening("old").skip().reply("session/load", error=error).expect(
        StopTimer(TIMER), ThreadOpenFailed(provider_error(code))
    )


def test_agent_that_can_neither_resume_nor_load_is_not_asked() -> None:
    opening("old", loadSession=False).expect(
        StopTimer(TIMER), ThreadOpenFailed(provider_error("session.not_resumable"), not_resumable=True)
    )


@pytest.mark.case("FC-52")
def test_one_conversation_is_not_opened_twice_on_a_connection() -> None:
    book = Playbook().opened(B, "old").command(OpenThread(A, "/w", {}, "old"))
    error = runtime_error("provider.rejected", "This conversation is already open on this connection.")
    book.expect(StopTimer(TIMER), ThreadOpenFailed(error))


# --- the deadline -------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-50")
def test_silent_opening_fails_and_a_session_that_comes_later_is_closed() -> None:
    book = opening(**RESUMES).skip().timer(TIMER)
    book.expect(StopTimer(TIMER), ThreadOpenFailed(provider_error("provider.timeout")))
    book.reply("session/new", result={"sessionId": "s"}).expect(
        Sent({"id": 3, "method": "session/close", "params": {"sessionId": "s"}})
    )
    book.timer(TIMER).expect()


def test_deadline_is_given_again_while_a_long_history_keeps_coming_but_not_for_ever() -> None:
    book = opening("old").skip()
    for _ in range(4):
        book.receive(chunk("old", "x")).timer(TIMER).expect(StartTimer(TIMER, 60.0))
    book.receive(chunk("old", "x")).timer(TIMER)
    book.expect(StopTimer(TIMER), ThreadOpenFailed(provider_error("provider.timeout")))


@pytest.mark.case("FC-44")
def test_scope_that_leaves_while_opening_hears_nothing_and_leaves_no_session() -> None:
    book = opening(**RESUMES).skip().command(CloseThread(A)).expect(StopTimer(TIMER))
    book.reply("session/new", result={"sessionId": "s"}).expect(
        Sent({"id": 3, "method": "session/close", "params": {"sessionId": "s"}})
    )
    book.receive(chunk("s", "x")).expect(Diagnostic("update.stray_session", "s"))


# --- settings -----------------------------------------------------------------------------------------------------


def test_settings_are_applied_one_by_one_the_model_first_before_the_conversation_is_open() -> None:
    wanted: Settings = {
        "mode": "auto",
        "web": True,
        "model": "large",
        "reasoningEffort": "low",
        "dedicatedProcess": True,
    }
    book = opening(settings=wanted).skip()
    book.reply("session/new", result={"sessionId": "s", "configOptions": [MODE, MODEL, EFFORT, WEB]})
    book.expect(
        OFFERS,
        Sent(
            {
                "id": 3,
                "method": "session/set_config_option",
                "params": {"sessionId": "s", "configId": "model", "value": "large"},
            }
        ),
    )
    options = [MODE, MODEL | {"currentValue": "large"}, EFFORT, WEB]
    book.reply("session/set_config_option", result={"configOptions": options}).expect(
        Sent(
            {
                "id": 4,
                "method": "session/set_config_option",
                "params": {"sessionId": "s", "configId": "m", "value": "auto"},
            }
        )
    )
    options[0] = MODE | {"currentValue": "auto"}
    book.reply("session/set_config_option", result={"configOptions": options}).expect(
        Sent(
            {
                "id": 5,
                "method": "session/set_config_option",
                "params": {"sessionId": "s", "configId": "web", "value": True, "type": "boolean"},
            }
        )
    )
    options[3] = WEB | {"currentValue": True}
    settings = {"model": "large", "mode": "auto", "reasoningEffort": "low", "web": True}
    book.reply("session/set_config_option", result={"configOptions": options})
    (opened,) = book.events()
    assert opened == ThreadOpened("s", False, ABLE, settings)


def test_older_agents_take_mode_and_model_by_their_own_methods() -> None:
    book = opening("old", settings={"mode": "default", "model": "b"}).skip()
    blocks = {"modes": {"currentModeId": "auto"}, "models": {"currentModelId": "a"}}
    book.reply("session/load", result=blocks).expect(
        Sent({"id": 3, "method": "session/set_model", "params": {"sessionId": "old", "modelId": "b"}})
    )
    book.reply("session/set_model", result={}).expect(
        Sent({"id": 4, "method": "session/set_mode", "params": {"sessionId": "old", "modeId": "default"}})
    )
    book.reply("session/set_mode", result=None).expect(
        StopTimer(TIMER), ThreadOpened("old", True, ABLE, {"mode": "default", "model": "b"})
    )


def test_setting_that_holds_already_is_not_sent() -> None:
    book = opening(settings={"model": "small", "mode": "ask"}).skip()
    book.reply(
        "session/new", result={"sessionId": "s", "configOptions": [MODEL], "modes": {"currentModeId": "ask"}}
    )
    book.expect(OFFERS, StopTimer(TIMER), ThreadOpened("s", False, ABLE, {"mode": "ask", "model": "small"}))


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("model", "none", "provider.model_unavailable"),
        ("mode", "none", "settings.invalid"),
        ("colour", "red", "settings.invalid"),
        ("web", "yes", "settings.invalid"),
    ],
)
def test_setting_the_agent_has_no_place_for_fails_the_opening(key: str, value: str, code: str) -> None:
    book = opening(settings={key: value}, **RESUMES).skip()
    book.reply("session/new", result={"sessionId": "s", "configOptions": [WEB]}).expect(
        StopTimer(TIMER),
        Sent({"id": 3, "method": "session/close", "params": {"sessionId": "s"}}),
        ThreadOpenFailed(provider_error(code)),
    )


@pytest.mark.parametrize(
    ("key", "error", "code"),
    [
        ("model", {"code": -32602, "message": "Model 'x' is not available"}, "provider.model_unavailable"),
        ("mode", {"code": -32602, "message": "no"}, "settings.invalid"),
        ("model", {"code": -32000, "message": "Authentication required"}, "provider.auth_required"),
    ],
)
def test_refused_setting_fails_the_opening_by_its_kind(key: str, error: object, code: str) -> None:
    book = opening(settings={key: "x"}).skip()
    book.reply("session/new", result={"sessionId": "s", "configOptions": [MODE, MODEL]}).skip()
    book.reply("session/set_config_option", error=error).expect(
        StopTimer(TIMER), ThreadOpenFailed(provider_error(code))
    )
    book.receive(chunk("s", "x")).expect(Diagnostic("update.stray_session", "s"))
