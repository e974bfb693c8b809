"""The demo agent as an object: its language, its sessions, its time."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.demo.actions import (
    CloseInput,
    DemoSettings,
    Die,
    Exit,
    MemoryStore,
    Repeat,
    Spawn,
    Write,
)
from runtime.providers.demo.directives import DIRECTIVES
from runtime.providers.demo.script import Step, read_prompt
from tests.providers.demo_driver import VirtualAgent


def after(prompt: str, seconds: float = 60.0) -> tuple[VirtualAgent, int]:
    """An agent that has played this prompt for so long, and the prompt's id."""
    agent = VirtualAgent()
    request_id = agent.prompt(agent.opened(), prompt)
    return agent.run(seconds), request_id


# --- the language -------------------------------------------------------------------------------------------------


def test_prompt_is_read_into_steps_with_their_options() -> None:
    assert read_prompt(
        "please [[stream 200 size=64 delay=5 stamp]] and\n[[say  two  words ]] [[hang]] bye"
    ) == [
        Step("stream", "200 stamp", {"size": "64", "delay": "5"}),
        Step("say", "two  words"),
        Step("hang"),
    ]
    assert read_prompt('[[tool build kind=edit output="a b=c" status=failed]]') == [
        Step("tool", "build", {"kind": "edit", "output": "a b=c", "status": "failed"})
    ]
    assert read_prompt("plain [text] with [ [brackets] ]") == []


@given(st.text(max_size=200))
def test_any_prompt_is_played_without_raising(text: str) -> None:
    agent, _ = after(text + " [[" + text + "]]", 0.1)
    assert agent.frames()


@pytest.mark.parametrize("word", sorted(DIRECTIVES))
def test_every_directive_plays_and_leaves_the_agent_usable(word: str) -> None:
    agent = VirtualAgent()
    session_id = agent.opened()
    agent.prompt(session_id, f"[[{word}]]")
    agent.run(1000.0)
    agent.raw({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})
    agent.run(10.0)
    other = agent.prompt(agent.opened(), "[[say hello]]")
    agent.run(10.0)
    assert agent.answer(other) == {"stopReason": "end_turn"}


def test_unknown_directive_is_named_and_the_rest_goes_on() -> None:
    agent, request_id = after("[[dance]] [[say ok]]")
    assert agent.text() == "I do not know the directive 'dance'. ok"
    assert agent.answer(request_id) == {"stopReason": "end_turn"}


# --- content ------------------------------------------------------------------------------------------------------


def test_plain_prompt_gets_a_short_streamed_answer_that_mentions_it() -> None:
    agent, request_id = after("Good morning,\n  agent!")
    assert "“Good morning, agent!”" in agent.text()
    assert 5 < len(agent.updates("agent_message_chunk")) < 60
    assert agent.answer(request_id) == {"stopReason": "end_turn"}
    assert agent.text() == after("Good morning,\n  agent!")[0].text()


def test_stream_has_its_count_size_and_pace() -> None:
    agent, request_id = after("[[stream 4 size=64 delay=100]]", 0.05)
    assert len(agent.updates("agent_message_chunk")) == 1
    agent.run(0.2)
    assert len(agent.updates("agent_message_chunk")) == 3
    agent.run(1.0)
    texts = [update["content"]["text"] for update in agent.updates("agent_message_chunk")]
    assert [len(text) for text in texts] == [64] * 4
    assert [text[:2] for text in texts] == ["0 ", "1 ", "2 ", "3 "]
    assert agent.answer(request_id) == {"stopReason": "end_turn"}


def test_stamps_hold_tag_index_and_the_moment_of_writing() -> None:
    agent, _ = after("[[stream 3 size=64 delay=500 tag=a1]]")
    stamps = [
        update["content"]["text"].split("~")[1].split(".") for update in agent.updates("agent_message_chunk")
    ]
    assert [stamp[:2] for stamp in stamps] == [["a1", "0"], ["a1", "1"], ["a1", "2"]]
    assert [int(stamp[2]) for stamp in stamps] == [1000 * 10**9, 1000_500_000_000, 1001 * 10**9]


def test_endless_speed_still_looks_at_its_input() -> None:
    agent = VirtualAgent()
    session_id = agent.opened()
    request_id = agent.prompt(session_id, "[[stream 1000000]]")
    agent._perform(agent.agent.wake(agent.now))
    assert len(agent.updates("agent_message_chunk")) == 16
    agent.raw({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})
    assert agent.answer(request_id) == {"stopReason": "cancelled"}


def test_thoughts_tools_plans_titles_and_usage_are_proper_updates() -> None:
    agent, _ = after(
        '[[think 2]] [[tool build kind=edit output="all good"]] [[edit a.py]] [[plan a; b]] [[title T]]'
        " [[usage used=5 size=10 cents=3]] [[settings]]"
    )
    assert agent.text("agent_thought_chunk") == "Thought 1. Thought 2. "
    calls = agent.updates("tool_call")
    assert [(call["toolCallId"], call["kind"]) for call in calls] == [
        ("call-1-1", "edit"),
        ("call-1-2", "edit"),
    ]
    ends = [update for update in agent.updates("tool_call_update") if update.get("status") == "completed"]
    assert ends[0]["content"] == [{"type": "content", "content": {"type": "text", "text": "all good"}}]
    assert ends[1]["content"][0]["type"] == "diff"
    assert [entry["status"] for entry in agent.updates("plan")[0]["entries"]] == ["in_progress", "pending"]
    assert agent.updates("session_info_update")[0]["title"] == "T"
    usage = agent.updates("usage_update")[0]
    assert (usage["used"], usage["size"], usage["cost"]) == (5, 10, {"amount": 0.03, "currency": "USD"})
    assert json.loads(agent.text()) == {"model": "demo-small", "mode": "ask"}


# --- asks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option_id", "text", "stop_reason"),
    [
        ("allow-once", "Permission: allow_once (allow-once).went on", "end_turn"),
        ("allow-once-2", "Permission: allow_once (allow-once-2).went on", "end_turn"),
        ("reject-once", "Permission: reject_once (reject-once).", "end_turn"),
        (None, "Permission: cancelled.", "cancelled"),
        ("odd", "Permission: cancelled.", "cancelled"),
    ],
)
def test_ask_says_which_option_it_got_and_goes_on_or_stops(
    option_id: str | None, text: str, stop_reason: str
) -> None:
    agent, request_id = after("[[ask allow_once,allow_once,reject_once]] [[say went on]]")
    (request,) = agent.requests()
    assert [option["kind"] for option in request["params"]["options"]] == [
        "allow_once",
        "allow_once",
        "reject_once",
    ]
    outcome = {"outcome": "selected", "optionId": option_id} if option_id else {"outcome": "cancelled"}
    agent.raw({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}})
    agent.run(1.0)
    assert agent.text() == text
    assert agent.answer(request_id) == {"stopReason": stop_reason}


def test_late_answer_to_an_ask_of_a_cancelled_turn_does_nothing() -> None:
    agent = VirtualAgent()
    session_id = agent.opened()
    request_id = agent.prompt(session_id, "[[ask]] [[say never]]")
    agent.run(1.0)
    agent.raw({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})
    agent.raw(
        {"jsonrpc": "2.0", "id": agent.requests()[0]["id"], "result": {"outcome": {"optionId": "allow-once"}}}
    )
    agent.run(1.0)
    assert (agent.text(), agent.answer(request_id)) == ("", {"stopReason": "cancelled"})


@pytest.mark.parametrize("answer", [{"error": {"code": -32601}}, {"result": {}}, {"error": None}])
def test_unknown_request_says_what_came_back(answer: dict[str, object]) -> None:
    agent, _ = after("[[request demo/what]]")
    agent.raw({"jsonrpc": "2.0", "id": agent.requests()[0]["id"], **answer})
    assert agent.run(1.0).text() == f"demo/what: {-32601 if answer.get('error') else 'answered'}."


# --- ends ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("[[refuse]] [[say no]]", {"stopReason": "refusal"}),
        ("[[stop]]", {"stopReason": "max_tokens"}),
        ("[[stop weird_word]]", {"stopReason": "weird_word"}),
        ("[[error]]", {"error": {"code": -32603, "message": "The demo agent was asked to fail."}}),
        ("[[error -32000]]", {"error": {"code": -32000, "message": "The demo agent was asked to fail."}}),
    ],
)
def test_ends_are_what_was_asked_for(prompt: str, answer: dict[str, object]) -> None:
    agent, request_id = after(prompt)
    assert agent.answer(request_id) == answer
    assert agent.text() == ""


@pytest.mark.parametrize(
    ("prompt", "answers"),
    [("[[hang]]", 0), ("[[silent-end]]", 0), ("[[twice]]", 2), ("[[sleep 59000]]", 1), ("[[slow 61000]]", 0)],
)
def test_how_often_a_prompt_is_answered_within_a_minute(prompt: str, answers: int) -> None:
    agent, request_id = after(prompt)
    assert agent.answered(request_id) == answers


@pytest.mark.parametrize(
    ("prompt", "at_once", "later"),
    [
        ("[[hang]]", 1, 1),
        ("[[ignore-cancel]] [[hang]]", 0, 0),
        ("[[cancel-late 2000]] [[hang]]", 0, 1),
        ("[[silent-end]]", 0, 0),
    ],
)
def test_cancel_is_obeyed_late_or_never_as_asked_for(prompt: str, at_once: int, later: int) -> None:
    agent = VirtualAgent()
    session_id = agent.opened()
    request_id = agent.prompt(session_id, prompt)
    agent.run(1.0)
    agent.raw({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})
    agent.run(1.0)
    assert agent.answered(request_id) == at_once
    agent.run(10.0)
    assert agent.answered(request_id) == later


def test_late_updates_come_after_the_end() -> None:
    agent, request_id = after("[[tool x status=open]] [[late 500]]", 0.1)
    assert agent.answer(request_id) == {"stopReason": "end_turn"}
    assert agent.text() == ""
    agent.run(0.5)
    assert agent.text() == "(late words)"
    assert agent.updates("tool_call_update")[-1]["status"] == "completed"


def test_process_ends_and_floods_are_left_to_whoever_runs_it() -> None:
    agent, _ = after(
        "[[grandchild setsid file=/p]] [[close-stdin]] [[endless 100000]] [[stderr 131072]] [[bytes]] [[exit 3]]"
    )
    performed = [action for action in agent.actions if not isinstance(action, Write) or action.piecewise]
    assert performed == [
        Spawn(own_session=True, pid_file="/p"),
        CloseInput(),
        Repeat(b"e" * 65536, 2),
        Repeat(b"s" * 65536, 1, to_stderr=True),
        Repeat(b"\xff\n" * 32768, 1, to_stderr=True),
        Exit(3),
    ]
    assert after("[[crash]]")[0].actions[-1] == Exit(1)
    assert after("[[die]]")[0].actions[-1] == Die()
    assert after("x")[0].agent.end_of_input(0.0) == [Exit(0)]


# --- sessions -----------------------------------------------------------------------------------------------------


def test_sessions_outlive_the_agent_in_their_store() -> None:
    store = MemoryStore()
    first = VirtualAgent(DemoSettings(identity="one"), store)
    session_id = first.opened()
    first.prompt(session_id, "[[say remember me]]")
    first.run(1.0)
    for method in ("session/load", "session/resume"):
        second = VirtualAgent(DemoSettings(identity="two"), store)
        second.answer(second.send(method, sessionId=session_id, cwd="/w"))
        assert second.text("user_message_chunk") == (
            "[[say remember me]]" if method == "session/load" else ""
        )
        assert second.text() == ("remember me" if method == "session/load" else "")
        second.prompt(session_id, "[[recall]]")
        assert second.run(1.0).text().endswith("I remember 1: [[say remember me]]")
        store.save(session_id, {"turns": [{"prompt": "[[say remember me]]", "answer": "remember me"}]})


@pytest.mark.case("FC-07")
def test_unknown_session_and_a_store_that_is_not_to_be_used_fail_alike() -> None:
    gone = {"error": {"code": -32002, "message": "Resource not found"}}
    agent = VirtualAgent()
    for method in ("session/load", "session/resume", "session/prompt"):
        assert agent.answer(agent.send(method, sessionId="nope")) == gone
    store = MemoryStore()
    store.save("kept", {"turns": []})
    refusing = VirtualAgent(DemoSettings(loads=False), store)
    assert refusing.answer(refusing.send("session/load", sessionId="kept")) == gone


def test_any_number_of_sessions_work_side_by_side() -> None:
    agent = VirtualAgent()
    sessions = [agent.opened() for _ in range(5)]
    assert len(set(sessions)) == 5
    ids = [agent.prompt(session_id, "[[stream 10 delay=10]]") for session_id in sessions]
    assert agent.answer(agent.prompt(sessions[0], "more"))["error"]["code"] == -32600
    agent.run(0.05)
    agent.send("session/close", sessionId=sessions[0])
    agent.run(10.0)
    assert [agent.answered(request_id) for request_id in ids] == [0, 1, 1, 1, 1]


def test_settings_are_taken_or_refused() -> None:
    agent = VirtualAgent()
    session_id = agent.opened()
    taken = agent.send(
        "session/set_config_option", sessionId=session_id, configId="model", value="demo-large"
    )
    assert agent.answer(taken)["configOptions"][0]["currentValue"] == "demo-large"
    assert "error" not in agent.answer(agent.send("session/set_mode", sessionId=session_id, modeId="auto"))
    for config_id, value in (("model", "other"), ("colour", "red"), ("mode", 5)):
        refused = agent.send(
            "session/set_config_option", sessionId=session_id, configId=config_id, value=value
        )
        assert agent.answer(refused)["error"]["code"] == -32602


def test_start_behaves_as_its_settings_say() -> None:
    slow = VirtualAgent(DemoSettings(startup_seconds=25.0))
    request_id = slow.send("initialize")
    assert slow.run(24.0).answered(request_id) == 0
    assert slow.run(2.0).answer(request_id)["protocolVersion"] == 1
    silent = VirtualAgent(DemoSettings(answers_initialize=False))
    assert silent.answered(silent.send("initialize")) == 0
    other = VirtualAgent(DemoSettings(protocol_version=2, resumes=False))
    result = other.answer(other.send("initialize"))
    assert (result["protocolVersion"], result["agentCapabilities"]["sessionCapabilities"]) == (
        2,
        {"close": {}},
    )
    signed_out = VirtualAgent(DemoSettings(needs_sign_in=True))
    assert signed_out.answer(signed_out.send("session/new"))["error"]["code"] == -32000


def test_what_is_no_request_is_answered_or_ignored_as_json_rpc_says() -> None:
    agent = VirtualAgent()
    agent._perform(agent.agent.receive(b"garbage", 0.0))
    agent.raw([1])
    agent.raw({"jsonrpc": "2.0", "id": 9, "method": "no/such"})
    agent.raw({"jsonrpc": "2.0", "method": "no/such"})
    agent.raw({"jsonrpc": "2.0", "id": "zz", "result": {}})
    assert [frame["error"]["code"] for frame in agent.frames()] == [-32700, -32600, -32601]
