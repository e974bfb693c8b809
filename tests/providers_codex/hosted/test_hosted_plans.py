"""Codex in its plan mode: its turn ends with a plan, which is carried out when its user says so, and once."""

import pytest

from tests.doubles.scripted_codex import TARGET, calls, scripted_target
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, answer_params, start
from tests.providers_codex.hosted.stage import Stage

PLANNING = {"collaborationMode": "plan"}
PROPOSES = "[[propose # Look, then write]]"


async def proposed(stage: Stage) -> tuple[Talk, Json, Json]:
    """A session that plans, its settled turn, and the plan that waits."""
    talk, turn = await stage.settled(PROPOSES, settings=PLANNING)
    return talk, turn, await talk.pending()


async def waiting(stage: Stage, talk: Talk) -> Json:
    """The one thing that waits for an answer now."""
    page = await stage.client.request("interaction/list", workspaceId=stage.workspace, status="pending")
    [row] = [row for row in page["items"] if row["agentSessionId"] == talk.session_id]
    return row


async def next_turn(client: Client, talk: Talk, after: Json) -> Json:
    """The turn that was begun behind this one, once it is settled."""
    begun = await client.wait(
        lambda: [row for row in client.rows("turn", **talk.key) if row["sequence"] > after["sequence"]],
        "another turn",
    )
    return await client.settled(begun[-1])


@pytest.mark.rule("RT-025")
async def test_a_plan_is_put_up_when_its_turn_is_settled_and_carried_out_by_one_prompt(stage: Stage) -> None:
    talk, turn, plan = await proposed(stage)
    assert (turn["outcome"], plan["turnId"], plan["kind"]) == ("completed", turn["turnId"], "plan")
    assert plan["input"]["markdown"] == "# Look, then write"
    [first] = await stage.calls(talk, "turn/start")
    assert first["collaborationMode"]["mode"] == "plan"
    assert first["collaborationMode"]["settings"]["model"]
    answered = await talk.answer(plan, "accept")
    assert (answered["status"], answered["answerDelivery"]) == ("answered", "delivered")
    done = await next_turn(stage.client, talk, turn)
    assert done["outcome"] == "completed"
    operation = await stage.client.row("operation", **talk.key)
    assert (operation["kind"], operation["state"]) == ("plan", "committed")
    assert (await stage.client.request("operation/get", **talk.key, operationId=operation["operationId"]))[
        "operation"
    ] == operation
    [_, second] = await stage.calls(talk, "turn/start")
    assert second["collaborationMode"]["mode"] == "default"
    assert [each["text"] for each in second["input"]] == ["Implement the plan."]
    again = await talk.answer(plan, "accept")
    assert again == answered
    assert len(await stage.calls(talk, "turn/start")) == 2
    shown = await stage.client.request("session/get", **talk.key)
    assert shown["session"]["settings"]["collaborationMode"] == "default"
    [prompt] = [
        one for one in await talk.messages() if one["role"] == "user" and one["turnId"] == done["turnId"]
    ]
    assert prompt["content"] == [{"type": "text", "text": "Implement the plan."}]


@pytest.mark.rule("AP-039")
async def test_a_plan_that_was_planned_over_carries_nothing_out(stage: Stage) -> None:
    talk, _, plan = await proposed(stage)
    await talk.say("[[propose # Another]]")
    refused = await stage.client.refused("interaction/respond", **answer_params(plan, "accept"))
    assert (refused["code"], refused["details"]["interaction"]["status"]) == (
        "interaction.not_pending",
        "superseded",
    )
    newer = await waiting(stage, talk)
    assert newer["input"]["markdown"] == "# Another"
    assert len(await stage.calls(talk, "turn/start")) == 2


@pytest.mark.rule("RT-020")
async def test_a_plan_that_is_declined_is_planned_further_with_what_was_said(stage: Stage) -> None:
    talk, turn, plan = await proposed(stage)
    declined = {"optionId": "decline", "feedback": "[[propose # Smaller]]"}
    await stage.client.request("interaction/respond", **{**answer_params(plan), "answer": declined})
    await next_turn(stage.client, talk, turn)
    assert (await waiting(stage, talk))["input"]["markdown"] == "# Smaller"
    [_, second] = await stage.calls(talk, "turn/start")
    assert "collaborationMode" not in second, "it plans on"


async def test_a_daemon_that_starts_again_leaves_no_plan_waiting_and_what_was_decided_stays_so(
    make_daemon: MakeDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("codex-plans")
    daemon = make_daemon({"targets": [scripted_target(home)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talks = [
            await start(client, "w", PROPOSES, target=TARGET, settings=PLANNING, clientSubmitId=f"c{number}")
            for number in range(2)
        ]
        for talk in talks:
            await client.settled(talk.turn)
        plans = [await talk.pending() for talk in talks]
        await talks[0].answer(plans[0], "accept")
        operation = await client.row("operation", **talks[0].key)
    daemon.kill()
    daemon.start()
    async with connected(daemon) as client:
        for plan, status in zip(plans, ("answered", "superseded"), strict=True):
            page = await client.request("interaction/list", workspaceId="w", status=status)
            assert [row["agentSessionId"] for row in page["items"]] == [plan["agentSessionId"]]
        key = talks[0].key
        kept = await client.request("operation/get", **key, operationId=operation["operationId"])
        assert kept["operation"] == operation
        assert len((await client.request("turn/list", **key))["items"]) == 2
        thread_id = (await client.request("session/get", **key))["session"]["providerSessionId"]
        assert len(calls(home, "turn/start", thread_id)) <= 2
