"""`greenroom run -i` at a pseudo-terminal, with a real daemon and the demo agent."""

import json
import os
import subprocess

import pytest

from tests.cli.terminals import GREENROOM, SECONDS, Person

READY = "Type a prompt"


@pytest.fixture
def talk(daemon, workspace, own_home):
    """Begins a conversation in the test's workspace."""

    def begin(*words, terminal="xterm"):
        place = ("--data-dir", str(daemon.data_dir), "--workspace", workspace)
        return Person(("run", "-i", *words, *place), own_home, terminal)

    return begin


@pytest.fixture
def greenroom(daemon, workspace, own_home):
    """Runs another command beside the conversation; what it wrote as JSON."""

    def do(*words):
        place = ("--data-dir", str(daemon.data_dir), "--workspace", workspace, "--json")
        done = subprocess.run(
            (*GREENROOM, *words, *place),
            capture_output=True,
            check=True,
            timeout=SECONDS,
            env={**os.environ, "HOME": str(own_home)},
        )
        return json.loads(done.stdout)

    return do


@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_a_conversation_shows_answers_tools_plans_diffs_and_asks(talk, terminal):
    with talk(terminal=terminal) as person:
        person.sees(READY)
        person.enter("hello there")
        person.sees("You said: “hello there”.")
        person.sees("(completed")
        person.enter(
            "[[plan look;write]] [[tool build output=built]] [[edit a.py]] [[ask allow_once,reject_once]]"
        )
        person.sees("look")
        person.sees("• execute: build")
        person.sees("built")
        person.sees("a.py")
        person.sees("2) Reject once")
        person.type("1" if terminal == "xterm" else "1\n")
        person.sees("Permission: allow_once")
        person.enter("/quit")
        person.sees("go on with: greenroom run -i --session ")
        assert person.leaves() == 0


def test_a_refusal_may_say_why(talk, greenroom):
    with talk() as person:
        person.sees(READY)
        person.enter("[[ask allow_once,reject_once]] [[say after]]")
        person.sees("2) Reject once")
        person.type("2")
        person.sees("Enter for nothing")
        person.enter("")
        person.sees("reject_once")
        person.sees("(completed")
        person.type("\x04")
        assert person.leaves() == 0


def test_ctrl_c_stops_exactly_the_turn_and_twice_leaves_while_the_session_lives_on(talk, greenroom):
    with talk() as person:
        person.sees(READY)
        person.enter("[[stream 1]] [[hang]]")
        person.sees("0 xxx")
        person.ctrl_c()
        person.sees("stopping")
        person.sees("(canceled")
        person.enter("still there?")
        person.sees("You said: “still there?”")
        person.sees("(completed")
        person.ctrl_c()
        person.sees("Ctrl-C again leaves")
        person.ctrl_c()
        person.sees(" lives on; go on with: greenroom run -i --session ")
        assert person.leaves() == 130
    (session,) = greenroom("sessions")["items"]
    turns = greenroom("show", session["agentSessionId"])["turns"]
    assert [turn["outcome"] for turn in turns] == ["completed", "canceled"]


def test_what_an_agent_cannot_be_told_while_it_works_stays_in_the_line(talk, greenroom):
    with talk() as person:
        person.sees(READY)
        person.enter("[[stream 1]] [[hang]]")
        person.sees("0 xxx")
        person.enter("by the way")
        person.sees("Not sent")
        person.ctrl_c()
        person.sees("(canceled")
        person.enter("")
        person.sees("You said: “by the way”")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0


def test_several_pasted_lines_are_one_prompt(talk, greenroom):
    with talk() as person:
        person.sees(READY)
        person.type("\x1b[200~first line\nsecond line\x1b[201~")
        person.enter("")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0
    (session,) = greenroom("sessions")["items"]
    prompts = [
        one for one in greenroom("show", session["agentSessionId"])["messages"] if one["role"] == "user"
    ]
    assert [one["content"][0]["text"] for one in prompts] == ["first line\nsecond line"]


def test_a_side_is_never_told_to_the_conversation(talk, greenroom):
    with talk() as person:
        person.sees(READY)
        person.enter("/side what is this?")
        person.sees("There is no session yet")
        person.enter("/nonsense")
        person.sees("There is no /nonsense")
        person.enter("/quit")
        assert person.leaves() == 0
    assert greenroom("sessions")["items"] == []


def test_a_session_is_gone_on_with_renamed_set_and_left_for_another(talk, greenroom):
    with talk() as person:
        person.sees(READY)
        person.enter("remember me")
        person.sees("You said: “remember me”")
        person.sees("(completed")
        person.enter("/rename About memory")
        person.sees("renamed to 'About memory'")
        person.enter("/model demo-large")
        person.sees("set model=demo-large")
        person.enter("/quit")
        assert person.leaves() == 0
    (session,) = greenroom("sessions")["items"]
    assert (session["title"], session["settings"]["model"]) == ("About memory", "demo-large")
    with talk("--session", session["agentSessionId"]) as person:
        person.sees("> remember me")
        person.sees(READY)
        person.enter("[[recall]]")
        person.sees("(completed")
        person.enter("/new")
        person.sees("The next prompt begins another session.")
        person.enter("afresh")
        person.sees("You said: “afresh”")
        person.sees("(completed")
        person.enter("/sessions")
        person.sees("About memory")
        person.enter("/quit")
        assert person.leaves() == 0
    assert len(greenroom("sessions")["items"]) == 2


def test_a_daemon_that_is_started_again_is_met_again(make_daemon, own_home):
    daemon = make_daemon()
    with Person(("run", "-i", "--data-dir", str(daemon.data_dir)), own_home) as person:
        person.sees(READY)
        person.enter("[[stream 1]] [[hang]]")
        person.sees("0 xxx")
        daemon.kill()
        person.sees("the daemon is gone")
        daemon.start()
        person.sees("the daemon is back")
        person.sees("(interrupted")
        person.enter("and now?")
        person.sees("You said: “and now?”")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0


def test_lines_from_a_pipe_are_prompts_one_after_the_other(daemon, workspace, own_home):
    done = subprocess.run(
        (*GREENROOM, "run", "-i", "--data-dir", str(daemon.data_dir), "--workspace", workspace),
        input="first\n[[ask allow_once,reject_once]]\nlast\n",
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "HOME": str(own_home)},
    )
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "nobody is there to answer: the turn is stopped" in done.stdout
    assert done.stdout.index("“first”") < done.stdout.index("(canceled") < done.stdout.index("“last”")


def test_a_conversation_has_no_json(daemon, own_home):
    done = subprocess.run(
        (*GREENROOM, "run", "-i", "--json", "--data-dir", str(daemon.data_dir)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"]["message"] == "a conversation has no JSON"
