"""`greenroom run` against a scripted daemon: the submit, the text, the approvals, the exit code."""

import json

import pytest

from greenroom_client import NEVER
from tests.cli.fake_daemon import Refused
from tests.cli.rows import approval, commit, delta, failed, message, question, session, settled, tool
from tests.cli.runs import DONE, daemon_with, request, run
from tests.cli.streams import quiet_output, terminal_output

pytestmark = pytest.mark.usefixtures("known_ids")


async def test_a_prompt_without_a_session_makes_one_with_the_first_enabled_target(data_dir, flags):
    daemon, output = daemon_with(DONE), quiet_output()
    assert await run(daemon, data_dir, flags, output) == 0
    assert [method for method, _ in daemon.requests] == [
        "initialize",
        "target/list",
        "events/subscribe",
        "session/create",
        "events/unsubscribe",
    ]
    (subscribed,), (created,) = daemon.params_of("events/subscribe"), daemon.params_of("session/create")
    assert subscribed["agentSessionIds"] == ["s1"]
    assert created["agentTargetId"] == "demo"
    assert created["initialContent"] == [{"type": "text", "text": "do it"}]
    assert "cwd" not in created
    assert output.stdout.getvalue() == "Hello\n"
    assert output.stderr.getvalue() == 'session s1; go on with: greenroom run --session s1 "…"\n'


async def test_a_prompt_for_a_session_is_sent_to_it(data_dir, flags):
    daemon, output = daemon_with(DONE), quiet_output()
    assert await run(daemon, data_dir, flags, output, request(session_id="s1")) == 0
    assert daemon.params_of("session/create") == []
    assert daemon.params_of("session/send")[0]["content"] == [{"type": "text", "text": "do it"}]


async def test_target_directory_and_workspace_are_passed_on(data_dir, flags, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    daemon = daemon_with(DONE)
    asked = request(target_id="codex", cwd="here", workspace_id="w1")
    await run(daemon, data_dir, flags, quiet_output(), asked)
    (created,) = daemon.params_of("session/create")
    assert (created["agentTargetId"], created["cwd"], created["workspaceId"]) == (
        "codex",
        f"{tmp_path}/here",
        "w1",
    )
    assert daemon.params_of("target/list") == []


@pytest.mark.parametrize(
    ("asked", "cwd", "project"),
    [
        ({"worktree": True}, None, "."),
        ({"worktree": True, "cwd": "inner"}, "inner", "inner"),
        ({"worktree": True, "cwd": "inner", "project": "."}, "inner", "."),
        ({"project": "inner"}, None, "inner"),
    ],
)
async def test_a_project_and_a_checkout_are_asked_for_with_absolute_paths(
    data_dir, flags, tmp_path, monkeypatch, asked, cwd, project
):
    monkeypatch.chdir(tmp_path)
    daemon = daemon_with(DONE)
    assert await run(daemon, data_dir, flags, quiet_output(), request(**asked)) == 0
    (created,) = daemon.params_of("session/create")
    assert created.get("cwd") == (cwd and str(tmp_path / cwd))
    assert created["railPlacement"] == {"type": "project", "version": 1, "path": str(tmp_path / project)}
    assert created.get("isolation") == ({"type": "worktree"} if "worktree" in asked else None)


async def test_a_refused_checkout_is_told_with_the_daemons_own_advice(data_dir, flags):
    refused = Refused(
        "isolation.refused", details={"reason": "unborn_branch", "advice": "make a first commit"}
    )
    daemon, output = daemon_with(DONE, **{"session/create": refused}), quiet_output()
    assert await run(daemon, data_dir, flags, output, request(worktree=True)) == 1
    assert output.stderr.getvalue().endswith("(isolation.refused). Next: make a first commit\n")


async def test_the_prompt_can_come_from_stdin(data_dir, flags):
    daemon = daemon_with(DONE)
    await run(daemon, data_dir, flags, quiet_output(stdin="from a pipe"), request(None))
    assert daemon.params_of("session/create")[0]["initialContent"][0]["text"] == "from a pipe"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (request(None), 'greenroom: the prompt is empty. Next: greenroom run "what to do"\n'),
        (request("  "), 'greenroom: the prompt is empty. Next: greenroom run "what to do"\n'),
        (
            request(session_id="s1", cwd="x"),
            (
                "greenroom: session s1 has its target and directory already. "
                "Next: leave out --target, --cwd, --project and --worktree, or leave out --session to start "
                "another session\n"
            ),
        ),
    ],
)
async def test_arguments_that_make_no_sense_are_refused_before_anything_is_asked(
    data_dir, flags, asked, said
):
    daemon, output = daemon_with(DONE), quiet_output()
    assert await run(daemon, data_dir, flags, output, asked) == 2
    assert output.stderr.getvalue() == said
    assert daemon.requests == []


async def test_the_answer_goes_to_stdout_and_what_happens_beside_it_to_stderr(data_dir, flags):
    events = (
        delta("r", 0, "thinking", kind="reasoning"),
        delta("m", 0, "First "),
        delta("m", 1, "answer"),
        commit(("message", tool("x", "running", title="make check"))),
        delta("n", 0, "Second answer\n"),
        commit(("turn", settled())),
    )
    output = quiet_output()
    assert await run(daemon_with(*events), data_dir, flags, output) == 0
    assert output.stdout.getvalue() == "First answer\nSecond answer\n"
    assert output.stderr.getvalue().splitlines()[0] == "• execute: make check"
    assert "thinking" not in output.stderr.getvalue()


async def test_on_a_terminal_the_reasoning_is_shown_too_and_no_control_character_gets_through(
    data_dir, flags, keyboard
):
    output = terminal_output(keyboard)
    events = (delta("r", 0, "thinking", kind="reasoning"), delta("m", 0, "a\x1b[31mb\x07"), DONE)
    assert await run(daemon_with(*events), data_dir, flags, output) == 0
    assert "thinking" in output.stderr.getvalue()
    assert output.stdout.getvalue().startswith("a[31mb")


async def test_as_json_every_event_is_a_line_and_nothing_else_is(data_dir, flags):
    output = quiet_output(as_json=True)
    assert await run(daemon_with(delta("m", 0, "Hi"), DONE), data_dir, flags, output) == 0
    lines = [json.loads(line) for line in output.stdout.getvalue().splitlines()]
    assert [line["type"] for line in lines] == ["message_delta", "commit"]
    assert output.stderr.getvalue() == ""


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            failed("provider.auth_required", "The provider asks for a login."),
            (
                "greenroom: turn t1 of session s1 failed: The provider asks for a login (provider.auth_required). "
                'Next: log in with the agent\'s own program, then try again: greenroom run --session s1 "…"\n'
            ),
        ),
        (
            failed("from.the.future", "Something new."),
            (
                "greenroom: turn t1 of session s1 failed: Something new (from.the.future). "
                "Next: look at the session (greenroom show s1) and at the daemon's log\n"
            ),
        ),
        (
            settled("interrupted"),
            'greenroom: turn t1 of session s1 was interrupted. Next: go on with: greenroom run --session s1 "…"\n',
        ),
        (
            settled("canceled"),
            (
                "greenroom: turn t1 of session s1 was canceled by force. "
                'Next: go on with: greenroom run --session s1 "…"\n'
            ),
        ),
    ],
)
async def test_a_turn_that_did_not_complete_is_exit_code_1_with_the_code_and_what_to_do(
    data_dir, flags, row, said
):
    output = quiet_output()
    assert await run(daemon_with(commit(("turn", row))), data_dir, flags, output) == 1
    assert output.stderr.getvalue() == said


@pytest.mark.case("FC-35")
async def test_a_missing_directory_is_named_and_not_blamed_on_the_agent(data_dir, flags):
    said = "session s1: The session's working directory does not exist (session.cwd_missing)"
    refused = Refused("session.cwd_missing", "The session's working directory does not exist.")
    output = quiet_output()
    daemon = daemon_with(**{"session/send": refused})
    assert await run(daemon, data_dir, flags, output, request(session_id="s1")) == 1
    assert output.stderr.getvalue() == (
        f'greenroom: {said}. Next: make the directory /work-root/s1 and try again: greenroom run --session s1 "…"\n'
    )
    output = quiet_output()
    ended = commit(("turn", failed("session.cwd_missing", "The session's working directory does not exist.")))
    assert await run(daemon_with(ended), data_dir, flags, output) == 1
    assert "make the directory /work-root/s1 and try again" in output.stderr.getvalue()


async def test_a_refusal_names_the_session_and_what_to_do(data_dir, flags):
    output = quiet_output()
    daemon = daemon_with(**{"session/get": Refused("session.not_found", "There is no such session.")})
    assert await run(daemon, data_dir, flags, output, request(session_id="gone", workspace_id="w")) == 1
    assert output.stderr.getvalue() == (
        "greenroom: session gone: There is no such session (session.not_found). "
        "Next: list the sessions of workspace w: greenroom sessions --workspace w\n"
    )


async def test_without_an_enabled_target_it_says_how_to_get_one(data_dir, flags):
    output = quiet_output()
    daemon = daemon_with(**{"target/list": {"items": [], "nextCursor": None}})
    assert await run(daemon, data_dir, flags, output) == 1
    assert output.stderr.getvalue() == (
        "greenroom: no target is enabled. Next: configure one as [[targets]], or set demo = true\n"
    )


async def test_a_daemon_that_goes_away_is_told_apart_from_a_turn_that_failed(data_dir, flags, monkeypatch):
    monkeypatch.setattr("runtime.cli.run_command.RECONNECT", NEVER)
    output = quiet_output()
    daemon = daemon_with()
    daemon.close_after = "session/create"
    assert await run(daemon, data_dir, flags, output) == 1
    assert output.stderr.getvalue() == (
        "greenroom: the daemon went away: the daemon closed the connection (1001 shutdown). Next: start it again "
        "(greenroom serve) and look at the session (greenroom show); nothing acknowledged is lost\n"
    )


async def test_a_daemon_that_comes_back_is_met_again_and_the_turn_followed_to_its_end(data_dir, flags):
    daemon = daemon_with(delta("m", 0, "Hel"))
    daemon.close_after = "session/create"
    daemon.after["events/subscribe"] = [DONE]
    daemon.after_from = {"events/subscribe": 2}
    output = quiet_output()
    assert await run(daemon, data_dir, flags, output) == 0
    assert output.stdout.getvalue() == "Hello\n"
    assert len(daemon.params_of("session/create")) == 1


async def test_when_events_are_missing_the_rows_are_read(data_dir, flags):
    daemon = daemon_with(
        delta("m", 0, "Hel"),
        {"type": "session_reset", "commitSeq": 9, "workspaceId": "default", "agentSessionId": "s1"},
        **{
            "session/messages": {
                "messages": [message("m", "Hello"), message("n", "!")],
                "hasMore": False,
                "oldestSequence": 1,
                "commitSeq": 200,
            },
            "session/get": {"session": session(), "interactions": [], "commitSeq": 200},
            "turn/get": {"turn": settled(), "commitSeq": 200},
        },
    )
    daemon.after["turn/get"] = [{"type": "checkpoint", "commitSeq": 10}]
    output = quiet_output()
    assert await run(daemon, data_dir, flags, output) == 0
    assert output.stdout.getvalue() == "Hello\n!\n"


# --- what the agent asks ----------------------------------------------------------------------------------------


def answering(daemon, *events):
    daemon.after["interaction/respond"] = list(events)
    return daemon


async def test_off_a_terminal_an_approval_is_refused_aloud(data_dir, flags):
    daemon = answering(daemon_with(commit(("interaction", approval()))), DONE)
    output = quiet_output()
    assert await run(daemon, data_dir, flags, output) == 0
    (answer,) = daemon.params_of("interaction/respond")
    assert answer == {
        "workspaceId": "default",
        "agentSessionId": "s1",
        "turnId": "t1",
        "requestId": "r1",
        "answer": {"optionId": "id-reject_once"},
    }
    assert output.stderr.getvalue().splitlines()[0] == (
        "greenroom: refused 'rm -r build': nobody could be asked, since this is no terminal; "
        "run it on one, or answer from another client"
    )


async def test_where_nothing_refuses_the_turn_is_canceled(data_dir, flags):
    daemon = daemon_with(commit(("interaction", question({}))))
    daemon.after["turn/cancel"] = [commit(("turn", settled("canceled", cancelConfirmedAt=5)))]
    output = quiet_output()
    assert await run(daemon, data_dir, flags, output) == 1
    assert daemon.params_of("interaction/respond") == []
    assert daemon.params_of("turn/cancel")[0]["turnId"] == "t1"
    assert "canceled the turn, which asked 'a question' and offers no refusal" in output.stderr.getvalue()


async def test_at_a_terminal_the_person_chooses_among_what_was_offered(data_dir, flags, keyboard):
    keyboard.type("maybe\n1\n")
    daemon = answering(daemon_with(commit(("interaction", approval()))), DONE)
    output = terminal_output(keyboard)
    assert await run(daemon, data_dir, flags, output) == 0
    assert daemon.params_of("interaction/respond")[0]["answer"] == {"optionId": "id-allow_once"}
    asked = output.stderr.getvalue()
    assert "The agent asks for permission: execute: rm -r build" in asked
    assert "  1) allow once" in asked
    assert asked.count("Answer 1 to 2: ") == 2


async def test_at_a_terminal_questions_are_answered_one_after_the_other(data_dir, flags, keyboard):
    keyboard.type("2\nwhatever I like\n")
    asked = question(
        {"options": [{"label": "Red"}, {"label": "Blue"}]}, {"id": "q2", "question": "Why?", "freeText": True}
    )
    daemon = answering(daemon_with(commit(("interaction", asked))), DONE)
    assert await run(daemon, data_dir, flags, terminal_output(keyboard)) == 0
    assert daemon.params_of("interaction/respond")[0]["answer"] == {
        "answersByQuestionId": {"q": "Blue", "q2": "whatever I like"}
    }


async def test_the_end_of_input_refuses(data_dir, flags, keyboard):
    keyboard.end()
    daemon = answering(daemon_with(commit(("interaction", approval()))), DONE)
    output = terminal_output(keyboard)
    assert await run(daemon, data_dir, flags, output) == 0
    assert daemon.params_of("interaction/respond")[0]["answer"] == {"optionId": "id-reject_once"}
    assert "refused 'rm -r build': the input has ended" in output.stderr.getvalue()


async def test_an_answer_from_elsewhere_ends_the_question(data_dir, flags, keyboard):
    events = (commit(("interaction", approval())), commit(("interaction", approval(status="answered"))), DONE)
    daemon, output = daemon_with(*events), terminal_output(keyboard)
    assert await run(daemon, data_dir, flags, output) == 0
    assert daemon.params_of("interaction/respond") == []


async def test_an_answer_that_came_too_late_is_told_and_the_turn_goes_on(data_dir, flags):
    refused = Refused("interaction.not_pending", "The interaction takes no answer any more.")
    daemon = daemon_with(commit(("interaction", approval())), **{"interaction/respond": refused})
    output = quiet_output()
    assert await run(answering(daemon, DONE), data_dir, flags, output) == 0
    assert "interaction r1 of turn t1: The interaction takes no answer any more." in output.stderr.getvalue()
