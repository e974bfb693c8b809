"""Requests of Codex: put to a person complete, answered exactly once, and refused in their own words otherwise."""

import pytest

from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    InteractionWithdrawn,
    NoticeReported,
    ProviderEvent,
    ToolCallReported,
    TurnEnded,
)
from runtime.providers.port import AnswerInteraction, CancelTurn, CloseThread, Write
from store.canonical.identifiers import RequestId
from store.canonical.interaction import (
    Answer,
    ApprovalInput,
    OptionAnswer,
    Question,
    QuestionAnswer,
    QuestionInput,
    QuestionOption,
)
from store.canonical.message import FileChange
from tests.providers.adapter_playbook import T1, T2, B
from tests.providers_codex.codex_playbook import (
    A,
    CodexPlaybook,
    command,
    completed,
    delta,
    notice,
    request,
    started,
    turn_completed,
)

COMMAND = "item/commandExecution/requestApproval"
FILES = "item/fileChange/requestApproval"
PERMISSIONS = "item/permissions/requestApproval"
INPUT = "item/tool/requestUserInput"
ELICITATION = "mcpServer/elicitation/request"
CHANGES = [{"path": "/a", "kind": {"type": "add"}, "diff": "one\n"}]
AMENDMENT = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "z"]}}
QUESTIONS = [
    {
        "id": "pick",
        "header": "Pick",
        "question": "Which one?",
        "isOther": False,
        "isSecret": False,
        "options": [{"label": "A", "description": "first"}, {"label": "B", "description": ""}],
    },
    {"id": "name", "question": "Whose?", "isOther": True, "isSecret": True, "options": None},
]
UNSUPPORTED = "interaction.unsupported"


def command_ask(number: object = 0, **members: object) -> bytes:
    told = {"command": "/bin/bash -lc 'touch z'", "cwd": "/w", "commandActions": [{"command": "touch z"}]}
    return request(number, COMMAND, itemId="c1", **{**told, **members})


def elicitation(number: object = 0, **members: object) -> bytes:
    told = {"serverName": "toy", "mode": "form", "message": "Sure?", "requestedSchema": {"properties": {}}}
    return request(number, ELICITATION, **{**told, **members})


def asked(*frames: bytes) -> tuple[CodexPlaybook, InteractionRequested]:
    """A turn in which Codex asks something that is put to a person."""
    book = CodexPlaybook().running()
    book.receive(*frames)
    return book, request_of(book.events())


def request_of(events: list[ProviderEvent]) -> InteractionRequested:
    return [event for event in events if isinstance(event, InteractionRequested)][-1]


def answers(book: CodexPlaybook, event: InteractionRequested, answer: Answer | str) -> CodexPlaybook:
    given = OptionAnswer(answer) if isinstance(answer, str) else answer
    book.skip().command(AnswerInteraction(A, event.turn_id, event.request_id, given))
    return book


def options(event: InteractionRequested) -> dict[str, str]:
    return {option.option_id: option.kind for option in event.options}


def unusable(frames: list[bytes]) -> CodexPlaybook:
    """A turn in which Codex asks something nobody is shown; the turn goes on."""
    book = CodexPlaybook().running()
    book.receive(*frames)
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]
    (told,) = [event for event in book.events() if isinstance(event, NoticeReported)]
    assert (told.code, told.severity) == (UNSUPPORTED, "warning")
    book.receive(turn_completed())
    assert isinstance(book.events()[-1], TurnEnded)
    return book


# --- what is shown, and what goes back for each answer ----------------------------------------------------------


@pytest.mark.rule("RT-014", "RT-018")
def test_a_command_is_shown_complete_and_reading_goes_on() -> None:
    listed = ["accept", AMENDMENT, "cancel"]
    book, event = asked(
        started(**command(text="touch z")), command_ask(reason="Writes outside.", availableDecisions=listed)
    )
    assert event.kind == "approval"
    assert event.input == ApprovalInput(
        "c1", "touch z", "execute", command="touch z", cwd="/w", reason="Writes outside."
    )
    assert options(event) == {
        "accept": "allow_once",
        "acceptWithExecpolicyAmendment": "allow_always",
        "decline": "reject_once",
        "cancel": "stop",
    }
    book.skip().receive(*[delta("x") for _ in range(1000)])
    assert len(book.outputs) == 1
    assert book.replies() == []


@pytest.mark.parametrize(
    ("option", "reply"),
    [
        ("accept", {"decision": "accept"}),
        ("acceptForSession", {"decision": "acceptForSession"}),
        ("acceptWithExecpolicyAmendment", {"decision": AMENDMENT}),
        ("decline", {"decision": "decline"}),
        ("cancel", {"decision": "cancel"}),
    ],
)
def test_a_decision_goes_back_exactly_as_it_was_offered(option: str, reply: object) -> None:
    offered = ["accept", "acceptForSession", "accept", AMENDMENT, "cancel", "tomorrow's", {"new": {}}]
    book, event = asked(started(**command()), command_ask(0, availableDecisions=offered))
    answers(book, event, option)
    assert book.replies() == [(0, reply)]
    book.written()
    assert book.events()[-1] == AnswerDelivered(T1, event.request_id)
    answers(book, event, option)
    (failed,) = book.events()[-1:]
    assert isinstance(failed, AnswerFailed)
    assert failed.error.code == "interaction.not_pending"
    assert len(book.replies()) == 1


def test_without_a_list_the_plain_decisions_are_offered() -> None:
    _, event = asked(command_ask())
    assert list(options(event)) == ["accept", "acceptForSession", "decline", "cancel"]
    _, event = asked(command_ask(availableDecisions=[]))
    assert list(options(event)) == ["accept", "acceptForSession", "decline", "cancel"]


def test_the_network_a_host_is_reached_by_and_rules_for_it() -> None:
    def rule(action: str) -> dict[str, object]:
        return {
            "applyNetworkPolicyAmendment": {"network_policy_amendment": {"host": "oak", "action": action}}
        }

    book, event = asked(
        command_ask(
            command=None,
            networkApprovalContext={"host": "oak", "protocol": "https"},
            availableDecisions=["accept", rule("allow"), rule("deny")],
        )
    )
    assert isinstance(event.input, ApprovalInput)
    assert (event.input.title, event.input.kind, event.input.url) == ("Reach oak", "fetch", "oak")
    kinds = list(options(event).items())
    assert [kind for _, kind in kinds] == [
        "allow_once",
        "allow_always",
        "reject_always",
        "reject_once",
        "stop",
    ]
    answers(book, event, kinds[2][0])
    assert book.replies() == [(0, {"decision": rule("deny")})]


def test_more_permissions_for_a_command_and_input_to_a_running_one_are_shown() -> None:
    extra = {"network": {"enabled": True}, "fileSystem": None}
    _, event = asked(command_ask(additionalPermissions=extra, kind="writeStdin"))
    assert isinstance(event.input, ApprovalInput)
    assert event.input.prompt == (
        "With more permissions:\nReach the network.\nWritten to a command that runs already."
    )


@pytest.mark.case("FC-53")
def test_a_command_that_is_asked_for_before_it_is_told_is_told_first() -> None:
    book, _ = asked(command_ask())
    first = book.events()[-2]
    assert isinstance(first, ToolCallReported)
    assert (first.call_id, first.title, first.status) == ("c1", "touch z", "running")
    book.receive(started(**command(text="touch z")), completed(**command(text="touch z", status="completed")))
    calls = [each for each in book.events() if isinstance(each, ToolCallReported)]
    assert [call.status for call in calls] == ["running", "completed"]


@pytest.mark.rule("RT-014", "RT-015", "RT-017")
def test_a_patch_is_shown_with_its_changes_even_if_they_come_later() -> None:
    book = CodexPlaybook().running()
    book.receive(request(0, FILES, itemId="f1", reason="Outside.", grantRoot="/out"), delta("meanwhile"))
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]
    book.receive(started("fileChange", "f1", changes=CHANGES, status="inProgress"))
    event = request_of(book.events())
    change = FileChange("/a", "add", "--- /a\n+++ /a\n@@ -0,0 +1 @@\n+one\n")
    assert event.input == ApprovalInput(
        "f1",
        "Add /a",
        "edit",
        changes=(change,),
        prompt="Allows writing below /out for the rest of the session.",
        reason="Outside.",
    )
    book.skip().receive(notice("item/fileChange/patchUpdated", "th", "p1", itemId="f1", changes=CHANGES * 2))
    assert len([each for each in book.events() if isinstance(each, InteractionRequested)]) == 1
    answers(book, event, "acceptForSession")
    assert book.replies() == [(0, {"decision": "acceptForSession"})]


@pytest.mark.parametrize("way", ["end", "stop", "close"])
def test_an_approval_whose_patch_never_comes_is_refused_with_its_turn(way: str) -> None:
    book = CodexPlaybook().running()
    book.receive(request(0, FILES, itemId="f1"))
    book.receive(request(0, FILES, itemId="f1"))
    assert book.diagnostics() == ["ask.repeated_id"]
    if way == "end":
        book.receive(turn_completed())
    else:
        book.command(CancelTurn(A, T1) if way == "stop" else CloseThread(A))
    assert book.replies() == [(0, {"decision": "decline" if way == "end" else "cancel"})]


@pytest.mark.parametrize(
    ("option", "reply"),
    [
        ("turn", {"permissions": {"network": {"enabled": True}}, "scope": "turn"}),
        ("session", {"permissions": {"network": {"enabled": True}}, "scope": "session"}),
        ("decline", {"permissions": {}, "scope": "turn"}),
    ],
)
def test_permissions_are_granted_as_they_were_asked_for_or_not_at_all(option: str, reply: object) -> None:
    wanted = {"network": {"enabled": True}, "fileSystem": None}
    book, event = asked(request(0, PERMISSIONS, itemId="c1", cwd="/w", reason="To look.", permissions=wanted))
    assert event.input == ApprovalInput(
        "c1", "More permissions", "other", cwd="/w", prompt="Reach the network.", reason="To look."
    )
    assert options(event) == {"turn": "allow_once", "session": "allow_session", "decline": "reject_once"}
    answers(book, event, option)
    assert book.replies() == [(0, reply)]


def test_permissions_on_files_are_told_in_words() -> None:
    entries = [
        {"path": {"type": "path", "path": "/a"}, "access": "write"},
        {"path": {"type": "glob_pattern", "pattern": "/b/*"}, "access": "read"},
    ]
    files = {"read": ["/c"], "write": ["/a"], "entries": entries}
    _, event = asked(request(0, PERMISSIONS, itemId="c1", permissions={"fileSystem": files}))
    assert isinstance(event.input, ApprovalInput)
    assert event.input.prompt == "Read /b/*\nRead /c\nWrite /a"


@pytest.mark.rule("RT-022")
def test_questions_are_shown_together_and_exactly_what_was_answered_goes_back() -> None:
    book, event = asked(request(0, INPUT, itemId="c1", questions=QUESTIONS, isBlocking=True))
    assert (event.kind, event.options) == ("question", ())
    assert event.input == QuestionInput(
        (
            Question(
                "pick",
                "Which one?",
                multi_select=False,
                free_text=False,
                secret=False,
                header="Pick",
                options=(QuestionOption("A", "first"), QuestionOption("B")),
            ),
            Question("name", "Whose?", multi_select=False, free_text=True, secret=True),
        )
    )
    answers(book, event, "accept")
    assert isinstance(book.events()[-1], AnswerFailed)
    answers(book, event, QuestionAnswer({"pick": "A", "else": "x"}))
    assert isinstance(book.events()[-1], AnswerFailed)
    answers(book, event, QuestionAnswer({"pick": "A", "name": ("Ada", "Bob")}))
    assert book.replies() == [
        (0, {"answers": {"pick": {"answers": ["A"]}, "name": {"answers": ["Ada", "Bob"]}}})
    ]


@pytest.mark.rule("PR-015")
@pytest.mark.parametrize(
    ("option", "kind", "reply"),
    [
        ("accept", "allow_once", {"action": "accept", "content": {}, "_meta": None}),
        (
            "accept-session",
            "allow_session",
            {"action": "accept", "content": {}, "_meta": {"persist": "session"}},
        ),
        (
            "accept-always",
            "allow_always",
            {"action": "accept", "content": {}, "_meta": {"persist": "always"}},
        ),
        ("decline", "reject_once", {"action": "decline", "content": None, "_meta": None}),
        ("cancel", "other", {"action": "cancel", "content": None, "_meta": None}),
    ],
)
def test_a_message_of_an_mcp_server_keeps_yes_no_dismiss_and_how_long(
    option: str, kind: str, reply: object
) -> None:
    meta = {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always", "forever"]}
    book, event = asked(
        started("mcpToolCall", "x1", server="toy", tool="dig", status="inProgress"),
        elicitation(_meta=meta | {"tool_description": "Digs."}),
    )
    assert event.input == ApprovalInput(
        "x1", "Sure?", "other", prompt="Digs.", reason="Asked by the MCP server toy."
    )
    assert options(event)[option] == kind
    assert len(event.options) == 5
    answers(book, event, option)
    assert book.replies() == [(0, reply)]


def test_a_message_without_a_turn_of_its_own_belongs_to_the_open_one() -> None:
    _, event = asked(elicitation(turnId=None))
    assert event.turn_id == T1
    assert list(options(event)) == ["accept", "decline", "cancel"]
    book = CodexPlaybook().opened()
    book.receive(elicitation(turnId=None))
    assert book.replies() == [(0, {"action": "decline", "content": None, "_meta": None})]


# --- what cannot be put to a person -----------------------------------------------------------------------------


@pytest.mark.rule("RT-016", "PR-014", "PR-015")
@pytest.mark.case("FC-31")
@pytest.mark.parametrize(
    ("frame", "reply"),
    [
        (command_ask(command=None), {"decision": "decline"}),
        (command_ask(additionalPermissions={"camera": {}}), {"decision": "decline"}),
        (request(0, COMMAND, command="x"), {"decision": "decline"}),
        (request(0, PERMISSIONS, itemId="c", permissions={}), {"permissions": {}, "scope": "turn"}),
        (
            request(
                0,
                PERMISSIONS,
                itemId="c",
                permissions={"fileSystem": {"entries": [{"path": {"type": "special"}}]}},
            ),
            {"permissions": {}, "scope": "turn"},
        ),
        (elicitation(requestedSchema={"properties": {"name": {}}}), {"action": "decline"}),
        (elicitation(requestedSchema={"properties": {}, "required": ["name"]}), {"action": "decline"}),
        (elicitation(mode="url", url="http://x"), {"action": "decline"}),
        (elicitation(mode="openai/form"), {"action": "decline"}),
        (elicitation(mode="openai/userVerification"), {"action": "decline"}),
        (elicitation(message=None), {"action": "decline"}),
        (request(0, INPUT, questions=[]), {"code": -32000}),
        (request(0, INPUT, questions=[{"id": "a"}]), {"code": -32000}),
        (request(0, INPUT, questions=[QUESTIONS[0], QUESTIONS[0]]), {"code": -32000}),
        (request(0, "item/tool/call", tool="t"), {"code": -32000}),
        (request(0, "attestation/generate"), {"code": -32000}),
        (request(0, "account/chatgptAuthTokens/refresh"), {"code": -32000}),
        (request(0, "execCommandApproval", conversationId="th"), {"decision": "denied"}),
        (request(0, "applyPatchApproval", conversationId="th"), {"decision": "denied"}),
        (request(0, "tomorrow/request"), {"code": -32601}),
    ],
)
def test_what_cannot_be_carried_is_refused_in_its_own_words_and_said(
    frame: bytes, reply: dict[str, object]
) -> None:
    book = unusable([frame])
    ((number, sent),) = book.replies()
    assert number == 0
    assert isinstance(sent, dict)
    assert reply.items() <= sent.items()


@pytest.mark.case("FC-24", "FC-31")
@pytest.mark.parametrize(
    ("thread_id", "turn_id", "kind"),
    [("zz", "p1", "ask.stray_thread"), ("th", "p7", "ask.stray_turn"), ("th", "p0", "ask.stray_turn")],
)
def test_a_request_of_nobodys_thread_or_turn_is_refused_and_stops_nothing(
    thread_id: str, turn_id: str, kind: str
) -> None:
    book = CodexPlaybook().opened().prompted(provider_turn_id="p0").receive(turn_completed("completed", "p0"))
    book.prompted(turn_id=T2).skip()
    book.receive(request("x", COMMAND, thread_id, turn_id, itemId="c", command="make"))
    assert book.replies() == [("x", {"decision": "decline"})]
    assert book.diagnostics()[-1] == kind
    assert book.outputs[1:] == book.outputs[-1:], "a refusal and its count, nothing else"


def test_what_a_sub_agent_asks_is_refused_and_shows_in_the_turn_it_works_for() -> None:
    book = CodexPlaybook().running()
    for child, parent in (("child", "th"), ("grandchild", "child")):
        book.receive(notice("thread/started", None, thread={"id": child, "parentThreadId": parent}))
    book.skip().receive(request(0, COMMAND, "grandchild", "q1", itemId="c", command="make"))
    assert book.replies() == [(0, {"decision": "decline"})]
    told = book.events()[-1]
    assert isinstance(told, NoticeReported)
    assert (told.turn_id, told.code) == (T1, UNSUPPORTED)


@pytest.mark.case("FC-54")
def test_request_ids_of_different_types_are_different_requests() -> None:
    book = CodexPlaybook().running()
    book.receive(*[command_ask(number) for number in (0, "0", 0, 0.0)])
    requested = [event for event in book.events() if isinstance(event, InteractionRequested)]
    assert len(requested) == 3
    for event in requested:
        answers(book, event, "accept")
    assert [repr(number) for number, _ in book.replies()] == ["0", "'0'", "0.0"]


# --- the end of an ask ------------------------------------------------------------------------------------------


@pytest.mark.case("FC-04")
@pytest.mark.parametrize(
    ("frame", "reply"),
    [
        (command_ask(), {"decision": "cancel"}),
        (elicitation(), {"action": "cancel", "content": None, "_meta": None}),
        (
            request(0, PERMISSIONS, itemId="c", permissions={"network": {"enabled": True}}),
            {"permissions": {}, "scope": "turn"},
        ),
        (request(0, INPUT, questions=QUESTIONS), {"code": -32000, "message": "Nobody can answer this here"}),
    ],
)
def test_a_stop_answers_open_asks_at_once_and_a_late_answer_reaches_nobody(
    frame: bytes, reply: object
) -> None:
    book, event = asked(frame)
    book.skip().command(CancelTurn(A, T1))
    assert book.frames[-2]["method"] == "turn/interrupt", "first the stop, then the refusals"
    assert book.replies() == [(0, reply)]
    assert book.events()[-1] == InteractionWithdrawn(T1, event.request_id)
    answers(book, event, "accept")
    failed = book.events()[-1]
    assert isinstance(failed, AnswerFailed)
    assert failed.error.code == "interaction.not_pending"
    book.receive(turn_completed("interrupted"), notice("serverRequest/resolved", requestId=0))
    assert len(book.replies()) == 1


def test_an_ask_that_comes_while_its_turn_is_being_stopped_is_not_shown() -> None:
    book = CodexPlaybook().running().command(CancelTurn(A, T1))
    book.receive(command_ask())
    assert book.replies() == [(0, {"decision": "cancel"})]
    assert not [event for event in book.events() if isinstance(event, InteractionRequested)]


def test_what_codex_takes_back_is_withdrawn_and_still_gets_its_reply() -> None:
    book, event = asked(command_ask())
    book.skip().receive(
        notice("serverRequest/resolved", requestId=0), notice("serverRequest/resolved", requestId=0)
    )
    assert book.events()[-1] == InteractionWithdrawn(T1, event.request_id)
    assert len(book.replies()) == 1


@pytest.mark.rule("RT-019")
def test_an_answer_is_delivered_before_the_end_it_causes() -> None:
    book, event = asked(command_ask())
    answers(book, event, "cancel").receive(turn_completed("interrupted"))
    assert [type(each).__name__ for each in book.events()[-3:]] == [
        "AnswerDelivered",
        "ToolCallReported",
        "TurnEnded",
    ]
    book, event = asked(command_ask())
    answers(book, event, "accept").receive(notice("serverRequest/resolved", requestId=0))
    assert book.events()[-1] == AnswerDelivered(T1, event.request_id)
    assert book.written().events()[-1] == AnswerDelivered(T1, event.request_id), "said once"


def test_an_ask_left_open_when_its_turn_ends_is_withdrawn_before_the_end() -> None:
    book, _ = asked(command_ask())
    book.receive(turn_completed())
    assert [type(each).__name__ for each in book.events()[-2:]] == ["InteractionWithdrawn", "TurnEnded"]
    assert book.replies() == [(0, {"decision": "decline"})]


def test_a_refused_call_that_codex_leaves_open_is_declined() -> None:
    book, event = asked(
        started("fileChange", "f1", changes=CHANGES, status="inProgress"), request(0, FILES, itemId="f1")
    )
    answers(book, event, "cancel").written().receive(turn_completed("interrupted"))
    assert book.events()[-2] == ToolCallReported(T1, "f1", status="declined")  # type: ignore[arg-type]


@pytest.mark.rule("RT-010", "RT-011")
def test_an_answer_names_its_turn_and_its_scope() -> None:
    book, event = asked(command_ask())
    answer = OptionAnswer("accept")
    for command_ in (
        AnswerInteraction(A, T2, event.request_id, answer),
        AnswerInteraction(B, T1, event.request_id, answer),
        AnswerInteraction(A, T1, RequestId("ask-9"), answer),
    ):
        book.skip().command(command_)
        (failed,) = book.events(command_.scope)[-1:]
        assert isinstance(failed, AnswerFailed)
        assert not [output for output in book.outputs if isinstance(output, Write)]


# --- words that come with a refusal -----------------------------------------------------------------------------


@pytest.mark.rule("RT-020", "RT-021")
def test_feedback_follows_the_refusal_once_codex_has_it() -> None:
    book, event = asked(command_ask())
    answers(book, event, OptionAnswer("decline", "use bar instead")).written()
    assert book.replies() == [(0, {"decision": "decline"})]
    assert "turn/steer" not in book.calls()
    book.receive(notice("serverRequest/resolved", requestId=0))
    steer = book.frames[-1]
    assert steer["method"] == "turn/steer"
    assert steer["params"]["expectedTurnId"] == "p1"
    assert steer["params"]["input"] == [{"type": "text", "text": "use bar instead", "text_elements": []}]
    told = len(book.events())
    book.receive(turn_completed()).reply(
        "turn/steer", error={"code": -32600, "message": "no active turn to steer"}
    )
    assert isinstance(book.events()[told], ToolCallReported | TurnEnded)
    assert not [each for each in book.events() if isinstance(each, AnswerFailed)], "the answer stands"


@pytest.mark.rule("RT-020")
def test_feedback_that_cannot_be_carried_is_not_lost_in_silence() -> None:
    book, event = asked(command_ask())
    answers(book, event, OptionAnswer("decline", "use bar")).receive(
        notice("serverRequest/resolved", requestId=0)
    )
    book.reply("turn/steer", error={"code": -32600, "message": "expected active turn id `p1` but found `p2`"})
    told = book.events()[-1]
    assert isinstance(told, NoticeReported)
    assert told.code == "interaction.feedback_not_carried"

    book, event = asked(command_ask())
    answers(book, event, OptionAnswer("decline", "use bar")).receive(turn_completed("failed"))
    codes = [each.code for each in book.events() if isinstance(each, NoticeReported)]
    assert codes == ["interaction.feedback_not_carried"]
    assert isinstance(book.events()[-1], TurnEnded)
