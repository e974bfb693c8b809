"""`greenroom search`, `targets`, `top`, `completion`: what there is, as text and as JSON."""

import pytest

from runtime.cli import main
from tests.cli.verbs import begun


def test_sessions_are_found_by_their_words(do, workspace):
    session_id = begun(do, "mend the flaky test")
    begun(do, "something else")
    found = do("search", "flaky")
    assert found.out.splitlines()[0] == "SESSION\tTARGET\tSTARTED\tFOUND"
    assert [line.split("\t")[0] for line in found.out.splitlines()[1:]] == [session_id]
    assert [one["agentSessionId"] for one in do("search", "flaky", "--json").value["items"]] == [session_id]
    nothing = do("search", "zebra")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == f"no session of workspace {workspace} has 'zebra'\n"


def test_the_targets_are_listed_with_their_state(do_anywhere):
    listed = do_anywhere("targets")
    assert listed.code == 0
    rows = {line.split("\t")[0]: line.split("\t") for line in listed.out.splitlines()}
    assert rows["demo"][3] == "ready"
    assert rows["missing"][3] == "not found"
    assert rows["disabled"][3] == "disabled"
    assert {one["agentTargetId"] for one in do_anywhere("targets", "--json").value["items"]} >= {"demo"}


def test_models_are_listed_and_agents_that_were_asked_change_nothing_of_the_list(do_anywhere):
    listed = do_anywhere("targets", "--models")
    assert listed.code == 0
    assert [line.split("\t")[1:3] for line in listed.out.splitlines() if line.startswith("demo\t")] == [
        ["demo-small", "demo-small (default)"],
        ["demo-large", "demo-large"],
    ]
    told = do_anywhere("targets", "--models", "--json").value
    assert told["models"]["demo"]["state"] == "complete"
    assert "missing" not in told["models"], "nobody is there to be asked"
    checked = do_anywhere("targets", "--check")
    assert checked.code == 0
    assert "demo" in checked.out


def test_a_look_at_the_daemon_tells_its_health_figures_and_what_is_at_work(do, do_anywhere, workspace):
    session_id = begun(do, "look at me")
    do("send", session_id, "[[hang]]")
    looked = do_anywhere("top", "--once")
    assert looked.code == 0
    assert looked.out.startswith("health    ")
    assert f"{workspace}\t{session_id}\tdemo\t" in looked.out
    assert "look at me" in looked.out
    value = do_anywhere("top", "--once", "--json").value
    assert session_id in [one["agentSessionId"] for one in value["sessions"]]
    assert value["figures"]["greenroom_resident_memory_bytes"] > 0
    assert value["ratesPerSecond"]["turns"] is None
    do("cancel", session_id)


def test_without_a_running_daemon_there_is_nothing_to_watch(tmp_path, capsys):
    assert main(["top", "--data-dir", str(tmp_path / "data")]) == 1
    assert "Next: start it: greenroom serve" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_how_to_complete(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "undelete" in script
    assert "--workspace" in script


def test_the_workspace_may_come_from_the_environment(do_anywhere, do, workspace, monkeypatch):
    session_id = begun(do)
    monkeypatch.setenv("GREENROOM_WORKSPACE", workspace)
    listed = do_anywhere("sessions", "--json")
    assert [one["agentSessionId"] for one in listed.value["items"]] == [session_id]


def test_help_is_not_broken_into_lines_and_shows_an_example(capsys):
    assert main(["tail", "--help"]) == 0
    out = capsys.readouterr().out
    assert "[env var: GREENROOM_WORKSPACE]" in out
    assert "Example:\n  greenroom tail 01a22df4\n" in out
