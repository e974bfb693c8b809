"""`greenroom rename`, `pin`, `unpin`, `set`, `delete`, `undelete`: text, JSON, refusals, exit codes."""

import pytest

from tests.cli.verbs import begun

GONE = "There is no such session (session.not_found)"


def test_a_session_is_renamed_by_the_beginning_of_its_id(do):
    session_id = begun(do)
    done = do("rename", session_id[:30], "About tests")
    assert (done.code, done.out) == (0, f"session {session_id}: renamed to 'About tests'\n")
    assert do("rename", session_id, "", "--json").value["session"]["title"] in (None, "")


def test_a_session_is_pinned_and_unpinned(do):
    session_id = begun(do)
    assert do("pin", session_id).out == f"session {session_id}: pinned\n"
    (listed,) = do("sessions", "--json").value["items"]
    assert listed["pinned"]
    assert do("unpin", session_id, "--json").value["session"]["pinned"] is False
    assert do("unpin", session_id).out == f"session {session_id}: no longer pinned\n"


def test_settings_are_shown_and_changed(do):
    session_id = begun(do)
    shown = do("set", session_id)
    assert shown.out.splitlines()[0] == "SETTING\tVALUE\tOFFERED\tCHANGES"
    assert "model\tdemo-small\tdemo-small, demo-large\tnext_turn" in shown.out
    assert do("set", session_id, "model=demo-large").out == f"session {session_id}: set model=demo-large\n"
    assert do("set", session_id, "--json").value["settings"]["model"] == "demo-large"


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [("model", 2, "'model' is not KEY=VALUE"), ("colour=red", 1, "(settings.invalid)")],
)
def test_a_setting_that_is_none_is_refused(do, change, code, said):
    refused = do("set", begun(do), change)
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err


def test_sessions_are_deleted_listed_and_had_back(do):
    first, second = begun(do), begun(do)
    deleted = do("delete", first, second)
    assert deleted.code == 0
    assert sorted(deleted.out.splitlines()) == sorted(
        [f"session {first}: deleted", f"session {second}: deleted"]
    )
    assert f"greenroom undelete {first} {second}" in deleted.err
    assert do("sessions", "--json").value["items"] == []
    kept = do("sessions", "--deleted", "--json").value["items"]
    assert {one["agentSessionId"] for one in kept} == {first, second}
    assert do("show", first).err.count("session.deleted") == 1
    assert do("undelete", first[:30]).out == f"session {first}: is back\n"
    assert [one["agentSessionId"] for one in do("undelete", second, "--json").value["sessions"]] == [second]
    assert len(do("sessions", "--json").value["items"]) == 2


@pytest.mark.parametrize("command", ["delete", "undelete"])
def test_nothing_named_is_nothing_done(do, command):
    refused = do(command)
    assert refused.code == 2
    assert refused.err == f"greenroom: no session was named. Next: greenroom {command} SESSION\n"


@pytest.mark.parametrize(
    "words",
    [
        ("rename", "nobody", "x"),
        ("pin", "nobody"),
        ("unpin", "nobody"),
        ("set", "nobody"),
        ("delete", "nobody"),
    ],
)
def test_a_session_that_is_not_there_is_named_with_where_to_look(do, words, workspace):
    refused = do(*words)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"greenroom: session nobody: {GONE}. Next: list the sessions of workspace {workspace}: "
        f"greenroom sessions --workspace {workspace}\n"
    )
    assert do(*words, "--json").error["code"] == "session.not_found"


def test_a_beginning_that_several_ids_have_is_refused_with_the_ids(do):
    first, second = begun(do), begun(do)
    refused = do("pin", first[:4])
    assert refused.code == 2
    assert first in refused.err
    assert second in refused.err
    assert "type more of the id" in refused.err


def test_changes_need_no_running_daemon(do_alone):
    session_id = begun(do_alone)
    assert do_alone("rename", session_id, "Alone").code == 0
    assert do_alone("sessions", "--json").value["items"][0]["title"] == "Alone"
