"""What a real agent may do: commands it asks for, allowed and refused, and asks that a stop overtakes."""

from pathlib import Path

import pytest

from tests.doubles.model_script import call, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client
from tests.end_to_end.talk import Talk, answer_params, start
from tests.providers_real.codex_acp import RECORDED, SHELL_TOOL, TARGET, recorded_frames

pytestmark = pytest.mark.real_agent


async def asks_to_make(client: Client, workspace: str, made: Path, target: str = TARGET) -> Talk:
    """A session whose agent asks to make that file, and says more once it may."""
    command = call(SHELL_TOOL, cmd=f"echo greenroom > {made.name}")
    prompt = script(["I will make a file.", command], ["It is made."])
    return await start(client, workspace, prompt, target=target, cwd=str(made.parent))


async def test_an_allowed_command_runs_and_the_model_gets_what_it_gave(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "allowed.txt"
    talk = await asks_to_make(client, workspace, made)
    asked = await talk.pending()
    assert asked["kind"] == "approval"
    assert asked["input"]["kind"] == "execute"
    assert made.name in asked["input"]["command"]
    assert asked["input"]["cwd"] == str(tmp_path)
    options = {option["kind"]: option["optionId"] for option in asked["options"]}
    assert options.keys() == {"allow_once", "allow_always", "reject_once"}
    await client.row("turn", turnId=talk.turn["turnId"], phase="waiting")
    assert not made.exists()

    answered = await talk.answer(asked, options["allow_once"])
    assert (answered["status"], answered["answerDelivery"]) == ("answered", "delivered")
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("completed", "end_turn")
    assert made.read_text() == "greenroom\n"
    assert await talk.texts() == ["I will make a file.", "It is made."]
    (tool,) = [message["toolCall"] for message in await talk.messages() if message["kind"] == "tool_call"]
    assert (tool["kind"], tool["status"], tool["output"].get("exitCode")) == ("execute", "completed", 0)
    assert len(model.asked(made.name)[-1].tool_outputs) == 1


async def test_a_command_allowed_for_always_is_not_asked_for_again(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    made = tmp_path / "twice.txt"
    talk = await asks_to_make(client, workspace, made)
    asked = await talk.pending()
    (always,) = [option["optionId"] for option in asked["options"] if option["kind"] == "allow_always"]
    await talk.answer(asked, always)
    await client.settled(talk.turn)
    made.unlink()
    command = call(SHELL_TOOL, cmd=f"echo greenroom > {made.name}")
    assert (await talk.say(script([command], ["Again."])))["outcome"] == "completed"
    assert made.exists()
    assert {row["requestId"] for row in client.rows("interaction")} == {asked["requestId"]}


async def test_a_refused_command_does_not_run_and_the_agent_ends_the_turn_itself(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "refused.txt"
    talk = await asks_to_make(client, workspace, made)
    asked = await talk.pending()
    (reject,) = [option["optionId"] for option in asked["options"] if option["kind"] == "reject_once"]
    await talk.answer(asked, reject)

    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "cancelled")
    assert turn["cancelRequestedAt"] is None
    assert turn["cancelConfirmedAt"] is not None
    (tool,) = [message["toolCall"] for message in await talk.messages() if message["kind"] == "tool_call"]
    assert tool["status"] == "declined"
    assert len(model.asked(made.name)) == 1, "the model was not asked to go on"

    assert (await talk.say(script(["Then not."])))["outcome"] == "completed"
    assert (await talk.texts())[-1] == "Then not."
    assert not made.exists()


@pytest.mark.case("FC-04")
async def test_a_stop_with_an_ask_open_gives_the_agent_one_cancelled_and_refuses_a_late_answer(
    client: Client, workspace: str, tmp_path: Path, recording: Path
) -> None:
    made = tmp_path / "never.txt"
    talk = await asks_to_make(client, workspace, made, RECORDED)
    asked = await talk.pending()
    before = len(recorded_frames(recording))
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    superseded = await client.row("interaction", agentSessionId=talk.session_id, status="superseded")
    assert (superseded["requestId"], superseded["answer"]) == (asked["requestId"], None)
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "canceled"
    assert turn["cancelRequestedAt"] is not None
    assert turn["cancelConfirmedAt"] is not None

    refusal = await client.refused("interaction/respond", **answer_params(asked, "approved"))
    assert refusal["code"] == "interaction.not_pending"
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
    told = [frame["msg"] for frame in recorded_frames(recording)[before:] if frame["dir"] == "out"]
    cancelled = {"outcome": {"outcome": "cancelled"}}
    assert [each["result"] for each in told if "result" in each] == [cancelled], "exactly one answer"
    assert [each["method"] for each in told if "method" in each] == ["session/cancel", "session/prompt"]
    assert not made.exists()
