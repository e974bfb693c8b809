"""Requests of Codex that nobody is shown: refused in their own words, at once, and said where somebody can see it."""

import pytest

from runtime.providers.normalized import (
    InteractionRequested,
    NoticeReported,
)
from tests.providers.adapter_playbook import T1, T2
from tests.providers_codex.codex_asks import (
    COMMAND,
    INPUT,
    PERMISSIONS,
    QUESTIONS,
    UNSUPPORTED,
    answers,
    command_ask,
    elicitation,
    unusable,
)
from tests.providers_codex.codex_playbook import (
    CodexPlaybook,
    notice,
    request,
    turn_completed,
)


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
