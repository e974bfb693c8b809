"""`greenroom send`, `respond`, `cancel` and `tail`: what a person does to turns that a running daemon goes on with."""

import json

import pytest

from tests.cli.verbs import begun
from tests.end_to_end.daemon import poll_until

SECONDS = 30.0


@pytest.fixture
def session_id(do):
    return begun(do)


def ended(do, session_id):
    """The outcome of the newest turn, once it has one."""

    def newest():
        return do("show", session_id, "--json").value["turns"][0]

    assert poll_until(lambda: newest()["phase"] == "settled", SECONDS)
    return newest()["outcome"]


def asked(do, session_id):
    """What is asked, once something is."""

    def pending():
        return do("respond", session_id, "--json").value["interactions"]

    assert poll_until(pending, SECONDS)
    return pending()


def test_a_prompt_is_sent_and_left_to_the_daemon(do, session_id):
    sent = do("send", session_id[:30], "and again")
    assert sent.code == 0
    assert sent.out.startswith("sent as turn ")
    assert f"greenroom tail {session_id}" in sent.err
    assert ended(do, session_id) == "completed"
    assert do("send", session_id, "[[hang]]", "--json").value["turn"]["outcome"] is None
    busy = do("send", session_id, "too much")
    assert busy.code == 1
    assert "(session.busy)" in busy.err
    assert do("cancel", session_id, "--json").value["turn"]["cancelRequestedAt"] is not None
    assert ended(do, session_id) == "canceled"


def test_guidance_goes_into_the_turn_that_runs_or_nowhere(do, session_id):
    refused = do("send", "--guide", session_id, "by the way")
    assert refused.code == 1
    assert "no turn runs that could be guided" in refused.err
    do("send", session_id, "[[hang]]")
    assert "(capability.unsupported)" in do("send", "--guide", session_id, "by the way").err
    do("cancel", session_id)
    assert ended(do, session_id) == "canceled"


def test_an_empty_prompt_is_a_wrong_argument(do, session_id):
    assert do("send", session_id, " ").code == 2


def test_what_is_asked_is_listed_and_answered(do, session_id):
    assert f"session {session_id} asks nothing" in do("respond", session_id).err
    assert do("respond", session_id, "1").code == 1
    do("send", session_id, "[[ask allow_once,reject_once]] [[say done]]")
    (one,) = asked(do, session_id)
    listed = do("respond", session_id)
    assert "1) Allow once" in listed.out
    assert f"--request {one['requestId']} ANSWER" in listed.err
    wrong = do("respond", session_id, "7")
    assert wrong.code == 2
    assert "takes one of its options" in wrong.err
    assert do("respond", session_id, "1", "--request", "another").code == 1
    done = do("respond", session_id, "Allow once", "--request", one["requestId"])
    assert done.out == f"answered request {one['requestId']} of session {session_id}\n"
    assert ended(do, session_id) == "completed"


def test_nothing_to_stop_is_no_failure(do, session_id):
    done = do("cancel", session_id)
    assert (done.code, done.out) == (0, "")
    assert "no turn runs" in done.err
    assert do("cancel", session_id, "--json").value == {"turn": None}


def test_a_turn_is_followed_from_its_beginning_to_its_end(do, session_id):
    assert "no turn runs" in do("tail", session_id, "--once").err
    assert do("tail", session_id, "--once", "--json").out == ""
    do("send", session_id, "[[say First.]] [[sleep 3000]] [[say Last.]]")
    followed = do("tail", session_id, "--once")
    assert (followed.code, followed.out) == (0, "First.Last.\n")
    assert "completed" in followed.err
    do("send", session_id, "[[sleep 3000]] [[say Last.]]")
    events = [json.loads(line) for line in do("tail", session_id, "--once", "--json").out.splitlines()]
    assert events[-1]["type"] == "commit"
    assert any(change["row"].get("outcome") == "completed" for change in events[-1]["changes"])


@pytest.mark.parametrize("words", [("send", "s", "x"), ("respond", "s"), ("cancel", "s"), ("tail", "s")])
def test_without_a_running_daemon_they_say_how_to_start_one(do_alone, tmp_path, words):
    where = tmp_path / "nobody"
    refused = do_alone(*words)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"greenroom: no daemon runs on {where}. Next: start it: greenroom serve --data-dir {where}\n"
    )
    assert do_alone(*words, "--json").error["exitCode"] == 1
