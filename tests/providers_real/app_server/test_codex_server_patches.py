"""Patches a real Codex asks to apply, and questions it asks: shown whole, answered once, felt by its model."""

from pathlib import Path

import pytest

from tests.doubles.model_script import call, give, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, start
from tests.providers_real.app_server.codex_server import (
    ASKING,
    FREE,
    PATCH_TOOL,
    QUESTION_TOOL,
    TARGET,
    tool_calls,
)

pytestmark = pytest.mark.real_agent

QUESTION = {
    "questions": [
        {
            "id": "colour",
            "header": "Colour",
            "question": "Which colour shall it be?",
            "options": [
                {"label": "red", "description": "Like a stop"},
                {"label": "green", "description": "Like a room"},
            ],
        }
    ]
}


async def asks_to_patch(client: Client, workspace: str, folder: Path, name: str) -> tuple[Talk, Json]:
    """A session whose agent asks to add a file of that name, and what it asks."""
    patch = f"*** Begin Patch\n*** Add File: {name}\n+one\n+two\n*** End Patch\n"
    prompt = script(["I will write it.", give(PATCH_TOOL, patch)], ["I go on."])
    talk = await start(client, workspace, prompt, target=TARGET, cwd=str(folder), settings=ASKING)
    return talk, await talk.pending()


@pytest.mark.rule("RT-014", "RT-020")
@pytest.mark.parametrize(
    ("kind", "outcome", "status", "requests"),
    [
        ("allow_once", "completed", "completed", 2),
        ("reject_once", "completed", "declined", 2),
        ("stop", "canceled", "declined", 1),
    ],
)
async def test_a_patch_is_shown_whole_and_applied_only_if_it_is_allowed(
    client: Client,
    workspace: str,
    model: ModelServer,
    tmp_path: Path,
    kind: str,
    outcome: str,
    status: str,
    requests: int,
) -> None:
    name = f"patched-{kind}.txt"
    talk, asked = await asks_to_patch(client, workspace, tmp_path, name)
    assert (asked["kind"], asked["input"]["kind"]) == ("approval", "edit")
    (change,) = asked["input"]["changes"]
    assert (change["path"], change["kind"]) == (str(tmp_path / name), "add")
    assert change["diff"].endswith("+one\n+two\n")
    assert not (tmp_path / name).exists()
    (option,) = [each["optionId"] for each in asked["options"] if each["kind"] == kind]
    answered = await talk.answer(asked, option)
    assert (answered["status"], answered["answerDelivery"]) == ("answered", "delivered")
    assert (await client.settled(talk.turn))["outcome"] == outcome
    (tool,) = tool_calls(await talk.messages())
    assert (tool["kind"], tool["status"], tool["callId"]) == ("edit", status, asked["input"]["callId"])
    assert len(model.asked(name)) == requests
    assert (tmp_path / name).exists() is (kind == "allow_once")
    if kind == "allow_once":
        assert (tmp_path / name).read_text() == "one\ntwo\n"


@pytest.mark.case("FC-04")
async def test_a_stop_with_a_patch_open_applies_nothing(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    talk, asked = await asks_to_patch(client, workspace, tmp_path, "never.txt")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    superseded = await client.row("interaction", agentSessionId=talk.session_id, status="superseded")
    assert superseded["requestId"] == asked["requestId"]
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
    assert not (tmp_path / "never.txt").exists()


@pytest.mark.rule("RT-009", "RT-022")
async def test_a_question_is_answered_by_its_id_and_the_model_gets_the_answer(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = "Ask about the colour. " + script([call(QUESTION_TOOL, **QUESTION)], ["Green it is."])
    talk = await start(client, workspace, prompt, target=TARGET, settings=FREE)
    asked = await talk.pending()
    (question,) = asked["input"]["questions"]
    assert (asked["kind"], question["question"]) == ("question", "Which colour shall it be?")
    assert [option["label"] for option in question["options"]] == ["red", "green"]
    names = ("workspaceId", "agentSessionId", "turnId", "requestId")
    answer = {"answersByQuestionId": {question["id"]: "green"}}
    await client.request("interaction/respond", **{name: asked[name] for name in names}, answer=answer)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    (output,) = model.asked("Ask about the colour.")[-1].tool_outputs
    assert "green" in output
    assert await talk.texts() == ["Green it is."]


@pytest.mark.case("FC-04")
async def test_a_stop_with_a_question_open_answers_it_with_nothing(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = "Ask and be stopped. " + script([call(QUESTION_TOOL, **QUESTION)], ["Never said."])
    talk = await start(client, workspace, prompt, target=TARGET, settings=FREE)
    asked = await talk.pending()
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    await client.row("interaction", requestId=asked["requestId"], status="superseded")
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
    assert len(model.asked("Ask and be stopped.")) == 1
