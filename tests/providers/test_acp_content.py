"""What an ACP agent says in a turn, as events: text, reasoning, plans, notices, tool calls and their changes."""

import pytest

from runtime.providers.normalized import (
    ItemEnded,
    NoticeReported,
    PlanReported,
    TextChunk,
    ToolCallReported,
    ToolOutputChunk,
    UsageReported,
)
from runtime.providers.port import Diagnostic
from store.canonical.common import Usage
from store.canonical.identifiers import CallId
from store.canonical.message import FileChange, PlanEntry
from tests.providers.adapter_playbook import (
    T1,
    Playbook,
    chunk,
    update,
)

CALL = CallId("c1")
ENDED = {"stopReason": "end_turn"}


def prompted() -> Playbook:
    return Playbook().opened().prompted()


# --- content -------------------------------------------------------------------------------------------------------


def test_adjacent_chunks_of_one_read_come_out_as_one_and_items_end_where_another_begins() -> None:
    prompted().receive(
        chunk("sa", "th", "agent_thought_chunk"),
        chunk("sa", "ink", "agent_thought_chunk"),
        chunk("sa", ""),
        chunk("sa", " a"),
        chunk("sa", "b\n"),
        update("sa", "tool_call", toolCallId="c1", title="Run", kind="execute", status="pending"),
        chunk("sa", "after"),
        update("sa", "tool_call_update", toolCallId="c1", status="completed"),
        chunk("sa", " more"),
    ).expect(
        TextChunk(T1, "item-1", "reasoning", "think"),
        ItemEnded(T1, "item-1"),
        TextChunk(T1, "item-2", "text", " ab\n"),
        ItemEnded(T1, "item-2"),
        ToolCallReported(T1, CALL, name="execute", title="Run", kind="execute", status="pending"),
        TextChunk(T1, "item-3", "text", "after"),
        ToolCallReported(T1, CALL, status="completed"),
        TextChunk(T1, "item-3", "text", " more"),
    )


@pytest.mark.rule("ST-019")
def test_white_space_of_text_is_kept() -> None:
    prompted().receive(chunk("sa", " \n\t ")).expect(TextChunk(T1, "item-1", "text", " \n\t "))


def test_another_message_id_begins_another_item() -> None:
    prompted().receive(chunk("sa", "one", messageId="m1"), chunk("sa", "two", messageId="m2")).expect(
        TextChunk(T1, "item-1", "text", "one"),
        ItemEnded(T1, "item-1"),
        TextChunk(T1, "item-2", "text", "two"),
    )


@pytest.mark.case("FC-19")
def test_lone_surrogates_in_text_become_replacement_characters() -> None:
    prompted().receive(chunk("sa", "half \ud99c nul \x00 \uffff")).expect(
        TextChunk(T1, "item-1", "text", "half \ufffd nul \x00 \uffff")
    )


@pytest.mark.case("FC-20")
def test_frame_arriving_byte_by_byte_is_exact() -> None:
    book = prompted()
    for byte in chunk("sa", "\U0001f642水").replace(b"\n", b"\r\n"):
        book.receive(bytes([byte]))
    book.expect(TextChunk(T1, "item-1", "text", "\U0001f642水"))


@pytest.mark.case("FC-53")
def test_unknown_blocks_are_shown_as_placeholders_and_the_next_update_is_fine() -> None:
    prompted().receive(
        update("sa", "agent_message_chunk", content={"type": "hologram", "x": 1}),
        update("sa", "agent_message_chunk", content={"type": "image", "mimeType": "image/png", "data": ""}),
        update(
            "sa", "agent_message_chunk", content={"type": "resource_link", "uri": "file:///a", "name": "a"}
        ),
        update("sa", "agent_message_chunk", content=5),
        chunk("sa", "next"),
    ).expect(
        TextChunk(T1, "item-1", "text", "[hologram][image image/png][a](file:///a)[unreadable content]next")
    )


@pytest.mark.case("FC-53")
def test_unknown_updates_and_updates_without_their_id_are_counted_and_nothing_else() -> None:
    prompted().receive(
        update("sa", "brand_new_update", x=1),
        update("sa", "tool_call_update", status="completed"),
        chunk("sa", "x"),
    ).expect(
        Diagnostic("update.unknown", "brand_new_update"),
        Diagnostic("update.unknown", "tool_call_update without its identity"),
        TextChunk(T1, "item-1", "text", "x"),
    )


def test_plan_is_one_item_told_again_as_a_whole() -> None:
    entries = [
        {"content": "look", "status": "in_progress", "priority": "high"},
        {"content": "go", "status": "odd"},
        5,
    ]
    first = (
        PlanEntry("look", "in_progress", "high"),
        PlanEntry("go", "pending"),
        PlanEntry("[unreadable step]", "pending"),
    )
    prompted().receive(
        chunk("sa", "a"),
        update("sa", "plan", entries=entries),
        chunk("sa", "b"),
        update("sa", "plan", entries=[]),
    ).expect(
        TextChunk(T1, "item-1", "text", "a"),
        ItemEnded(T1, "item-1"),
        PlanReported(T1, "plan", first),
        TextChunk(T1, "item-2", "text", "b"),
        PlanReported(T1, "plan", ()),
    )


def test_notices_and_compaction_are_told_with_codes_of_ours() -> None:
    prompted().receive(
        update("sa", "notice", severity="warning", title="Slow", description="very"),
        update("sa", "compaction_update", compactionId="k", status="in_progress"),
        update("sa", "compaction_update", compactionId="k", status="completed"),
    ).expect(
        NoticeReported(T1, "provider.notice", "warning", "Slow\nvery"),
        NoticeReported(
            T1, "provider.context_compacted", "info", "The agent shortened the conversation it remembers."
        ),
    )


def test_usage_keeps_what_was_reported_until_it_is_reported_anew() -> None:
    prompted().receive(
        update("sa", "usage_update", used=5, size=10, cost={"amount": 0.5, "currency": "USD"}),
        update("sa", "usage_update", used=6, size=None, cost={"amount": 9, "currency": "EUR"}),
    ).expect(
        UsageReported(Usage(context_tokens=5, context_window=10, cost_usd=0.5), T1),
        UsageReported(Usage(context_tokens=6, context_window=10, cost_usd=0.5), T1),
    )


# --- tool calls ----------------------------------------------------------------------------------------------------


def test_tool_call_is_told_by_change_and_growing_output_as_appended_text() -> None:
    def output(text: str) -> list[object]:
        return [{"type": "content", "content": {"type": "text", "text": text}}]

    prompted().receive(
        update(
            "sa",
            "tool_call",
            toolCallId="c1",
            name="Bash",
            title="T",
            kind="execute",
            rawInput={},
            content=[],
        ),
        update("sa", "tool_call_update", toolCallId="c1", rawInput={"command": "ls"}, title="ls"),
        update("sa", "tool_call_update", toolCallId="c1", status="in_progress", title="ls"),
        update("sa", "tool_call_update", toolCallId="c1", content=output("one\n")),
        update("sa", "tool_call_update", toolCallId="c1", content=output("one\ntwo\n")),
        update("sa", "tool_call_update", toolCallId="c1", status="pending"),
        update("sa", "tool_call_update", toolCallId="c1", status="completed", content=output("three")),
    ).expect(
        ToolCallReported(T1, CALL, name="Bash", title="T", kind="execute", status="pending"),
        ToolCallReported(T1, CALL, title="ls", input={"command": "ls"}),
        ToolCallReported(T1, CALL, status="running"),
        ToolCallReported(T1, CALL, output_text="one\n"),
        ToolOutputChunk(T1, CALL, "two\n"),
        ToolCallReported(T1, CALL, status="completed", output_text="three"),
    )


@pytest.mark.rule("ST-018", "ST-019")
@pytest.mark.parametrize(
    ("content", "raw", "output"),
    [
        ("hello", {"stdout": "hello"}, "hello"),
        ("hello", {"stdout": " hello\n"}, " hello\n"),
        ("\nhello ", {"stdout": "hello", "stderr": "warned"}, "hello\nwarned"),
        ("warned", {"stdout": "hello\n", "stderr": "warned\n"}, "hello\nwarned\n"),
        ("hello there", {"stdout": "hello"}, "hello there"),
        ("hel lo", {"stdout": "hello"}, "hel lo"),
        ("", {"stdout": "hello", "stderr": "warned"}, "hello\nwarned"),
        ("", {"stderr": "warned"}, "warned"),
        ("", {"stdout": "part", "aggregated_output": "part and more"}, "part and more"),
        ("", {"error": "boom"}, "boom"),
    ],
)
def test_a_commands_last_text_gives_way_only_to_the_stream_it_repeats_and_ends_what_was_shown_before(
    content: str, raw: dict[str, str], output: str
) -> None:
    book = prompted()
    running = [{"type": "content", "content": {"type": "text", "text": "running"}}]
    book.receive(
        update("sa", "tool_call", toolCallId="c1", title="x", status="in_progress", content=running)
    ).skip()
    last = [{"type": "content", "content": {"type": "text", "text": content}}] if content else []
    book.receive(
        update("sa", "tool_call_update", toolCallId="c1", status="completed", content=last, rawOutput=raw)
    ).expect(ToolCallReported(T1, CALL, status="completed", output_text=output))


def test_raw_output_serves_when_there_is_no_content_and_gives_the_exit_code() -> None:
    prompted().receive(
        update("sa", "tool_call", toolCallId="c1", title="ls", status="in_progress"),
        update(
            "sa",
            "tool_call_update",
            toolCallId="c1",
            status="failed",
            rawOutput={"stdout": "", "aggregated_output": "boom", "exit_code": 3},
        ),
        update("sa", "tool_call", toolCallId="c2", title="x", status="completed", rawOutput="plain"),
    ).expect(
        ToolCallReported(T1, CALL, name="tool", title="ls", status="running"),
        ToolCallReported(T1, CALL, status="failed", output_text="boom", exit_code=3),
        ToolCallReported(T1, CallId("c2"), name="tool", title="x", status="completed", output_text="plain"),
    )


def test_diffs_become_changes_with_a_unified_diff() -> None:
    diffs = [
        {"type": "diff", "path": "/w/new", "oldText": None, "newText": "hello"},
        {"type": "diff", "path": "/w/old", "oldText": "a\nb\n", "newText": "a\nc\n"},
        {"type": "diff", "path": "/w/gone", "oldText": "x\n", "newText": None},
    ]
    prompted().receive(
        update("sa", "tool_call", toolCallId="c1", title="Edit", kind="edit", content=diffs),
        update("sa", "tool_call_update", toolCallId="c1", content=diffs),
    ).expect(
        ToolCallReported(
            T1,
            CALL,
            name="edit",
            title="Edit",
            kind="edit",
            status="pending",
            changes=(
                FileChange(
                    "/w/new",
                    "add",
                    "--- /w/new\n+++ /w/new\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n",
                ),
                FileChange("/w/old", "update", "--- /w/old\n+++ /w/old\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
                FileChange("/w/gone", "delete", "--- /w/gone\n+++ /w/gone\n@@ -1 +0,0 @@\n-x\n"),
            ),
        ),
    )
