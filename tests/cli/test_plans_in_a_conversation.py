"""Plans by which a turn of Codex ended, answered by key in a conversation, and told of by `greenroom run`."""

import pytest

from tests.cli.terminals import Person
from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import running

READY = "Type a prompt"
PLANNING = "/settings collaborationMode=plan"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    """One with a scripted app-server behind it."""
    settings = {"targets": [scripted_target(tmp_path_factory.mktemp("codex-plans"))]}
    yield from running(Daemon(tmp_path_factory.mktemp("plans"), settings))


@pytest.fixture
def talk(daemon, workspace, own_home):
    """Begins a conversation in the test's workspace."""

    def begin(*words):
        place = ("--data-dir", str(daemon.data_dir), "--workspace", workspace)
        return Person(("run", "-i", *words, *place), own_home)

    return begin


@pytest.mark.rule("RT-025")
def test_a_plan_is_planned_again_with_words_and_carried_out_by_one_key(talk, do):
    with talk("--target", "codex") as person:
        person.sees(READY)
        person.enter(PLANNING)
        person.sees("The next session begins with collaborationMode=plan")
        person.enter("[[propose # Large]]")
        person.sees("The agent asks whether to go on with this plan:")
        person.sees("2) Go on planning")
        person.enter("[[propose # Small]]")
        person.sees("# Small")
        person.sees("2) Go on planning")
        person.type("1")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0
    (session,) = do("sessions", "--json").value["items"]
    assert session["settings"]["collaborationMode"] == "default"
    shown = do("show", session["agentSessionId"], "--json").value
    said = [one["content"][0]["text"] for one in shown["messages"] if one["role"] == "user"]
    assert said == ["[[propose # Large]]", "[[propose # Small]]", "Implement the plan."]


@pytest.mark.rule("RT-025")
def test_a_plan_that_was_left_is_answered_by_who_goes_on_with_the_session(talk, do):
    assert do("run", "[[say ready]]", "--target", "codex").code == 0
    (session,) = do("sessions", "--json").value["items"]
    assert do("set", session["agentSessionId"], "collaborationMode=plan").code == 0
    told = do("run", "[[propose # Look]]", "--session", session["agentSessionId"])
    assert told.code == 0
    assert "The agent asks whether to go on with this plan:" in told.err
    assert f"answer it: greenroom run -i --session {session['agentSessionId']}" in told.err
    with talk("--session", session["agentSessionId"]) as person:
        person.sees("1) Carry out the plan")
        person.sees(READY)
        person.type("1")
        person.sees("(completed")
        person.enter("/quit")
        assert person.leaves() == 0
