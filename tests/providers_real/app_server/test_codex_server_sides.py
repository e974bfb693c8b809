"""Sides of a real Codex: what its model saw of the inherited, the boundary and the rules, and that its source goes on."""

import pytest

from runtime.providers.side_words import BOUNDARY, RULES
from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client
from tests.end_to_end.side_talk import Sides
from tests.end_to_end.talk import start
from tests.providers_real.app_server.codex_server import ASKING, FREE, SHELL_TOOL, TARGET, sandbox_told
from tests.providers_real.codex_acp import holding

pytestmark = pytest.mark.real_agent


@pytest.fixture
async def sides(client: Client, workspace: str) -> Sides:
    await client.request("events/subscribe", workspaceId=workspace, topics=["agent.side.updated"])
    return Sides(client, workspace)


@pytest.mark.rule("RT-107", "RT-119", "RT-128", "RT-129", "PR-009")
@pytest.mark.case("FC-38")
async def test_a_side_of_a_running_turn_remembers_is_bounded_and_leaves_the_turn_to_finish(
    client: Client, workspace: str, model: ModelServer, sides: Sides
) -> None:
    first = await start(
        client, workspace, f"Plant elms in {workspace}. " + script(["Elms."]), target=TARGET, settings=FREE
    )
    await client.settled(first.turn)
    name = f"side {workspace}"
    long = await first.send(f"Water them in {workspace}. " + script(["Watering, ", hold(name), "watered."]))
    await holding(model, name)
    side = await sides.open(first, instructions="Answer in verse.")
    one = await sides.send(side, f"Which trees, {workspace}? " + script(["Elms it was."]))
    assert (await sides.settled(side, one))["outcome"] == "completed"
    two = await sides.send(side, f"And who waters, {workspace}? " + script(["Somebody."]))
    assert (await sides.settled(side, two))["outcome"] == "completed"
    assert sides.said(side) == "Elms it was.Somebody."
    for words in (f"Which trees, {workspace}?", f"And who waters, {workspace}?"):
        (asked,) = model.asked(words)
        assert asked.knows("user", f"Plant elms in {workspace}.")
        assert asked.knows("assistant", "Elms.")
        assert asked.knows("user", f"Water them in {workspace}.")
        assert asked.knows("developer", BOUNDARY)
        assert asked.knows("developer", f"{RULES}\n\nAnswer in verse.")
        told = asked.conversation
        boundary = next(n for n, (role, line) in enumerate(told) if BOUNDARY in line)
        inherited = [n for n, (_, line) in enumerate(told) if f"Water them in {workspace}." in line]
        new = [n for n, (_, line) in enumerate(told) if words in line]
        assert max(inherited) < boundary < min(new)
    modes = [
        line
        for role, line in model.asked(f"And who waters, {workspace}?")[0].conversation
        if role == "developer" and "<collaboration_mode>" in line
    ]
    assert any("Answer in verse." in mode for mode in modes)
    await sides.request("side/close", sideAgentSessionId=side)
    model.release(name)
    settled = await client.settled(long)
    assert (settled["outcome"], settled["cancelRequestedAt"]) == ("completed", None)
    (water,) = model.asked(f"Water them in {workspace}.")
    assert not water.knows("developer", BOUNDARY)


@pytest.mark.rule("RT-114", "RT-115")
async def test_an_approval_in_a_side_and_a_stop_there_leave_the_source_alone(
    client: Client, workspace: str, model: ModelServer, sides: Sides
) -> None:
    name = f"source {workspace}"
    talk = await start(
        client,
        workspace,
        f"Hold on, {workspace}. " + script(["Holding, ", hold(name), "held."]),
        target=TARGET,
        settings=ASKING,
    )
    await holding(model, name)
    side = await sides.open(talk)
    turn = await sides.send(
        side, f"Touch it, {workspace}. " + script([call(SHELL_TOOL, cmd="echo touched-in-side")], ["Done."])
    )
    pending = (await sides.wait(side, "interaction", status="pending"))["interaction"]
    assert pending["turnId"] == turn["turnId"]
    allow = next(option for option in pending["options"] if option["kind"] == "allow_once")
    await sides.request(
        "side/respond",
        sideAgentSessionId=side,
        turnId=turn["turnId"],
        requestId=pending["requestId"],
        answer={"optionId": allow["optionId"]},
    )
    assert (await sides.settled(side, turn))["outcome"] == "completed"
    waits = f"side wait {workspace}"
    stopped = await sides.send(side, f"Wait, {workspace}. " + script(["Waiting, ", hold(waits)]))
    await holding(model, waits)
    await sides.request("side/cancel", sideAgentSessionId=side, turnId=stopped["turnId"])
    assert (await sides.settled(side, stopped))["outcome"] == "canceled"
    after = await sides.send(side, f"Still there, {workspace}? " + script(["Yes."]))
    assert (await sides.settled(side, after))["outcome"] == "completed"
    await sides.request("side/close", sideAgentSessionId=side)
    model.release(name)
    assert (await client.settled(talk.turn))["outcome"] == "completed"


@pytest.mark.rule("RT-127")
async def test_a_side_works_in_the_sandbox_of_its_source_and_in_no_wider_one(
    client: Client, workspace: str, model: ModelServer, sides: Sides
) -> None:
    narrow = {"sandbox": "workspace-write", "approvalPolicy": "on-request"}
    talk = await start(
        client, workspace, f"Begin, {workspace}. " + script(["Begun."]), target=TARGET, settings=narrow
    )
    await client.settled(talk.turn)
    side = await sides.open(talk)
    read = await sides.request("side/get", sideAgentSessionId=side)
    assert read["side"]["settings"]["sandbox"] == "workspace-write"
    turn = await sides.send(side, f"Where, {workspace}? " + script(["Here."]))
    await sides.settled(side, turn)
    (asked,) = model.asked(f"Where, {workspace}?")
    assert sandbox_told(asked) == sandbox_told(model.asked(f"Begin, {workspace}.")[0])


@pytest.mark.rule("RT-120", "RT-130", "RT-131", "PR-016")
async def test_a_closed_session_is_forked_from_what_is_kept_and_can_go_on_beside_its_side(
    client: Client, workspace: str, model: ModelServer, sides: Sides
) -> None:
    alone = {**FREE, "dedicatedProcess": True}
    talk = await start(
        client, workspace, f"Keep this, {workspace}. " + script(["Kept."]), target=TARGET, settings=alone
    )
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    side = await sides.open(talk)
    turn = await sides.send(side, f"What was kept, {workspace}? " + script(["This."]))
    assert (await sides.settled(side, turn))["outcome"] == "completed"
    (asked,) = model.asked(f"What was kept, {workspace}?")
    assert asked.knows("user", f"Keep this, {workspace}.")
    assert asked.knows("developer", BOUNDARY)
    main = await talk.send(f"Go on, {workspace}. " + script(["Going."]))
    assert (await client.settled(main))["outcome"] == "completed"
    await sides.request("side/close", sideAgentSessionId=side)
