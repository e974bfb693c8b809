"""Sub-agents of a real Codex: sessions of their own, waited for by their root, and stopped with it."""

import json
from collections.abc import Iterator

import pytest

from tests.doubles.model_script import Json as Part
from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import running
from tests.end_to_end.talk import Talk, start
from tests.providers_real.app_server.codex_server import CONFIGURATION, TARGET, codex_server
from tests.providers_real.codex_acp import eventually

pytestmark = pytest.mark.real_agent


@pytest.fixture(scope="module")
def daemon(codex: str, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One whose Codex may begin sub-agents."""
    folder = tmp_path_factory.mktemp("delegating")
    configuration = CONFIGURATION + "multi_agent_v2 = true\n"
    target = codex_server(codex, folder / "codex", model, configuration)
    yield from running(Daemon(folder, {"targets": [target]}))


def spawn(name: str) -> Part:
    """A call that begins a sub-agent; with the whole history it inherits the script, and plays its next step."""
    return call("spawn_agent", task_name=name, message="Dig.") | {"space": "collaboration"}


async def child_of(client: Client, talk: Talk) -> Json:
    """The turn of the one sub-agent of a session."""
    found = await client.wait(
        lambda: [row for row in client.rows("turn") if row["agentSessionId"] != talk.session_id],
        "a sub-agent's turn",
    )
    turn: Json = found[0]
    return turn


async def both_holding(model: ModelServer, name: str) -> None:
    """The model is asked by root and sub-agent, and answers neither."""
    await eventually(
        lambda: len([request for request in model.requests if request.holding == name]) == 2, "two requests"
    )


@pytest.mark.rule("RT-132", "RT-133", "RT-134")
async def test_a_sub_agent_has_its_own_session_and_its_root_settles_last(
    client: Client, workspace: str, model: ModelServer
) -> None:
    name = f"digging {workspace}"
    talk = await start(client, workspace, script([spawn("digger")], [hold(name), "Found."]), target=TARGET)
    await both_holding(model, name)
    child = await child_of(client, talk)
    model.release(name)
    root_turn, child_turn = await client.settled(talk.turn), await client.settled(child)
    assert (root_turn["outcome"], child_turn["outcome"]) == ("completed", "completed")
    ended = [row["agentSessionId"] for row in client.rows("turn") if row["phase"] == "settled"]
    assert ended == [child["agentSessionId"], talk.session_id]
    found = await client.request("session/get", **talk.key)
    (session,) = found["children"]
    assert session["title"] == "/root/digger"
    assert session["parent"]["rootTurnId"] == talk.turn["turnId"]
    calls = [row["toolCall"] for row in await talk.messages() if row["toolCall"]]
    (begun,) = [each for each in calls if each.get("childAgentSessionId")]
    assert (begun["childAgentSessionId"], begun["callId"]) == (
        child["agentSessionId"],
        session["parent"]["parentToolCallId"],
    )
    key = {"workspaceId": workspace, "agentSessionId": child["agentSessionId"]}
    read = await client.request("session/messages", **key, afterVersion=0)
    assert "Found." in json.dumps(read["messages"])


@pytest.mark.rule("RT-135", "RT-006")
async def test_a_cancel_of_the_root_stops_a_real_sub_agent(
    client: Client, workspace: str, model: ModelServer
) -> None:
    name = f"stopped {workspace}"
    talk = await start(client, workspace, script([spawn("digger")], [hold(name), "Found."]), target=TARGET)
    await both_holding(model, name)
    child = await child_of(client, talk)
    asked = [request for request in model.requests if request.holding == name]
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    root_turn, child_turn = await client.settled(talk.turn), await client.settled(child)
    for turn in (root_turn, child_turn):
        assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
        assert turn["cancelConfirmedAt"] is not None
    await eventually(lambda: {request.ending for request in asked} == {"client_left"}, "both to leave")
    assert (await talk.say(script(["And on."])))["outcome"] == "completed"
