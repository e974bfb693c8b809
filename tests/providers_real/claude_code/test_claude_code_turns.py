"""Turns of a real Claude Code through a real daemon: streamed, reasoned, failed and followed by another one."""

import pytest

from tests.doubles.model_script import call, hold, refuse, script, think
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.claude_code.real_claude import MODEL, TARGET
from tests.providers_real.codex_acp import holding

pytestmark = pytest.mark.real_agent

SECRET = "words of the model's host 4711"


async def test_claude_text_arrives_while_its_model_still_writes_and_is_kept_as_it_was_sent(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = script(["A green", "room ", hold("more"), "keeps «actors» – ", "\n🎭 and waits."])
    talk = await start(client, workspace, prompt, target=TARGET)
    message = await client.row("message", role="assistant", kind="text", status="streaming")
    request = await holding(model, "more")
    await client.wait(lambda: streamed(client, message["messageId"]) == request.text, "the text so far")
    assert request.text == "A greenroom "

    model.release("more")
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"], turn["delivery"]) == ("completed", "end_turn", "accepted")
    assert await talk.texts() == [request.text]
    assert streamed(client, message["messageId"]) == request.text
    session = (await client.request("session/get", **talk.key))["session"]
    assert session["usage"]["contextTokens"] == 100
    assert session["resumability"] == "resumable"
    assert session["settings"]["permissionMode"] == "default"
    assert request.body["model"] == MODEL


async def test_claude_reasoning_is_a_message_of_its_own_before_the_answer(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, script([think("Which tree?"), "An oak."]), target=TARGET)
    await client.settled(talk.turn)
    told = [(each["kind"], text_of(each).strip()) for each in (await talk.messages())[1:]]
    assert told == [("reasoning", "Which tree?"), ("text", "An oak.")]


async def test_claudes_list_of_tasks_is_the_plan_of_its_turn(client: Client, workspace: str) -> None:
    steps = script(
        [call("TaskCreate", subject="Dig", description="a hole")],
        [call("TaskCreate", subject="Plant", description="an elm")],
        [call("TaskUpdate", taskId="1", status="completed")],
        ["Planned."],
    )
    talk = await start(client, workspace, steps, target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    (plan,) = [message for message in await talk.messages() if message["kind"] == "plan"]
    entries = [(entry["text"], entry["status"]) for entry in plan["content"][0]["entries"]]
    assert entries == [("Dig", "completed"), ("Plant", "pending")]


async def test_claude_remembers_within_a_session_and_shares_nothing_between_two(
    client: Client, workspace: str, model: ModelServer
) -> None:
    first = await start(client, workspace, "I am Ada. " + script(["Hello Ada."]), target=TARGET)
    second = await start(client, workspace, "I am Bob. " + script(["Hello Bob."]), target=TARGET)
    for talk in (first, second):
        assert (await client.settled(talk.turn))["outcome"] == "completed"
    await first.say("Who is it? " + script(["Ada."]))
    (request,) = model.asked("Who is it?")
    assert request.knows("user", "I am Ada.")
    assert request.knows("assistant", "Hello Ada.")
    assert not request.knows("user", "I am Bob.")


@pytest.mark.case("FC-11")
@pytest.mark.rule("PR-023")
@pytest.mark.parametrize(
    ("http_status", "code"),
    [(400, "provider.rejected"), (401, "provider.auth_required"), (429, "provider.rate_limited")],
)
async def test_a_claude_turn_fails_typed_when_its_model_refuses_and_the_session_goes_on(
    client: Client, workspace: str, http_status: int, code: str
) -> None:
    talk = await start(client, workspace, script([refuse(http_status, SECRET)]), target=TARGET)
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", code)
    assert turn["error"]["httpStatus"] == http_status
    assert SECRET not in str(turn)
    assert SECRET not in str(await talk.messages())
    assert (await talk.say(script(["Here again."])))["outcome"] == "completed"
