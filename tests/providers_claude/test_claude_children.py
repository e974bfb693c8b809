"""Sub-agents of Claude Code as sessions of their own: by which frames they begin, what they say, and how they end."""

import pytest

from runtime.providers.normalized import (
    AnswerDelivered,
    ChildSpawned,
    GuideAccepted,
    GuideRefused,
    InteractionRequested,
    InteractionWithdrawn,
    OfChild,
    ProviderEvent,
    TextChunk,
    ToolCallReported,
    TurnEnded,
    TurnStartedByProvider,
)
from runtime.providers.port import (
    AnswerInteraction,
    CancelTurn,
    DropChild,
    ForChild,
    GuideTurn,
    Scope,
)
from store.canonical.interaction import OptionAnswer
from store.canonical.message import TextBlock
from tests.providers_claude.claude_playbook import (
    T1,
    T2,
    A,
    ClaudePlaybook,
    aborted,
    answer,
    ask,
    frame,
    moved,
    result,
    said,
    stream,
    system,
    tool_result,
    tool_use,
)


def started(
    task_id: str = "agent-1", call_id: str = "c1", *, background: bool = False, **members: object
) -> bytes:
    """A call began a sub-agent."""
    told: dict[str, object] = {"task_type": "local_agent", "is_backgrounded": background, "prompt": "Dig."}
    told |= {"description": "a job", **members}
    return system("task_started", task_id=task_id, tool_use_id=call_id, **told)


def notified(status: str, task_id: str = "agent-1", summary: str = "") -> bytes:
    """A sub-agent is done."""
    return system("task_notification", task_id=task_id, tool_use_id="c1", status=status, summary=summary)


def delegating(*, background: bool = False) -> ClaudePlaybook:
    """A turn whose call began a sub-agent."""
    book = (
        ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", "Agent", description="a job")))
    )
    return book.receive(started(background=background))


def of_children(book: ClaudePlaybook) -> list[ProviderEvent]:
    return [event.event for event in book.events() if isinstance(event, OfChild)]


def spawned(book: ClaudePlaybook) -> ChildSpawned:
    (event,) = [event for event in book.events() if isinstance(event, ChildSpawned)]
    return event


def ends(book: ClaudePlaybook) -> list[tuple[str, str | None]]:
    return [(event.outcome, event.stop_reason) for event in of_children(book) if isinstance(event, TurnEnded)]


@pytest.mark.rule("RT-132", "RT-133")
def test_a_task_of_a_call_is_a_sub_agent_with_a_turn_and_its_frames_are_its_own():
    book = delegating()
    child = spawned(book)
    assert (child.turn_id, child.call_id, child.title, child.provider_session_id) == (
        T1,
        "c1",
        "a job",
        "agent-1",
    )
    book.receive(
        said("s1", "I look.", tool_use("s1c1", command="ls"), parent="c1"),
        frame(
            "user",
            message={"content": [{"type": "tool_result", "tool_use_id": "s1c1", "content": "x"}]},
            parent_tool_use_id="c1",
        ),
        notified("completed", summary="Found."),
        tool_result("c1", "Found it."),
    )
    told = of_children(book)
    assert isinstance(told[0], TurnStartedByProvider)
    assert told[0].prompt == "Dig."
    assert [event.text for event in told if isinstance(event, TextChunk)] == ["I look."]
    calls = [event for event in told if isinstance(event, ToolCallReported)]
    assert (calls[-1].call_id, calls[-1].status, calls[-1].output_text) == ("s1c1", "completed", "x")
    assert ends(book) == [("completed", "task completed")]
    mine = [event for event in book.events() if isinstance(event, ToolCallReported)]
    assert [event.child_id for event in mine if event.child_id] == [child.child_id]
    assert (mine[-1].status, mine[-1].output_text) == ("completed", "Found.")


def test_a_sub_agent_whose_words_are_not_told_ends_with_its_report():
    book = delegating().receive(notified("completed", summary="Found oaks."))
    assert [event.text for event in of_children(book) if isinstance(event, TextChunk)] == ["Found oaks."]


@pytest.mark.rule("RT-133")
@pytest.mark.parametrize(
    "begins",
    [started(call_id="nobody's"), started(task_type="local_bash"), system("task_started", tool_use_id="c1")],
    ids=["no such call", "a command", "no name"],
)
def test_a_task_that_is_no_sub_agent_of_a_known_call_has_no_session(begins: bytes):
    book = ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", "Agent")), begins)
    assert [event for event in book.events() if isinstance(event, ChildSpawned | OfChild)] == []


@pytest.mark.rule("RT-132")
def test_a_sub_agent_of_a_sub_agent_is_told_by_that_one():
    book = delegating()
    book.receive(said("s1", tool_use("s1c1", "Agent", description="deeper"), parent="c1"))
    book.receive(started("agent-2", "s1c1", spawn_depth=2), said("d1", "Deep.", parent="s1c1"))
    below = [event for event in of_children(book) if isinstance(event, ChildSpawned)]
    assert [(event.call_id, event.provider_session_id) for event in below] == [("s1c1", "agent-2")]
    texts = [
        (event.child_id, event.event.text)
        for event in book.events()
        if isinstance(event, OfChild) and isinstance(event.event, TextChunk)
    ]
    assert texts == [(below[0].child_id, "Deep.")]
    book.receive(notified("completed"))
    assert len(ends(book)) == 2, "one in the foreground does not outlast the one that began it"


@pytest.mark.rule("RT-134")
def test_a_sub_agent_in_the_background_goes_on_after_the_result():
    book = delegating(background=True)
    book.receive(tool_result("c1", "launched", tool_use_result={"isAsync": True}), result())
    assert ends(book) == []
    book.receive(said("s1", "Later.", parent="c1"), notified("completed"))
    assert ends(book) == [("completed", "task completed")]


@pytest.mark.parametrize(
    ("frames", "outcome"),
    [
        ([tool_result("c1", "Done.")], "completed"),
        ([tool_result("c1", "It broke.", is_error=True)], "failed"),
        ([result()], "failed"),
        ([notified("failed")], "failed"),
        ([notified("killed")], "canceled"),
    ],
)
def test_a_sub_agent_ends_with_its_call_with_the_response_or_by_name(frames: list[bytes], outcome: str):
    book = delegating().receive(*frames)
    assert [each for each, _ in ends(book)] == [outcome]


@pytest.mark.rule("RT-135")
def test_a_stop_of_the_turn_ends_what_works_for_it_in_the_foreground():
    book = delegating().command(CancelTurn(A, T1)).receive(aborted(reason="aborted_tools"))
    assert [each for each, _ in ends(book)] == ["canceled"]


@pytest.mark.rule("RT-135", "RT-007")
def test_a_stop_of_a_sub_agent_names_its_task_and_is_confirmed_by_its_end():
    book = delegating(background=True)
    child = spawned(book)
    scope = Scope("session", A.workspace_id, child.child_id)
    (began,) = of_children(book)
    assert isinstance(began, TurnStartedByProvider)
    book.receive(tool_result("c1", "launched", tool_use_result={"isAsync": True}), result()).skip()
    book.command(ForChild(A, CancelTurn(scope, T2)))
    assert book.written_frames() == []
    book.command(ForChild(A, CancelTurn(scope, began.turn_id)))
    (request,) = book.written_frames()
    assert request["request"] == {"subtype": "stop_task", "task_id": "agent-1"}
    book.receive(answer(str(request["request_id"])))
    assert ends(book) == []
    book.receive(notified("stopped"))
    assert [each for each, _ in ends(book)] == ["canceled"]


@pytest.mark.rule("RT-135")
def test_a_sub_agent_without_a_session_is_stopped():
    book = delegating(background=True)
    child = spawned(book)
    book.skip().command(DropChild(A, child.child_id))
    (request,) = book.written_frames()
    assert request["request"] == {"subtype": "stop_task", "task_id": "agent-1"}


@pytest.mark.rule("RT-024")
def test_what_a_sub_agent_asks_is_asked_in_its_own_turn_and_answered_there():
    book = delegating().receive(said("s1", tool_use("s1c1", command="touch x"), parent="c1"))
    book.receive(ask("r1", "s1c1", input={"command": "touch x"}, agent_id="agent-1"))
    assert [event for event in book.events() if isinstance(event, InteractionRequested)] == []
    (asked,) = [event for event in of_children(book) if isinstance(event, InteractionRequested)]
    scope = Scope("session", A.workspace_id, spawned(book).child_id)
    book.command(
        ForChild(A, AnswerInteraction(scope, asked.turn_id, asked.request_id, OptionAnswer("allow")))
    )
    book.written()
    assert isinstance(of_children(book)[-1], AnswerDelivered)


def test_an_ask_that_claude_code_takes_back_from_a_sub_agent_is_withdrawn_there():
    book = delegating().receive(ask("r1", "s1c1", input={"command": "x"}, agent_id="agent-1"))
    book.receive(frame("control_cancel_request", request_id="r1"))
    assert isinstance(of_children(book)[-1], InteractionWithdrawn)


@pytest.mark.rule("PR-013")
def test_guidance_after_the_result_begins_a_response_within_the_same_turn():
    book = delegating(background=True)
    book.receive(tool_result("c1", "launched", tool_use_result={"isAsync": True}), result()).skip()
    book.command(GuideTurn(A, T1, T2, (TextBlock("Hurry."),)))
    (prompt,) = book.written_frames()
    assert (prompt["type"], prompt["uuid"]) == ("user", T2)
    book.receive(moved(T2, "queued"), moved(T2, "started"), said("m9", "I will."), result(T2))
    told = book.events()
    assert GuideAccepted(T1, T2, continued=True) in told
    assert [event.turn_id for event in told if isinstance(event, TextChunk | TurnEnded)] == [T1, T1, T1]


@pytest.mark.rule("PR-013", "RT-134")
@pytest.mark.parametrize("works", [True, False])
def test_guidance_that_the_end_of_a_response_overtakes_is_said_in_the_next_one(works: bool):
    book = delegating(background=True)
    book.receive(tool_result("c1", "launched", tool_use_result={"isAsync": True}))
    if not works:
        book.receive(notified("completed"))
    book.skip().command(GuideTurn(A, T1, T2, (TextBlock("Hurry."),)))
    book.receive(result())
    said_now = [each for each in book.written_frames() if each["type"] == "user"]
    assert [each["uuid"] for each in said_now] == ([T2] if works else [])
    assert any(isinstance(event, GuideRefused) for event in book.events()) is not works


@pytest.mark.rule("RT-135")
@pytest.mark.parametrize("first", [[], [notified("killed")]], ids=["at work", "stopped by the interrupt"])
def test_a_stop_that_the_end_of_a_response_overtakes_still_cancels_a_turn_that_others_work_for(
    first: list[bytes],
):
    book = delegating(background=True)
    book.receive(tool_result("c1", "launched", tool_use_result={"isAsync": True}))
    book.command(CancelTurn(A, T1)).receive(*first, result())
    assert [event.outcome for event in book.events() if isinstance(event, TurnEnded)] == ["canceled"]


def test_guidance_of_a_turn_for_which_nobody_works_any_more_is_refused():
    book = delegating(background=True)
    book.receive(result(), notified("completed")).skip()
    book.command(GuideTurn(A, T1, T2, (TextBlock("Hurry."),)))
    assert isinstance(book.events()[-1], GuideRefused)


@pytest.mark.rule("PR-013", "RT-134")
def test_guidance_after_the_last_word_of_a_response_does_not_interrupt_who_works_in_the_background():
    book = delegating(background=True)
    book.receive(tool_result("c1", "launched", tool_use_result={"isAsync": True}))
    book.receive(stream("message_delta", delta={"stop_reason": "end_turn"}))
    book.skip().command(GuideTurn(A, T1, T2, (TextBlock("Hurry."),)))
    assert book.written_frames() == [], "an interrupt would stop the sub-agent"
    book.receive(result())
    assert [each["uuid"] for each in book.written_frames()] == [T2]


@pytest.mark.rule("PR-017")
@pytest.mark.parametrize("reason", ["tool_use", None])
def test_guidance_before_the_last_word_interrupts_as_ever(reason: str | None):
    book = delegating(background=True)
    book.receive(stream("message_delta", delta={"stop_reason": reason}))
    book.skip().command(GuideTurn(A, T1, T2, (TextBlock("Hurry."),)))
    [interrupt] = book.written_frames()
    assert interrupt["request"]["subtype"] == "interrupt"
