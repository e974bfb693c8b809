"""What a real Codex may do: commands and patches it asks for, allowed, refused with words, and stopped."""

from pathlib import Path

import pytest

from tests.doubles.model_script import call, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, answer_params, start
from tests.providers_real.app_server.codex_server import ASKING, SHELL_TOOL, TARGET, tool_calls

pytestmark = pytest.mark.real_agent


async def asks_to_make(client: Client, workspace: str, made: Path) -> tuple[Talk, Json]:
    """A session whose agent asks to make that file, and says more once it may or may not; and what it asks."""
    command = call(SHELL_TOOL, cmd=f"echo greenroom > {made.name}")
    prompt = script(["I will make a file.", command], ["I go on."])
    talk = await start(client, workspace, prompt, target=TARGET, cwd=str(made.parent), settings=ASKING)
    return talk, await talk.pending()


def option(asked: Json, kind: str) -> str:
    (found,) = [each["optionId"] for each in asked["options"] if each["kind"] == kind]
    return str(found)


async def test_an_allowed_command_runs_and_the_model_gets_what_it_gave(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "allowed.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    assert (asked["kind"], asked["input"]["kind"]) == ("approval", "execute")
    assert asked["input"]["command"] == f"echo greenroom > {made.name}"
    assert asked["input"]["cwd"] == str(tmp_path)
    await client.row("turn", turnId=talk.turn["turnId"], phase="waiting")
    assert not made.exists()

    answered = await talk.answer(asked, option(asked, "allow_once"))
    assert (answered["status"], answered["answerDelivery"]) == ("answered", "delivered")
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "completed"
    assert made.read_text() == "greenroom\n"
    assert await talk.texts() == ["I will make a file.", "I go on."]
    (tool,) = tool_calls(await talk.messages())
    assert (tool["callId"], tool["status"], tool["output"]["exitCode"]) == (
        asked["input"]["callId"],
        "completed",
        0,
    )
    assert len(model.asked(made.name)[-1].tool_outputs) == 1


@pytest.mark.rule("RT-020", "RT-021")
async def test_a_refused_command_does_not_run_and_the_turn_goes_on_with_what_was_said(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "refused.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    params = answer_params(asked, option(asked, "reject_once"))
    params["answer"]["feedback"] = "Not here, please."
    reply = await client.request("interaction/respond", **params)
    assert reply["interaction"]["status"] == "answered"
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "completed"
    (tool,) = tool_calls(await talk.messages())
    assert tool["status"] == "declined"
    assert not made.exists()
    assert (await talk.texts())[-1] == "I go on."
    after = model.asked(made.name)[-1]
    assert len(after.tool_outputs) == 1
    assert (await talk.say("And? " + script(["Fine."])))["outcome"] == "completed"
    (later,) = model.asked("And?")
    assert later.knows("user", "Not here, please."), "the words went to the agent"


async def test_a_refusal_that_stops_ends_the_turn(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "stopped.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    await talk.answer(asked, option(asked, "stop"))
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
    assert turn["cancelRequestedAt"] is None
    (tool,) = tool_calls(await talk.messages())
    assert tool["status"] == "declined"
    assert len(model.asked(made.name)) == 1, "the model was not asked to go on"
    assert not made.exists()


@pytest.mark.case("FC-04")
async def test_a_stop_with_an_ask_open_refuses_a_late_answer_and_nothing_runs(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    made = tmp_path / "never.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    superseded = await client.row("interaction", agentSessionId=talk.session_id, status="superseded")
    assert (superseded["requestId"], superseded["answer"]) == (asked["requestId"], None)
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "canceled"
    assert turn["cancelConfirmedAt"] is not None
    refusal = await client.refused("interaction/respond", **answer_params(asked, "accept"))
    assert refusal["code"] == "interaction.not_pending"
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
    assert not made.exists()
