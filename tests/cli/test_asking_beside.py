"""`greenroom side` and `/side` of a conversation: asked of a scripted Codex in a Side, and of an agent without Sides."""

import json
import os
import subprocess

import pytest

from tests.cli.terminals import GREENROOM, SECONDS, Person
from tests.cli.verbs import doing
from tests.doubles.scripted_codex import calls, scripted_target
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.fixtures import running

READY = "Type a prompt"
MARK = "side │ "


@pytest.fixture(scope="module")
def codex_home(tmp_path_factory):
    return tmp_path_factory.mktemp("codex-beside")


@pytest.fixture(scope="module")
def daemon(codex_home, tmp_path_factory):
    """One with a scripted app-server and the demo agent behind it."""
    settings = {"targets": [scripted_target(codex_home)], "limits": {"cancelGraceSeconds": 1}}
    yield from running(Daemon(tmp_path_factory.mktemp("beside"), settings))


@pytest.fixture
def session_id(do):
    """A session of the scripted Codex that has said something."""
    assert do("run", "[[say done]]", "--target", "codex").code == 0
    (session,) = do("sessions", "--json").value["items"]
    return session["agentSessionId"]


@pytest.fixture
def at_terminal(daemon, workspace, own_home):
    """Begins a command at a terminal, in the test's workspace."""

    def begin(*words, terminal="xterm"):
        place = ("--data-dir", str(daemon.data_dir), "--workspace", workspace)
        return Person((*words, *place), own_home, terminal)

    return begin


@pytest.fixture
def no_side_is_left(daemon, capsys):
    """No Side lives when the test is over."""
    yield
    do = doing(str(daemon.data_dir), "", capsys, workspace_free=True)
    assert poll_until(lambda: do("top", "--once", "--json").value["health"]["live"]["sides"] == 0, SECONDS)


pytestmark = pytest.mark.usefixtures("no_side_is_left")


def spoken(do, session_id):
    """What was said in a session, by whom."""
    return [
        (one["role"], "".join(block.get("text", "") for block in one["content"]))
        for one in do("show", session_id, "--json").value["messages"]
    ]


# --- greenroom side -------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-117")
def test_a_question_is_answered_on_stdout_while_the_sessions_turn_goes_on(do, session_id, codex_home):
    do("send", session_id, "[[say begun]] [[sleep 600000]]")
    before = len(calls(codex_home, "turn/interrupt"))
    asked = do("side", session_id[:30], "[[say beside it]]")
    assert (asked.code, asked.out, asked.err) == (0, "beside it\n", "")
    (running_turn, _) = do("show", session_id, "--json").value["turns"]
    assert running_turn["outcome"] is None
    assert len(calls(codex_home, "turn/interrupt")) == before
    assert not [text for _, text in spoken(do, session_id) if "beside" in text]
    assert do("cancel", session_id).code == 0


def test_each_event_of_a_side_is_a_line_of_json(do, session_id):
    asked = do("side", session_id, "[[say beside it]]", "--json")
    events = [json.loads(line) for line in asked.out.splitlines()]
    assert asked.code == 0
    assert {event["type"] for event in events} == {"side"}
    payloads = [event["payload"] for event in events]
    assert payloads[0]["type"] == "opened"
    assert "".join(one["text"] for one in payloads if one["type"] == "message_delta") == "beside it"
    assert payloads[-1]["turn"]["outcome"] == "completed"


@pytest.mark.rule("RT-109")
def test_a_session_of_an_agent_without_sides_says_so(do):
    assert do("run", "hello", "--target", "demo").code == 0
    (session,) = do("sessions", "--json").value["items"]
    asked = do("side", session["agentSessionId"], "what is this?", "--json")
    assert (asked.code, asked.out) == (1, "")
    assert asked.error["code"] == "capability.unsupported"
    assert "sessions of this agent have no Sides; nothing was sent" in asked.error["message"]
    assert asked.error["next"] == "ask it in a session of its own"


def test_a_session_that_is_not_there_is_named(do):
    asked = do("side", "nobody", "what is this?", "--json")
    assert (asked.code, asked.error["code"]) == (1, "session.not_found")


def test_a_turn_that_fails_in_a_side_tells_why_and_how_to_ask_again(do, session_id):
    asked = do("side", session_id, "[[fail]]", "--json")
    assert asked.code == 1
    assert asked.error["code"].startswith("provider.")
    assert f"a Side of session {session_id} failed: " in asked.error["message"]


@pytest.mark.rule("RT-115")
def test_what_is_asked_in_a_side_is_answered_at_the_terminal(at_terminal, session_id):
    with at_terminal("side", session_id, "[[ask]] [[say after]]") as person:
        person.sees("The agent asks for permission")
        person.sees("Answer 1 to")
        person.enter("1")
        person.sees("after")
        assert person.leaves() == 0


def test_what_is_asked_in_a_side_is_refused_where_nobody_is_there(do, session_id):
    asked = do("side", session_id, "[[ask]] [[say after]]")
    assert "greenroom: refused " in asked.err
    assert "nobody could be asked" in asked.err


@pytest.mark.rule("RT-114")
def test_ctrl_c_stops_the_turn_of_the_side_and_no_other(at_terminal, do, session_id):
    do("send", session_id, "[[say begun]] [[sleep 600000]]")
    words = ("side", session_id, "[[say beside it]] [[sleep 600000]]")
    with at_terminal(*words, terminal="dumb") as person:
        person.sees("beside it")
        person.ctrl_c()
        person.sees("canceling the turn")
        person.sees("was canceled. Next: ask again: greenroom side ")
        assert person.leaves() == 130
    assert do("show", session_id, "--json").value["turns"][0]["outcome"] is None
    assert do("cancel", session_id).code == 0


# --- /side ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_a_question_beside_a_running_turn_is_answered_apart_from_it(at_terminal, do, session_id, terminal):
    with at_terminal("run", "-i", "--session", session_id, terminal=terminal) as person:
        person.sees(READY)
        person.enter("[[say begun]] [[ask]] [[say went on]]")
        person.sees("begun")
        person.sees("1) ")
        person.enter("/side [[say zebra]]")
        person.sees(f"{MARK}zebra")
        person.sees(f"{MARK}(answered)")
        person.type("1" if terminal == "xterm" else "1\n")
        person.sees("went on")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0
    assert not [text for _, text in spoken(do, session_id) if "zebra" in text]


@pytest.mark.rule("RT-114", "RT-115")
def test_what_a_question_beside_asks_is_marked_and_ctrl_c_stops_it(at_terminal, do, session_id):
    with at_terminal("run", "-i", "--session", session_id) as person:
        person.sees(READY)
        person.enter("/side [[ask]] [[say after]] [[sleep 600000]]")
        person.sees(f"{MARK}The agent asks for permission")
        person.sees(f"{MARK}  1) ")
        person.enter("/side another")
        person.sees("A question beside is not answered yet")
        person.sees("/side another")  # the line has it again, and is emptied first
        person.ctrl_c()
        person.ctrl_c()
        person.sees("stopping the question beside")
        person.sees(f"{MARK}a Side of session {session_id} was canceled")
        person.enter("[[say and now]]")
        person.sees("and now")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0
    assert [text for role, text in spoken(do, session_id) if role == "user"] == [
        "[[say done]]",
        "[[say and now]]",
    ]


def test_leaving_a_conversation_closes_what_was_asked_beside_it(at_terminal, do, session_id):
    with at_terminal("run", "-i", "--session", session_id) as person:
        person.sees(READY)
        person.type("\x1b[200~/side [[say zebra]]\n[[sleep 600000]]\x1b[201~")
        person.enter("")
        person.sees(f"{MARK}> ")
        person.enter("/quit")
        assert person.leaves() == 0
    assert [text for role, text in spoken(do, session_id) if role == "user"] == ["[[say done]]"]


def test_lines_from_a_pipe_wait_for_what_was_asked_beside(daemon, workspace, own_home, session_id):
    place = ("--data-dir", str(daemon.data_dir), "--workspace", workspace)
    done = subprocess.run(
        (*GREENROOM, "run", "-i", "--session", session_id, *place),
        input="/side [[say zebra]]\n[[say last]]\n",
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "HOME": str(own_home)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.index(f"{MARK}(answered)") < done.stdout.index("\nlast")


@pytest.mark.rule("RT-125")
def test_a_question_beside_an_agent_without_sides_is_sent_nowhere(at_terminal, do):
    assert do("run", "hello", "--target", "demo").code == 0
    (session,) = do("sessions", "--json").value["items"]
    session_id = session["agentSessionId"]
    with at_terminal("run", "-i", "/side what is this?", "--session", session_id) as person:
        person.sees(f"session {session_id}: sessions of this agent have no Sides; nothing was sent")
        person.enter("/side")
        person.sees("Ask something: /side QUESTION")
        person.enter("/quit")
        assert person.leaves() == 0
    assert [text for role, text in spoken(do, session_id) if role == "user"] == ["hello"]
