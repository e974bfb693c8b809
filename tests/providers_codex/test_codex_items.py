"""Items as messages: every kind has its place, deltas are made up to the completed item, what is broken off is marked."""

import pytest

from runtime.providers.normalized import (
    BackgroundReported,
    ItemEnded,
    NoticeReported,
    PlanReported,
    TextChunk,
    ToolCallReported,
    ToolOutputChunk,
    TurnEnded,
)
from runtime.providers.port import Deliver
from store.canonical.message import FileChange, PlanEntry
from tests.providers.adapter_playbook import T1, A
from tests.providers_codex.codex_playbook import (
    CodexPlaybook,
    command,
    completed,
    delta,
    notice,
    started,
    turn_completed,
)


def running(*frames: bytes) -> CodexPlaybook:
    """A turn in which Codex says this."""
    book = CodexPlaybook().running()
    book.receive(*frames)
    return book


def calls(book: CodexPlaybook) -> list[ToolCallReported]:
    return [event for event in book.events() if isinstance(event, ToolCallReported)]


def reasoning(method: str, text: str, **index: int) -> bytes:
    return notice(f"item/reasoning/{method}", "th", "p1", itemId="r1", delta=text, **index)


# --- texts ------------------------------------------------------------------------------------------------------


def test_deltas_are_made_up_to_the_text_that_was_completed() -> None:
    running(delta("on"), completed("agentMessage", "m1", text="once")).expect(
        TextChunk(T1, "item-1", "text", "once"), ItemEnded(T1, "item-1")
    )
    running(delta("one"), completed("agentMessage", "m1", text="two")).expect(
        TextChunk(T1, "item-1", "text", "one"), ItemEnded(T1, "item-1", text="two")
    )
    running(completed("agentMessage", "m1", text="at once")).expect(
        TextChunk(T1, "item-1", "text", "at once"), ItemEnded(T1, "item-1")
    )
    running(started("agentMessage", "m1", text=""), completed("agentMessage", "m1", text="")).expect()


def test_nothing_is_added_to_a_text_that_is_complete() -> None:
    book = running(delta("a"), completed("agentMessage", "m1", text="a")).skip()
    book.receive(delta("b"), completed("agentMessage", "m1", text="ab")).expect()


def test_an_id_that_is_used_again_is_another_message() -> None:
    """Item ids are only as unique as the model server makes them."""
    book = running(delta("a"), completed("agentMessage", "m1", text="a")).skip()
    book.receive(
        started("agentMessage", "m1", text=""), delta("b"), started("agentMessage", "m1"), delta("c")
    )
    book.expect(
        TextChunk(T1, "item-2", "text", "b"),
        ItemEnded(T1, "item-2", cut_short=True),
        TextChunk(T1, "item-3", "text", "c"),
    )


def test_reasoning_is_told_by_its_parts() -> None:
    book = running(
        reasoning("summaryTextDelta", "first", summaryIndex=0),
        notice("item/reasoning/summaryPartAdded", "th", "p1", itemId="r1", summaryIndex=1),
        reasoning("summaryTextDelta", "second", summaryIndex=1),
        reasoning("textDelta", "raw", contentIndex=0),
        completed("reasoning", "r1", summary=["first", "second"], content=["raw thought"]),
    )
    texts: dict[str, str] = {}
    for event in book.events():
        if isinstance(event, TextChunk):
            texts[event.item_id] = texts.get(event.item_id, "") + event.text
    assert texts == {"item-1": "first\n\nsecond", "item-2": "raw thought"}
    assert [event for event in book.events() if isinstance(event, ItemEnded)] == [
        ItemEnded(T1, "item-1"),
        ItemEnded(T1, "item-2"),
    ]


def test_a_plan_as_text_is_a_plan_message() -> None:
    running(
        notice("item/plan/delta", "th", "p1", itemId="q", delta="# Plan"),
        completed("plan", "q", text="# Plan\n"),
    ).expect(TextChunk(T1, "item-1", "plan", "# Plan\n"), ItemEnded(T1, "item-1"))


def test_the_steps_of_a_plan_are_told_as_a_whole() -> None:
    steps = [{"step": "look", "status": "completed"}, {"step": "do", "status": "inProgress"}, {"status": "x"}]
    running(notice("turn/plan/updated", "th", "p1", plan=steps)).expect(
        PlanReported(
            T1,
            "plan",
            (
                PlanEntry("look", "completed"),
                PlanEntry("do", "in_progress"),
                PlanEntry("[unreadable step]", "pending"),
            ),
        )
    )


@pytest.mark.parametrize(
    "broken_off_by",
    [
        notice("error", "th", "p1", willRetry=True, error={"message": "Reconnecting... 1/5"}),
        started("userMessage", "u2", clientId="g1"),
        turn_completed("interrupted"),
        turn_completed("completed"),
        turn_completed("failed"),
    ],
    ids=["retried", "steered", "interrupted", "completed", "failed"],
)
def test_what_is_half_said_when_the_request_to_the_model_is_broken_off_stays_so(broken_off_by: bytes) -> None:
    book = running(delta("half a"), broken_off_by)
    assert ItemEnded(T1, "item-1", cut_short=True) in book.events()
    assert not [
        output
        for output in book.receive(delta("!")).events()
        if output == TextChunk(T1, "item-1", "text", "!")
    ]


def test_a_retry_is_mentioned_once_a_turn_in_our_words() -> None:
    error = notice(
        "error", "th", "p1", willRetry=True, error={"message": "http://secret", "codexErrorInfo": "other"}
    )
    book = running(*[error] * 50)
    (told,) = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert (told.code, told.severity) == ("provider.retrying", "info")
    assert "secret" not in told.text


# --- calls ------------------------------------------------------------------------------------------------------


def test_a_command_is_shown_as_it_was_meant_and_its_output_is_the_completed_one() -> None:
    book = running(
        started(**command(processId="7")),
        notice("item/commandExecution/outputDelta", "th", "p1", itemId="c1", delta="there\n"),
        completed(**command(status="completed", aggregatedOutput="hi\nthere\n", exitCode=0)),
    )
    book.expect(
        ToolCallReported(
            T1,
            "c1",
            "command",
            "make",
            "execute",
            "running",
            {"command": "/bin/bash -lc 'make'", "cwd": "/w"},
        ),
        ToolOutputChunk(T1, "c1", "there\n"),
        ToolCallReported(T1, "c1", status="completed", output_text="hi\nthere\n", exit_code=0),
    )


@pytest.mark.parametrize(
    ("members", "title", "kind"),
    [
        ({"command": "ls", "commandActions": []}, "ls", "execute"),
        ({"command": "bash -lc 'a && b'", "commandActions": []}, "a && b", "execute"),
        ({"command": "bash -lc 'a", "commandActions": []}, "bash -lc 'a", "execute"),
        ({"command": "x", "commandActions": [{"type": "read", "command": "cat f"}]}, "cat f", "read"),
        ({"command": "x", "commandActions": [{"type": "search"}, {"type": "listFiles"}]}, "x", "search"),
        ({"command": "x", "commandActions": [{"type": "read"}, {"type": "unknown"}]}, "x", "execute"),
        ({"command": "one\ntwo"}, "one", "execute"),
        ({}, "command", "execute"),
    ],
)
def test_what_a_command_does_is_told_by_its_title_and_kind(
    members: dict[str, object], title: str, kind: str
) -> None:
    (call,) = calls(running(started("commandExecution", "c1", **members)))
    assert (call.title, call.kind) == (title, kind)


@pytest.mark.parametrize(
    ("kind", "members", "told"),
    [
        pytest.param(
            "mcpToolCall",
            {
                "server": "toy",
                "tool": "dig",
                "arguments": {"a": 1},
                "status": "completed",
                "readOnlyHint": True,
            }
            | {"result": {"content": [{"type": "text", "text": "dug"}, {"type": "image", "data": "QUJD"}]}},
            ("toy/dig", "dig of toy", "read", "completed", {"a": 1}, "dug\n[image]"),
            id="a tool of an MCP server",
        ),
        pytest.param(
            "mcpToolCall",
            {"server": "toy", "tool": "dig", "status": "failed", "error": {"message": "no spade"}},
            ("toy/dig", "dig of toy", "other", "failed", None, "no spade"),
            id="a failing tool",
        ),
        pytest.param(
            "dynamicToolCall",
            {"tool": "look", "status": "completed", "contentItems": [{"type": "inputText", "text": "seen"}]},
            ("look", "look", "other", "completed", None, "seen"),
            id="a tool of the host",
        ),
        pytest.param(
            "collabAgentToolCall",
            {
                "tool": "spawnAgent",
                "prompt": "Dig.\nDeep.",
                "receiverThreadIds": ["x"],
                "status": "completed",
            },
            ("spawnAgent", "Dig.", "delegate", "completed", {"prompt": "Dig.\nDeep.", "agents": ["x"]}, None),
            id="a sub-agent",
        ),
        pytest.param(
            "subAgentActivity",
            {"kind": "started", "agentPath": "/root/digger"},
            ("subAgent", "/root/digger started", "delegate", "completed", None, None),
            id="what a sub-agent does",
        ),
        pytest.param(
            "webSearch",
            {"query": "oak", "action": {"type": "search", "query": "oak"}},
            ("web_search", "oak", "search", "completed", {"type": "search", "query": "oak"}, None),
            id="a search",
        ),
        pytest.param(
            "webSearch",
            {"query": "", "action": {"type": "openPage", "url": "http://oak"}},
            (
                "web_search",
                "http://oak",
                "fetch",
                "completed",
                {"type": "openPage", "url": "http://oak"},
                None,
            ),
            id="a page",
        ),
        pytest.param(
            "imageView",
            {"path": "/a.png"},
            ("view_image", "/a.png", "read", "completed", None, None),
            id="a look",
        ),
        pytest.param(
            "imageGeneration",
            {"revisedPrompt": "An oak", "result": "QUJD", "savedPath": "/oak.png", "status": "done"},
            ("image_generation", "An oak", "other", "completed", None, "/oak.png"),
            id="a picture",
        ),
        pytest.param(
            "imageGeneration",
            {"failure": {"reason": "no"}, "result": ""},
            ("image_generation", "Make a picture", "other", "failed", None, None),
            id="no picture",
        ),
        pytest.param("sleep", {"durationMs": 5}, ("sleep", "Wait a while", "other", "completed", None, None)),
        pytest.param(
            "functionCallOutput",
            {"name": "f", "namespace": "n", "output": "out"},
            ("n/f", "f", "other", "completed", None, "out"),
            id="an output alone",
        ),
    ],
)
def test_every_kind_of_call_has_name_title_kind_input_and_output(
    kind: str, members: dict[str, object], told: tuple[object, ...]
) -> None:
    item = {"type": kind, "id": "c1", **members}
    (call,) = calls(running(notice("item/completed", "th", "p1", item=item)))
    assert (call.name, call.title, call.kind, call.status, call.input, call.output_text) == told
    assert "QUJD" not in str(call), "no row holds a picture"


def test_a_call_that_has_no_status_runs_until_it_is_completed() -> None:
    first, second = calls(
        running(started("webSearch", "c1", query="oak"), completed("webSearch", "c1", query="oak"))
    )
    assert (first.status, second.status) == ("running", "completed")


def test_files_are_told_with_a_diff_whatever_codex_puts_in_its_place() -> None:
    changes = [
        {"path": "/a", "kind": {"type": "update", "move_path": None}, "diff": "@@ -1 +1 @@\n-x\n+y\n"},
        {"path": "/b", "kind": {"type": "add"}, "diff": "one\n"},
        {"path": "/c", "kind": {"type": "delete"}, "diff": "two\n"},
        {
            "path": "/d",
            "kind": {"type": "update", "move_path": "/e"},
            "diff": "@@ -1 +1 @@\n-x\n+y\n\n\nMoved to: /e",
        },
        {"kind": {"type": "add"}},
    ]
    book = running(started("fileChange", "f1", changes=changes, status="inProgress"))
    (call,) = calls(book)
    assert call.changes == (
        FileChange("/a", "update", "--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"),
        FileChange("/b", "add", "--- /b\n+++ /b\n@@ -0,0 +1 @@\n+one\n"),
        FileChange("/c", "delete", "--- /c\n+++ /c\n@@ -1 +0,0 @@\n-two\n"),
        FileChange("/d", "move", "--- /d\n+++ /e\n@@ -1 +1 @@\n-x\n+y\n"),
    )
    assert (call.title, call.kind) == ("Change 4 files", "edit")
    book.skip().receive(notice("item/fileChange/patchUpdated", "th", "p1", itemId="f1", changes=changes[:1]))
    book.expect(ToolCallReported(T1, "f1", changes=call.changes[:1]))
    book.receive(completed("fileChange", "f1", changes=changes[:1], status="completed"))
    assert calls(book)[-1].status == "completed"
    assert calls(book)[-1].changes is None, "told already"


def test_a_call_id_that_is_used_again_is_another_call() -> None:
    book = running(started(**command()), completed(**command(status="completed", aggregatedOutput="1")))
    book.receive(
        started(**command(text="test")), completed(**command(text="test", status="failed", exitCode=2))
    )
    assert [(call.call_id, call.status) for call in calls(book)] == [
        ("c1", "running"),
        ("c1", "completed"),
        ("c1~2", "running"),
        ("c1~2", "failed"),
    ]


def test_output_of_a_call_nobody_announced_announces_it() -> None:
    book = running(notice("item/commandExecution/outputDelta", "th", "p1", itemId="c1", delta="x"))
    assert [type(event).__name__ for event in book.events()[-2:]] == ["ToolCallReported", "ToolOutputChunk"]
    book.receive(completed(**command(status="completed", aggregatedOutput="x")))
    assert (calls(book)[-1].title, calls(book)[-1].status) == ("make", "completed")


def test_calls_left_open_are_interrupted_but_commands_may_go_on() -> None:
    book = running(
        started(**command()), started("webSearch", "s1", query="oak"), started("mcpToolCall", "x1", tool="t")
    )
    book.skip().receive(turn_completed("completed"))
    book.expect(
        ToolCallReported(T1, "s1", status="interrupted"),
        ToolCallReported(T1, "x1", status="interrupted"),
        TurnEnded(T1, "completed", "completed"),
        Deliver(A, BackgroundReported(frozenset({T1}))),
    )
