"""What is told of a turn: text and its replacement, reasoning, calls, plans, and what sub-agents do."""

import pytest

from runtime.providers.normalized import (
    ItemEnded,
    NoticeReported,
    PlanReported,
    TextChunk,
    ToolCallReported,
    ToolOutputChunk,
)
from store.canonical.message import FileChange, PlanEntry
from tests.providers_claude.claude_playbook import (
    T1,
    T2,
    ClaudePlaybook,
    block_starts,
    delta,
    frame,
    result,
    said,
    stream,
    streamed,
    system,
    tool_result,
    tool_use,
)


def calls(book: ClaudePlaybook) -> list[ToolCallReported]:
    return [event for event in book.events() if isinstance(event, ToolCallReported)]


def test_the_finished_block_ends_its_item_before_its_own_stop_and_replaces_what_differs():
    book = ClaudePlaybook().opened().running()
    book.receive(streamed("m1", "Hel"), delta("lo"), said("m1", "Hello!"))
    book.expect(TextChunk(T1, "item-1", "text", "Hello"), ItemEnded(T1, "item-1", "Hello!"))
    book.receive(stream("content_block_stop", index=0), delta("late"), stream("message_stop")).expect()


def test_text_without_deltas_comes_whole():
    book = ClaudePlaybook().opened().running().receive(said("m1", "One"), said("m2", "Two"))
    book.expect(
        TextChunk(T1, "item-1", "text", "One"),
        ItemEnded(T1, "item-1"),
        TextChunk(T1, "item-2", "text", "Two"),
        ItemEnded(T1, "item-2"),
    )


def test_reasoning_and_text_of_one_message_are_two_items():
    book = ClaudePlaybook().opened().running()
    thought = {"type": "thinking_delta", "thinking": "Hm."}
    book.receive(
        stream("message_start", message={"id": "m1"}),
        block_starts(0, type="thinking", thinking=""),
        stream("content_block_delta", index=0, delta=thought),
        said("m1", {"type": "thinking", "thinking": "Hm.", "signature": "x"}),
        stream("content_block_stop", index=0),
        block_starts(1, type="text", text=""),
        delta("An oak.", 1),
        said("m1", "An oak."),
    )
    book.expect(
        TextChunk(T1, "item-1", "reasoning", "Hm."),
        ItemEnded(T1, "item-1"),
        TextChunk(T1, "item-2", "text", "An oak."),
        ItemEnded(T1, "item-2"),
    )


def test_a_message_that_was_broken_off_is_cut_short_when_the_next_begins():
    book = ClaudePlaybook().opened().running()
    book.receive(streamed("m1", "Half"), streamed("m2", "Whole"), said("m2", "Whole"))
    book.expect(
        TextChunk(T1, "item-1", "text", "Half"),
        ItemEnded(T1, "item-1", cut_short=True),
        TextChunk(T1, "item-2", "text", "Whole"),
        ItemEnded(T1, "item-2"),
    )


def test_the_rest_of_an_interrupted_message_is_cut_short():
    book = ClaudePlaybook().opened().running()
    book.receive(streamed("m1", "Half"), said("m1", "Half a", aborted=True))
    book.expect(TextChunk(T1, "item-1", "text", "Half"), ItemEnded(T1, "item-1", "Half a", True))


def test_a_call_is_announced_described_and_ended():
    book = ClaudePlaybook().opened().running()
    book.receive(
        stream("message_start", message={"id": "m1"}),
        block_starts(0, type="tool_use", id="c1", name="Bash", input={}),
        said("m1", tool_use("c1", command="make", description="build")),
        tool_result("c1", "built"),
    )
    book.expect(
        ToolCallReported(T1, "c1", "Bash", "Bash", "execute", "pending"),
        ToolCallReported(
            T1, "c1", None, "make", None, "running", {"command": "make", "description": "build"}
        ),
        ToolCallReported(T1, "c1", status="completed", output_text="built"),
    )
    book.receive(tool_result("c1", "again"), tool_result("unknown", "x")).expect()


@pytest.mark.parametrize(
    ("members", "stopping", "status", "exit_code"),
    [
        ({"content": "Exit code 2\nno rule"}, False, "failed", 2),
        ({"content": "no such file"}, False, "failed", None),
        (
            {"content": "no", "tool_result_meta": [{"id": "c1", "non_execution_kind": "permission-rule"}]},
            False,
            "declined",
            None,
        ),
    ],
)
def test_a_call_that_went_wrong_says_how(members, stopping, status, exit_code):
    book = ClaudePlaybook().opened().running()
    book.receive(said("m1", tool_use("c1", command="make")))
    book.receive(tool_result("c1", is_error=True, **members))
    told = calls(book)[-1]
    assert (told.status, told.exit_code) == (status, exit_code)


def test_results_of_several_blocks_are_joined_and_what_is_no_text_is_named():
    book = ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", "Read", file_path="/x")))
    content = [
        {"type": "text", "text": "one"},
        {"type": "image", "source": {}},
        {"type": "text", "text": "two"},
    ]
    book.receive(tool_result("c1", content))
    assert calls(book)[-1].output_text == "one\n[image]\ntwo"


@pytest.mark.parametrize(
    ("name", "given", "kind", "title", "changes"),
    [
        ("Read", {"file_path": "/a"}, "read", "Read /a", None),
        ("Grep", {"pattern": "x+"}, "search", "Grep x+", None),
        ("WebFetch", {"url": "https://x"}, "fetch", "WebFetch https://x", None),
        ("Agent", {"description": "look"}, "delegate", "Agent look", None),
        ("mcp__mine__do", {}, "other", "mcp__mine__do", None),
        ("NotebookEdit", {"notebook_path": "/n"}, "edit", "NotebookEdit /n", (FileChange("/n", "update"),)),
        (
            "Edit",
            {"file_path": "/a", "old_string": "x\n", "new_string": "y\n"},
            "edit",
            "Edit /a",
            (FileChange("/a", "update", "--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"),),
        ),
        (
            "Write",
            {"file_path": "/a", "content": "y\n"},
            "edit",
            "Write /a",
            (FileChange("/a", "add", "--- /a\n+++ /a\n@@ -0,0 +1 @@\n+y\n"),),
        ),
    ],
)
def test_tools_are_shown_in_the_products_words(name, given, kind, title, changes):
    book = ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", name, **given)))
    announced, described = calls(book)
    assert (announced.kind, described.title, described.changes) == (kind, title, changes)


def test_a_list_of_things_to_do_is_a_plan():
    todos = [
        {"content": "Dig", "status": "completed"},
        {"content": "Plant", "status": "in_progress"},
        {"content": "Water", "status": "odd"},
        {"status": "pending"},
    ]
    book = ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", "TodoWrite", todos=todos)))
    (plan,) = [event for event in book.events() if isinstance(event, PlanReported)]
    assert plan.entries == (
        PlanEntry("Dig", "completed"),
        PlanEntry("Plant", "in_progress"),
        PlanEntry("Water"),
    )


def board(*steps: tuple[str, dict[str, object], object]) -> list[tuple[PlanEntry, ...]]:
    """The plans that calls about the list of tasks lead to."""
    book = ClaudePlaybook().opened().running()
    for number, (name, given, brought) in enumerate(steps):
        call_id = f"c{number}"
        book.receive(said(f"m{number}", tool_use(call_id, name, **given)))
        book.receive(tool_result(call_id, "done", tool_use_result=brought))
    return [event.entries for event in book.events() if isinstance(event, PlanReported)]


def created(number: str, subject: str) -> tuple[str, dict[str, object], object]:
    return ("TaskCreate", {"subject": subject}, {"task": {"id": number, "subject": subject}})


def updated(number: str, *, success: bool = True, **given: str) -> tuple[str, dict[str, object], object]:
    return ("TaskUpdate", {"taskId": number, **given}, {"success": success, "taskId": number})


def test_the_list_of_tasks_is_the_plan_and_follows_what_calls_bring_back():
    plans = board(
        created("1", "Dig"),
        created("2", "Plant"),
        updated("1", status="in_progress"),
        updated("1", status="completed", subject="Dig deep"),
        updated("2", status="deleted"),
    )
    assert plans == [
        (PlanEntry("Dig"),),
        (PlanEntry("Dig"), PlanEntry("Plant")),
        (PlanEntry("Dig", "in_progress"), PlanEntry("Plant")),
        (PlanEntry("Dig deep", "completed"), PlanEntry("Plant")),
        (PlanEntry("Dig deep", "completed"),),
    ]


def test_a_refused_change_and_a_task_nobody_heard_of_change_no_plan():
    same = ("TaskList", {}, {"tasks": [{"id": "1", "subject": "Dig", "status": "pending"}]})
    other = ("TaskList", {}, {"tasks": [{"id": "7", "subject": "Old", "status": "completed"}, {"id": "8"}]})
    plans = board(
        created("1", "Dig"),
        updated("1", success=False, status="completed"),
        updated("9", status="completed"),
        ("TaskCreate", {"subject": "x"}, "an error"),
        same,
        other,
    )
    assert plans == [(PlanEntry("Dig"),), (PlanEntry("Old", "completed"),)]


def test_what_a_sub_agent_does_is_output_of_the_call_that_started_it():
    book = ClaudePlaybook().opened().running()
    book.receive(said("m1", tool_use("c1", "Agent", description="look"))).skip()
    book.receive(
        said("s1", "I look.", tool_use("s1c1", command="ls"), parent="c1"),
        stream("content_block_delta", "c1", index=0, delta={"type": "text_delta", "text": "x"}),
        frame("user", message={"content": []}, parent_tool_use_id="c1"),
        said("s9", "Of nobody.", parent="unknown"),
    )
    book.expect(ToolOutputChunk(T1, "c1", "I look.\nls\n"))
    book.receive(tool_result("c1", "Found it."))
    book.expect(ToolCallReported(T1, "c1", status="completed", output_text="Found it."))
    assert not [event for event in book.events() if isinstance(event, TextChunk)]


@pytest.mark.case("FC-13")
def test_a_sub_agent_in_the_background_ends_its_call_after_the_turn():
    book = ClaudePlaybook().opened().running()
    book.receive(
        said("m1", tool_use("c1", "Agent")), tool_result("c1", "launched", tool_use_result={"isAsync": True})
    )
    assert [call.status for call in calls(book)] == ["pending", "running"]
    book.receive(result()).running(T2).receive(said("s1", "later", parent="c1")).expect()
    book.receive(system("task_notification", tool_use_id="c1", status="completed", summary="Done."))
    book.expect(ToolCallReported(T1, "c1", status="completed", output_text="Done."))
    book.receive(system("task_notification", tool_use_id="c1", status="completed", summary="Done.")).expect()


def test_repeats_and_synthetic_prompts_are_no_content():
    book = ClaudePlaybook().opened().running()
    message = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]}
    book.receive(said("m1", tool_use("c1"))).skip()
    for member in ("isReplay", "isSynthetic"):
        book.receive(frame("user", message=message, parent_tool_use_id=None, **{member: True}))
    book.receive(frame("user", message={"role": "user", "content": "[Request interrupted by user]"}))
    book.expect()


def test_a_shortened_memory_and_a_message_too_large_are_noticed():
    book = ClaudePlaybook().opened().running().receive(system("compact_boundary"))
    (notice,) = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert (notice.code, notice.severity) == ("provider.context_compacted", "info")
