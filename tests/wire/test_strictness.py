"""What a client sends is taken as it is or refused with the exact path: nothing is guessed, widened or dropped."""

import pytest

from runtime.refusal import Refusal
from runtime.wire.converter import structure_params
from runtime.wire.methods import METHODS
from runtime.wire.requests import (
    PAGE_ITEMS_DEFAULT,
    PAGE_ITEMS_MAX,
    EventsSubscribeParams,
    InteractionRespondParams,
    SessionCreateParams,
    SessionListParams,
    SessionMessagesParams,
    SessionSendParams,
)
from store.canonical.identifiers import SessionKey
from store.canonical.interaction import OptionAnswer, QuestionAnswer
from store.canonical.message import ImageBlock, ResourceLinkBlock, TextBlock

TEXT = {"type": "text", "text": "hello"}
SEND = {"workspaceId": "w", "agentSessionId": "s", "clientSubmitId": "c1", "content": [TEXT]}
CREATE = {"workspaceId": "w", "agentTargetId": "codex", "clientSubmitId": "c1"}
MESSAGES = {"workspaceId": "w", "agentSessionId": "s"}
RESPOND = {"workspaceId": "w", "agentSessionId": "s", "turnId": "t", "requestId": "r"}
SUBSCRIBE = {"workspaceId": "w", "topics": ["agent.activity.updated"]}
IMAGE = {"type": "image", "mediaType": "image/png", "bytes": 3, "attachmentId": "a"}
IDENTIFIER = "must be 1 to 128 characters of A-Z a-z 0-9 . _ : -"


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"x": value}
    return value


def read(method, params):
    return structure_params(METHODS[method], params)


def refused(method, params):
    """The (path, problem) of the one error; everything else about it is fixed."""
    refusal = read(method, params)
    assert isinstance(refusal, Refusal), f"taken as {refusal}"
    assert (refusal.code, refusal.delivery) == ("request.invalid", "not_dispatched")
    assert refusal.details.keys() == {"path", "problem"}
    return refusal.details["path"], refusal.details["problem"]


def without(params, *names):
    return {name: value for name, value in params.items() if name not in names}


@pytest.mark.rule("AP-002")
@pytest.mark.parametrize(
    ("method", "params", "path", "problem"),
    [
        # Primitives are not converted into one another.
        ("session/send", SEND | {"agentSessionId": 5}, "params.agentSessionId", "must be a string, not an integer"),
        ("session/send", SEND | {"content": [{"type": "text", "text": 5}]}, "params.content[0].text", "must be a string, not an integer"),
        ("session/send", SEND | {"content": [{"type": "text", "text": None}]}, "params.content[0].text", "must be a string, not null"),
        ("session/messages", MESSAGES | {"afterVersion": "7"}, "params.afterVersion", "must be an integer, not a string"),
        ("session/messages", MESSAGES | {"afterVersion": True}, "params.afterVersion", "must be an integer, not a boolean"),
        ("session/messages", MESSAGES | {"afterVersion": 1.0}, "params.afterVersion", "must be an integer, not a number"),
        ("session/messages", MESSAGES | {"afterVersion": 2**53}, "params.afterVersion", "must be an integer below 2^53"),
        ("session/messages", MESSAGES | {"afterVersion": -1}, "params.afterVersion", "must not be below 0"),
        ("session/list", {"workspaceId": "w", "pinned": "false"}, "params.pinned", "must be a boolean, not a string"),
        ("session/list", {"workspaceId": "w", "pinned": 0}, "params.pinned", "must be a boolean, not an integer"),
        ("session/messages", MESSAGES | {"afterVersion": 1, "includeRetracted": 0}, "params.includeRetracted", "must be a boolean, not an integer"),
        ("session/messages", MESSAGES | {"afterVersion": 1, "includeRetracted": "true"}, "params.includeRetracted", "must be a boolean, not a string"),
        ("session/list", {"workspaceId": "w", "order": "newest"}, "params.order", "must be one of recent, created"),
        ("session/list", {"workspaceId": "w", "limit": 0}, "params.limit", "must not be below 1"),
        ("session/list", {"workspaceId": "w", "cursor": ""}, "params.cursor", "must have at least 1 characters"),
        ("initialize", {"protocolVersion": "1", "clientInfo": {"name": "x"}}, "params.protocolVersion", "must be an integer, not a string"),
        # Shapes.
        ("session/send", SEND | {"content": "hello"}, "params.content", "must be an array, not a string"),
        ("session/send", SEND | {"content": TEXT}, "params.content", "must be an array, not an object"),
        ("session/send", SEND | {"content": ["hello"]}, "params.content[0]", "must be an object, not a string"),
        ("session/create", CREATE | {"settings": []}, "params.settings", "must be an object, not an array"),
        ("session/create", CREATE | {"settings": {"model": 5}}, "params.settings.model", "must be a string or a boolean, not an integer"),
        ("session/create", CREATE | {"settings": {"a b": None}}, "params.settings['a b']", "must be a string or a boolean, not null"),
        ("initialize", {"protocolVersion": 1, "clientInfo": "me"}, "params.clientInfo", "must be an object, not a string"),
        # Unknown and missing members, at any depth.
        ("session/send", SEND | {"computerUse": True}, "params.computerUse", "is unknown"),
        ("session/send", SEND | {"agent_session_id": "s"}, "params.agent_session_id", "is unknown"),
        ("session/send", SEND | {"content": [TEXT | {"bold": True}]}, "params.content[0].bold", "is unknown"),
        ("session/send", SEND | {"content": [TEXT, TEXT | {"deep": nested(60)}]}, "params.content[1].deep", "is unknown"),
        ("health/read", {"workspaceId": "w"}, "params.workspaceId", "is unknown"),
        ("session/send", without(SEND, "content"), "params.content", "is missing"),
        ("session/send", without(SEND, "workspaceId"), "params.workspaceId", "is missing"),
        ("initialize", {"protocolVersion": 1}, "params.clientInfo", "is missing"),
        ("session/send", SEND | {"content": [without(IMAGE, "attachmentId")]}, "params.content[0].attachmentId", "is missing"),
        # Tags.
        ("session/send", SEND | {"content": [{"type": "video", "url": "x"}]}, "params.content[0].type", "must be one of text, image, resource_link"),
        ("session/send", SEND | {"content": [{"type": "notice", "code": "c", "severity": "info", "text": "t"}]}, "params.content[0].type", "must be one of text, image, resource_link"),
        ("session/send", SEND | {"content": [{"text": "x"}]}, "params.content[0].type", "is missing"),
        ("session/send", SEND | {"content": [{"type": ["text"], "text": "x"}]}, "params.content[0].type", "must be one of text, image, resource_link"),
        ("session/send", SEND | {"content": [{"type": None}]}, "params.content[0].type", "must be one of text, image, resource_link"),
        # Identifiers and submit ids.
        ("session/send", SEND | {"workspaceId": ""}, "params.workspaceId", IDENTIFIER),
        ("session/send", SEND | {"workspaceId": "a/b"}, "params.workspaceId", IDENTIFIER),
        ("session/send", SEND | {"agentSessionId": "s\n"}, "params.agentSessionId", IDENTIFIER),
        ("session/send", SEND | {"agentSessionId": "s" * 129}, "params.agentSessionId", IDENTIFIER),
        ("session/send", SEND | {"clientSubmitId": ""}, "params.clientSubmitId", "must be 1 to 200 characters, none of them a control character"),
        ("session/send", SEND | {"clientSubmitId": "a\u0085b"}, "params.clientSubmitId", "must be 1 to 200 characters, none of them a control character"),
        ("session/send", SEND | {"clientSubmitId": "a\x00"}, "params.clientSubmitId", "must be 1 to 200 characters, none of them a control character"),
        ("session/send", SEND | {"clientSubmitId": "x" * 201}, "params.clientSubmitId", "must be 1 to 200 characters, none of them a control character"),
        ("events/subscribe", SUBSCRIBE | {"workspaceId": "**"}, "params.workspaceId", IDENTIFIER),
        # Content says something.
        ("session/send", SEND | {"content": []}, "params.content", "must have 1 to 1000 items"),
        ("session/send", SEND | {"content": [{"type": "text", "text": ""}]}, "params.content", "must hold something besides empty text"),
        ("session/create", CREATE | {"initialContent": []}, "params.initialContent", "must have 1 to 1000 items"),
        # Members that exclude each other.
        ("session/messages", MESSAGES, "params", "must have exactly one of afterVersion, beforeSequence, messageIds"),
        ("session/messages", MESSAGES | {"afterVersion": None}, "params", "must have exactly one of afterVersion, beforeSequence, messageIds"),
        ("session/messages", MESSAGES | {"afterVersion": 1, "beforeSequence": 2}, "params", "must have exactly one of afterVersion, beforeSequence, messageIds"),
        ("session/messages", MESSAGES | {"messageIds": []}, "params.messageIds", "must have 1 to 200 items"),
        ("session/create", CREATE | {"initialContent": [TEXT], "initialGoalControl": {"action": "set", "objective": "x"}}, "params", "must have at most one of initialContent, initialGoalControl"),
        # Answers are told apart by what they hold.
        ("interaction/respond", RESPOND, "params.answer", "is missing"),
        ("interaction/respond", RESPOND | {"answer": {}}, "params.answer", "must have optionId or answersByQuestionId"),
        ("interaction/respond", RESPOND | {"answer": "yes"}, "params.answer", "must be an object, not a string"),
        ("interaction/respond", RESPOND | {"answer": {"feedback": "no"}}, "params.answer.optionId", "is missing"),
        ("interaction/respond", RESPOND | {"answer": {"optionId": "a", "answersByQuestionId": {}}}, "params.answer.answersByQuestionId", "is unknown"),
        ("interaction/respond", RESPOND | {"answer": {"answersByQuestionId": {"q": [1]}}}, "params.answer.answersByQuestionId.q[0]", "must be a string, not an integer"),
        # Subscriptions.
        ("events/subscribe", SUBSCRIBE | {"topics": []}, "params.topics", "must have 1 to 100 items"),
        ("events/subscribe", SUBSCRIBE | {"topics": ["agent"]}, "params.topics[0]", "must be one of agent.activity.updated, agent.side.updated, host.updated"),
        ("events/subscribe", SUBSCRIBE | {"deltas": "some"}, "params.deltas", "must be one of all, none"),
        ("events/subscribe", SUBSCRIBE | {"deltas": [""]}, "params.deltas[0]", IDENTIFIER),
    ],
)  # fmt: skip
def test_is_refused_with_the_exact_path(method, params, path, problem):
    assert refused(method, params) == (path, problem)


@pytest.mark.rule("AP-008")
@pytest.mark.parametrize(
    ("placement", "path"),
    [
        ({"type": "project", "version": 2, "path": "/p"}, "params.railPlacement.version"),
        ({"type": "project", "version": True, "path": "/p"}, "params.railPlacement.version"),
        ({"type": "project", "version": 1}, "params.railPlacement.path"),
        ({"type": "folder", "version": 1}, "params.railPlacement.type"),
    ],
)
def test_a_placement_of_another_version_or_kind_is_refused(placement, path):
    assert refused("session/create", CREATE | {"railPlacement": placement})[0] == path


@pytest.mark.rule("AP-007")
def test_an_initial_goal_is_a_typed_field_beside_no_content():
    params = read("session/create", CREATE | {"initialGoalControl": {"action": "set", "objective": "/pause"}})
    assert isinstance(params, SessionCreateParams)
    assert params.initial_goal_control.objective == "/pause"
    assert params.initial_content is None


def test_a_problem_repeats_nothing_of_the_value_and_little_of_a_made_up_name():
    path, problem = refused("session/send", SEND | {"x" * 1000: "secret"})
    assert "secret" not in path + problem
    assert len(path) < 100


def test_a_prompt_takes_exactly_the_blocks_of_the_contract():
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    params = read("session/send", SEND | {"content": [TEXT, IMAGE, link], "displayPrompt": "shown"})
    assert params == SessionSendParams(
        workspace_id="w",
        agent_session_id="s",
        client_submit_id="c1",
        content=(
            TextBlock("hello"),
            ImageBlock(media_type="image/png", bytes=3, attachment_id="a"),
            ResourceLinkBlock(uri="file:///a", name="a"),
        ),
        display_prompt="shown",
    )
    assert params.session_key == SessionKey("w", "s")


@pytest.mark.rule("ST-019")
def test_text_keeps_its_white_space():
    params = read("session/send", SEND | {"content": [{"type": "text", "text": " \n\ta "}]})
    assert params.content == (TextBlock(" \n\ta "),)


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (200, 200), (201, PAGE_ITEMS_MAX), (2**53 - 1, 200)])
def test_a_page_limit_is_capped_and_not_refused(asked, given):
    assert read("session/list", {"workspaceId": "w", "limit": asked}).limit == given


def test_null_means_the_same_as_leaving_a_param_out():
    names = ("order", "limit", "cursor", "active", "pinned", "agentTargetId")
    params = read("session/list", {"workspaceId": "w"} | dict.fromkeys(names))
    assert params == read("session/list", {"workspaceId": "w"}) == SessionListParams(workspace_id="w")
    assert params.limit == PAGE_ITEMS_DEFAULT


def test_one_way_to_read_messages_is_enough_and_zero_is_a_value():
    assert read("session/messages", MESSAGES | {"afterVersion": 0}) == SessionMessagesParams(
        workspace_id="w", agent_session_id="s", after_version=0
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"optionId": "allow"}, OptionAnswer("allow")),
        ({"optionId": "no", "feedback": "because"}, OptionAnswer("no", "because")),
        (
            {"answersByQuestionId": {"q1": "a", "q2": ["b", "c"]}},
            QuestionAnswer({"q1": "a", "q2": ("b", "c")}),
        ),
    ],
)
def test_an_answer_is_an_option_or_answers_by_question(answer, expected):
    params = read("interaction/respond", RESPOND | {"answer": answer})
    assert isinstance(params, InteractionRespondParams)
    assert params.answer == expected


def test_a_request_id_may_be_any_word_of_the_provider():
    answer = {"optionId": "x"}
    params = read("interaction/respond", RESPOND | {"requestId": "call 7/ä", "answer": answer})
    assert params.request_id == "call 7/ä"


@pytest.mark.parametrize(("deltas", "expected"), [("none", "none"), ([], ()), (["s1", "s2"], ("s1", "s2"))])
def test_deltas_are_all_none_or_named_sessions(deltas, expected):
    params = read("events/subscribe", SUBSCRIBE | {"workspaceId": "*", "deltas": deltas})
    assert isinstance(params, EventsSubscribeParams)
    assert (params.workspace_id, params.deltas) == ("*", expected)
    assert read("events/subscribe", SUBSCRIBE).deltas == "all"
