"""What Codex asks, put to a person complete, and what goes back for each answer, exactly and once."""

import pytest

from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    InteractionRequested,
    ToolCallReported,
)
from runtime.providers.port import CancelTurn, CloseThread
from store.canonical.interaction import (
    ApprovalInput,
    Question,
    QuestionAnswer,
    QuestionInput,
    QuestionOption,
)
from store.canonical.message import FileChange
from tests.providers.adapter_playbook import T1
from tests.providers_codex.codex_asks import (
    AMENDMENT,
    CHANGES,
    FILES,
    INPUT,
    PERMISSIONS,
    QUESTIONS,
    answers,
    asked,
    command_ask,
    elicitation,
    options,
    request_of,
)
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


@pytest.mark.rule("PR-015")
@pytest.mark.parametrize("persist", ["session", ["session", "session"], ["novelty", 5, "session"]])
def test_how_long_an_answer_may_hold_is_read_as_a_word_and_as_a_list(persist: object) -> None:
    _, event = asked(elicitation(_meta={"persist": persist}))
    assert list(options(event)) == ["accept", "accept-session", "decline", "cancel"]


def test_a_message_without_a_turn_of_its_own_belongs_to_the_open_one() -> None:
    _, event = asked(elicitation(turnId=None))
    assert event.turn_id == T1
    assert list(options(event)) == ["accept", "decline", "cancel"]
    book = CodexPlaybook().opened()
    book.receive(elicitation(turnId=None))
    assert book.replies() == [(0, {"action": "decline", "content": None, "_meta": None})]
