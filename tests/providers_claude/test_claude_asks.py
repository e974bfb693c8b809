"""Requests of Claude Code's: what a person is shown, what goes back, and that each gets exactly one reply."""

import pytest

from runtime.providers.claude_code.permissions import REFUSED_TEXT
from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    InteractionWithdrawn,
    NoticeReported,
)
from runtime.providers.port import AnswerInteraction, CancelTurn, CloseThread, RefuseAsk
from store.canonical.common import Json
from store.canonical.identifiers import RequestId
from store.canonical.interaction import (
    Answer,
    ApprovalInput,
    OptionAnswer,
    PlanInput,
    QuestionAnswer,
    QuestionInput,
)
from tests.providers_claude.claude_playbook import (
    T1,
    A,
    ClaudePlaybook,
    ask,
    frame,
    result,
    said,
    tool_result,
    tool_use,
)

GIVEN = {"command": "touch x", "description": "make"}
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "touch x"}],
    "behavior": "allow",
    "destination": "localSettings",
}
FOLDER = {"type": "addDirectories", "directories": ["/w"], "destination": "session"}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
ODD = [
    {"type": "novelty", "destination": "session"},
    {"type": "setMode", "mode": "novelty", "destination": "session"},
    {**RULE, "behavior": "deny"},
    {**RULE, "destination": "nowhere"},
    "odd",
]


def asking(*suggestions: object, **members: object) -> ClaudePlaybook:
    """A turn whose command has to be allowed."""
    book = ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", **GIVEN)))
    book.receive(ask("r1", "c1", input=GIVEN, permission_suggestions=list(suggestions), **members))
    return book


def requested(book: ClaudePlaybook) -> InteractionRequested:
    (event,) = [event for event in book.events() if isinstance(event, InteractionRequested)]
    return event


def answered(book: ClaudePlaybook, given: Answer, request_id: str = "ask-1") -> list[dict[str, object]]:
    """What is written when a person answers so."""
    book.skip().command(AnswerInteraction(A, T1, RequestId(request_id), given))
    return book.written_frames()


def reply_of(frames: list[dict[str, object]]) -> Json:
    """The body of the one reply among them."""
    ((response,),) = [[each["response"] for each in frames if each["type"] == "control_response"]]
    assert isinstance(response, dict)
    assert (response["subtype"], response["request_id"]) == ("success", "r1")
    body: Json = response["response"]
    return body


@pytest.mark.rule("RT-014")
def test_a_person_is_shown_what_is_asked_and_each_suggestion_as_a_choice_of_its_own():
    book = asking(RULE, FOLDER, MODE, *ODD, blocked_path="/w/x")
    event = requested(book)
    assert isinstance(event.input, ApprovalInput)
    assert (event.input.call_id, event.input.command, event.input.kind) == ("c1", "touch x", "execute")
    assert event.input.reason == "make It touches /w/x."
    assert [(option.option_id, option.kind) for option in event.options] == [
        ("allow", "allow_once"),
        ("suggestion-0-session", "allow_session"),
        ("suggestion-0", "allow_always"),
        ("suggestion-1", "allow_session"),
        ("suggestion-2", "allow_session"),
        ("deny", "reject_once"),
        ("deny-and-stop", "stop"),
    ]
    assert all("touch x" in option.label for option in event.options[1:3])


@pytest.mark.parametrize(
    ("given", "body"),
    [
        (OptionAnswer("allow"), {"behavior": "allow", "updatedInput": GIVEN}),
        (
            OptionAnswer("suggestion-0"),
            {"behavior": "allow", "updatedInput": GIVEN, "updatedPermissions": [RULE]},
        ),
        (
            OptionAnswer("suggestion-0-session"),
            {
                "behavior": "allow",
                "updatedInput": GIVEN,
                "updatedPermissions": [{**RULE, "destination": "session"}],
            },
        ),
        (
            OptionAnswer("suggestion-2"),
            {"behavior": "allow", "updatedInput": GIVEN, "updatedPermissions": [MODE]},
        ),
        (OptionAnswer("deny"), {"behavior": "deny", "message": REFUSED_TEXT}),
        (OptionAnswer("deny", "Not here."), {"behavior": "deny", "message": "Not here."}),
        (OptionAnswer("deny-and-stop"), {"behavior": "deny", "message": REFUSED_TEXT, "interrupt": True}),
    ],
)
@pytest.mark.rule("PR-020")
def test_what_was_chosen_goes_back_and_nothing_else(given, body):
    book = asking(RULE, FOLDER, MODE)
    assert reply_of(answered(book, given)) == body
    assert not [event for event in book.events() if isinstance(event, AnswerDelivered)]
    book.written().expect(AnswerDelivered(T1, RequestId("ask-1")))


@pytest.mark.rule("RT-023")
def test_an_answer_is_given_once_and_only_one_that_was_offered():
    book = asking()
    assert answered(book, OptionAnswer("suggestion-0")) == []
    assert answered(book, QuestionAnswer({"question-1": "x"})) == []
    assert answered(book, OptionAnswer("allow")) != []
    assert answered(book, OptionAnswer("deny")) == []
    failed = [event.error.code for event in book.events() if isinstance(event, AnswerFailed)]
    assert failed == ["interaction.unsupported_answer"] * 2 + ["interaction.not_pending"]


@pytest.mark.case("FC-04")
@pytest.mark.parametrize("how", ["stopped", "taken back", "settled", "left", "not asked"])
def test_an_ask_that_nobody_may_answer_any_more_gets_its_one_reply(how: str):
    book = asking().skip()
    if how == "stopped":
        book.command(CancelTurn(A, T1)).receive(frame("control_cancel_request", request_id="r1"))
    elif how == "taken back":
        book.receive(frame("control_cancel_request", request_id="r1"))
    elif how == "settled":
        book.receive(result())
    elif how == "left":
        book.command(CloseThread(A))
    else:
        book.command(RefuseAsk(A, T1, RequestId("ask-1"))).command(RefuseAsk(A, T1, RequestId("ask-1")))
    told = [event for event in book.events() if isinstance(event, InteractionWithdrawn)]
    assert len(told) == (0 if how in ("left", "not asked") else 1)
    body = reply_of(book.written_frames())
    assert isinstance(body, dict)
    assert body["behavior"] == "deny"
    assert answered(book, OptionAnswer("allow")) == []


@pytest.mark.rule("RT-019")
def test_an_answer_on_its_way_counts_as_delivered_when_the_turn_ends():
    book = asking()
    answered(book, OptionAnswer("allow"))
    book.receive(result())
    names = [type(event).__name__ for event in book.events()]
    assert names.index("AnswerDelivered") < names.index("TurnEnded")


@pytest.mark.case("FC-31")
def test_requests_that_nobody_knows_are_refused_at_once():
    book = ClaudePlaybook().opened().running()
    for subtype in ("hook_callback", "mcp_message", "elicitation", "request_user_dialog"):
        book.receive(frame("control_request", request_id=subtype, request={"subtype": subtype}))
    responses = [each["response"] for each in book.written_frames()]
    assert [(each["subtype"], each["request_id"]) for each in responses if isinstance(each, dict)] == [
        ("error", subtype)
        for subtype in ("hook_callback", "mcp_message", "elicitation", "request_user_dialog")
    ]


@pytest.mark.rule("RT-016")
@pytest.mark.parametrize(
    "request_members",
    [{"tool": "Bash"}, {"tool": "AskUserQuestion", "input": {"questions": []}}, {"tool": "AskUserQuestion"}],
)
def test_what_cannot_be_answered_exactly_is_refused_and_noticed(request_members):
    book = ClaudePlaybook().opened().running()
    members = dict(request_members)
    book.receive(ask("r1", tool=members.pop("tool"), **members))
    (notice,) = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert notice.code == "interaction.unsupported"
    body = reply_of(book.written_frames())
    assert isinstance(body, dict)
    assert body["behavior"] == "deny"


def test_without_a_turn_there_is_nobody_to_ask():
    book = ClaudePlaybook().opened().receive(ask("r1", input=GIVEN))
    body = reply_of(book.written_frames())
    assert isinstance(body, dict)
    assert body["behavior"] == "deny"
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]


def test_what_a_sub_agent_asks_is_about_the_call_that_started_it():
    book = ClaudePlaybook().opened().running().receive(said("m1", tool_use("c1", "Agent")))
    book.receive(said("s1", tool_use("s1c1", **GIVEN), parent="c1"))
    book.receive(ask("r1", "s1c1", input=GIVEN, agent_id="a"))
    event = requested(book)
    assert isinstance(event.input, ApprovalInput)
    assert (event.input.call_id, event.input.command) == ("c1", "touch x")
    assert event.input.reason == "make Asked by a sub-agent."


def question(text: str, *labels: str, multiple: bool = False) -> dict[str, object]:
    options = [{"label": label, "description": label} for label in labels]
    return {"question": text, "header": "H", "options": options, "multiSelect": multiple}


@pytest.mark.rule("PR-019", "PR-021")
def test_questions_are_answered_by_their_texts():
    given = {
        "questions": [question("Colour?", "red", "blue"), question("Trees?", "oak", "elm", multiple=True)]
    }
    book = ClaudePlaybook().opened().running()
    book.receive(ask("r1", tool="AskUserQuestion", input=given, requires_user_interaction=True))
    event = requested(book)
    assert isinstance(event.input, QuestionInput)
    assert event.kind == "question"
    shown = [(each.id, each.question, each.multi_select) for each in event.input.questions]
    assert shown == [("question-1", "Colour?", False), ("question-2", "Trees?", True)]
    chosen = QuestionAnswer({"question-1": "blue", "question-2": ("oak", "elm")})
    assert reply_of(answered(book, chosen)) == {
        "behavior": "allow",
        "updatedInput": {**given, "answers": {"Colour?": "blue", "Trees?": "oak, elm"}},
    }


def test_two_equal_questions_are_not_asked():
    book = ClaudePlaybook().opened().running()
    book.receive(ask("r1", tool="AskUserQuestion", input={"questions": [question("Why?"), question("Why?")]}))
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]
    assert "ask.unusable" in book.diagnostics()


def test_a_plan_that_comes_with_its_request_is_put_to_a_person():
    book = (
        ClaudePlaybook().opened().running().receive(ask("r1", tool="ExitPlanMode", input={"plan": "# Oaks"}))
    )
    event = requested(book)
    assert (event.kind, event.input) == ("plan", PlanInput(markdown="# Oaks"))
    assert reply_of(answered(book, OptionAnswer("allow"))) == {
        "behavior": "allow",
        "updatedInput": {"plan": "# Oaks"},
    }


def test_a_call_that_a_stop_broke_off_was_interrupted_and_not_declined():
    book = asking()
    book.command(CancelTurn(A, T1))
    meta = [{"id": "c1", "non_execution_kind": "user-rejected"}]
    book.skip().receive(tool_result("c1", "rejected", is_error=True, tool_result_meta=meta))
    assert [event.status for event in book.events() if hasattr(event, "status")][-1] == "interrupted"
