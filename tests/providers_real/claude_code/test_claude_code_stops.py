"""Stopping and guiding a real Claude Code: confirmed by it, felt by its model, and never in the way of what comes next."""

import pytest

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import start, text, text_of
from tests.providers_real.claude_code.real_claude import AGENT_TOOL, TARGET, tool_calls
from tests.providers_real.codex_acp import eventually, holding

pytestmark = pytest.mark.real_agent


@pytest.mark.rule("RT-006")
@pytest.mark.case("FC-13")
async def test_a_stop_mid_stream_is_confirmed_and_claude_leaves_its_model(
    client: Client, workspace: str, model: ModelServer
) -> None:
    talk = await start(
        client, workspace, "The first. " + script(["Once upon ", hold("claude stopped")]), target=TARGET
    )
    request = await holding(model, "claude stopped")
    message = await client.row("message", role="assistant", kind="text")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "aborted_streaming")
    assert turn["cancelConfirmedAt"] is not None
    await eventually(lambda: request.ending == "client_left", "Claude Code to leave its model")
    (kept,) = [each for each in await talk.messages() if each["messageId"] == message["messageId"]]
    assert (kept["status"], text_of(kept)) == ("interrupted", "Once upon ")

    assert (await talk.say("The second. " + script(["A new start."])))["outcome"] == "completed"
    assert await talk.texts() == ["Once upon ", "A new start."]
    (second,) = model.asked("The second.")
    assert second.knows("user", "The first.")


@pytest.mark.rule("RT-078", "RT-080", "PR-017", "PR-018")
async def test_guidance_breaks_claude_off_and_the_same_turn_goes_on_with_it(
    client: Client, workspace: str, model: ModelServer
) -> None:
    name = f"guided {workspace}"
    talk = await start(client, workspace, "Plant elms. " + script(["Elms, ", hold(name)]), target=TARGET)
    await holding(model, name)
    await client.row("message", turnId=talk.turn["turnId"], role="assistant")
    words = f"Rather oaks for {workspace}. " + script(["Oaks."])
    guide = {**talk.key, "turnId": talk.turn["turnId"], "clientSubmitId": "g1", "content": text(words)}
    turn = (await client.request("turn/guide", **guide))["turn"]
    assert turn["turnId"] == talk.turn["turnId"]
    settled = await client.settled(talk.turn)
    assert (settled["outcome"], settled["cancelRequestedAt"]) == ("completed", None)
    rows = await talk.messages()
    assert [(row["role"], row["status"], text_of(row)) for row in rows[1:]] == [
        ("assistant", "interrupted", "Elms, "),
        ("user", "completed", words),
        ("assistant", "completed", "Oaks."),
    ]
    (asked,) = model.asked(f"Rather oaks for {workspace}.")
    assert asked.knows("user", "Plant elms.")
    assert (await talk.say(script(["And on."])))["outcome"] == "completed"


def delegating(workspace: str, *, background: bool) -> Json:
    """A call that gives work away."""
    looking = call("Bash", command="echo sub-agent", description="look around")
    job = f"Job of {workspace}. " + script([looking], ["The sub-agent's report."])
    return call(
        AGENT_TOOL,
        description="a job",
        prompt=job,
        subagent_type="general-purpose",
        run_in_background=background,
    )


async def test_a_sub_agents_work_is_output_of_its_call_and_no_word_of_the_conversation(
    client: Client, workspace: str
) -> None:
    work = delegating(workspace, background=False)
    talk = await start(client, workspace, script([work], ["All done."]), target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert await talk.texts() == ["All done."]
    (tool,) = tool_calls(await talk.messages())
    assert (tool["kind"], tool["status"]) == ("delegate", "completed")
    assert "The sub-agent's report." in tool["output"]["text"]


@pytest.mark.case("FC-13")
async def test_a_sub_agent_in_the_background_reports_to_its_call_and_wakes_claude_for_a_turn_of_its_own(
    client: Client, workspace: str
) -> None:
    work = delegating(workspace, background=True)
    talk = await start(client, workspace, script([work], ["On its way."]), target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    woken = await client.row("turn", agentSessionId=talk.session_id, origin="provider", phase="settled")
    assert woken["outcome"] == "completed"
    (tool,) = tool_calls(await talk.messages())
    assert (tool["status"], tool["output"]["text"]) == ("completed", "The sub-agent's report.")
    spoken = [(row["turnId"], text_of(row)) for row in await talk.messages() if row["role"] == "assistant"]
    said = [each for each in spoken if each[1] != tool["output"]["text"]]
    assert said == [(talk.turn["turnId"], "On its way."), (woken["turnId"], "On its way.")]
