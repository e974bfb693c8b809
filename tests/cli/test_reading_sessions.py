"""`greenroom sessions` and `greenroom show` against a scripted daemon."""

import datetime as dt
import json
from functools import partial

import pytest

from runtime.cli.commands import told
from runtime.cli.session_commands import ListRequest, list_sessions, show_session
from runtime.cli.transcript import local_time, session_state, transcript_lines, turn_line
from tests.cli.fake_daemon import FakeDaemon, Refused, running
from tests.cli.rows import approval, failed, message, question, session, settled, tool, turn
from tests.cli.streams import quiet_output, terminal_output


@pytest.fixture(autouse=True)
def the_same_clock_everywhere(monkeypatch):
    monkeypatch.setattr("runtime.cli.transcript.local_time", lambda at, _=None: f"@{at}")


async def listed(answer, data_dir, flags, output, workspace="default"):
    first = [message("r", "Hm."), message("u", "Mend the\nflaky test", role="user")]
    messages = {"messages": first, "hasMore": False, "oldestSequence": 1, "commitSeq": 1}
    daemon = FakeDaemon(answers={"session/list": answer, "session/messages": messages})
    async with running(daemon, data_dir):
        code = await told(partial(list_sessions, ListRequest(workspace_id=workspace), flags, output), output)
    return code, daemon


async def shown(daemon, data_dir, flags, output, newest=500):
    async with running(daemon, data_dir):
        return await told(partial(show_session, "s1", "default", flags, newest, output), output)


def detail(**more):
    return {
        "session": session(title="Clean up"),
        "activeTurn": None,
        "turns": [settled()],
        "turnsCursor": None,
        "incomplete": [],
        "interactions": [],
        "children": [],
        "projection": "full",
        "commitSeq": 7,
        **more,
    }


def window(*messages, more=False):
    return {
        "messages": list(messages),
        "hasMore": more,
        "oldestSequence": messages[0]["sequence"] if messages else None,
    }


async def test_sessions_are_lines_with_tabs_where_there_is_no_terminal(data_dir, flags):
    asking = {"turnId": "t", "phase": "waiting", "pendingInteractions": 1}
    items = [
        session("s1", title="A\ttitle\nof two lines", pinned=True),
        session("s2", activity=asking, createdAt=5),
    ]
    output = quiet_output()
    code, daemon = await listed({"items": items, "nextCursor": None}, data_dir, flags, output, "w1")
    assert code == 0
    assert daemon.params_of("session/list") == [{"workspaceId": "w1", "limit": 200, "cursor": None}]
    assert output.stdout.getvalue().splitlines() == [
        "SESSION\tTARGET\tSTATE\tSTARTED\tTITLE",
        "s1\tdemo\tidle\t@0\t* A title of two lines",
        "s2\tdemo\tasks\t@5\tMend the flaky test",
    ]
    assert [params["agentSessionId"] for params in daemon.params_of("session/messages")] == ["s2"]


async def test_every_page_is_read(data_dir, flags):
    def page(params):
        if params["cursor"] is None:
            return {"items": [session("s1")], "nextCursor": "more"}
        return {"items": [session("s2")], "nextCursor": None}

    output = quiet_output(as_json=True)
    code, daemon = await listed(page, data_dir, flags, output)
    assert code == 0
    assert [params["cursor"] for params in daemon.params_of("session/list")] == [None, "more"]
    assert [item["agentSessionId"] for item in json.loads(output.stdout.getvalue())["items"]] == ["s1", "s2"]


async def test_on_a_terminal_the_table_is_drawn(data_dir, flags, keyboard):
    output = terminal_output(keyboard)
    code, _ = await listed(
        {"items": [session("s1", title="\x1b[31mred")], "nextCursor": None}, data_dir, flags, output
    )
    assert code == 0
    assert "\t" not in output.stdout.getvalue()
    assert "\x1b[31m" not in output.stdout.getvalue()
    assert "s1" in output.stdout.getvalue()


async def test_no_sessions_is_a_hint_not_an_error(data_dir, flags):
    output = quiet_output()
    code, _ = await listed({"items": [], "nextCursor": None}, data_dir, flags, output)
    assert (code, output.stdout.getvalue()) == (0, "")
    assert output.stderr.getvalue() == 'no sessions in workspace default; start one: greenroom run "…"\n'


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "idle"),
        ({"runtime": {"state": "quarantined"}}, "quarantined"),
        ({"activity": {"phase": "running", "pendingInteractions": 0}}, "running"),
        ({"activity": {"phase": "waiting", "pendingInteractions": 2}}, "asks 2"),
    ],
)
def test_the_state_says_what_matters_most(more, state):
    assert session_state(session(**more)) == state


async def test_a_session_is_shown_with_its_turns_and_what_was_said(data_dir, flags):
    prompt = message("u", "tidy up\nplease", role="user", sequence=1)
    answer = message("m", "Done.", sequence=4)
    thought = message("r", "hm", kind="reasoning", sequence=2)
    daemon = FakeDaemon(
        answers={
            "session/get": detail(),
            "session/messages": window(
                prompt, thought, tool("x", "failed", exitCode=1) | {"sequence": 3}, answer
            ),
        }
    )
    output = quiet_output()
    assert await shown(daemon, data_dir, flags, output) == 0
    assert output.stdout.getvalue().splitlines() == [
        "session s1  Clean up",
        "  target demo (acp), runtime absent",
        "  directory /work-root/s1",
        "  created @0",
        "",
        "turn t1  completed, @0, 1.5 s",
        "> tidy up",
        "  please",
        "  ~ hm",
        "  • execute: make: failed (exit code 1)",
        "  Done.",
    ]


async def test_a_session_of_a_project_says_so_and_which_branch_is_its_own(data_dir, flags):
    isolation = {
        "type": "worktree",
        "path": "/trees/s1",
        "branch": "greenroom/w/s1",
        "baseCommit": "0123456789abcdef",
    }
    found = session(isolation=isolation, railSectionKey="project:/srv/my project")
    answers = {"session/get": detail(session=found), "session/messages": window()}
    output = quiet_output()
    assert await shown(FakeDaemon(answers=answers), data_dir, flags, output) == 0
    assert output.stdout.getvalue().splitlines()[3:5] == [
        "  checkout of its own, branch greenroom/w/s1 from 0123456789ab",
        "  project /srv/my project",
    ]


async def test_what_waits_for_an_answer_stands_at_the_end(data_dir, flags):
    asked = question({"options": [{"label": "Red"}]}, requestId="r2")
    answered = approval("r3", status="answered")
    daemon = FakeDaemon(
        answers={
            "session/get": detail(turns=[turn(phase="waiting")], interactions=[approval(), asked, answered]),
            "session/messages": window(),
        }
    )
    output = quiet_output()
    assert await shown(daemon, data_dir, flags, output) == 0
    assert output.stdout.getvalue().splitlines()[4:] == [
        "",
        "turn t1  waiting, @0",
        "",
        "waiting: request r1 of turn t1",
        "  The agent asks for permission: execute: rm -r build",
        "    command: rm -r build",
        "    1) allow once",
        "    2) reject once",
        "",
        "waiting: request r2 of turn t1",
        "  The agent asks:",
        "    Which?",
        "      1) Red",
    ]


async def test_long_sessions_are_read_backwards_up_to_the_number_wanted(data_dir, flags):
    rows = [message(f"m{number}", str(number), sequence=number) for number in range(1, 451)]

    def page(params):
        below = [row for row in rows if row["sequence"] < params["beforeSequence"]]
        taken = below[-params["limit"] :]
        return window(*taken, more=len(below) > len(taken))

    daemon = FakeDaemon(answers={"session/get": detail(), "session/messages": page})
    output = quiet_output(as_json=True)
    assert await shown(daemon, data_dir, flags, output, newest=300) == 0
    found = json.loads(output.stdout.getvalue())
    assert [row["sequence"] for row in found["messages"]] == list(range(151, 451))
    assert found["hasMoreMessages"]
    assert found["session"]["title"] == "Clean up"
    assert [params["limit"] for params in daemon.params_of("session/messages")] == [200, 100]


async def test_turns_of_old_are_read_as_far_as_their_messages_are_shown(data_dir, flags):
    old = settled(turn_id="t0", sequence=0)
    daemon = FakeDaemon(
        answers={
            "session/get": detail(turnsCursor="older"),
            "session/messages": window(
                message("o", "old", turnId="t0", sequence=1), message("m", "new", sequence=2), more=True
            ),
            "turn/list": {"items": [old, settled(turn_id="t-1")], "nextCursor": "even older"},
        }
    )
    daemon.answers["session/messages"]["oldestSequence"] = None
    output = quiet_output()
    assert await shown(daemon, data_dir, flags, output, newest=2) == 0
    assert [params["cursor"] for params in daemon.params_of("turn/list")] == ["older"]
    lines = output.stdout.getvalue().splitlines()
    assert lines.index("  old") < lines.index("turn t1  completed, @0, 1.5 s") < lines.index("  new")


async def test_a_session_that_is_not_there_says_where_to_look(data_dir, flags):
    output = quiet_output()
    daemon = FakeDaemon(answers={"session/get": Refused("session.deleted", "The session was deleted.")})
    assert await shown(daemon, data_dir, flags, output) == 1
    assert output.stderr.getvalue() == (
        "greenroom: session s1: The session was deleted (session.deleted). "
        "Next: have it back (greenroom undelete s1), or choose another: greenroom sessions\n"
    )
    output = quiet_output(as_json=True)
    assert await shown(daemon, data_dir, flags, output) == 1
    assert json.loads(output.stderr.getvalue()) == {
        "error": {
            "code": "session.deleted",
            "message": "session s1: The session was deleted (session.deleted)",
            "next": "have it back (greenroom undelete s1), or choose another: greenroom sessions",
            "exitCode": 1,
        }
    }


def test_messages_of_no_turn_and_other_content_are_shown_too():
    plan = [{"type": "plan", "entries": [{"text": "look", "status": "pending"}]}]
    notice = [{"type": "notice", "code": "x", "severity": "info", "text": "resumed"}]
    rows = [
        message("i", "imported", turnId=None, sequence=1),
        message("p", kind="plan", content=plan, sequence=2),
        message("n", kind="notice", role="system", content=notice, sequence=3),
        message("g", kind="goal_control", content=[{"type": "text", "text": "a goal"}], sequence=4),
        message("b", "cut", status="interrupted", sequence=5),
    ]
    assert [line.text for line in transcript_lines([settled()], rows)] == [
        "  imported",
        "",
        "turn t1  completed, @0, 1.5 s",
        "  - look (pending)",
        "  ! info: resumed",
        "  a goal",
        "  cut",
        "  (interrupted)",
    ]


def test_a_failed_turn_says_why():
    row = failed("provider.lost", "The provider's process ended.")
    assert turn_line(row) == "turn t1  failed, @0, 1.5 s: The provider's process ended. (provider.lost)"


def test_times_are_those_of_the_place_asked_for():
    zone = dt.timezone(dt.timedelta(hours=2))
    assert local_time(1_700_000_000_000, zone) == "2023-11-15 00:13"


@pytest.mark.rule("RT-132")
async def test_sub_agents_are_shown_under_their_root_and_name_it(data_dir, flags):
    child = session("c1", title="dig", activeTurnId="t9", parent={"parentAgentSessionId": "s1"})
    for shown_one, line in (
        (detail(children=[child]), "  child c1, at work  dig"),
        (detail(session=child), "  sub-agent of s1"),
    ):
        output = quiet_output()
        daemon = FakeDaemon(answers={"session/get": shown_one, "session/messages": window()})
        assert await shown(daemon, data_dir, flags, output) == 0
        assert line in output.stdout.getvalue().splitlines()
