"""How settings change: in one lane, live first where they can, and whose choice each of them is."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState
from runtime.providers import normalized as n
from runtime.providers.port import ApplySettings, OpenThread, StartTurn
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import LOADS, a_claim, a_session
from store.canonical.common import Settings, TurnError
from store.canonical.message import TextBlock
from store.canonical.session import Session
from tests.lifecycle.playbook import Playbook

LOST = TurnError("provider.lost", "gone", "provider")
REFUSED = TurnError("settings.invalid", "no", "provider")
FIRST = {"mode": "ask", "model": "small"}


def opened(held: Settings = FIRST, **row: object) -> Playbook:
    """A session whose conversation is open and idle, after one turn."""
    book = Playbook(SessionState(a_session(**row)))
    turn = book.send(submit_id="c0", reply="first")
    book.give(i.ConnectionAcquired(book.generation))
    book.say(n.ThreadOpened("thread", False, LOADS, held))
    book.say(n.TurnAccepted(turn.turn_id))
    book.say(n.TurnEnded(turn.turn_id, "completed", "end_turn"))
    return book


def chosen(**values: str | bool) -> dict[str, object]:
    return {"settings": values, "settings_source": dict.fromkeys(values, "explicit")}


def shown(book: Playbook) -> dict[str, tuple[object, str]]:
    session = book.state.session
    assert session.settings.keys() == session.settings_source.keys()
    return {key: (value, session.settings_source[key]) for key, value in session.settings.items()}


def asked(book: Playbook) -> list[ApplySettings]:
    return [command for command in book.told if isinstance(command, ApplySettings)]


def taken(book: Playbook, **held: str | bool) -> None:
    """The provider takes what it was asked last."""
    book.say(n.SettingsApplied(asked(book)[-1].update_id, held))


def test_without_a_runtime_a_change_is_stored_and_sent_with_the_next_opening() -> None:
    book = Playbook()
    answer = book.update("u", mode="auto", model="large", dedicatedProcess=True)
    assert isinstance(answer, Session)
    assert shown(book) == {
        "mode": ("auto", "explicit"),
        "model": ("large", "explicit"),
        "dedicatedProcess": (True, "explicit"),
    }
    assert book.told == []
    book.send()
    book.give(i.ConnectionAcquired(book.generation))
    [opening] = book.told
    assert isinstance(opening, OpenThread)
    assert opening.settings == {"mode": "auto", "model": "large", "dedicatedProcess": True}


def test_a_live_change_is_stored_once_the_provider_took_it() -> None:
    book = opened()
    assert book.update("u", mode="auto", model="large") is None
    assert asked(book)[-1].settings == {"mode": "auto"}, "what waits for a turn is not asked for now"
    assert shown(book) == {"mode": ("ask", "default"), "model": ("small", "default")}
    taken(book, mode="auto", model="small")
    assert shown(book) == {"mode": ("auto", "explicit"), "model": ("large", "explicit")}
    assert book.answers["u"] == [book.state.session]
    turn = book.send(submit_id="c1", reply="second")
    [start] = [c for c in book.told if isinstance(c, StartTurn) and c.turn_id == turn.turn_id]
    assert start.settings == {"mode": "auto", "model": "large"}


def test_a_refusal_stores_nothing_and_the_next_change_goes_on() -> None:
    book = opened()
    book.update("u", mode="auto", model="large")
    book.update("v", model="large")
    book.say(n.SettingsRefused(asked(book)[-1].update_id, REFUSED, "mode", FIRST))
    details = {"key": "mode"}
    assert book.answers["u"] == [Refusal("settings.invalid", delivery="rejected", details=details)]
    assert shown(book) == {"mode": ("ask", "default"), "model": ("large", "explicit")}
    assert isinstance(book.answers["v"][-1], Session)


def test_changes_are_asked_for_one_at_a_time_in_their_order() -> None:
    book = opened()
    for reply, mode in (("a", "auto"), ("b", "ask"), ("c", "auto")):
        book.update(reply, mode=mode)
    assert len(asked(book)) == 1
    taken(book, mode="auto", model="small")
    assert [command.settings["mode"] for command in asked(book)] == ["auto", "ask"]
    taken(book, mode="ask", model="small")
    taken(book, mode="auto", model="small")
    assert shown(book)["mode"] == ("auto", "explicit")
    assert all(isinstance(book.answers[reply][-1], Session) for reply in "abc")
    assert book.state.settings_lane == ()
    assert not any(timer.kind == "settings" for timer in book.timers)


def test_a_prompt_waits_for_the_changes_before_it_and_can_be_stopped_meanwhile() -> None:
    for ending in ("taken", "refused", "timed out", "cancel"):
        book = opened()
        book.update("u", mode="auto")
        turn = book.send(submit_id="c1", reply="second")
        assert book.turns[turn.turn_id].delivery == "not_dispatched"
        match ending:
            case "taken":
                taken(book, mode="auto", model="small")
            case "refused":
                book.say(n.SettingsRefused(asked(book)[-1].update_id, REFUSED))
            case "timed out":
                [timer] = [timer for timer in book.timers if timer.kind == "settings"]
                book.give(i.TimerFired(timer))
            case "cancel":
                book.cancel(turn.turn_id)
                assert book.turns[turn.turn_id].outcome == "canceled"
                continue
        assert book.turns[turn.turn_id].delivery == "dispatching", ending


def test_what_comes_after_the_deadline_is_a_fact_and_no_choice() -> None:
    book = opened()
    book.update("u", mode="auto")
    [timer] = [timer for timer in book.timers if timer.kind == "settings"]
    book.give(i.TimerFired(timer))
    assert book.answers["u"] == [Refusal("provider.timeout", delivery="unknown")]
    assert shown(book)["mode"] == ("ask", "default")
    taken(book, mode="auto", model="small")
    assert shown(book)["mode"] == ("auto", "provider")
    assert len(book.answers["u"]) == 1


def test_after_a_silence_even_what_seems_to_hold_is_asked_for() -> None:
    """Otherwise the first change could take effect late, over a choice that was acknowledged after it."""
    book = opened()
    book.update("u", mode="auto")
    [timer] = [timer for timer in book.timers if timer.kind == "settings"]
    book.give(i.TimerFired(timer))
    late = asked(book)[-1].update_id
    assert book.update("v", mode="ask") is None
    assert asked(book)[-1].settings == {"mode": "ask"}
    book.say(n.SettingsApplied(late, {"mode": "auto", "model": "small"}))
    assert "v" not in book.answers
    taken(book, mode="ask", model="small")
    assert shown(book)["mode"] == ("ask", "explicit")
    assert isinstance(book.update("w", mode="ask"), Session), "known again"


def test_a_change_behind_a_silent_one_runs_out_of_time_undispatched() -> None:
    book = opened()
    book.update("u", mode="auto")
    book.update("v", mode="ask")
    [last] = [timer for timer in book.timers if timer.update_id == book.state.settings_lane[1].update_id]
    book.give(i.TimerFired(last))
    assert book.answers["v"] == [Refusal("provider.timeout")]


@pytest.mark.rule("RT-043")
def test_a_live_change_waits_for_the_conversation_that_is_opening() -> None:
    for ending in ("opened", "failed", "lost", "silent"):
        book = Playbook()
        book.send()
        book.give(i.ConnectionAcquired(book.generation))
        assert book.update("u", mode="auto") is None
        assert book.update("v", model="large") is None
        match ending:
            case "opened":
                book.say(n.ThreadOpened("thread", False, LOADS, FIRST))
                taken(book, mode="auto", model="small")
                assert isinstance(book.answers["u"][-1], Session)
                assert shown(book) == {"mode": ("auto", "explicit"), "model": ("large", "explicit")}
                continue
            case "failed":
                book.say(n.ThreadOpenFailed(TurnError("provider.rejected", "no", "provider")))
                code = "provider.rejected"
            case "lost":
                book.say(n.ConnectionLost(LOST))
                code = "provider.lost"
            case "silent":
                first = next(timer for timer in book.timers if timer.kind == "settings")
                book.give(i.TimerFired(first))
                assert book.answers["u"] == [Refusal("provider.timeout")]
                assert shown(book) == {"model": ("large", "explicit")}, "what waited behind it need not wait"
                continue
        assert [book.answers[reply][-1] for reply in "uv"] == [Refusal(code)] * 2
        assert shown(book) == {}


def test_whatever_ends_the_link_answers_and_what_waited_behind_goes_on_without_it() -> None:
    for ending in ("lost", "close", "quarantine", "shutdown"):
        book = opened()
        book.update("u", mode="auto")
        book.update("v", model="large")
        match ending:
            case "lost":
                book.say(n.ConnectionLost(LOST))
            case "close":
                book.give(i.CloseSession("close"))
                book.give(i.ConnectionReleased(book.generation))
            case "quarantine":
                book.give(i.Quarantine())
            case "shutdown":
                book.give(i.Shutdown())
        code = {"quarantine": "session.quarantined", "shutdown": "shutdown.in_progress"}
        if ending in code:
            assert [book.answers[reply][-1].code for reply in "uv"] == [code[ending]] * 2
            assert shown(book)["model"] == ("small", "default")
        else:
            assert book.answers["u"] == [Refusal("provider.lost", delivery="unknown")]
            assert shown(book)["model"] == ("large", "explicit")
        assert shown(book)["mode"] == ("ask", "default")
        assert book.state.settings_lane == ()
        assert not any(timer.kind == "settings" for timer in book.timers)


@pytest.mark.rule("RT-048")
def test_a_change_in_a_turn_survives_its_end_and_everything_after_it() -> None:
    book = opened()
    turn = book.send(submit_id="c1", reply="second")
    book.say(n.TurnAccepted(turn.turn_id))
    book.update("u", model="large")
    book.say(n.SettingsReported(FIRST))
    assert shown(book)["model"] == ("large", "explicit"), "it waits; the agent told of what held before"
    book.say(n.TurnEnded(turn.turn_id, "completed", "end_turn"))
    book.say(n.ConnectionLost(LOST))
    assert shown(book)["model"] == ("large", "explicit")
    book.send(submit_id="c2", reply="third")
    book.give(i.ConnectionAcquired(book.generation))
    assert isinstance(book.told[-1], OpenThread)
    assert book.told[-1].settings == {"model": "large"}


def test_what_the_provider_really_changed_is_its_own() -> None:
    book = opened({"mode": "auto", "model": "large", "level": "low"}, **chosen(mode="auto", model="large"))
    assert shown(book) == {
        "mode": ("auto", "explicit"),
        "model": ("large", "explicit"),
        "level": ("low", "provider"),
    }
    book.say(n.SettingsReported({"mode": "ask", "model": "large", "level": "high"}))
    assert shown(book) == {
        "mode": ("ask", "provider"),
        "model": ("large", "explicit"),
        "level": ("high", "provider"),
    }
    book.say(n.SettingsReported({"mode": "ask", "model": "large"}))
    assert "level" not in shown(book), "an option that is gone is gone"
    book.say(n.ConnectionLost(LOST))
    book.send(submit_id="c1", reply="second")
    book.give(i.ConnectionAcquired(book.generation))
    assert isinstance(book.told[-1], OpenThread)
    assert book.told[-1].settings == {"model": "large"}, "only choices are sent"


@pytest.mark.rule("RT-053")
def test_a_narrower_answer_to_an_opening_is_shown_as_the_providers() -> None:
    book = opened({"mode": "ask", "model": "small"}, **chosen(mode="auto"))
    assert shown(book) == {"mode": ("ask", "provider"), "model": ("small", "default")}


def test_an_echo_of_the_change_under_way_is_no_change_of_the_providers() -> None:
    book = opened()
    book.update("u", mode="auto")
    book.say(n.SettingsReported({"mode": "auto", "model": "small"}))
    assert shown(book)["mode"] == ("ask", "default"), "the answer decides, not the echo"
    taken(book, mode="auto", model="small")
    assert shown(book)["mode"] == ("auto", "explicit")


def test_null_unsets_what_was_chosen_and_nothing_else() -> None:
    book = opened({"mode": "auto", "model": "large"}, **chosen(mode="auto", model="large"))
    assert book.update("u", mode=None, model=None, level=None) is None
    assert asked(book)[-1].settings == {"mode": None}
    taken(book, mode="ask", model="large")
    assert shown(book) == {"mode": ("ask", "default"), "model": ("large", "provider")}
    book.say(n.ConnectionLost(LOST))
    assert isinstance(book.update("v", mode=None), Session)
    assert shown(book)["mode"] == ("ask", "default"), "nobody had chosen it"


def test_choosing_what_holds_already_asks_nobody() -> None:
    book = opened()
    assert isinstance(book.update("u", mode="ask"), Session)
    assert asked(book) == []
    assert shown(book)["mode"] == ("ask", "explicit")
    book.effects.clear()
    assert isinstance(book.update("v", mode="ask"), Session)
    assert not any(isinstance(effect, fx.PersistSession | fx.TellConnection) for effect in book.effects)


@pytest.mark.rule("RT-051")
def test_launch_settings_and_unknown_ones_are_refused_with_their_key() -> None:
    book = opened()
    for key, value, code in (
        ("dedicatedProcess", True, "settings.launch_only"),
        ("colour", "red", "settings.invalid"),
        ("mode", "nonsense", "settings.invalid"),
        ("mode", True, "settings.invalid"),
    ):
        reply = f"{key} {value}"
        assert book.update(reply, model="large", **{key: value}) == Refusal(code, details={"key": key})
    assert shown(book)["model"] == ("small", "default")


def test_an_option_only_the_agent_has_is_known_once_it_told_of_it() -> None:
    book = opened({**FIRST, "verbose": True})
    assert book.update("u", verbose="yes") == Refusal("settings.invalid", details={"key": "verbose"})
    assert book.update("v", verbose=False) is None
    taken(book, **FIRST, verbose=False)
    assert shown(book)["verbose"] == (False, "explicit")


STEPS = st.sampled_from(
    [
        *("mode", "level", "model", "unset", "taken", "refused", "report", "timer", "send", "ended"),
        *("lost", "released", "acquired", "opened", "failed", "close", "rename", "title"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(STEPS, st.integers(0, 5)), min_size=5, max_size=50))
def test_every_change_has_one_answer_and_an_acknowledged_choice_stays(steps: list[tuple[str, int]]) -> None:
    book = Playbook()
    for number, (what, pick) in enumerate(steps):
        _step(book, what, pick, f"u{number}")
        _check(book)
    for _ in range(4):
        if book.state.link.phase == "closing":
            book.give(i.ConnectionReleased(book.generation))
        elif book.state.link.phase != "absent":
            book.say(n.ConnectionLost(LOST))
            if book.state.link.phase == "acquiring":
                book.give(i.ConnectionUnavailable(book.generation, LOST))
    assert book.state.settings_lane == ()
    assert not any(timer.kind == "settings" for timer in book.timers)
    updates = [reply for reply in book.answers if str(reply).startswith("u")]
    assert all(len(book.answers[reply]) == 1 for reply in updates)
    assert isinstance(book.update("last", mode="auto", model="large"), Session)


def _step(book: Playbook, what: str, pick: int, reply: str) -> None:
    value = ("ask", "auto")[pick % 2]
    turn = book.state.turn
    match what:
        case "mode" | "level" | "model":
            book.update(reply, **{what: value})
        case "unset":
            book.update(reply, mode=None, model=None)
        case "taken":
            if asked(book):
                command = asked(book)[-1 - pick % len(asked(book))]
                values = {key: value for key, value in command.settings.items() if value is not None}
                book.say(n.SettingsApplied(command.update_id, {**book.state.held, **values}))
        case "refused":
            if asked(book):
                book.say(n.SettingsRefused(asked(book)[-1].update_id, REFUSED, "mode"))
        case "report":
            book.say(n.SettingsReported({"mode": value, "model": ("small", "large")[pick % 2]}))
        case "timer":
            timers = sorted((timer for timer in book.timers if timer.kind == "settings"), key=repr)
            if timers:
                del book.timers[timers[pick % len(timers)]]
                book.give(i.TimerFired(timers[pick % len(timers)]))
        case "send":
            if turn is None:
                book.give(i.SendPrompt(reply, i.Submission(a_claim(reply), i.Prompt((TextBlock("p"),)))))
        case "ended":
            if turn is not None:
                book.say(n.TurnEnded(turn.turn_id, "completed", "end_turn"))
        case "lost":
            book.say(n.ConnectionLost(LOST))
        case "released":
            book.give(i.ConnectionReleased(book.generation))
        case "acquired":
            book.give(i.ConnectionAcquired(book.generation))
        case "opened":
            book.say(n.ThreadOpened("thread", False, LOADS, {**FIRST, **book.state.held}))
        case "failed":
            book.say(n.ThreadOpenFailed(LOST))
        case "close":
            book.give(i.CloseSession(f"close {reply}"))
        case "rename":
            book.give(i.RenameSession(f"rename {reply}", f"Title {pick}"))
        case "title":
            book.say(n.TitleReported(f"Theirs {pick}"))


def _check(book: Playbook) -> None:
    shown(book)
    told = [command.update_id for command in asked(book)]
    assert len(told) == len(set(told)), "nothing is asked for twice by itself"
    in_flight = [change for change in book.state.settings_lane if change.asked is not None]
    assert len(in_flight) <= 1
    assert in_flight == list(book.state.settings_lane[: len(in_flight)])
    if book.state.link.phase != "open":
        assert not in_flight
    renamed = [reply for reply in book.answers if str(reply).startswith("rename")]
    if renamed:
        assert book.state.session.title_source == "user"
