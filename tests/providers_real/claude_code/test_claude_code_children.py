"""Sub-agents of a real Claude Code: sessions of their own, waited for by their root, guided past and stopped with it."""

import pytest

from tests.doubles.model_script import Part, call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, start, text, text_of
from tests.providers_real.claude_code.real_claude import AGENT_TOOL, TARGET
from tests.providers_real.codex_acp import holding

pytestmark = pytest.mark.real_agent


def delegating(workspace: str, *job: list[Part], background: bool = False) -> Json:
    """A call that gives work away: the steps of the sub-agent's own model."""
    return call(
        AGENT_TOOL,
        description="a job",
        prompt=f"Job of {workspace}. " + script(*job),
        subagent_type="general-purpose",
        run_in_background=background,
    )


async def child_of(client: Client, talk: Talk) -> Talk:
    """The session of the one sub-agent."""
    found = await client.wait(
        lambda: [row for row in client.rows("turn") if row["agentSessionId"] != talk.session_id],
        "a sub-agent's turn",
    )
    key = {"workspaceId": talk.key["workspaceId"], "agentSessionId": found[0]["agentSessionId"]}
    return Talk(client, key, {"turn": found[0]})


@pytest.mark.rule("RT-132", "RT-133", "RT-134")
async def test_a_sub_agent_has_its_own_session_with_what_it_was_told_did_and_said(
    client: Client, workspace: str
) -> None:
    looking = call("Bash", command="echo sub-agent", description="look around")
    work = delegating(workspace, [looking], ["The report."])
    talk = await start(client, workspace, script([work], ["All done."]), target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    child = await child_of(client, talk)
    assert (await client.settled(child.turn))["outcome"] == "completed"
    rows = await child.messages()
    assert [(row["role"], row["kind"]) for row in rows] == [
        ("user", "text"),
        ("assistant", "tool_call"),
        ("assistant", "text"),
    ]
    assert text_of(rows[0]).startswith(f"Job of {workspace}.")
    assert (rows[1]["toolCall"]["status"], text_of(rows[2])) == ("completed", "The report.")
    found = await client.request("session/get", **talk.key)
    (session,) = found["children"]
    (tool,) = [row["toolCall"] for row in await talk.messages() if row["toolCall"]]
    assert (tool["childAgentSessionId"], session["parent"]["parentToolCallId"]) == (
        child.session_id,
        tool["callId"],
    )


@pytest.mark.rule("RT-134", "PR-013")
async def test_a_root_waits_for_a_sub_agent_in_the_background_and_takes_guidance_meanwhile(
    client: Client, workspace: str, model: ModelServer
) -> None:
    name = f"digging {workspace}"
    work = delegating(workspace, [hold(name), "The report."], background=True)
    talk = await start(client, workspace, script([work], ["On its way."]), target=TARGET)
    await holding(model, name)
    child = await child_of(client, talk)
    await client.wait(
        lambda: [
            row
            for row in client.rows("message", agentSessionId=talk.session_id, status="completed")
            if text_of(row) == "On its way."
        ],
        "the first response",
    )
    more = text(f"Quick, {workspace}. " + script(["I heard you."]))
    guide = {**talk.key, "turnId": talk.turn["turnId"], "clientSubmitId": "g1", "content": more}
    guided = await client.request("turn/guide", **guide)
    assert guided["turn"]["turnId"] == talk.turn["turnId"]
    await client.wait(
        lambda: [
            row
            for row in client.rows("message", agentSessionId=talk.session_id, status="completed")
            if text_of(row) == "I heard you."
        ],
        "the second response",
    )
    assert [row for row in client.rows("turn") if row["phase"] == "settled"] == []
    model.release(name)
    assert (await client.settled(child.turn))["outcome"] == "completed"
    assert (await client.settled(talk.turn))["outcome"] == "completed"


@pytest.mark.rule("RT-135", "RT-006")
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_a_cancel_of_the_root_stops_a_real_sub_agent(
    client: Client, workspace: str, model: ModelServer, background: bool
) -> None:
    name = f"stopped {background} {workspace}"
    work = delegating(workspace, [hold(name), "The report."], background=background)
    talk = await start(client, workspace, script([work], ["On its way."]), target=TARGET)
    await holding(model, name)
    child = await child_of(client, talk)
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    for turn in (await client.settled(talk.turn), await client.settled(child.turn)):
        assert turn["outcome"] == "canceled"
        assert turn["cancelConfirmedAt"] is not None
    assert (await talk.say(script(["And on."])))["outcome"] == "completed"


@pytest.mark.rule("RT-024")
async def test_a_question_of_a_real_sub_agent_is_answered_in_its_own_session(
    client: Client, workspace: str
) -> None:
    making = call("Bash", command="mkdir dug", description="dig")
    work = delegating(workspace, [making], ["The report."])
    talk = await start(client, workspace, script([work], ["All done."]), target=TARGET)
    child = await child_of(client, talk)
    asked = await child.pending()
    option = next(each for each in asked["options"] if each["kind"] == "allow_once")
    await child.answer(asked, option["optionId"])
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    (tool,) = [row["toolCall"] for row in await child.messages() if row["toolCall"]]
    assert tool["status"] == "completed"
