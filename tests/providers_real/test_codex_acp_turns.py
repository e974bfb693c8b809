"""Turns of a real agent through a real daemon: streamed, reasoned, failed and followed by another one."""

import pytest

from tests.doubles.model_script import fail, hold, refuse, script, think
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.codex_acp import MODEL, TARGET, holding

pytestmark = pytest.mark.real_agent

SECRET = "words of the model's host 4711"


async def test_text_arrives_while_the_model_still_writes_and_is_kept_as_it_was_sent(
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
    assert request.text == "A greenroom keeps «actors» – \n🎭 and waits."
    assert await talk.texts() == [request.text]
    assert streamed(client, message["messageId"]) == request.text
    session = (await client.request("session/get", **talk.key))["session"]
    assert session["usage"]["contextTokens"] == 110


async def test_reasoning_is_a_message_of_its_own_before_the_answer(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, script([think("Which tree?"), "An oak."]), target=TARGET)
    await client.settled(talk.turn)
    told = [(each["kind"], text_of(each).strip()) for each in (await talk.messages())[1:]]
    assert told == [("reasoning", "Which tree?"), ("text", "An oak.")]


async def test_the_model_of_the_settings_is_the_one_that_is_asked(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = "Which one? " + script(["This one."])
    talk = await start(client, workspace, prompt, target=TARGET, settings={"model": "gpt-5.4"})
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    (request,) = model.asked("Which one?")
    assert request.body["model"] == "gpt-5.4" != MODEL


@pytest.mark.parametrize(
    ("step", "code", "http_status"),
    [
        pytest.param([refuse(400, SECRET)], "provider.rejected", None, id="a bad request"),
        pytest.param([refuse(500, SECRET)], "provider.rejected", None, id="a broken model"),
        pytest.param([refuse(401, SECRET)], "provider.auth_required", 401, id="not signed in"),
        pytest.param([fail("insufficient_quota", SECRET)], "provider.quota", None, id="nothing left"),
        pytest.param([refuse(429, SECRET)], "provider.rate_limited", 429, id="too many requests"),
        pytest.param([fail("context_length_exceeded", SECRET)], "provider.context_full", None, id="too long"),
        pytest.param(["Some ", fail("server_error", SECRET)], "provider.rejected", None, id="mid-stream"),
    ],
)
async def test_a_failing_model_fails_the_turn_in_our_words_and_the_next_prompt_works(
    client: Client, workspace: str, model: ModelServer, step: list[Json], code: str, http_status: int | None
) -> None:
    talk = await start(client, workspace, script(["All is well."]), target=TARGET)
    await client.settled(talk.turn)
    turn = await talk.say(script(step))
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", code)
    assert turn["error"]["origin"] == "provider"
    assert turn["error"].get("httpStatus") == http_status
    assert SECRET not in turn["error"]["message"]

    after = await talk.say(script(["Better now."]))
    assert after["outcome"] == "completed"
    # After "too long" the agent shortens the conversation first, and says so in its answer.
    assert (await talk.texts())[-1].endswith("Better now.")
    cut_off = [text_of(each) for each in await talk.messages() if each["status"] == "interrupted"]
    assert cut_off == [part for part in step if isinstance(part, str)]


@pytest.mark.rule("RT-030")
async def test_a_model_that_fails_the_first_prompt_leaves_a_session_that_works(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, script([refuse(400, SECRET)]), target=TARGET)
    assert (await client.settled(talk.turn))["error"]["code"] == "provider.rejected"
    assert (await talk.say(script(["Better now."])))["outcome"] == "completed"
    assert await talk.texts() == ["Better now."]
