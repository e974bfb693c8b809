"""What Claude Code keeps of a turn: read from its lines, asked for once, and never more than the turn's own."""

import json

import pytest

from runtime.providers.claude_code.transcript import read_transcript, turn_of
from runtime.providers.normalized import KeptItem, TextChunk, ToolCallReported, TurnReconciled
from runtime.providers.port import Deliver, ReconcileTurn
from runtime.providers.records import ReadRecord
from tests.providers_claude.claude_playbook import SESSION, T1, T2, A, ClaudePlaybook

G1 = "30000000-0000-4000-8000-000000000001"


def line(kind: str, content: object, **members: object) -> bytes:
    message = {"role": kind, "content": content, **members.pop("message", {})}  # type: ignore[dict-item]
    given = {"parentUuid": None, "isSidechain": False, "type": kind, "message": message, **members}
    return json.dumps(given, separators=(",", ":")).encode() + b"\n"


def prompt(uuid: str, text: str = "go", **members: object) -> bytes:
    return line("user", [{"type": "text", "text": text}], uuid=uuid, **members)


def said(*blocks: object, stop: str | None = None, **message: object) -> bytes:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return line("assistant", content, message={"id": "m", "stop_reason": stop, **message})


def call(call_id: str, command: str) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}


def result(call_id: str, text: str, *, is_error: bool = False) -> bytes:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}
    return line("user", [block], uuid="40000000-0000-4000-8000-000000000001", toolUseResult={})


NOISE = json.dumps({"type": "attachment", "rendered": '"type":"user" in words'}).encode() + b"\n"
WHOLE = b"".join(
    [
        prompt(T1),
        NOISE,
        said({"type": "thinking", "thinking": "Which?", "signature": "x"}),
        said("I look."),
        said(call("c1", "ls"), stop="tool_use"),
        result("c1", "elms"),
        said(call("c2", "rm elms"), stop="tool_use"),
        result("c2", "Exit code 1\nno", is_error=True),
        said("There are elms.", stop="end_turn"),
    ]
)


def items(data: bytes) -> list[tuple[object, ...]]:
    kept = turn_of(read_transcript(data), T1, T1)
    assert kept is not None
    return [short(item) for item in kept.items]


def short(item: KeptItem) -> tuple[object, ...]:
    if isinstance(item, TextChunk):
        return (item.kind, item.text)
    assert isinstance(item, ToolCallReported)
    return (item.call_id, item.name, item.title, item.status, item.output_text, item.exit_code)


def test_a_whole_turn_is_told_as_it_was():
    kept = turn_of(read_transcript(WHOLE), T1, T1)
    assert kept is not None
    assert kept.outcome == "completed"
    assert items(WHOLE) == [
        ("reasoning", "Which?"),
        ("text", "I look."),
        ("c1", "Bash", "ls", "completed", "elms", None),
        ("c2", "Bash", "rm elms", "failed", "Exit code 1\nno", 1),
        ("text", "There are elms."),
    ]


@pytest.mark.case("FC-06")
def test_a_turn_that_was_cut_off_is_interrupted_with_the_call_it_was_in():
    data = (
        prompt(T1) + said("I look.") + said(call("c1", "ls"), stop="tool_use") + b'{"type":"assistant","mess'
    )
    kept = turn_of(read_transcript(data), T1, T1)
    assert kept is not None
    assert kept.outcome == "interrupted"
    assert items(data)[-1] == ("c1", "Bash", "ls", "interrupted", None, None)


@pytest.mark.case("FC-26")
def test_what_others_said_or_was_made_up_is_none_of_the_turn():
    data = b"".join(
        [
            prompt(T2, "before"),
            said("Not mine."),
            prompt(T1),
            prompt("50000000-0000-4000-8000-000000000001", "a reminder", isMeta=True),
            said("Of a sub-agent.").replace(b'"isSidechain":false', b'"isSidechain":true'),
            said("Mine."),
            said("No response requested.", model="<synthetic>"),
            prompt(G1, "said from elsewhere"),
            said("Not mine either.", stop="end_turn"),
        ]
    )
    assert items(data) == [("text", "Mine.")]


def test_a_prompt_before_the_part_that_was_read_is_not_known():
    assert turn_of(read_transcript(WHOLE[len(prompt(T1)) :]), T1, T1) is None
    assert turn_of(read_transcript(b"\xff\nnull\n[]\n"), T1, T1) is None


# --- asking -----------------------------------------------------------------------------------------------------


def reconciling(*turns: str, resumes: bool = True) -> tuple[ClaudePlaybook, list[ReadRecord]]:
    book = ClaudePlaybook(resumes=resumes).opened()
    for turn in turns:
        book.command(ReconcileTurn(A, turn))  # type: ignore[arg-type]
    return book, [each for each in book.everything if isinstance(each, ReadRecord)]


def answers(outputs: object) -> list[TurnReconciled]:
    assert isinstance(outputs, list | tuple)
    events = [each.event for each in outputs if isinstance(each, Deliver)]
    return [event for event in events if isinstance(event, TurnReconciled)]


def test_a_turn_of_an_earlier_process_is_looked_up_once_for_all_that_ask():
    book, reads = reconciling(T1, T2)
    (read,) = reads
    assert (read.place.folder, read.place.name) == ("projects", f"{SESSION}.jsonl")
    assert answers(book.everything) == []
    first, second = answers(read.took(read.digest(WHOLE)))
    assert (first.turn_id, first.state, first.provider_turn_id, first.outcome) == (
        T1,
        "ended",
        T1,
        "completed",
    )
    assert len(first.items) == 5
    assert (second.turn_id, second.state, second.items) == (T2, "unknown", ())
    book.command(ReconcileTurn(A, T1))
    assert len([each for each in book.everything if isinstance(each, ReadRecord)]) == 2


def test_without_a_transcript_nothing_is_known_and_of_a_new_conversation_none_is_read():
    _, (read,) = reconciling(T1)
    assert [each.state for each in answers(read.took(None))] == ["unknown"]
    book, reads = reconciling(T1, resumes=False)
    assert reads == []
    assert [each.state for each in answers(book.everything)] == ["unknown"]


def test_a_turn_that_is_open_here_runs_whatever_is_written():
    book = ClaudePlaybook(resumes=True).opened().running()
    book.command(ReconcileTurn(A, T1))
    assert [each.state for each in answers(book.everything)] == ["running"]
    assert not [each for each in book.everything if isinstance(each, ReadRecord)]


@pytest.mark.case("FC-01")
def test_a_prompt_that_was_never_acknowledged_is_not_said_to_run():
    book = ClaudePlaybook(resumes=True).opened().prompt()
    book.command(ReconcileTurn(A, T1))
    assert [each.state for each in answers(book.everything)] == ["unknown"]
