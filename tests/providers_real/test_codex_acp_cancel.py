"""Stopping a real agent: confirmed by it, felt by its model, and nothing that gets in the way of the next prompt."""

import pytest

from tests.doubles.model_script import hold, pace, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client
from tests.end_to_end.talk import start, text_of
from tests.providers_real.codex_acp import TARGET, eventually, holding

pytestmark = pytest.mark.real_agent


@pytest.mark.rule("RT-006")
async def test_a_stop_mid_stream_is_confirmed_and_ends_the_request_to_the_model(
    client: Client, workspace: str, model: ModelServer
) -> None:
    tale = ["Once upon ", hold("stopped"), pace(0.01), *["a time, " for _ in range(1000)]]
    talk = await start(client, workspace, "The first. " + script(tale), target=TARGET)
    request = await holding(model, "stopped")
    message = await client.row("message", role="assistant", kind="text")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "cancelled")
    assert turn["cancelRequestedAt"] is not None
    assert turn["cancelConfirmedAt"] is not None
    # This agent leaves its model at the next word of it, not before.
    model.release("stopped")
    await eventually(lambda: request.ending == "client_left", "the agent to leave its model")
    (kept,) = [each for each in await talk.messages() if each["messageId"] == message["messageId"]]
    assert (kept["status"], text_of(kept)) == ("interrupted", "Once upon ")

    assert (await talk.say("The second. " + script(["A new start."])))["outcome"] == "completed"
    assert await talk.texts() == ["Once upon ", "A new start."]
    (second,) = model.asked("The second.")
    assert second.knows("user", "The first."), second.conversation
