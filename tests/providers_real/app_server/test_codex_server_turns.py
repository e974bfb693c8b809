"""Turns of a real app-server through a real daemon: streamed, reasoned, failed, and a command that outlives its own."""

import pytest

from tests.doubles.model_script import call, drop, fail, hold, refuse, script, think
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import start, streamed, text_of
from tests.providers_real.app_server.codex_server import FREE, SHELL_TOOL, TARGET, sandbox_told, tool_calls
from tests.providers_real.codex_acp import holding

pytestmark = pytest.mark.real_agent

SECRET = "words of the model's host 4711"


async def test_text_arrives_while_the_model_still_writes_and_is_kept_as_it_was_sent(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = script(
        [think("Which tree?"), "A green", "room ", hold("codex more"), "keeps «actors» – ", "\n🎭."]
    )
    talk = await start(client, workspace, prompt, target=TARGET)
    message = await client.row("message", role="assistant", kind="text", status="streaming")
    request = await holding(model, "codex more")
    await client.wait(lambda: streamed(client, message["messageId"]) == request.text, "the text so far")
    assert request.text == "A greenroom "

    model.release("codex more")
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"], turn["delivery"]) == ("completed", "completed", "accepted")
    assert turn["providerTurnId"]
    assert turn["usage"]["totalTokens"] == 110
    told = [(each["kind"], text_of(each)) for each in (await talk.messages())[1:]]
    assert told == [("reasoning", "Which tree?"), ("text", request.text)]
    assert streamed(client, message["messageId"]) == request.text
    session = (await client.request("session/get", **talk.key))["session"]
    assert session["usage"]["contextTokens"] == 110
    assert session["capabilities"]["guidance"] is True


async def test_a_session_that_chose_nothing_is_held_to_its_own_defaults_not_to_codexs(
    client: Client, workspace: str, model: ModelServer
) -> None:
    talk = await start(client, workspace, "Default. " + script(["Hello."]), target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    (request,) = model.asked("Default.")
    assert sandbox_told(request) == "workspace-write", "the configuration of Codex says danger-full-access"


async def test_a_command_runs_and_its_whole_output_is_kept(client: Client, workspace: str) -> None:
    prompt = script([call(SHELL_TOOL, cmd="echo first; sleep 0.2; echo second; exit 3")], ["It ran."])
    talk = await start(client, workspace, prompt, target=TARGET, settings=FREE)
    await client.settled(talk.turn)
    (tool,) = tool_calls(await talk.messages())
    assert (tool["kind"], tool["status"], tool["output"]["exitCode"]) == ("execute", "failed", 3)
    assert tool["output"]["text"] == "first\nsecond\n"
    assert tool["title"].startswith("echo first")
    assert await talk.texts() == ["It ran."]


@pytest.mark.rule("RT-003", "ST-006")
async def test_a_command_that_outlives_its_turn_ends_in_it_without_opening_it_again(
    client: Client, workspace: str
) -> None:
    slow = call(SHELL_TOOL, cmd="echo begun; sleep 1.5; echo ended", yield_time_ms=250)
    talk = await start(
        client, workspace, script([slow], ["I left it running."]), target=TARGET, settings=FREE
    )
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "completed"
    await client.wait(
        lambda: [
            row
            for row in client.rows("message")
            if row["toolCall"] is not None and row["toolCall"]["status"] == "completed"
        ],
        "the end of the command",
    )
    (tool,) = tool_calls(await talk.messages())
    assert (tool["status"], tool["output"]["text"]) == ("completed", "begun\nended\n")
    after = (await client.request("turn/get", **talk.key, turnId=turn["turnId"]))["turn"]
    assert after == turn


@pytest.mark.rule("PR-023", "PR-024")
@pytest.mark.parametrize(
    ("step", "code", "http_status"),
    [
        pytest.param([refuse(400, SECRET)], "provider.rejected", None, id="a bad request"),
        pytest.param([refuse(401, SECRET)], "provider.auth_required", 401, id="signed out"),
        pytest.param([refuse(403, SECRET)], "provider.rejected", 403, id="forbidden is not signed out"),
        pytest.param([refuse(429, SECRET)], "provider.rate_limited", 429, id="too many requests"),
        pytest.param([fail("context_length_exceeded", SECRET)], "provider.context_full", None, id="too long"),
        pytest.param(["Some ", drop()], "provider.rejected", None, id="broken off"),
    ],
)
async def test_a_failing_model_fails_the_turn_in_our_words_and_the_next_prompt_works(
    client: Client, workspace: str, step: list[Json], code: str, http_status: int | None
) -> None:
    talk = await start(client, workspace, script(step), target=TARGET)
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", code)
    assert turn["error"]["origin"] == "provider"
    assert turn["error"].get("httpStatus") == http_status
    assert SECRET not in turn["error"]["message"]
    assert "127.0.0.1" not in turn["error"]["message"]

    assert (await talk.say(script(["Better now."])))["outcome"] == "completed"
    assert (await talk.texts())[-1] == "Better now."
